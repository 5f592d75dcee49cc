package dialog

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/fork"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Question is asked before what cannot be undone. The safe answer is the
// default, and a key that was on its way when the question opened never
// confirms it.
type Question struct {
	ask    pane.Question
	anew   func(c pane.Context) pane.Question // asks again while the question stands; may be nil
	yes    pane.Answer                        // what yes means
	chosen bool                               // yes is marked
	opened time.Time
	no     int // the line of the safe answer when it was drawn last; the other follows
}

// Grace is how long a question must have stood before it can be answered: what
// comes earlier was on its way.
const Grace = 250 * time.Millisecond

// Ask is a question; yes is what its first answer means beside its command.
func Ask(q pane.Question, yes pane.Answer) *Question {
	yes.Close, yes.Do = true, q.Do
	return &Question{ask: q, yes: yes, opened: time.Now()}
}

// Leaving asks before the dashboard is left for somewhere, if something would be
// lost: the runs that go on, or a draft. It is nil where nothing would.
func Leaving(c pane.Context, draft bool, to pane.Leave) pane.Dialog {
	yes := pane.Answer{Leave: to}
	some, none, lost, drop := textQuitYes, textQuitBare, textDraftLost, textDropDraft
	if to != pane.Quit {
		some, none, lost, drop = textLeaveForks, textLeaveBare, textLeftDraft, textLeaveDraft
	}
	running := func(c pane.Context) pane.Question { // runs go on while the question stands
		running, waiting := fork.Count(c.Snap.Forks)
		if running+waiting == 0 {
			return pane.Question{Text: textQuitNoRuns, Yes: none, No: textStay}
		}
		return pane.Question{Text: quitText(running, waiting), Yes: some, No: textStay}
	}
	if now := running(c); now.Yes == some && !c.Remote {
		q := Ask(now, yes)
		q.anew = running
		return q
	}
	if draft {
		return Ask(pane.Question{Text: lost, Yes: drop, No: textStay}, yes)
	}
	return nil
}

// QuitClicked asks after a click on the word that quits, which is easily made.
func QuitClicked(c pane.Context) *Question {
	text := textQuitClicked
	if c.Remote {
		text = textDetachClicked
	}
	return Ask(pane.Question{Text: text, Yes: textQuitBare, No: textStay}, pane.Answer{Leave: pane.Quit})
}

// Title implements pane.Dialog.
func (q *Question) Title() string { return textQuestion }

// Ripe reports whether the question has been readable: a click that comes earlier was
// on its way.
func (q *Question) Ripe() bool { return time.Since(q.opened) >= Grace }

// Draw implements pane.Dialog.
func (q *Question) Draw(c pane.Context, w, h int) []string {
	w = min(w-air, 60)
	if q.anew != nil {
		q.ask = q.anew(c)
	}
	b := brush(c)
	words := widget.WrapN(q.ask.Text, w-4, max(1, h-buttons), c.Theme.Glyph(theme.Ellipsis))
	var lines, apart []string // blank lines go first where there is little room
	if len(words)+buttons+2 <= h {
		apart = []string{widget.Blank(w)}
	}
	lines = append(lines, apart...)
	for _, t := range words {
		lines = append(lines, b.Line(w, widget.Span{Text: "  " + t}))
	}
	button := func(chosen bool, key, text string) string {
		mark, role := "    ", theme.Dim
		if chosen {
			mark, role = "  "+c.Theme.Glyph(theme.Pointer)+" ", theme.Strong
		}
		return b.Line(w, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Role: theme.Key, Text: key}, widget.Span{Role: role, Text: " " + text})
	}
	lines = append(lines, apart...)
	q.no = len(lines)
	return append(lines, button(!q.chosen, "n", q.ask.No), button(q.chosen, "y", q.ask.Yes))
}

// buttons are the lines of the answers.
const buttons = 2

// Take implements pane.Dialog.
func (q *Question) Take(_ pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Click:
		return q.click(msg)
	case tea.KeyPressMsg:
		switch {
		case msg.String() == "ctrl+c" && q.yes.Leave == pane.Quit && q.Ripe():
			return pane.Answer{Leave: pane.Quit}
		case closes(msg), key.Matches(msg, questionKeys.no), key.Matches(msg, questionKeys.chosen) && !q.chosen:
			return pane.Answer{Close: true}
		case key.Matches(msg, questionKeys.yes), key.Matches(msg, questionKeys.chosen):
			return q.confirm()
		case key.Matches(msg, questionKeys.other):
			q.chosen = !q.chosen
		}
	}
	return pane.Answer{}
}

func (q *Question) confirm() pane.Answer {
	if !q.Ripe() {
		return pane.Answer{}
	}
	return q.yes
}

// click marks the answer under the pointer, and gives the one that is marked: what
// cannot be undone takes a second click.
func (q *Question) click(at pane.Click) pane.Answer {
	yes := at.Y == q.no+1
	switch {
	case at.Beside || at.Y != q.no && !yes:
	case q.chosen != yes:
		q.chosen = yes
	case yes:
		return q.confirm()
	default:
		return pane.Answer{Close: true}
	}
	return pane.Answer{}
}

// Hint implements pane.Dialog.
func (q *Question) Hint() []key.Binding {
	return []key.Binding{
		named(questionKeys.no, q.ask.No), named(questionKeys.yes, q.ask.Yes), questionKeys.chosen,
		binding("esc", q.ask.No),
	}
}

var questionKeys = struct{ yes, no, chosen, other key.Binding }{
	yes:    binding("y", "", "y", "Y"),
	no:     binding("n", "", "n", "N", "q"),
	chosen: binding("enter", textChosen, "enter"),
	other:  binding("", "", "tab", "shift+tab", "up", "down", "left", "right", "j", "k", "h", "l"),
}
