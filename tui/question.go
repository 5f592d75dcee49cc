package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

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
	leads  verdict // where yes leads beside the command: out of the dashboard
	yes    bool    // the chosen answer
	opened time.Time
	no     int // the line of the safe answer when it was drawn last; the other follows
}

// grace is how long a question must have stood before it can be confirmed.
const grace = 250 * time.Millisecond

func newQuestion(q pane.Question) *question {
	return &question{ask: q, opened: time.Now()}
}

// quitQuestion asks whether to leave runs behind; ok is false without any.
func quitQuestion(runs []fork.View) (*question, bool) {
	running, waiting := 0, 0
	for _, f := range runs {
		switch f.State {
		case fork.Running:
			running++
		case fork.Waiting:
			waiting++
		default:
		}
	}
	if running+waiting == 0 {
		return nil, false
	}
	return quits(pane.Question{Text: quitText(running, waiting), Yes: textQuitYes, No: textQuitNo}), true
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
	lines := []string{widget.Blank(w)}
	for _, t := range widget.WrapN(q.ask.Text, w-4, max(1, h-4), l.theme.Glyph(theme.Ellipsis)) {
		lines = append(lines, l.brush.Line(w, widget.Span{Text: "  " + t}))
	}
	button := func(chosen bool, key, text string) []widget.Span {
		if chosen {
			return []widget.Span{{Role: theme.Focus, Text: l.theme.Glyph(theme.Pointer) + " "}, {Role: theme.Key, Text: key}, {Role: theme.Strong, Text: " " + text}}
		}
		return []widget.Span{{Text: "  "}, {Role: theme.Key, Text: key}, {Role: theme.Dim, Text: " " + text}}
	}
	q.no = len(lines) + 1
	return append(lines, widget.Blank(w),
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(!q.yes, "n", q.ask.No)...)...),
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(q.yes, "y", q.ask.Yes)...)...),
	)
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

// click gives the answer under the pointer.
func (q *question) click(_, y int) verdict {
	switch y {
	case q.no:
		return verdict{shut: true}
	case q.no + 1:
		return q.confirm()
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
