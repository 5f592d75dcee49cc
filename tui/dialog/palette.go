package dialog

import (
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Palette is the one search: it finds an action by its name, by its id, by a key or
// by what people call it, and runs it; and tasks, runs, updates and settings, with
// what can be done with them. Actions that are off are listed; of the marked one the reason
// stands below the list, with its id.
type Palette struct {
	keys   action.Keys // that items names
	focus  action.Pane // when it opened
	off    func(action.Action) string
	items  []item          // the actions, those of the focused pane first
	things []item          // what is found beside them
	runs   map[string]bool // that are among them
	shown  []item
	query  widget.Input
	cursor int
	top    int
	rows   int // of the list, when it was drawn last
}

type item struct {
	action action.Action
	name   string // "Schedule: Fire the selected task now"
	place  int    // in the table
	marks  []int  // bytes of name that the query hit
	thing  *thing // nil for an action
	all    string // of a run: what a query's words have to be in, in small letters
}

const (
	// paletteRows is how many actions are seen at once, as far as the screen allows.
	paletteRows = 18
	// factRows is how many lines below the list say what the marked action is. On
	// a screen with less room for all of it than roomyPalette it is one.
	factRows     = 2
	roomyPalette = 10
)

// NewPalette lists the actions, those of the focused pane first; off says why one
// cannot be used now.
func NewPalette(c pane.Context, focus action.Pane, off func(action.Action) string) *Palette {
	p := &Palette{focus: focus, off: off, runs: map[string]bool{}}
	p.fillThings(c)
	p.fill(c.Keys)
	p.shown = p.items
	return p
}

// fill lists the actions with the keys that the user wants.
func (p *Palette) fill(keys action.Keys) {
	p.keys, p.items = keys, nil
	order := []action.Pane{p.focus, action.Everywhere}
	for _, other := range action.AllPanes {
		if other != p.focus {
			order = append(order, other)
		}
	}
	for _, where := range order {
		for i, a := range keys.Of(where) {
			if a.ID != action.Palette {
				p.items = append(p.items, item{action: a, name: a.Name(), place: 1000*tableOrder(where) + i})
			}
		}
	}
}

// tableOrder is where the rows of a pane stand in the table.
func tableOrder(p action.Pane) int {
	if i := slices.Index(action.AllPanes, p); i >= 0 {
		return i
	}
	return len(action.AllPanes)
}

// rekey takes other keys; what is written and marked stays.
func (p *Palette) rekey(now action.Keys) {
	if p.keys == now {
		return
	}
	p.fill(now)
	p.refresh()
}

// refresh searches anew; what is marked stays.
func (p *Palette) refresh() {
	cursor, top := p.cursor, p.top
	p.search()
	p.cursor, p.top = max(0, min(cursor, len(p.shown)-1)), top
}

// Title implements pane.Dialog.
func (p *Palette) Title() string { return textPalette }

// Draw implements pane.Dialog.
func (p *Palette) Draw(c pane.Context, w, h int) []string {
	p.rekey(c.Keys)
	w = min(w-air, 76)
	facts := p.facts(c, w, h)
	p.rows = max(1, min(paletteRows+factRows, h-1)-len(facts))
	if p.cursor < p.top {
		p.top = p.cursor
	}
	p.top = max(p.top, p.cursor-p.rows+1)
	mark := brush(c).Line(min(3, w), widget.Span{Role: theme.Key, Text: " " + c.Theme.Glyph(theme.Pointer)})
	lines := []string{mark + p.query.Line(brush(c), max(0, w-3), true)}
	for i := p.top; i < p.top+p.rows; i++ {
		if i < len(p.shown) {
			lines = append(lines, p.row(c, w, i))
		} else {
			lines = append(lines, widget.Blank(w))
		}
	}
	if len(p.shown) == 0 {
		lines[1] = brush(c).Line(w, widget.Span{Role: theme.Dim, Text: " " + textNoAction})
	}
	lines = append(lines, facts...)
	return lines[:min(len(lines), h)]
}

// facts are the lines below the list: why the marked action is off, in full where
// half of the screen holds it, then its id and where it stands in the list.
func (p *Palette) facts(c pane.Context, w, h int) []string {
	var why []string
	least := factRows
	if h < roomyPalette {
		least = 1
	}
	if p.cursor < len(p.shown) {
		if off := p.why(p.shown[p.cursor]); off != "" {
			for _, t := range widget.WrapN(textIsOff+off, w-2, max(1, h/2), c.Theme.Glyph(theme.Ellipsis)) {
				why = append(why, brush(c).Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Warn, Text: t}))
			}
		}
	}
	if h < 4 { // the list is worth more
		return why[:min(len(why), max(0, h-2))]
	}
	for len(why) < least-1 {
		why = append(why, widget.Blank(w))
	}
	return append(why, p.place(c, w))
}

// place names the marked action as keys.yaml does, and says where it stands.
func (p *Palette) place(c pane.Context, w int) string {
	if len(p.shown) == 0 {
		return widget.Blank(w)
	}
	where := strconv.Itoa(p.cursor+1) + textOf + strconv.Itoa(len(p.shown)) + " "
	if t := p.shown[p.cursor].thing; t != nil {
		return brush(c).Spread(w, []widget.Span{{Role: theme.Dim, Text: " enter " + t.does}}, []widget.Span{{Role: theme.Dim, Text: where}})
	}
	id := string(p.shown[p.cursor].action.ID)
	if name := textIDIs + id; len(name)+len(where)+2 <= w {
		id = name
	}
	return brush(c).Spread(w, []widget.Span{{Role: theme.Dim, Text: " " + id}}, []widget.Span{{Role: theme.Dim, Text: where}})
}

// row is an action and its keys. One that is off says so in a word, for those
// who see no colours.
func (p *Palette) row(c pane.Context, w, i int) string {
	it := p.shown[i]
	brush, mark := brush(c), "  "
	if i == p.cursor {
		brush.Back = theme.Select
		mark = c.Theme.Glyph(theme.Pointer) + " "
	}
	role := theme.Text
	right := []widget.Span{{Role: theme.Key, Text: it.action.KeyNames(c.Theme.ASCII())}, {Text: " "}}
	if it.thing != nil {
		right[0] = widget.Span{Role: theme.Dim, Text: it.thing.kind}
	}
	if p.why(it) != "" {
		role = theme.Dim
		right = append([]widget.Span{{Role: theme.Warn, Text: textOff + "  "}}, right...)
	}
	return brush.Spread(w, append([]widget.Span{{Text: " " + mark}}, it.spans(role)...), right)
}

// spans is the name with what was hit in the colour of names.
func (it item) spans(role theme.Role) []widget.Span {
	var out []widget.Span
	last := 0
	for _, m := range it.marks {
		if m < last || m >= len(it.name) {
			continue
		}
		n := runeLen(it.name[m:])
		out = append(out, widget.Span{Role: role, Text: it.name[last:m]}, widget.Span{Role: theme.Focus, Text: it.name[m : m+n]})
		last = m + n
	}
	return append(out, widget.Span{Role: role, Text: it.name[last:]})
}

// Take implements pane.Dialog.
func (p *Palette) Take(c pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Done: // the stored runs
		if msg.Outcome.Runs != nil {
			p.addRuns(c, msg.Outcome.Runs.Runs)
			p.refresh()
		}
	case pane.Click:
		// The first line is the query, the last ones are facts.
		if msg.Beside || msg.Y == 0 || msg.Y > p.rows {
			return pane.Answer{Close: msg.Beside}
		}
		return p.run(p.top + msg.Y - 1)
	case pane.Wheel:
		if p.cursor++; msg.Up {
			p.cursor -= 2
		}
		p.cursor = max(0, min(len(p.shown)-1, p.cursor))
	case tea.PasteMsg:
		p.write(msg)
	case tea.KeyPressMsg:
		return p.key(msg)
	}
	return pane.Answer{}
}

func (p *Palette) key(msg tea.KeyPressMsg) pane.Answer {
	switch {
	case closes(msg):
		return pane.Answer{Close: true}
	case key.Matches(msg, paletteKeys.run):
		return p.run(p.cursor)
	case key.Matches(msg, paletteKeys.up):
		p.move(-1)
	case key.Matches(msg, paletteKeys.down):
		p.move(+1)
	case key.Matches(msg, paletteKeys.pageUp):
		p.cursor = max(0, p.cursor-max(1, p.rows))
	case key.Matches(msg, paletteKeys.pageDown):
		p.cursor = max(0, min(len(p.shown)-1, p.cursor+max(1, p.rows)))
	default:
		p.write(msg)
	}
	return pane.Answer{}
}

// run carries out what stands in a row.
func (p *Palette) run(i int) pane.Answer {
	if i < 0 || i >= len(p.shown) {
		return pane.Answer{}
	}
	it := &p.shown[i]
	switch {
	case it.thing == nil:
		return pane.Answer{Close: true, Run: &it.action}
	case it.thing.why != "":
		return pane.Answer{Close: true, Toast: it.name + ": " + it.thing.why}
	}
	a := it.thing.answer
	a.Close = true
	return a
}

// write gives a key or a paste to the query.
func (p *Palette) write(msg tea.Msg) {
	before := p.query.Text()
	p.query.Take(msg)
	if p.query.Text() != before {
		p.search()
	}
}

// move goes round at the ends.
func (p *Palette) move(by int) {
	if n := len(p.shown); n > 0 {
		p.cursor = (p.cursor + by + n) % n
	}
}

// Hint implements pane.Dialog.
func (p *Palette) Hint() []key.Binding {
	return []key.Binding{paletteKeys.run, paletteKeys.down, paletteKeys.shut}
}

var paletteKeys = struct{ run, up, down, pageUp, pageDown, shut key.Binding }{
	run:      binding("enter", textRun, "enter"),
	up:       binding("", "", "up", "ctrl+p", "shift+tab"),
	down:     binding("tab", textNextOne, "down", "ctrl+n", "tab"),
	pageUp:   binding("", "", "pgup"),
	pageDown: binding("", "", "pgdown"),
	shut:     binding("esc", textClose, "esc"),
}
