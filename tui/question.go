package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// question is asked before what cannot be undone. The safe answer is the
// default, and a key that was on its way when the question opened never
// confirms it.
type question struct {
	ask    pane.Question
	short  string  // the text where that would be cut; may be empty
	runs   *stops  // it counts the runs that would be stopped; nil where it is about something else
	leads  verdict // where yes leads beside the command: out of the dashboard
	yes    bool    // the chosen answer
	opened time.Time
	no     int // the line of the safe answer when it was drawn last; the other follows
}

// stops are the words of yes: while there are runs to stop, and when all of them
// have ended meanwhile.
type stops struct{ some, none string }

// grace is how long a question must have stood before it can be confirmed.
const grace = 250 * time.Millisecond

func newQuestion(q pane.Question) *question {
	return &question{ask: q, opened: time.Now()}
}

// quitQuestion asks whether to leave runs behind; ok is false without any.
func quitQuestion(s *core.Snapshot) (q *question, ok bool) {
	if running, waiting := fork.Count(s.Forks); running+waiting == 0 {
		return nil, false
	}
	q = quits(pane.Question{})
	q.runs = &stops{textQuitYes, textQuitBare}
	q.count(s.Forks)
	return q, true
}

// count takes the runs of now: they go on while the question stands.
func (q *question) count(runs []fork.View) {
	running, waiting := fork.Count(runs)
	q.ask = pane.Question{Text: quitText(running, waiting), Yes: q.runs.some, No: textQuitNo}
	q.short = quitShort(running, waiting)
	if running+waiting == 0 {
		q.ask.Text, q.ask.Yes, q.short = textQuitNoRuns, q.runs.none, ""
	}
}

// draftQuestion asks whether to drop what is written.
func draftQuestion() *question {
	return quits(pane.Question{Text: textDraftLost, Yes: textDropDraft, No: textQuitNo})
}

func quits(ask pane.Question) *question {
	q := newQuestion(ask)
	q.leads.quit = true
	return q
}

func (q *question) title() string { return textQuestion }

// ripe reports whether the question has been readable.
func (q *question) ripe(now time.Time) bool { return now.Sub(q.opened) >= grace }

func (q *question) draw(l look, w, h int) []string {
	w = min(w, 60)
	if q.runs != nil {
		q.count(l.snap.Forks)
	}
	words := q.words(w-4, max(1, h-buttons), l.theme.Glyph(theme.Ellipsis))
	var lines, apart []string // blank lines go first where there is little room
	if len(words)+buttons+2 <= h {
		apart = []string{widget.Blank(w)}
	}
	lines = append(lines, apart...)
	for _, t := range words {
		lines = append(lines, l.brush.Line(w, widget.Span{Text: "  " + t}))
	}
	button := func(chosen bool, key, text string) []widget.Span {
		if chosen {
			return []widget.Span{{Role: theme.Focus, Text: l.theme.Glyph(theme.Pointer) + " "}, {Role: theme.Key, Text: key}, {Role: theme.Strong, Text: " " + text}}
		}
		return []widget.Span{{Text: "  "}, {Role: theme.Key, Text: key}, {Role: theme.Dim, Text: " " + text}}
	}
	lines = append(lines, apart...)
	q.no = len(lines)
	return append(lines,
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(!q.yes, "n", q.ask.No)...)...),
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(q.yes, "y", q.ask.Yes)...)...),
	)
}

// buttons are the lines of the answers.
const buttons = 2

// words is the text in at most n lines, in fewer words where it would be cut.
func (q *question) words(w, n int, mark string) []string {
	text := q.ask.Text
	if q.short != "" && len(widget.Wrap(text, w)) > n {
		text = q.short
	}
	return widget.WrapN(text, w, n, mark)
}

func (q *question) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, questionKeys.yes):
		return q.confirm()
	case key.Matches(msg, questionKeys.no):
		return verdict{shut: true}
	case key.Matches(msg, questionKeys.chosen):
		if q.yes {
			return q.confirm()
		}
		return verdict{shut: true}
	case key.Matches(msg, questionKeys.other):
		q.yes = !q.yes
	}
	return verdict{}
}

func (q *question) confirm() verdict {
	if !q.ripe(time.Now()) {
		return verdict{}
	}
	v := q.leads
	v.shut, v.answer.Do = true, q.ask.Do
	return v
}

// click marks the answer under the pointer, and gives the one that is marked: what
// cannot be undone takes a second click.
func (q *question) click(_, y int) verdict {
	if y != q.no && y != q.no+1 {
		return verdict{}
	}
	yes := y == q.no+1
	switch {
	case q.yes != yes:
		q.yes = yes
	case yes:
		return q.confirm()
	default:
		return verdict{shut: true}
	}
	return verdict{}
}

func (q *question) wheel(bool) {}

func (q *question) hint() []key.Binding {
	return []key.Binding{
		named(questionKeys.no, q.ask.No), named(questionKeys.yes, q.ask.Yes), questionKeys.chosen,
		binding("esc", q.ask.No),
	}
}
