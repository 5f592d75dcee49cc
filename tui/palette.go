package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// palette finds an action by name and runs it. Actions that are off are
// listed with the reason.
type palette struct {
	items  []item // everything, those of the focused pane first
	shown  []item
	query  widget.Input
	cursor int
	top    int
}

type item struct {
	action action.Action
	name   string // "Schedule: Fire the selected task now"
	off    string
	marks  []int // bytes of name that the query hit
}

// paletteRows is how many actions are seen at once, as far as the screen allows.
const paletteRows = 18

func newPalette(r *root) *palette {
	p := &palette{}
	order := []action.Pane{r.focus, action.Everywhere}
	for _, other := range action.Panes {
		if other != r.focus {
			order = append(order, other)
		}
	}
	for _, where := range order {
		for _, a := range r.keys.Of(where) {
			if a.ID == action.Palette {
				continue
			}
			name := a.Title
			if where != action.Everywhere {
				name = where.Name() + ": " + a.Title
			}
			p.items = append(p.items, item{action: a, name: name, off: r.off(a)})
		}
	}
	p.shown = p.items
	return p
}

func (p *palette) title() string { return textPalette }

// String and Len make the items a source for the fuzzy search.
func (p *palette) String(i int) string { return p.items[i].name }

// Len is the number of items.
func (p *palette) Len() int { return len(p.items) }

func (p *palette) search() {
	p.cursor, p.top = 0, 0
	query := p.query.Text()
	if query == "" {
		p.shown = p.items
		return
	}
	p.shown = nil
	for _, m := range fuzzy.FindFrom(query, p) {
		it := p.items[m.Index]
		it.marks = m.MatchedIndexes
		p.shown = append(p.shown, it)
	}
}

func (p *palette) draw(l look, w, h int) []string {
	w = min(w, 76)
	rows := max(1, min(paletteRows, h-4))
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+rows {
		p.top = p.cursor - rows + 1
	}
	mark := l.brush.Line(3, widget.Span{Role: theme.Key, Text: " " + l.theme.Glyph(theme.Pointer)})
	lines := []string{mark + p.query.Line(l.brush, w-3, true)}
	for i := p.top; i < p.top+rows; i++ {
		if i < len(p.shown) {
			lines = append(lines, p.row(l, w, i))
		} else {
			lines = append(lines, widget.Blank(w))
		}
	}
	if len(p.shown) == 0 {
		lines[1] = l.brush.Line(w, widget.Span{Role: theme.Dim, Text: " " + textNoAction})
	}
	return lines
}

func (p *palette) row(l look, w, i int) string {
	it := p.shown[i]
	brush, mark := l.brush, "  "
	if i == p.cursor {
		brush.Back = theme.Select
		mark = l.theme.Glyph(theme.Pointer) + " "
	}
	left := append([]widget.Span{{Text: " " + mark}}, it.spans()...)
	right := []widget.Span{{Role: theme.Key, Text: it.action.KeyNames(l.theme.ASCII())}, {Text: " "}}
	if it.off != "" {
		left = append(left, widget.Span{Role: theme.Warn, Text: textDot + it.off})
	}
	return brush.Spread(w, left, right)
}

// spans is the name with what was hit in the colour of names.
func (it item) spans() []widget.Span {
	role := theme.Text
	if it.off != "" {
		role = theme.Dim
	}
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

func (p *palette) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, paletteKeys.run):
		return p.run(p.cursor)
	case key.Matches(msg, paletteKeys.up):
		p.move(-1)
	case key.Matches(msg, paletteKeys.down):
		p.move(+1)
	case key.Matches(msg, paletteKeys.pageUp):
		p.cursor = max(0, p.cursor-paletteRows)
	case key.Matches(msg, paletteKeys.pageDown):
		p.cursor = max(0, min(len(p.shown)-1, p.cursor+paletteRows))
	default:
		p.write(msg)
	}
	return verdict{}
}

// run carries out what stands in a row.
func (p *palette) run(i int) verdict {
	if i < 0 || i >= len(p.shown) {
		return verdict{}
	}
	return verdict{shut: true, run: &p.shown[i].action}
}

// click runs the row under the pointer, as enter does the marked one. The first
// line is the query.
func (p *palette) click(_, y int) verdict {
	if y == 0 {
		return verdict{}
	}
	return p.run(p.top + y - 1)
}

func (p *palette) light() {}

// write gives a key or a paste to the query.
func (p *palette) write(msg tea.Msg) {
	before := p.query.Text()
	p.query.Take(msg)
	if p.query.Text() != before {
		p.search()
	}
}

// move goes round at the ends.
func (p *palette) move(by int) {
	if n := len(p.shown); n > 0 {
		p.cursor = (p.cursor + by + n) % n
	}
}

func (p *palette) paste(msg tea.PasteMsg) { p.write(msg) }

func (p *palette) wheel(up bool) {
	if up {
		p.cursor = max(0, p.cursor-1)
	} else {
		p.cursor = max(0, min(len(p.shown)-1, p.cursor+1))
	}
}

func (p *palette) hint() []key.Binding {
	return []key.Binding{paletteKeys.run, paletteKeys.down, paletteKeys.shut}
}
