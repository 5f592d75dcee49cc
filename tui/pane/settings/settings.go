// Package settings is the page of what can be set: the bot's configuration, the ping
// budget, and how the dashboard looks. It changes nothing by itself: a new value is
// answered as a command, which can be undone and stands in the audit log.
package settings

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// Page is the page of settings. Use New.
type Page struct {
	pane.List[*setting]
	editing bool
	field   widget.Input
	refused string // why the value that is written is not taken
	picked  int    // the choice that was clicked, from 1
}

// New returns the page.
func New() *Page {
	column := func(head string, role theme.Role, cells int, text func(s *setting) string) table.Column[*setting] {
		return table.Column[*setting]{Head: head, Cells: cells, Cell: func(s *setting) widget.Span { return widget.Span{Role: role, Text: text(s)} }}
	}
	p := &Page{}
	p.Columns = []table.Column[*setting]{
		column("SETTING", theme.Strong, 21, func(s *setting) string { return s.label }),
		column("VALUE", theme.Accent, 18, func(s *setting) string { return s.shown }),
		column("CHOICES", theme.Dim, 26, func(s *setting) string { return strings.Join(s.offers, " ") }),
		column("WHAT IT CHANGES", theme.Text, 0, func(s *setting) string { return s.about }),
	}
	p.Columns[3].Least = 12
	p.Noun, p.Text, p.Open = textRow, (*setting).text, action.SettingsEdit
	return p
}

// Title implements pane.Pane.
func (*Page) Title(pane.Context) (name, state string) { return textTitle, "" }

// Sync implements pane.Pane.
func (p *Page) Sync(c pane.Context) {
	p.Fill(rowsOf(c))
}

// Select selects the setting of a key, as the search found it.
func (p *Page) Select(key string) {
	p.EndQuery()
	p.editing = false
	p.Table.Select(func(s *setting) bool { return s.key == key })
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	picked := p.picked
	p.picked, p.refused = 0, ""
	s, ok := p.Row()
	_, verb, _ := strings.Cut(string(id), ".")
	switch {
	case p.Table.Do(verb):
	case !ok:
		return pane.Answer{Toast: textNothing}
	case c.ReadOnly:
		return pane.Answer{Toast: textReadOnly}
	case id == action.SettingsEdit:
		p.editing = true
		p.field.Set(s.value)
	case id == action.SettingsNext && picked > 0 && picked <= len(s.choices):
		return p.take(s, s.choices[picked-1])
	case id == action.SettingsNext:
		return p.step(s, +1)
	case id == action.SettingsPrevious:
		return p.step(s, -1)
	}
	return pane.Answer{}
}

// step takes the choice behind or before the value; where there are none, it is
// written.
func (p *Page) step(s *setting, by int) pane.Answer {
	n := len(s.choices)
	if n < 2 {
		p.editing = true
		p.field.Set(s.value)
		return pane.Answer{}
	}
	at := slices.Index(s.choices, s.value)
	if at < 0 && by < 0 {
		at = 0
	}
	return p.take(s, s.choices[(at+by+n)%n])
}

// take sets a value, or says beside the field why not.
func (p *Page) take(s *setting, value string) pane.Answer {
	do, err := s.set(s, strings.TrimSpace(value))
	if err != nil {
		p.refused = err.Error()
		return pane.Answer{}
	}
	p.editing, p.refused = false, ""
	if strings.TrimSpace(value) == s.value {
		return pane.Answer{}
	}
	return pane.Answer{Do: do}
}

// choicePlace is the place of the first choice below the table.
const choicePlace = 1 << 20

// Press implements pane.Pane: a choice below the table is taken.
func (p *Page) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if i := int(at) - choicePlace; i >= 0 {
		p.picked = i + 1
		return action.SettingsNext
	}
	p.refused = ""
	return p.List.Press(c, at, focused)
}

// Capture implements pane.Pane.
func (p *Page) Capture() bool { return p.editing || p.List.Capture() }

// Hint is the help line while the page takes every key.
func (p *Page) Hint() []key.Binding {
	if !p.editing {
		return p.List.Hint()
	}
	bind := func(k, word string) key.Binding { return key.NewBinding(key.WithKeys(k), key.WithHelp(k, word)) }
	return []key.Binding{bind("enter", textSet), bind("tab", textNextChoice), bind("esc", textLeave)}
}

// Type implements pane.Pane.
func (p *Page) Type(c pane.Context, msg tea.Msg) pane.Answer {
	if !p.editing {
		return p.List.Type(c, msg)
	}
	s, ok := p.Row()
	k, pressed := msg.(tea.KeyPressMsg)
	switch {
	case !ok || pressed && k.Keystroke() == "esc":
		p.editing, p.refused = false, ""
	case pressed && k.Keystroke() == "enter":
		return p.take(s, p.field.Text())
	case pressed && k.Keystroke() == "tab":
		if n := len(s.choices); n > 0 {
			p.field.Set(s.choices[(slices.Index(s.choices, p.field.Text())+1)%n])
			p.refused = ""
		}
	case p.field.Take(msg):
		p.refused = ""
	}
	return pane.Answer{}
}

// Draw implements pane.Pane: the table, and below it the selected setting: its value
// or the field, what it changes, its choices.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	s, ok := p.Row()
	below := 0
	if h >= 8 && ok {
		below = 4
	} else if p.editing && h >= 3 {
		below = 2
	}
	narrow := w < 56 // what a setting is counts more than what it does, which stands below
	p.Columns[1].Cells, p.Columns[1].Least, p.Columns[3].Hidden = 18, 0, narrow
	if narrow {
		p.Columns[1].Cells, p.Columns[1].Least = 0, 8
	}
	rows := p.Table.Draw(c.Theme, w, min(p.Lines(), h-below), focused && !p.editing)
	if below > 0 {
		rows = append(rows, p.detail(c, s, w, below)...)
	}
	return widget.FillRows(rows, w, h)
}

// detail is the selected setting in h lines.
func (p *Page) detail(c pane.Context, s *setting, w, h int) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	name := []widget.Span{{Role: theme.Strong, Text: s.label}}
	rows := []widget.Row{{Text: b.Rule(w, name, nil), Place: widget.Ruled}}
	if p.editing {
		rows = append(rows, widget.Row{Text: p.fieldLine(b, s, w), Place: widget.Inner})
	} else {
		value := b.Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Accent, Text: s.shown}, widget.Span{Role: theme.Bad, Text: "  " + p.refused})
		rows = append(rows, widget.Row{Text: value, Place: widget.Inner})
	}
	if h < 4 {
		return rows
	}
	rows = append(rows, widget.Row{Text: b.Line(w, widget.Span{Role: theme.Dim, Text: " " + s.about}), Place: widget.Inner})
	return append(rows, choices(b, s, w))
}

// fieldLine is the field, and beside it why its value is not taken.
func (p *Page) fieldLine(b widget.Brush, s *setting, w int) string {
	mark := widget.Span{Role: theme.Key, Text: " " + b.Theme.Glyph(theme.Pointer) + " "}
	why := widget.Span{Role: theme.Bad, Text: "  " + p.refused}
	room := w - 3
	if p.refused != "" {
		room = min(room, max(widget.Cells(p.field.Text())+2, 12))
	}
	if room < 1 {
		return b.Line(w, mark)
	}
	return b.Line(3, mark) + p.field.Line(b, room, true) + b.Line(w-3-room, why)
}

// choices are the values that can be clicked.
func choices(b widget.Brush, s *setting, w int) widget.Row {
	row := widget.Row{Place: widget.Inner}
	spans := []widget.Span{{Text: " "}}
	x := 1
	for i, word := range s.choices {
		role, text := theme.Key, "["+word+"]"
		if word == s.value {
			role = theme.Good
		}
		n := widget.Cells(text)
		row.Spots = append(row.Spots, widget.Spot{From: x, To: x + n, Place: choicePlace + widget.Place(i)})
		spans = append(spans, widget.Span{Role: role, Text: text}, widget.Span{Text: " "})
		x += n + 1
	}
	row.Text = b.Line(w, spans...)
	return row
}
