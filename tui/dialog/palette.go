package dialog

import (
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
	items  []*item         // the actions, those of the focused pane first
	things []*item         // what is found beside them
	runs   map[string]bool // that are among them
	shown  []*item
	query  widget.Query
	list   widget.List
	top    int // the first row that is seen
	rows   int // of the list, when it was drawn last
}

type item struct {
	action action.Action
	name   string // "Schedule: Fire the selected task now"
	*thing        // nil for an action
	all    string // of a run: what a query's words have to be in, in small letters
	match  action.Match
}

const (
	// paletteRows is how many actions are seen at once, as far as the screen allows.
	paletteRows = 18
	// roomyPalette is from how many lines on the list keeps its height whatever is marked.
	roomyPalette = 10
)

// NewPalette lists the actions, those of the focused pane first; off says why one
// cannot be used now.
func NewPalette(c pane.Context, focus action.Pane, off func(action.Action) string) *Palette {
	p := &Palette{focus: focus, off: off, runs: map[string]bool{}}
	p.query.Open()
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
		for _, a := range keys.Of(where) {
			if a.ID != action.Palette {
				p.items = append(p.items, &item{action: a, name: a.Name()})
			}
		}
	}
}

// refresh searches anew; what is marked stays.
func (p *Palette) refresh() {
	at := p.list.At
	p.search()
	p.list.At = at
	p.list.Clamp(len(p.shown))
}

// why is why an item cannot be run; empty means that it can.
func (p *Palette) why(it *item) string {
	if it.thing != nil {
		return it.off
	}
	return p.off(it.action)
}

// Title implements pane.Dialog.
func (p *Palette) Title() string { return textPalette }

// Draw implements pane.Dialog.
func (p *Palette) Draw(c pane.Context, w, h int) []string {
	if p.keys != c.Keys {
		p.fill(c.Keys)
		p.refresh()
	}
	w = min(w-air, 76)
	b, where := brush(c), textNoAction
	var facts []string
	if len(p.shown) > 0 {
		facts = p.facts(b, w, h)
		where = strconv.Itoa(p.list.At+1) + textOf + strconv.Itoa(len(p.shown))
	}
	p.rows = max(1, min(paletteRows+2, h-1)-len(facts))
	p.top = p.list.Window(p.list.At, p.list.At, len(p.shown), p.rows)
	lines := []string{p.query.Line(b, w, where)}
	for i := p.top; i < min(p.top+p.rows, len(p.shown)); i++ {
		lines = append(lines, p.row(c, w, i))
	}
	lines = append(widget.Fill(lines, w, p.rows+1), facts...)
	return lines[:min(len(lines), h)]
}

// facts are the lines below the list: why the marked item is off, in full where half of
// the screen holds it, then what it is: its name in keys.yaml, or what enter does.
func (p *Palette) facts(b widget.Brush, w, h int) []string {
	it := p.shown[p.list.At]
	var out []string
	if off := p.why(it); off != "" {
		for _, t := range widget.WrapN(textIsOff+off, w-2, max(1, h/2), b.Theme.Glyph(theme.Ellipsis)) {
			out = append(out, b.Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Warn, Text: t}))
		}
	} else if h >= roomyPalette {
		out = append(out, widget.Blank(w))
	}
	if h < 4 { // the list is worth more
		return out[:min(len(out), max(0, h-2))]
	}
	is := textIDIs + string(it.action.ID)
	if it.thing != nil {
		is = textEnter + it.does
	}
	return append(out, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + is}))
}

// row is an action and its keys. One that is off says so in a word, for those
// who see no colours.
func (p *Palette) row(c pane.Context, w, i int) string {
	it, b, mark := p.shown[i], brush(c), "  "
	if i == p.list.At {
		b.Back, mark = theme.Select, c.Theme.Glyph(theme.Pointer)+" "
	}
	role, right := theme.Text, []widget.Span{{}, {Role: theme.Key, Text: it.action.KeyNames(c.Theme.ASCII())}, {Text: " "}}
	if it.thing != nil {
		right[1] = widget.Span{Role: theme.Dim, Text: it.kind}
	}
	if p.why(it) != "" {
		role, right[0] = theme.Dim, widget.Span{Role: theme.Warn, Text: textOff + "  "}
	}
	return b.Spread(w, append([]widget.Span{{Text: " " + mark}}, p.query.Mark(role, it.name)...), right)
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
		p.list.Move(map[bool]string{true: "up", false: "down"}[msg.Up], len(p.shown), p.rows)
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
		return p.run(p.list.At)
	case key.Matches(msg, paletteKeys.up):
		p.move(-1)
	case key.Matches(msg, paletteKeys.down):
		p.move(+1)
	default:
		p.write(msg)
	}
	return pane.Answer{}
}

// move goes round at the ends.
func (p *Palette) move(by int) {
	if n := len(p.shown); n > 0 {
		p.list.At = (p.list.At + by + n) % n
	}
}

// write gives a key or a paste to the query.
func (p *Palette) write(msg tea.Msg) {
	changed, verb := p.query.Type(msg)
	p.list.Move(verb, len(p.shown), p.rows)
	if changed {
		p.search()
	}
}

// run carries out what stands in a row.
func (p *Palette) run(i int) pane.Answer {
	if i < 0 || i >= len(p.shown) {
		return pane.Answer{}
	}
	it := p.shown[i]
	switch {
	case it.thing == nil:
		return pane.Answer{Close: true, Run: &it.action}
	case it.off != "":
		return pane.Answer{Close: true, Toast: it.name + ": " + it.off}
	}
	a := it.answer
	a.Close = true
	return a
}

// Hint implements pane.Dialog.
func (p *Palette) Hint() []key.Binding {
	return []key.Binding{paletteKeys.run, paletteKeys.down, binding("esc", textClose, "esc")}
}

var paletteKeys = struct{ run, up, down key.Binding }{
	run:  binding("enter", textRun, "enter"),
	up:   binding("", "", "up", "ctrl+p", "shift+tab"),
	down: binding("tab", textNextOne, "down", "ctrl+n", "tab"),
}
