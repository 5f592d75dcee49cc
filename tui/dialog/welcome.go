package dialog

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Welcome is the first thing that a new user sees, at each start until something is
// set up: what this is, and which keys lead on: to the demo, to the questions of the
// set-up, to the keys.
type Welcome struct {
	notice      string
	demo, setUp bool     // are offered
	keys        []string // of the lines when it was drawn last; empty where none leads on
}

// welcomeLine is a key, if it leads on, and words. On a small screen it has its
// short words in one line, or is left out where it has none.
type welcomeLine struct{ key, text, short string }

// NewWelcome is the first words; notice is what the program says at its start, and
// may be empty. demo and setUp say that those two are offered.
func NewWelcome(notice string, demo, setUp bool) *Welcome {
	return &Welcome{notice: clean.Line(notice), demo: demo, setUp: setUp}
}

// text is what this is, and which keys lead on.
func (w *Welcome) text(c pane.Context) []welcomeLine {
	lines := []welcomeLine{{text: textWhatItIs, short: textWhatShort}}
	if w.notice != "" {
		lines = append(lines, welcomeLine{text: w.notice})
	}
	if w.demo {
		lines = append(lines, welcomeLine{welcomeKeys.demo.Help().Key, textDemoMore, textSeeDemo})
	}
	if w.setUp {
		lines = append(lines, welcomeLine{welcomeKeys.begin.Help().Key, textSetUpMore, textSetUp})
	}
	if !w.demo && !w.setUp {
		lines = append(lines, welcomeLine{text: textInAShell})
	}
	return append(lines,
		welcomeLine{c.Names(action.Chat).Badge(action.Help), textEveryKeyMore, textEveryKey},
		welcomeLine{welcomeKeys.around.Help().Key, textAroundMore, textLookAround})
}

// Title implements pane.Dialog.
func (*Welcome) Title() string { return textWelcome }

// Draw implements pane.Dialog.
func (w *Welcome) Draw(c pane.Context, width, h int) []string {
	width = min(width-air, 64)
	lines, keys := w.lines(c, width, false)
	if len(lines) > h {
		lines, keys = w.lines(c, width, true)
	}
	if more := len(lines) - h; more > 0 && keys[0] == "" { // the keys say more than the words
		lines, keys = lines[1:], keys[1:]
	}
	n := max(0, min(h, len(lines)))
	w.keys = keys[:n]
	return lines[:n]
}

// lines draws the words, and gives the key of each line.
func (w *Welcome) lines(c pane.Context, width int, short bool) (lines, keys []string) {
	column, shown := 0, w.text(c)
	for _, t := range shown {
		column = max(column, widget.Cells(t.key)+2)
	}
	add := func(key string, l pageLine) {
		lines = append(lines, brush(c).Line(width, widget.Span{Text: "  "}, widget.Span{Role: theme.Key, Text: l.text[:l.head]}, widget.Span{Text: l.text[l.head:]}))
		keys = append(keys, key)
	}
	for i, t := range shown {
		row, room := Row{t.key, t.text}, max(1, width-4)
		if short {
			row.Text, room = t.short, column+len(t.short)
		} else if i == 0 || t.key == "" || shown[i-1].key == "" {
			add("", pageLine{})
		}
		if row.Text != "" {
			for _, l := range row.broken(column, room) {
				add(t.key, l)
			}
		}
	}
	if !short {
		add("", pageLine{})
	}
	return lines, keys
}

// Take implements pane.Dialog. The keys that are named here work here: they are the
// user's to choose.
func (w *Welcome) Take(c pane.Context, msg tea.Msg) pane.Answer {
	if at, ok := msg.(pane.Click); ok && !at.Beside && at.Y < len(w.keys) {
		if pressed, ok := widget.Key(w.keys[at.Y]); ok { // the key of the line under the pointer
			msg = pressed
		}
	}
	pressed, ok := msg.(tea.KeyPressMsg)
	switch {
	case !ok:
		return pane.Answer{}
	case closes(pressed), key.Matches(pressed, welcomeKeys.around):
		return pane.Answer{Close: true}
	case w.demo && key.Matches(pressed, welcomeKeys.demo):
		return pane.Answer{Leave: pane.Demo}
	case w.setUp && key.Matches(pressed, welcomeKeys.begin):
		return pane.Answer{Leave: pane.SetUp}
	}
	for _, id := range []action.ID{action.Help, action.Palette} {
		if a, ok := c.Keys.Get(action.Everywhere, id); ok && slices.Contains(a.Keys, pressed.String()) {
			return pane.Answer{Close: id == action.Palette, Run: &a}
		}
	}
	return pane.Answer{}
}

// Hint implements pane.Dialog.
func (w *Welcome) Hint() []key.Binding {
	out := []key.Binding{welcomeKeys.around}
	if w.demo {
		out = append(out, welcomeKeys.demo)
	}
	if w.setUp {
		out = append(out, welcomeKeys.begin)
	}
	return out
}

var welcomeKeys = struct{ around, demo, begin key.Binding }{
	around: binding("enter", textLookAround, "enter", "q"),
	demo:   binding("d", textSeeDemo, "d"),
	begin:  binding("i", textSetUp, "i"),
}
