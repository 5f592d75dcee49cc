package view

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/undo"
	"ollimbot/tui/widget"
)

// hint is an entry of the help line: one or two keys with a description.
type hint struct {
	keys   []button // by their display names
	word   string
	effect string // of the key, now; may be empty
}

// add gives the hint a key.
func (h *hint) add(name string, target Target) {
	if n := len(h.keys); n > 0 {
		h.keys[n-1].Text += "/"
	}
	h.keys = append(h.keys, label(theme.Key, name, target))
}

// parts calls take for each button of the hint. Only the second key's name belongs to the
// second key. A callback, because building a slice each time the width is measured took two
// fifths of a frame's allocations.
func (h hint) parts(take func(button)) {
	take(label(theme.Text, " ", nil))
	for _, k := range h.keys {
		take(k)
	}
	take(label(theme.Dim, " ", h.keys[0].target))
	take(label(theme.Dim, h.word, h.keys[0].target))
	if h.effect != "" {
		take(label(theme.Text, " ", h.keys[0].target))
		take(label(theme.Text, h.effect, h.keys[0].target))
	}
	take(label(theme.Text, "  ", nil))
}

func buttonsOf(hints []hint) (out []button) {
	for _, h := range hints {
		h.parts(func(b button) { out = append(out, b) })
	}
	return out
}

func widthOf(hints []hint) (cells int) {
	for _, h := range hints {
		h.parts(func(b button) { cells += widget.Cells(b.Text) })
	}
	return cells
}

// helpLine shows what the keys do now, with their effects.
func (f frame) helpLine() bar {
	left, right := f.hints()
	return bar{buttonsOf(left), buttonsOf(right)}
}

// hints are the hints at the left and at the right end of the help line: the keys of the
// dialog or pane that has them now, and the way out or the keys that work everywhere.
func (f frame) hints() (left, right []hint) {
	if d := f.Top(); d != nil {
		return f.aside(d.Hint())
	}
	if p, ok := f.Panes[f.Focus].(hinter); ok && f.Panes[f.Focus].Capture() {
		return f.aside(append(p.Hint(), interruptHint(f.Snap.Busy, f.Remote)))
	}
	verbs := f.paneHints()
	left, right = fitting(verbs, f.rowHints(action.Everywhere), f.W)
	if extra := f.fresh(); len(left) == len(verbs) && widthOf(left)+widthOf(extra)+widthOf(right)+1 <= f.W {
		right = append(extra, right...)
	}
	return left, right
}

// fresh is what takes the latest change back, if nothing else was done since.
func (f frame) fresh() []hint {
	if f.Changes == nil {
		return nil
	}
	way, ok := f.Changes.Fresh()
	switch {
	case !ok:
		return nil
	case way == undo.Forward:
		return f.hintOf(action.Redo)
	}
	return f.hintOf(action.Undo)
}

// aside moves the key esc to the right end.
func (f frame) aside(bindings []key.Binding) (left, right []hint) {
	left = f.bindingHints(bindings)
	if i := slices.IndexFunc(left, func(h hint) bool { return h.keys[0].Text == "esc" }); i > 0 {
		right = []hint{left[i]}
		left = slices.Delete(left, i, i+1)
	}
	return fitting(left, right, f.W)
}

// narrowHelp is the width below which a pane's first two hints take precedence over the
// keys that work everywhere. On a wider screen, only the first does, which may be long.
const narrowHelp = 80

// fitting are the hints that fit. It drops hints at the right end before the most important
// ones at the left, but always keeps the key of the first one.
func fitting(left, right []hint, w int) (mine, everywhere []hint) {
	least := min(1, len(left))
	if w < narrowHelp {
		least = min(2, len(left))
	}
	tight := func(n int) bool { return widthOf(left[:n])+widthOf(right)+1 > w }
	for len(right) > 1 && tight(least) {
		right = right[:len(right)-1]
	}
	if len(right) > 0 && tight(least) {
		right[0].word = ""
	}
	for i := range left {
		if tight(least) { // the effects do not fit
			left[i].effect = ""
		}
	}
	n := len(left)
	for n > 0 && tight(n) {
		n--
	}
	return left[:n], right
}

// paneHints are the hints of the focused pane, the most important first. If the pane has
// only one line, the first hint opens it.
func (f frame) paneHints() []hint {
	out := f.rowHints(f.Focus)
	if f.Focus.Page() || f.Focus == action.Day {
		out = slices.Insert(out, min(1, len(out)), f.hintOf(action.Back)...)
	}
	if len(out) < fewHints { // add the next pane, the schedule and the chat
		for _, id := range []action.ID{action.GoNext, action.Schedule.Go(), action.Chat.Go()} {
			if id != f.Focus.Go() {
				out = append(out, f.hintOf(id)...)
			}
		}
	}
	plan, zoom := f.plan, f.hintOf(action.Zoom)
	switch {
	case plan.Strip == 0 || len(zoom) == 0:
		return out
	case len(plan.Columns) == 0:
		zoom[0].word = "open"
		return append(zoom, out...)
	}
	return slices.Insert(out, min(1, len(out)), zoom...)
}

// fewHints is the number of hints below which the help line adds ways to other panes.
const fewHints = 3

// rowHints are the hints of a pane's available actions.
func (f frame) rowHints(p action.Pane) (out []hint) {
	for _, a := range f.Keys.Of(p) {
		if !a.Quiet && len(a.Keys) > 0 && f.Off(a) == "" {
			out = append(out, f.hint(a))
		}
	}
	return out
}

// hintOf is the hint of an action that works everywhere; empty if it has no key.
func (f frame) hintOf(id action.ID) []hint {
	if a, ok := f.Keys.Get(action.Everywhere, id); ok && len(a.Keys) > 0 {
		return []hint{f.hint(a)}
	}
	return nil
}

// hinter is a pane with help for its keys while it captures all of them.
type hinter interface{ Hint() []key.Binding }

// worded is a pane in which the meaning of some keys changes. Word is the current
// description; empty means the one in the table of actions.
type worded interface{ Word(id action.ID) string }

// hint is the hint of an action.
func (f frame) hint(a action.Action) hint {
	h := hint{word: a.Short}
	if p, ok := f.Panes[a.Pane].(worded); ok {
		h.word = cmp.Or(p.Word(a.ID), h.word)
	}
	if a.ID == action.Quit && f.Remote {
		h.word = textDetach
	}
	pair, _ := f.Keys.Get(a.Pane, a.Pair)
	for _, a := range []action.Action{a, pair} {
		if len(a.Keys) > 0 {
			h.add(action.KeyName(a.Keys[0], f.Theme.ASCII()), Action{a.Pane, a.ID})
		}
	}
	switch {
	case a.Hint != nil:
		h.effect = a.Hint(*f.Snap)
	case a.ID == action.Undo:
		h.effect = f.next(undo.Back)
	case a.ID == action.Redo:
		h.effect = f.next(undo.Forward)
	}
	return h
}

// bindingHints are the hints of bindings. In ASCII, arrows have the same names as in lists
// of keys.
func (f frame) bindingHints(bindings []key.Binding) (out []hint) {
	for _, b := range bindings {
		h, names := hint{word: b.Help().Desc}, []string{b.Help().Key}
		if one, other, both := strings.Cut(names[0], "/"); both && one != "" && other != "" {
			names = []string{one, other}
		}
		for _, name := range names {
			shown := name
			if spelled, ok := action.Spell(name); ok && f.Theme.ASCII() {
				shown = action.KeyName(spelled, true)
			}
			h.add(shown, Key{name})
		}
		out = append(out, h)
	}
	return out
}

// button is a span of a row, with the target of a click.
type button struct {
	widget.Span
	target Target
}

func label(role theme.Role, text string, target Target) button {
	return button{widget.Span{Role: role, Text: text}, target}
}

func spansOf(row []button) []widget.Span {
	out := make([]widget.Span, len(row))
	for i, b := range row {
		out[i] = b.Span
	}
	return out
}

// buttonAt is the target at cell x of a row, or nil.
func buttonAt(row []button, x int) Target {
	for _, b := range row {
		n := widget.Cells(b.Text)
		if x >= 0 && x < n {
			return b.target
		}
		x -= n
	}
	return nil
}

// bar is a row across the screen, with buttons at its left edge and at its right edge.
// The right ones take precedence.
type bar struct{ left, right []button }

func (b bar) draw(t *theme.Theme, w int) string {
	brush, right := widget.Brush{Theme: t}, spansOf(b.right)
	n := min(widget.Width(right), w)
	return brush.Line(w-n, spansOf(b.left)...) + brush.Line(n, right...)
}

func (b bar) at(w, x int) Target {
	if start := w - min(widget.Width(spansOf(b.right)), w); x >= start {
		return buttonAt(b.right, x-start)
	}
	return buttonAt(b.left, x)
}
