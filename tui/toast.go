package tui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// speech is what the program says to its user: the newest as a toast, in a row of
// its own, all of it in the list that "!" opens.
type speech struct {
	said []saying // oldest first
	seq  uint64   // of the last notice heard
}

type saying struct {
	at    time.Time
	shown time.Time // when its toast began
	over  bool      // its toast
	level notice.Level
	text  string
	reply bool // to what the user did: the next one takes its place
}

func (t saying) stands(now time.Time) bool {
	return !t.over && now.Sub(t.shown) < toastLooks[t.level].long
}

const (
	maxSayings  = 200
	freshNotice = 10 * time.Second // older ones, from before the dashboard, are only listed
)

// add begins the toast of a saying, unless that is over.
func (s *speech) add(t saying) {
	t.shown, t.text = time.Now(), clean.Line(t.text)
	s.said = append(s.said, t)
	s.said = slices.Delete(s.said, 0, max(0, len(s.said)-maxSayings))
}

// hear takes the core's notices that are new.
func (s *speech) hear(notices []notice.Notice, now time.Time) {
	for _, n := range notices {
		if n.Seq <= s.seq {
			continue
		}
		s.seq = n.Seq
		s.add(saying{at: n.At, over: now.Sub(n.At) > freshNotice, level: n.Level, text: n.Text})
	}
}

// end ends the toasts of some sayings, which stay in the list.
func (s *speech) end(now time.Time, ends func(saying) bool) {
	for i, t := range s.said {
		s.said[i].over = t.over || t.stands(now) && ends(t)
	}
}

// toasts are the sayings that still stand, oldest first.
func (s *speech) toasts(now time.Time) (out []saying) {
	for _, t := range s.said {
		if t.stands(now) {
			out = append(out, t)
		}
	}
	return out
}

// read ends the toasts that have been readable: the user goes on.
func (s *speech) read(now time.Time) {
	s.end(now, func(t saying) bool { return now.Sub(t.shown) >= toastLooks[t.level].read })
}

// hush ends every toast.
func (s *speech) hush(now time.Time) { s.end(now, func(saying) bool { return true }) }

// page lists everything that was said, newest first.
func (s *speech) page(snap *core.Snapshot) *dialog.Page {
	if len(s.said) == 0 {
		return dialog.NewPage(textNotices, textNoNotices)
	}
	var rows []dialog.Row
	for _, t := range slices.Backward(s.said) {
		rows = append(rows, dialog.Row{Head: snap.Clock(t.at, "15:04:05") + "  " + string(t.level), Text: t.text})
	}
	return dialog.NewTable(textNotices, noticeColumn, rows)
}

// noticeColumn is where notices begin, behind their time and level.
const noticeColumn = 18

// say answers the user. A reply takes the place of the one before it: what that
// one said, "u undoes", may not be true any more.
func (r *root) say(level notice.Level, text string) {
	now := time.Now()
	r.speech.end(now, func(t saying) bool { return t.reply && t.level == notice.Info })
	r.speech.add(saying{at: now, level: level, text: text, reply: true})
}

// saidLine is the newest that the program has said, as long as it stands, in one
// line: cut where there is no room for it, with the key that shows the rest. It
// covers nothing but the help line of a low screen.
func (r *root) saidLine(now time.Time) string {
	standing := r.speech.toasts(now)
	if len(standing) == 0 {
		return ""
	}
	t := standing[len(standing)-1]
	look := toastLooks[t.level]
	mark := widget.Span{Role: look.role, Text: " " + r.theme.Glyph(look.glyph) + " "}
	text := t.text
	end := ""
	if n := len(standing) - 1; n > 0 {
		end = fmt.Sprintf(textMore, n, r.names().Name(action.Notices))
	} else if widget.Cells(mark.Text)+widget.Cells(text)+1 > r.w {
		end = fmt.Sprintf(textShowsAll, r.names().Name(action.Notices))
	}
	room := r.w - widget.Cells(mark.Text) - 1
	if len(r.dialogs) > 0 || r.panes[r.focus].Capture() || room-widget.Cells(end) < minTold {
		end = "" // the key means something else there, or the text is worth more
	}
	text = widget.Cut(text, room-widget.Cells(end)) + end
	b := widget.Brush{Theme: r.theme, Back: theme.Select}
	n := min(r.w, widget.Cells(mark.Text)+widget.Cells(text)+1)
	return b.Line(n, mark, widget.Span{Text: text}) + widget.Blank(r.w-n)
}

// toastLooks are the marks in front of what is said, how long it stands, and after which
// time it goes with the next key: it was read.
var toastLooks = map[notice.Level]struct {
	role       theme.Role
	glyph      theme.Glyph
	long, read time.Duration
}{
	notice.Info:  {theme.Accent, theme.Arrow, 4 * time.Second, 1500 * time.Millisecond},
	notice.Warn:  {theme.Warn, theme.Bang, 8 * time.Second, 3 * time.Second},
	notice.Alert: {theme.Bad, theme.Cross, 8 * time.Second, 3 * time.Second},
}

// minTold is how many cells of a text are worth more than a word about its end.
const minTold = 40

// desk remembers the tool calls that wait, so that the user hears of one that
// has come while they look elsewhere, and of one that somebody else has settled.
type desk struct {
	waiting map[string]policy.Approval
	// answered are those that were answered here, until the answer has arrived.
	answered map[string]policy.Approval
	// away is the id of a tool call that gave its room on a small screen back.
	away string
	// asked is that the agent waits for a word about the fork.
	asked bool
}

// watch compares the tool calls of a new snapshot with those of the last one.
func (r *root) watch() {
	now, rings := make(map[string]policy.Approval, len(r.snap.Approvals)), ""
	for _, a := range r.snap.Approvals {
		now[a.ID] = a
		if _, waited := r.desk.waiting[a.ID]; waited {
			continue
		}
		rings = brief(a)
		if r.focus != action.Chat || len(r.dialogs) > 0 {
			r.hear(notice.Warn, asksText(a, r.names()))
		}
	}
	for id, a := range r.desk.waiting {
		_, waits := now[id]
		_, mine := r.desk.answered[id]
		switch {
		case waits || mine:
		case r.snap.At.Before(a.Until):
			r.hear(notice.Info, brief(a)+textGone)
		default:
			r.hear(notice.Warn, brief(a)+textExpired)
		}
	}
	asks := r.snap.Fork != nil && r.snap.Fork.Asks
	if asks && !r.desk.asked {
		rings = textForkAsks
	}
	r.desk.waiting, r.desk.asked = now, asks
	r.attention(rings)
}

// hear says something that is no answer to what the user does.
func (r *root) hear(level notice.Level, text string) {
	r.speech.add(saying{at: time.Now(), level: level, text: text})
}

// answering notes that the user answers here.
func (r *root) answering(c command.Answer) {
	if a, ok := r.desk.waiting[c.ID]; ok {
		r.desk.answered[c.ID] = a
	}
}

// answeredText is what came of an answer, with the call that it was for.
func (r *root) answeredText(c command.Answer, outcome string) string {
	a, ok := r.desk.answered[c.ID]
	delete(r.desk.answered, c.ID)
	if !ok || outcome == "" {
		return outcome
	}
	return outcome + ": " + brief(a)
}

// The caption of the demo tells in the row of what is said, while nothing is, what
// has just been seen. It is made of the snapshot alone, as all of the screen.

// captionTime is how long something is told.
const captionTime = 15 * time.Second

// firstWords is how long the demo begins with what can be tried.
const firstWords = 5 * time.Second

// captionLine is the caption in a row of its own; empty where none is wanted.
func (r *root) captionLine() string {
	if !r.o.Try {
		return ""
	}
	text := tryText(r.keys, r.theme.ASCII())
	if r.snap.At.Sub(r.snap.Started) >= firstWords {
		text = cmp.Or(caption(r.snap), text)
	}
	b := widget.Brush{Theme: r.theme}
	return b.Line(r.w, widget.Span{Role: theme.Accent, Text: " " + textDemoMark}, widget.Span{Role: theme.Dim, Text: text})
}

// caption is what has happened last, and what it means; empty after a while.
func caption(s *core.Snapshot) string {
	text, at := "", s.At.Add(-captionTime)
	tell := func(when time.Time, format string, args ...any) {
		if when.After(at) && !when.After(s.At) {
			text, at = fmt.Sprintf(format, args...), when
		}
	}
	name := func(title string) string { return widget.Cut(title, 24) }
	for i := range s.Forks {
		if f := &s.Forks[i]; f.State == fork.Running {
			tell(f.Started, textStoryRuns, name(f.Title))
		}
	}
	for i := range s.Ended {
		switch f := &s.Ended[i]; {
		case f.State.Failed():
			tell(f.Ended, textStoryFailed, name(f.Title))
		case f.Reports > 0:
			tell(f.Ended, textStoryReports, name(f.Title))
		default:
			tell(f.Ended, textStoryDone, name(f.Title))
		}
	}
	for i := range s.Budget.Pings {
		switch p := &s.Budget.Pings[i]; {
		case p.Refused != "":
			tell(p.At, textStoryRefused, name(p.Title), p.Refused)
		case p.Critical:
			tell(p.At, textStoryCritical, name(p.Title))
		default:
			tell(p.At, textStoryPings, name(p.Title), budgetState(s))
		}
	}
	if s.Fork == nil && len(s.Approvals) > 0 {
		tell(s.Approvals[0].Asked, textStoryAsks, brief(s.Approvals[0]))
	}
	return text
}

const (
	textDemoMark      = "demo: "
	textStoryRuns     = "%s began: a run works in the background, beside the conversation"
	textStoryFailed   = "%s failed: it stays in the top line until you have looked"
	textStoryReports  = "%s ended and left an update: the conversation hears of it with your next message"
	textStoryDone     = "%s ended: it had nothing to say, so it cost no ping"
	textStoryPings    = "%s pinged: one token spent, %s left"
	textStoryCritical = "%s pinged, and it was critical: that passes without a token"
	textStoryRefused  = "%s wanted to ping and was refused: %s"
	textStoryAsks     = "%s waits for your word: nothing happens without it"
)
