package dialog

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

// Help lists every key in groups: those of the focused pane first, then what works
// everywhere, then the other panes. A filter keeps the actions that contain its words.
type Help struct {
	focus action.Pane
	query widget.Query
	top   int // the first visible line
	page  int // how many are visible
}

// NewHelp returns the help for a focused pane.
func NewHelp(focus action.Pane) *Help { return &Help{focus: focus} }

const (
	// helpColumns is the width from which the groups stand in two columns.
	helpColumns = 74
	// helpKeys is the width of the keys before a title: "PgUp ctrl+b".
	helpKeys = 13
)

// Title implements pane.Dialog.
func (p *Help) Title() string { return "Keys" }

// Draw implements pane.Dialog. On a narrow screen it covers the panes.
func (p *Help) Draw(c pane.Context, w, h int) []string {
	if w > wholeWidth {
		w = min(w-Air, pageWidth)
	}
	lines, found := p.lines(c, w)
	p.page = max(1, h-1)
	p.top = max(0, min(p.top, len(lines)-p.page))
	out := []string{p.query.Line(brush(c), w, words.Count(found, "action"), nil)}
	out = append(out, lines[p.top:min(p.top+p.page, len(lines))]...)
	return widget.Fill(out, w, p.page+1)[:min(h, p.page+1)]
}

// lines are all groups, and the number of their actions. Each group goes to the shorter
// column.
func (p *Help) lines(c pane.Context, w int) (out []string, found int) {
	columns := make([][]string, 1)
	if w >= helpColumns {
		columns = make([][]string, 2)
	}
	each := w / len(columns)
	for _, where := range fromFocus(p.focus) {
		group := p.group(c, where, each)
		found += max(0, len(group)-2)
		to := &columns[0]
		if last := len(columns) - 1; len(columns[last]) < len(*to) {
			to = &columns[last]
		}
		*to = append(*to, group...)
	}
	for y := range max(len(columns[0]), len(columns[len(columns)-1])) {
		line := ""
		for _, column := range columns {
			if y < len(column) {
				line += column[y]
			} else {
				line += widget.Blank(each)
			}
		}
		out = append(out, line+widget.Blank(w-each*len(columns)))
	}
	if !p.query.On() {
		out = append(out, p.terms(c, w)...)
	}
	return out, found
}

// group is a pane with its actions, and a blank line; nothing if the filter keeps none.
func (p *Help) group(c pane.Context, where action.Pane, w int) (out []string) {
	b := brush(c)
	for _, a := range c.Keys.Of(where) {
		keys := a.KeyNames(c.Theme.ASCII())
		text := strings.Join([]string{keys, a.Name(), a.Short, a.More, a.Words}, " ")
		if len(a.Keys) > 0 && p.query.Keeps(query.Facts{Text: text}) {
			head := widget.Fit(" "+keys, min(helpKeys, w/3)) + " "
			out = append(out, b.Line(w, append([]widget.Span{{Role: theme.Key, Text: head}}, p.query.Mark(theme.Text, a.Title)...)...))
		}
	}
	if len(out) == 0 {
		return nil
	}
	name := where.Name()
	if k := c.Names(action.Everywhere).Key(where.Go()); k != "" {
		name += " (" + k + ")"
	}
	heading := b.Line(w, widget.Span{Role: theme.Strong, Text: " " + name})
	return append(append([]string{heading}, out...), widget.Blank(w))
}

// terms explain the words and signs of the dashboard, and the mouse.
func (p *Help) terms(c pane.Context, w int) (out []string) {
	b := brush(c)
	for _, row := range textHelpWords {
		if row.Text == "" {
			out = append(out, b.Line(w, widget.Span{Role: theme.Strong, Text: " " + row.Head}))
			continue
		}
		head := widget.Fit(" "+row.Head, min(helpKeys, w/3)) + " "
		for _, text := range widget.Wrap(row.Text, w-widget.Cells(head)-1) {
			out = append(out, b.Line(w, widget.Span{Role: theme.Key, Text: head}, widget.Span{Text: text}))
			head = widget.Blank(widget.Cells(head))
		}
	}
	return out
}

// Update implements pane.Dialog.
func (p *Help) Update(_ pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Click:
		return pane.Answer{Close: msg.Beside}
	case pane.Wheel:
		p.scroll(map[bool]string{true: "up", false: "down"}[msg.Up], wheelLines)
	case tea.PasteMsg:
		if p.query.Typing() {
			p.query.Type(msg)
		}
	case tea.KeyPressMsg:
		return p.key(msg)
	}
	return pane.Answer{}
}

func (p *Help) key(msg tea.KeyPressMsg) pane.Answer {
	k := msg.String()
	switch {
	case k == "ctrl+c":
		return pane.Answer{Close: true}
	case p.query.Typing():
		changed, verb := p.query.Type(msg)
		if changed {
			p.top = 0
		}
		p.scroll(verb, 1)
	case k == "esc" && p.query.End():
	case key.Matches(msg, pageKeys.shut):
		return pane.Answer{Close: true}
	case k == "/":
		p.query.Open()
	default:
		p.scroll(pageVerbs[k], 1)
	}
	return pane.Answer{}
}

// scroll moves the visible lines; drawing keeps them in bounds.
func (p *Help) scroll(verb string, lines int) {
	p.top += map[string]int{"up": -lines, "down": lines, "pgup": -p.page, "pgdn": p.page, "home": -1 << 20, "end": 1 << 20}[verb]
}

// Hint implements pane.Dialog.
func (p *Help) Hint() []key.Binding {
	if p.query.Typing() {
		return p.query.Hint()
	}
	return []key.Binding{pageKeys.shut, named(pageKeys.find, "filter"), pageKeys.scroll}
}
