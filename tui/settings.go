package tui

import (
	"cmp"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/settings"
)

// What the user has chosen about the dashboard itself: theme, layout, sizes and
// keys. All of it but the keys can be changed here and is remembered.

// recall reads what was chosen before, and says what is wrong in the files.
func (r *root) recall() {
	chosen, problems := settings.Load(r.o.Config)
	own, more := settings.Load(r.o.Kept)
	r.chosen = chosen.With(own)
	for _, p := range append(problems, more...) {
		r.hear(notice.Warn, p.String())
	}
	if r.o.Theme != "" && r.o.Theme != r.chosen["theme"] {
		r.choose(map[string]string{"theme": r.o.Theme})
	}
	r.facts.still = r.facts.still || r.chosen.Get("motion") == "off"
	r.readKeys()
}

// lookKeys reads keys.yaml again when it was saved: before a key counts, when the terminal
// gets the focus, and at each tick. Nothing has to watch it meanwhile.
func (r *root) lookKeys() {
	if settings.Look(r.o.Config) != r.stamp {
		r.readKeys()
		r.hear(notice.Info, textKeysRead)
	}
}

func (r *root) readKeys() {
	r.stamp = settings.Look(r.o.Config)
	var problems []settings.Problem
	r.keys, problems = settings.Keys(r.o.Config)
	for _, p := range problems {
		r.hear(notice.Warn, p.String())
	}
}

// choose changes what is remembered.
func (r *root) choose(values map[string]string) {
	r.chosen = r.chosen.With(values)
	if err := settings.Save(cmp.Or(r.o.Kept, r.o.Config), r.chosen); err != nil {
		r.hear(notice.Warn, err.Error())
	}
}

// wear changes how the dashboard looks by the names of its file.
func (r *root) wear(name, value string) {
	r.choose(map[string]string{name: value})
	r.refresh()
	r.setTheme()
	r.askBackground()
}

// following is what follows a word in a list, round and round; the first stands for
// a word that is not in it.
func following(list []string, word string) string {
	return list[(max(0, slices.Index(list, word))+1)%len(list)]
}

func (r *root) nextTheme() {
	r.wear("theme", following(settings.Themes, r.chosen.Get("theme")))
	r.say(notice.Info, textThemeIs+themeWords[r.chosen.Get("theme")])
}

// askBackground asks the terminal whether it is light or dark, where that matters.
func (r *root) askBackground() {
	if name := r.chosen.Get("theme"); name != "dark" && name != "light" {
		r.fail(r.screen.AskBackground())
	}
}

func (r *root) nextLayout() {
	next := following(layout.Presets, r.chosen["layout"])
	r.choose(map[string]string{"layout": next})
	text := textLayoutIs + next
	if r.plan().Mode != layout.Full {
		text += textLayoutLater
	}
	r.say(notice.Info, text)
}

// division is how the screen is to be divided now, in the sizes of the layout.
func (r *root) division() layout.Input {
	preset := r.chosen.Get("layout")
	return layout.Input{
		W: r.w, H: r.h, Zoom: r.whole(), Focus: r.focus, Lower: r.lower, Writing: r.needsRoom(),
		Preset: preset, Size: r.chosen.Size(preset), Content: r.content,
	}
}

// The steps of a pane's size.
const (
	columnStep = 4
	rowStep    = 2
)

// step is by how many cells the focused pane becomes wider and taller.
type step struct{ columns, rows int }

// steps are the actions that move borders.
var steps = map[action.ID]step{
	action.Wider: {columns: columnStep}, action.Narrower: {columns: -columnStep},
	action.Taller: {rows: rowStep}, action.Shorter: {rows: -rowStep},
}

// stepped is the screen after a step, or why it cannot be taken.
func (r *root) stepped(by step) (in layout.Input, why string) {
	if r.whole() || r.plan().Mode != layout.Full {
		return in, textNoSizes
	}
	in, ok := r.division().Step(r.focus, by.columns, by.rows)
	if !ok {
		return in, textNoRoom
	}
	return in, ""
}

// resizePane moves the borders of the focused pane, as far as there is room. Each
// layout keeps its own sizes.
func (r *root) resizePane(by step) {
	in, _ := r.stepped(by) // why not was said, as the reason why it is off
	r.choose(settings.Values(in.Size, in.Preset))
}

// attention keeps the badges of the top line in the window's title, and rings once when something has come to wait:
// text says what.
func (r *root) attention(text string) {
	if r.screen == nil {
		return
	}
	if r.chosen.Get("title") == "on" {
		title := r.name()
		for _, b := range r.badges() {
			title += textDot + strings.TrimSpace(b.forms[0][0].Text)
		}
		r.fail(r.screen.SetTitle(title))
	}
	switch bell := r.chosen.Get("bell"); {
	case text == "":
	case bell == "bell":
		r.fail(r.screen.Bell())
	case bell == "notify":
		r.fail(r.screen.Notify(r.name() + ": " + clean.Line(text)))
	}
}
