package view

import (
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The top line is the headline, in the longest form that fits: how things are, what is
// wrong, what comes next. It has a colour only if something is wrong or waits. At its right
// edge are the clock and, with enough room, where messages go.

// alarms are the marks of headlines that need the user.
var alarms = map[core.HeadlineKind]struct {
	role  theme.Role
	glyph theme.Glyph
}{
	core.Asks:         {theme.Warn, theme.Flag},
	core.Proposed:     {theme.Warn, theme.Flag},
	core.FileBroken:   {theme.Bad, theme.Bang},
	core.RunFailed:    {theme.Bad, theme.Cross},
	core.HeldForMoney: {theme.Warn, theme.Bang},
	core.Disconnected: {theme.Bad, theme.Cross},
	core.NoModel:      {theme.Warn, theme.Bang},
}

// Headline is the headline, without the failures that the user has just seen.
func (s *State) Headline() core.Headline {
	snap := *s.Snap
	if len(snap.Failures) > 0 {
		unseen := s.Panes[action.Forks].(*forks.Pane).Unseen(s.Snap)
		snap.Failures = slices.DeleteFunc(slices.Clone(snap.Failures), func(f fork.View) bool { return !slices.Contains(unseen, f.ID) })
	}
	return snap.Headline()
}

// OpenHeadline shows what the headline is about.
func (s *State) OpenHeadline() pane.Answer {
	switch h := s.Headline(); h.Kind {
	case core.Asks:
		return pane.Answer{Focus: action.Chat}
	case core.Proposed, core.FileBroken:
		return pane.Answer{Focus: action.Schedule, Item: h.Item}
	case core.RunFailed:
		return pane.Answer{Focus: action.Forks, Item: h.Item}
	case core.HeldForMoney:
		return pane.Answer{Focus: action.Costs}
	case core.Disconnected:
		return pane.Answer{Open: dialog.Engine(s.Snap)}
	case core.NoModel:
		return pane.Answer{Open: dialog.Connect(s.Context, false)}
	case core.Quiet:
		if next := s.Snap.Glance().Next; next != nil {
			return pane.Answer{Focus: action.Task, Item: next.ID}
		}
	}
	return pane.Answer{Toast: s.Headline().Text()}
}

// stops are the headlines about what stops the bot's work or its pings until a key mends it, as a word.
var stops = map[core.HeadlineKind]string{core.HeldForMoney: "held", core.NoModel: "no model"}

// StripTime is how long what stops the bot is a strip; after that it is a word before what comes next.
const StripTime = 24 * time.Hour

// Stopped returns what stops the bot's work or its pings, in a word; empty if nothing does.
func (s *State) Stopped() string {
	h := s.Headline()
	if (frame{State: s}).silenced(h) != "" {
		return "muted"
	}
	return stops[h.Kind]
}

// topLine is the headline with the keys that answer or open it, and the corner. What stops the bot is a coloured strip.
func (f frame) topLine() (out bar) {
	h, stopped := f.Headline(), f.Stopped()
	if stopped != "" && !f.Since.IsZero() && f.Snap.At.Sub(f.Since) >= StripTime {
		word := label(theme.Match, " "+stopped+" ", Headline{})
		out.right = f.corner(false)
		said, _ := said(h.Next, f.W-widget.Width(spansOf(out.right))-widget.Cells(word.Text)-3)
		return bar{[]button{label(theme.Text, " ", nil), word, label(theme.Text, " "+said, Headline{})}, out.right}
	}
	out.right = f.corner(h.Urgent())
	room := f.W - widget.Width(spansOf(out.right)) - 1
	alarm, keys := alarms[h.Kind], f.headlineKeys(h, room)
	text, role := " ", theme.Text
	if h.Urgent() {
		text, role = " "+f.Theme.Glyph(alarm.glyph)+" ", alarm.role
	}
	words, _ := said(h.Forms(), room-widget.Cells(text)-widget.Width(spansOf(keys)))
	out.left = append([]button{label(role, text+words, Headline{})}, keys...)
	if stopped != "" {
		for i := range out.left {
			out.left[i].Role = theme.Match
		}
	}
	return out
}

// said is the first of a headline's forms that has so many cells, and whether nothing of it is cut.
func said(forms []string, room int) (text string, whole bool) {
	for _, text = range forms {
		if widget.Cells(text) <= room {
			return text, true
		}
	}
	return widget.Cut(text, max(0, room)), false
}

// leastSaid is how many cells a headline has before its keys are left out.
const leastSaid = 24

// silenced is the action that lets pings through again, if the user has stopped them and nothing else is urgent.
func (f frame) silenced(h core.Headline) action.ID {
	switch o := f.Snap.Outlook(); {
	case h.Urgent():
	case o.Kind == core.PingsMuted:
		return action.Mute
	case o.Kind == core.PingsOff:
		return action.CapacityUp
	}
	return ""
}

// headlineKeys are the keys that answer a tool call from any pane, if all of it can be read
// here, else the key that opens what the headline is about.
func (f frame) headlineKeys(h core.Headline, room int) (out []button) {
	mend := f.silenced(h)
	if !h.Urgent() && mend == "" || f.typing() {
		return nil
	}
	add := func(p action.Pane, id action.ID, word string) {
		names := f.Names(p)
		if key := names.Key(id); key != "" {
			out = append(out, label(theme.Key, "  "+key, Action{p, id}), label(theme.Dim, " "+word, Action{p, id}))
		}
	}
	switch {
	case mend != "":
		keys := f.names().Key(action.Budget.Go()) + " " + f.Names(action.Budget).Key(mend)
		out = append(out, label(theme.Key, "  "+keys, Action{action.Budget, mend}), label(theme.Dim, " lets pings through", Action{action.Budget, mend}))
	case f.Answerable():
		add(action.Chat, action.ApprovalAllow, "allows")
		add(action.Chat, action.ApprovalDeny, "denies")
		out = append(out, label(theme.Warn, "  "+chat.TimeLeft(f.Snap.Approvals[0], f.Snap.At), nil))
	default:
		add(action.Everywhere, action.OpenHeadline, "opens")
	}
	if room-widget.Width(spansOf(out)) < leastSaid {
		return nil
	}
	return out
}

// typing reports whether keys go to a dialog or a text field.
func (s *State) typing() bool { return len(s.Dialogs) > 0 || s.Panes[s.Focus].Capture() }

// Answerable reports whether a tool call waits that the top line shows in full, with the
// keys that answer it, so that they do from any pane.
func (s *State) Answerable() bool {
	if len(s.Snap.Approvals) == 0 || s.typing() || s.ReadOnly || s.Tiny() || chat.More(s.Snap.Approvals[0]) {
		return false
	}
	const answers = len("  y allows  n denies  1:00 left") // whatever the keys are called
	f := frame{State: s}
	_, whole := said(f.Headline().Forms(), s.W-1-3-answers-widget.Width(spansOf(f.corner(true))))
	return whole
}

// The widths from which on the corner has all of its parts, in words, and the clock.
const (
	wordyCorner = 110
	someCorner  = 60
	leastCorner = 30
)

// corner is the lock of a viewer that is read-only, the host, where messages go, and the
// clock. A headline that is urgent leaves it less room.
func (f frame) corner(urgent bool) (out []button) {
	add := func(role theme.Role, text string) { out = append(out, label(role, text, nil)) }
	wordy := f.W >= wordyCorner && !urgent
	if f.ReadOnly {
		lock := f.Theme.Glyph(theme.Lock) + " "
		if f.W >= wordyCorner {
			lock += "read-only  "
		}
		add(theme.Warn, lock)
	}
	if f.Host != "" && f.W >= someCorner {
		add(theme.Dim, "@"+widget.Cut(clean.Line(f.Host), 24)+"  ")
	}
	if s := f.Snap.Surface; s.Name != "" && s.Name != core.ChatHere && f.W >= someCorner {
		role, glyph := theme.Good, theme.Token
		if !s.OK {
			role, glyph = theme.Bad, theme.Cross
		}
		add(role, f.Theme.Glyph(glyph)+" ")
		if wordy {
			add(theme.Dim, s.Name+"  ")
		}
	}
	if f.Snap.At.IsZero() || f.W < leastCorner {
		return out
	}
	at := f.Snap.Local(f.Snap.At)
	add(theme.Text, f.Snap.Clock(at, "15:04")+" ")
	if wordy {
		add(theme.Dim, zoneWord(at)+" ")
	}
	return out
}

// Name is the program's name, with the host if the bot runs on another machine.
func (s *State) Name() string {
	if s.Host == "" {
		return textName
	}
	return textName + "@" + widget.Cut(clean.Line(s.Host), 24)
}

// Title is the window title: the program's name and what needs the user.
func Title(s *State) string {
	if h := s.Headline(); h.Urgent() {
		return s.Name() + textDot + strings.TrimSpace(h.Lead)
	}
	return s.Name()
}
