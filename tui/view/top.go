package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The top line is an overview: the next fire, the tokens left, today's pings, runs and cost,
// failures, and whether the bot is waiting for the user. Each item is a button to its page.
// A healthy state is not shown; problems are.

// word is an item of the top line.
type word struct {
	name  wordID
	to    pane.Answer     // of a click
	forms [][]widget.Span // the longest first
}

type wordID uint8

const (
	wordName wordID = iota
	wordTrouble
	wordOffline
	wordNext
	wordTokens
	wordToday
	wordFailed
	wordAsks
	wordLocked
	wordClock
)

// shrinks is the order in which words take their next shorter form, and finally disappear,
// until the line fits: first the number of runs, then the zone, the number of pings, the
// title of the next fire, today's cost, the time until the next fire, our name, the texts of
// problems and badges, the next fire, the clock, the tokens, and the marks of problems. The
// marks and numbers of the badges always stay.
var shrinks = []wordID{
	wordToday, wordClock, wordToday, wordNext, wordToday, wordNext, wordName, wordOffline, wordTrouble,
	wordFailed, wordAsks, wordLocked, wordNext, wordClock, wordTokens, wordTrouble, wordOffline,
}

// topLine is the words in the longest forms that fit, with the clock at the right edge.
func (f frame) topLine() (out bar) {
	all := append(append(f.words(), f.badges()...), f.corner()...)
	room := f.W
	for i := range all {
		room -= widget.Width(all[i].forms[0])
		all[i].forms = append(all[i].forms, nil) // the last form is empty
	}
	for _, id := range shrinks {
		for i := range slices.Backward(all) {
			if w := &all[i]; room < 0 && w.name == id && len(w.forms) > 1 {
				room += widget.Width(w.forms[0]) - widget.Width(w.forms[1])
				w.forms = w.forms[1:]
			}
		}
	}
	for i := range all {
		w, row := &all[i], &out.left
		if w.name == wordClock {
			row = &out.right
		}
		for _, span := range w.forms[0] {
			*row = append(*row, button{span, Link{&w.to}})
		}
	}
	return out
}

// words are the items before the badges, from left to right.
func (f frame) words() []word {
	s, g := f.Snap, f.Snap.Glance()
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text} }
	out := []word{{wordName, pane.Answer{}, [][]widget.Span{{{Text: " "}, {Role: theme.Strong, Text: f.Name()}, {Text: apart}}, {{Text: " "}}}}}
	trouble := func(name, state string) {
		mark := f.Theme.Glyph(theme.Cross) + " " + name
		out = append(out, word{wordTrouble, pane.Answer{Open: dialog.Engine(s)}, [][]widget.Span{
			{{Role: theme.Bad, Text: mark + " " + clean.Cut(clean.Line(state), max(8, f.W/3)) + apart}}, {{Role: theme.Bad, Text: mark + apart}},
		}})
	}
	if s.Engine.Offline {
		mark := widget.Span{Role: theme.Warn, Text: f.Theme.Glyph(theme.Bang)}
		out = append(out, word{wordOffline, pane.Answer{Open: dialog.Connect(f.Context, false)}, [][]widget.Span{
			{mark, {Role: theme.Warn, Text: " " + textNoModel + apart}}, {mark, {Role: theme.Warn, Text: " " + textNoModelShort + apart}}, {mark, {Text: apart}},
		}})
	}
	if s.Surface.Name != "" && !s.Surface.OK {
		trouble(s.Surface.Name, s.Surface.State)
	}
	if s.Google != "" {
		trouble("google", s.Google)
	}
	if s.Engine.Name != "" && !s.Engine.OK {
		trouble(s.Engine.Name, s.Engine.State)
	}
	if g.Next != nil {
		head, at := dim(textNextFire), f.clock(g.Next.FireTime)
		away := dim(" (" + strings.TrimPrefix(words.Until(g.Next.FireTime.Sub(s.At)), "in ") + ")" + apart)
		title := widget.Span{Role: theme.Strong, Text: widget.Cut(titleOf(*g.Next), 24) + " "}
		out = append(out, word{wordNext, pane.Answer{Focus: action.Task, Item: g.Next.ID}, [][]widget.Span{
			{head, title, {Text: at}, away}, {head, {Text: at}, away}, {head, {Text: at + apart}},
		}})
	}
	if left := budgetState(s); left != "" {
		role := theme.Good
		if left == textTabMuted || s.Budget.State.Available < 1 {
			role = theme.Warn
		}
		out = append(out, word{wordTokens, pane.Answer{Focus: action.Budget, Zoom: true}, [][]widget.Span{
			{{Role: role, Text: f.Theme.Glyph(theme.Token)}, {Text: " " + left + apart}},
		}})
	}
	if !s.At.IsZero() {
		pings, cost := words.Count(g.Pings, "ping")+textDot, words.Dollars(g.CostUSD)+apart
		today := word{wordToday, pane.Answer{Focus: action.Costs}, nil}
		for _, text := range []string{pings + words.Count(g.Runs, "run") + textDot + cost, pings + cost, cost} {
			today.forms = append(today.forms, []widget.Span{dim(textSoFar), {Text: text}})
		}
		out = append(out, today)
	}
	return out
}

// budgetState is "3.2/5" or "muted"; empty if there is no budget yet.
func budgetState(s *core.Snapshot) string {
	b := s.Budget
	switch {
	case b.State.Capacity <= 0 && b.State.RefillRateMinutes <= 0:
		return ""
	case b.State.Capacity <= 0, b.Muted.After(s.At):
		return textTabMuted
	}
	return budget.Tokens(b.State.Available) + "/" + strconv.Itoa(b.State.Capacity)
}

// apart separates the words of the top line.
const apart = "   "

// badges are the failed runs that the user has not seen, and the pending approvals.
func (f frame) badges() (out []word) {
	add := func(id wordID, role theme.Role, g theme.Glyph, n int, text string, to pane.Answer) {
		mark := f.Theme.Glyph(g) + " " + strconv.Itoa(n)
		out = append(out, word{id, to, [][]widget.Span{{{Role: role, Text: mark + text + apart}}, {{Role: role, Text: mark + " "}}}})
	}
	if ids := f.Panes[action.Forks].(*forks.Pane).Unseen(f.Snap); len(ids) > 0 {
		add(wordFailed, theme.Bad, theme.Cross, len(ids), textFailed, pane.Answer{Focus: action.Forks, Item: ids[0]})
	}
	if n := f.Snap.Glance().Asks; n > 0 {
		add(wordAsks, theme.Warn, theme.Flag, n, textAsks, pane.Answer{Focus: action.Chat})
	}
	return out
}

// corner is the read-only mark and the clock.
func (f frame) corner() (out []word) {
	if f.ReadOnly {
		lock := f.Theme.Glyph(theme.Lock) + " "
		out = append(out, word{wordLocked, pane.Answer{}, [][]widget.Span{
			{{Role: theme.Warn, Text: lock + textReadOnlyMark + apart}}, {{Role: theme.Warn, Text: lock}},
		}})
	}
	if f.Snap.At.IsZero() {
		return out
	}
	at := f.Snap.Local(f.Snap.At)
	clock := widget.Span{Text: f.clock(at)}
	return append(out, word{wordClock, pane.Answer{}, [][]widget.Span{{clock, {Role: theme.Dim, Text: " " + zoneWord(at) + " "}}, {clock, {Text: " "}}}})
}

func (f frame) clock(t time.Time) string { return f.Snap.Clock(t, "15:04") }

// titleOf is the title of a fire's task.
func titleOf(e schedule.Entry) string { return clean.Line(cmp.Or(e.Description, e.Label, e.ID)) }

// Name is the program's name, with the host if the bot runs on another machine.
func (s *State) Name() string {
	if s.Host == "" {
		return textName
	}
	return textName + "@" + widget.Cut(clean.Line(s.Host), 24)
}

// Title is the window title: the program's name and the badges of the top line.
func Title(s *State) string {
	title := s.Name()
	for _, b := range (frame{State: s}).badges() {
		title += textDot + strings.TrimSpace(b.forms[0][0].Text)
	}
	return title
}
