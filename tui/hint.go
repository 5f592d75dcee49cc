package tui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// hint is a place in the help line: a key, or two that share it, and words. The
// line that is drawn and what a click on it does come from the same hints.
type hint struct {
	keys   [2]string    // as people read them; the second may be empty
	ids    [2]action.ID // of pane's rows; empty where a dialog or a pane takes every key
	pane   action.Pane
	word   string
	effect string // what would come of it; may be empty
}

// gap is what keeps a hint apart from the next one.
const gap = "  "

// draw adds the hint to a row.
func (h hint) draw(row []widget.Span) []widget.Span {
	shown := h.keys[0]
	if h.keys[1] != "" {
		shown += "/" + h.keys[1]
	}
	row = append(row, widget.Span{Text: " "}, widget.Span{Role: theme.Key, Text: shown}, widget.Span{Role: theme.Dim, Text: " " + h.word})
	if h.effect != "" {
		row = append(row, widget.Span{Text: " " + h.effect})
	}
	return append(row, widget.Span{Text: gap})
}

// width is how many cells draw takes.
func (h hint) width() int {
	n := 1 + widget.Cells(h.keys[0]) + 1 + widget.Cells(h.word) + len(gap)
	if h.keys[1] != "" {
		n += 1 + widget.Cells(h.keys[1])
	}
	if h.effect != "" {
		n += 1 + widget.Cells(h.effect)
	}
	return n
}

// at is which key cell x of the hint stands for: the second one has its own
// name alone, everything else that is not blank is the first one's.
func (h hint) at(x int) (which int, ok bool) {
	second := 1 + widget.Cells(h.keys[0]) + 1
	if h.keys[1] != "" && x >= second && x < second+widget.Cells(h.keys[1]) {
		return 1, true
	}
	return 0, x >= 1 && x < h.width()-len(gap)
}

// helpLine says what the keys do now, and what would come of it.
func (r *root) helpLine() string {
	left, right := r.hints()
	return spread(widget.Brush{Theme: r.theme}, r.w, spansOf(left), spansOf(right))
}

func widthOf(hints []hint) int {
	n := 0
	for _, h := range hints {
		n += h.width()
	}
	return n
}

func spansOf(hints []hint) []widget.Span {
	out := make([]widget.Span, 0, 5*len(hints))
	for _, h := range hints {
		out = h.draw(out)
	}
	return out
}

// hints are what stands at the left of the help line and at its right end: keys
// of whatever has them now.
func (r *root) hints() (left, right []hint) {
	if n := len(r.dialogs); n > 0 {
		return withWayOut(bindingHints(r.dialogs[n-1].Hint(), r.theme.ASCII()), r.w), nil
	}
	if p := r.panes[r.focus]; p.Capture() {
		if h, ok := p.(hinter); ok {
			return withWayOut(bindingHints(append(h.Hint(), interruptHint(r.snap.Busy, r.o.Remote != nil)), r.theme.ASCII()), r.w), nil
		}
	}
	return r.fitting(r.paneHints(), r.commonHints())
}

// wanted is how many of a pane's hints must be seen before what is the same
// everywhere may take its room: on a wide screen the first, which may be long.
func wanted(w int) int {
	if w < narrowHelp {
		return wantedNarrow
	}
	return 1
}

const (
	narrowHelp   = 80 // cells
	wantedNarrow = 2
)

// fitting are the hints of a pane for which there is room, and as much of what is
// the same everywhere as leaves the pane its most important ones.
func (r *root) fitting(mine []hint, everywhere [][]hint) (left, right []hint) {
	fit := func(right []hint) []hint {
		room := r.w - widthOf(right) - 1
		for i, h := range mine {
			if room -= h.width(); room < 0 {
				return mine[:i]
			}
		}
		return mine
	}
	last := everywhere[len(everywhere)-1]
	least := min(wanted(r.w), len(mine))
	if len(fit(last)) < least { // what would come of a key takes more room than there is
		mine = slices.Clone(mine)
		for i := range mine {
			mine[i].effect = ""
		}
		least = min(least, len(fit(last)))
	}
	for _, right = range everywhere {
		if left = fit(right); len(left) >= least {
			break
		}
	}
	return left, right
}

// paneHints are those of the focused pane, the most important first. Where it has
// one line only, they tell how to open it.
func (r *root) paneHints() []hint {
	var out []hint
	for _, a := range r.keys.Of(r.focus) {
		if !a.Quiet && len(a.Keys) > 0 && r.off(a) == "" {
			out = append(out, r.hint(a))
		}
	}
	if back, _ := r.keys.Get(action.Everywhere, action.Back); r.focus.Page() {
		out = slices.Insert(out, min(1, len(out)), r.hint(back))
	}
	if len(out) < fewHints {
		out = append(out, r.elsewhere()...)
	}
	plan := r.plan()
	zoom, ok := r.keys.Get(action.Everywhere, action.Zoom)
	if plan.Strip == 0 || !ok || len(zoom.Keys) == 0 {
		return out
	}
	h := r.hint(zoom)
	if len(plan.Columns) == 0 {
		h.word = textOpen
		return slices.Insert(out, 0, h)
	}
	return slices.Insert(out, min(1, len(out)), h)
}

// fewHints is how many a pane must have to stand for itself in the help line.
const fewHints = 3

// elsewhere are the ways on from a pane in which there is little to do: to the next
// one, and to those in which something can be begun.
func (r *root) elsewhere() []hint {
	var out []hint
	for _, id := range []action.ID{action.GoNext, action.GoSchedule, action.GoChat} {
		a, ok := r.keys.Get(action.Everywhere, id)
		if ok && len(a.Keys) > 0 && id != r.focus.Go() {
			out = append(out, r.hint(a))
		}
	}
	return out
}

// withWayOut leaves out hints that do not fit, but not the first one and not the
// one that leads back. Where both are too long, the latter is its key alone.
func withWayOut(hints []hint, w int) []hint {
	for i := len(hints) - 1; i > 0 && widthOf(hints) > w; i-- {
		if hints[i].keys[0] != "esc" {
			hints = slices.Delete(hints, i, i+1)
		}
	}
	for i := len(hints) - 1; i >= 0 && widthOf(hints) > w; i-- {
		hints[i].word = ""
	}
	return hints
}

// commonHints are what is the same in every pane, and what of it may stand where
// there is less room: without what the page of keys tells, the keys alone, their
// sign alone.
func (r *root) commonHints() [][]hint {
	var all, some, keys []hint
	for _, a := range r.keys.Of(action.Everywhere) {
		if a.Quiet || len(a.Keys) == 0 || r.off(a) != "" {
			continue
		}
		h := r.hint(a)
		all = append(all, h)
		if a.ID != action.Palette && a.ID != action.Quit {
			some = append(some, h)
		}
		if a.ID == action.Help {
			keys = append(keys, h)
		}
	}
	sign := slices.Clone(keys)
	for i := range sign {
		sign[i].word = ""
	}
	return [][]hint{all, some, keys, sign}
}

// hinter is a pane that says what the keys do while it takes all of them.
type hinter interface{ Hint() []key.Binding }

// worded is a pane in which some keys do something else at times. Word is what they
// are called then; empty leaves the table's.
type worded interface{ Word(id action.ID) string }

// hint is an action's place in the help line: keys, word, effect.
func (r *root) hint(a action.Action) hint {
	ascii := r.theme.ASCII()
	h := hint{pane: a.Pane, word: a.Short}
	if p, ok := r.panes[a.Pane].(worded); ok {
		h.word = cmp.Or(p.Word(a.ID), h.word)
	}
	if a.ID == action.Quit && r.o.Remote != nil {
		h.word = textDetach
	}
	h.keys[0], h.ids[0] = action.KeyName(a.Keys[0], ascii), a.ID
	if p, ok := r.keys.Get(a.Pane, a.Pair); ok && len(p.Keys) > 0 {
		h.keys[1], h.ids[1] = action.KeyName(p.Keys[0], ascii), p.ID
	}
	if a.Hint != nil {
		h.effect = a.Hint(*r.snap)
	}
	return h
}

// bindingHints are bindings as the help line shows them: where no arrows can be
// drawn, under the names that every list has for these keys.
func bindingHints(bindings []key.Binding, ascii bool) []hint {
	out := make([]hint, 0, len(bindings))
	for _, b := range bindings {
		h := hint{keys: [2]string{b.Help().Key}, word: b.Help().Desc}
		if one, other, both := strings.Cut(h.keys[0], "/"); both && one != "" && other != "" {
			h.keys = [2]string{one, other}
		}
		for i, name := range h.keys {
			if spelled, _, ok := action.Spell(name); ok && ascii {
				h.keys[i] = action.KeyName(spelled, true)
			}
		}
		out = append(out, h)
	}
	return out
}

// spread puts right at the right edge whatever its share; left is known to fit.
func spread(b widget.Brush, w int, left, right []widget.Span) string {
	n := min(widget.Width(right), w)
	return b.Line(w-n, left...) + b.Line(n, right...)
}

// hintAt finds the hint under a cell of the help line, and which of its keys.
func (r *root) hintAt(x int) (h hint, which int, ok bool) {
	left, right := r.hints()
	start := r.w - min(widthOf(right), r.w)
	hints := left
	if x >= start {
		hints, x = right, x-start
	}
	for _, h := range hints {
		n := h.width()
		if x < n {
			which, ok = h.at(x)
			return h, which, ok
		}
		x -= n
	}
	return hint{}, 0, false
}

// pressHint does what the key under a cell of the help line does.
func (r *root) pressHint(x int) tea.Cmd {
	h, which, ok := r.hintAt(x)
	if !ok {
		return nil
	}
	if id := h.ids[which]; id != "" {
		a, _ := r.keys.Get(h.pane, id)
		return r.press(a)
	}
	if msg, ok := widget.Key(h.keys[which]); ok {
		return r.key(msg)
	}
	return nil
}
