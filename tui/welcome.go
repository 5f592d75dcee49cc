package tui

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// welcome is the first thing that a new user sees, at each start until something is
// set up: what this is, and which keys lead on: to the demo, to the questions of the
// set-up, to the keys.
type welcome struct {
	shown       []welcomeLine
	named       action.Keys // as the user has chosen them
	demo, setUp bool        // are offered
	keys        []string    // of the lines when it was drawn last; empty where none leads on
}

// welcomeLine is a key, if it leads on, and words. On a small screen it has its
// short words in one line, or is left out where it has none.
type welcomeLine struct{ key, text, short string }

// greet opens the welcome where nothing is set up, unless another dialog is there.
// It says the notice of the start too: a toast would lie over the box.
func (r *root) greet() bool {
	if !r.o.Welcome || len(r.dialogs) > 0 {
		return false
	}
	r.open(r.newWelcome())
	if r.o.Notice != "" {
		r.speech.add(time.Now(), time.Now().Add(-time.Hour), notice.Warn, r.o.Notice)
	}
	return true
}

func (r *root) newWelcome() *welcome {
	return &welcome{shown: r.welcomeText(), named: r.keys, demo: r.offersDemo(), setUp: r.offersSetUp()}
}

func (r *root) offersDemo() bool { return r.o.Demo != nil }

func (r *root) offersSetUp() bool {
	return len(r.o.Init) > 0 && r.o.Restart != nil && !r.o.ReadOnly
}

func (w *welcome) title() string { return textWelcome }

func (w *welcome) draw(l look, width, h int) []string {
	width = min(width, 64)
	lines, keys := w.lines(l, width, false)
	if len(lines) > h {
		lines, keys = w.lines(l, width, true)
	}
	if more := len(lines) - h; more > 0 && keys[0] == "" { // the keys say more than the words
		lines, keys = lines[1:], keys[1:]
	}
	n := max(0, min(h, len(lines)))
	w.keys = keys[:n]
	return lines[:n]
}

// lines draws the words, and gives the key of each line.
func (w *welcome) lines(l look, width int, short bool) (lines, keys []string) {
	column := 0
	for _, t := range w.shown {
		column = max(column, widget.Cells(t.key)+2)
	}
	add := func(key, line string) { lines, keys = append(lines, line), append(keys, key) }
	for i, t := range w.shown {
		text, most := t.text, -1
		if short {
			text, most = t.short, 1
		} else if i == 0 || t.key == "" || w.shown[i-1].key == "" {
			add("", widget.Blank(width))
		}
		if text == "" {
			continue
		}
		head := []widget.Span{{Text: "  "}}
		room := width - 4
		if t.key != "" {
			head = append(head, widget.Span{Role: theme.Key, Text: widget.Fit(t.key, column)})
			room -= column
		}
		for j, row := range widget.WrapN(text, max(1, room), most, l.theme.Glyph(theme.Ellipsis)) {
			if j > 0 {
				head = []widget.Span{{Text: widget.Blank(width - room - 2)}}
			}
			add(t.key, l.brush.Line(width, append(head, widget.Span{Text: row})...))
		}
	}
	if !short {
		add("", widget.Blank(width))
	}
	return lines, keys
}

func (w *welcome) key(msg tea.KeyPressMsg) verdict {
	switch {
	case w.demo && key.Matches(msg, welcomeKeys.demo):
		return verdict{demo: true}
	case w.setUp && key.Matches(msg, welcomeKeys.begin):
		return verdict{setUp: true}
	case key.Matches(msg, welcomeKeys.around):
		return verdict{shut: true}
	}
	// The keys that are named here work here: they are the user's to choose.
	for _, id := range []action.ID{action.Help, action.Palette} {
		if a, ok := w.named.Get(action.Everywhere, id); ok && slices.Contains(a.Keys, msg.String()) {
			return verdict{shut: id == action.Palette, run: &a}
		}
	}
	return verdict{}
}

// click is the key of the line under the pointer.
func (w *welcome) click(_, y int) verdict {
	if y < len(w.keys) {
		if msg, ok := keyNamed(w.keys[y]); ok {
			return w.key(msg)
		}
	}
	return verdict{}
}

func (w *welcome) wheel(bool) {}

func (w *welcome) hint() []key.Binding {
	out := []key.Binding{welcomeKeys.around}
	if w.demo {
		out = append(out, welcomeKeys.demo)
	}
	if w.setUp {
		out = append(out, welcomeKeys.begin)
	}
	return out
}

// setUpMsg says that Options.Init has ended.
type setUpMsg struct{ err error }

// beginSetUp hands the terminal over to the questions of the set-up.
func (r *root) beginSetUp() tea.Cmd {
	return r.handOver(r.o.Init, func(err error) tea.Msg { return setUpMsg{err} })
}

// setUp begins the bot anew with what was written, or says that nothing was.
func (r *root) setUp(msg setUpMsg) urgency {
	r.handedBack()
	switch {
	case r.ctx.Err() != nil:
	case msg.err != nil:
		r.say(notice.Warn, setUpText(msg.err))
	default:
		r.o.Restart()
	}
	return atOnce
}
