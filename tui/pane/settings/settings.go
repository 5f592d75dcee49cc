// Package settings is the page of settings: the bot's configuration, the ping budget, and the
// look of the dashboard. It must not change anything by itself: a new value is a command,
// which can be undone and is in the audit log.
package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// Page is the page of settings. Use New.
type Page struct {
	pane.List[*setting]
	picked int // the choice that was clicked, from 1
}

// New returns the page.
func New() *Page {
	p := &Page{}
	p.Columns = []table.Column[*setting]{
		table.Words("SETTING", 21, theme.Strong, func(s *setting) string { return s.label }),
		table.Words("VALUE", 18, theme.Accent, func(s *setting) string { return s.Value }),
		table.Words("CHOICES", 26, theme.Dim, func(s *setting) string { return strings.Join(s.Offers, " ") }),
		table.Words("WHAT IT CHANGES", 0, theme.Text, func(s *setting) string { return s.About }),
	}
	p.Columns[3].Least = 12
	p.Noun, p.Facts, p.Open = textRow, (*setting).facts, action.SettingsEdit
	return p
}

// Sync implements pane.Pane.
func (p *Page) Sync(c pane.Context) { p.Fill(rowsOf(c)) }

// Show selects the setting of a key.
func (p *Page) Show(_ pane.Context, key string) {
	p.EndQuery()
	p.Select(func(s *setting) bool { return s.Key == key })
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	picked := p.picked
	p.picked = 0
	s, ok := p.Row()
	switch {
	case p.Table.Do(id.Verb()):
	case !ok:
		return pane.Answer{Toast: textNothing}
	case id == action.SettingsEdit:
		return pane.Answer{Open: s.form()}
	case id == action.SettingsNext && picked > 0 && picked <= len(s.Choices):
		return s.take(s.Choices[picked-1])
	case id == action.SettingsNext:
		return s.step(+1)
	case id == action.SettingsPrevious:
		return s.step(-1)
	}
	return pane.Answer{}
}

// step takes the next or previous choice; a setting without choices opens its form.
func (s *setting) step(by int) pane.Answer {
	n, at := len(s.Choices), slices.Index(s.Choices, s.Text)
	if n < 2 {
		return pane.Answer{Open: s.form()}
	}
	if at < 0 && by < 0 {
		at = 0
	}
	return s.take(s.Choices[(at+by+n)%n])
}

// take sets a value; the current one changes nothing.
func (s *setting) take(value string) pane.Answer {
	do, err := s.set(s, value)
	switch {
	case err != nil:
		return pane.Answer{Toast: err.Error()}
	case value == s.Text:
		return pane.Answer{}
	}
	return pane.Answer{Do: do}
}

// form asks for a value.
func (s *setting) form() *dialog.Form {
	field := dialog.Text(textValue, s.Text, func(_ pane.Context, text string) (string, bool) {
		if _, err := s.set(s, strings.TrimSpace(text)); err != nil {
			return err.Error(), false
		}
		return s.About, true
	})
	return &dialog.Form{
		Name: s.label + ": " + strings.Join(s.Offers, ", "), Fields: []*dialog.Field{field},
		Make: func(pane.Context) command.Value { return s.take(strings.TrimSpace(field.Text())).Do },
	}
}

// choicePlace is the place of the first choice below the table.
const choicePlace = 1 << 20

// Press implements pane.Pane: a choice below the table is taken.
func (p *Page) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if i := int(at) - choicePlace; i >= 0 {
		p.picked = i + 1
		return action.SettingsNext
	}
	return p.List.Press(c, at, focused)
}

// Draw implements pane.Pane: the table, and below it the value, description and choices of
// the selected setting.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	s, ok := p.Row()
	below := 0
	if h >= 8 && ok {
		below = 4
	}
	narrow := w < 56 // its name counts more than its description, which is below
	p.Columns[1].Cells, p.Columns[1].Least, p.Columns[3].Hidden = 18, 0, narrow
	if narrow {
		p.Columns[1].Cells, p.Columns[1].Least = 0, 8
	}
	rows := p.Table.Draw(c.Theme, w, min(p.Lines(), h-below), focused)
	if below > 0 {
		rows = append(rows, detail(c, s, w)...)
	}
	return widget.FillRows(rows, w, h)
}

// detail is the selected setting in four lines.
func detail(c pane.Context, s *setting, w int) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	name := []widget.Span{{Role: theme.Strong, Text: s.label}}
	line := func(role theme.Role, text string) widget.Row {
		return widget.Row{Text: b.Line(w, widget.Span{Text: " "}, widget.Span{Role: role, Text: text}), Place: widget.Inner}
	}
	rule := widget.Row{Text: b.Rule(w, name, nil), Place: widget.Ruled}
	return []widget.Row{rule, line(theme.Accent, s.Value), line(theme.Dim, s.About), choices(b, s, w)}
}

// choices are the values that can be clicked.
func choices(b widget.Brush, s *setting, w int) widget.Row {
	row := widget.Row{Place: widget.Inner}
	spans := []widget.Span{{Text: " "}}
	x := 1
	for i, word := range s.Choices {
		role, text := theme.Key, "["+word+"]"
		if word == s.Text {
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

// setting is one row: a setting, and the command that sets a value or the reason why it is
// invalid.
type setting struct {
	config.Line
	label string
	set   func(s *setting, value string) (command.Value, error)
}

// facts are what a filter finds a setting by.
func (s *setting) facts() query.Facts {
	return query.Facts{Text: s.label + " " + strings.ReplaceAll(s.Key, "_", " ") + " " + s.Value + " " + s.About}
}

// rowsOf are all settings: of the bot, of the budget, of the dashboard.
func rowsOf(c pane.Context) []*setting {
	var rows []*setting
	add := func(label string, l config.Line, set func(*setting, string) (command.Value, error)) {
		rows = append(rows, &setting{l, label, set})
	}
	for _, l := range config.Show(c.Snap.Config) {
		add(l.Key, l, setConfig)
	}
	number := func(key, label, about string, n int, noun string) {
		value := words.Grouped(uint64(max(0, n)), noun)
		add(label, config.Line{Key: key, Text: strconv.Itoa(n), Value: value, Offers: []string{noun + "s"}, About: about}, setBudget)
	}
	number(keyCapacity, textCapacity, aboutCapacity, c.Snap.Budget.State.Capacity, "token")
	number(keyRefill, textRefill, aboutRefill, c.Snap.Budget.State.RefillRateMinutes, "minute")
	for _, name := range settings.Names {
		value, choices := c.Chosen.Get(name), settings.Choices[name]
		label, about := textDashboard+name, aboutLooks[name]
		add(label, config.Line{Key: "dashboard." + name, Text: value, Value: value, Offers: choices, Choices: choices, About: about}, setLook)
	}
	return rows
}

// Find lists the settings for the search of the palette.
func Find(c pane.Context) (list []dialog.Found) {
	for _, s := range rowsOf(c) {
		list = append(list, dialog.Found{Key: s.Key, Name: s.label + ": " + s.Value})
	}
	return list
}

func setConfig(s *setting, value string) (command.Value, error) {
	return command.SetConfig{Key: s.Key, Value: value}, config.Try(&config.Runtime{}, s.Key, value)
}

func setBudget(s *setting, value string) (command.Value, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, fmt.Errorf(textNoNumber, s.label, value)
	}
	var set command.SetBudget
	if s.Key == keyCapacity {
		set.Capacity = &n
	} else {
		set.RefillMinutes = &n
	}
	return set, budget.Validate(set.Capacity, set.RefillMinutes)
}

func setLook(s *setting, value string) (command.Value, error) {
	if !slices.Contains(s.Choices, value) {
		return nil, fmt.Errorf(textNoChoice, s.label, strings.Join(s.Choices, ", "))
	}
	return command.SetLook{Name: strings.TrimPrefix(s.Key, "dashboard."), Value: value, Was: s.Text}, nil
}

const (
	textRow       = "setting"
	textNothing   = "no setting is selected"
	textValue     = "Value"
	textDashboard = "dashboard "
	textCapacity  = "ping capacity"
	textRefill    = "ping refill"

	textNoNumber = "%s: %q is not a whole number"
	textNoChoice = "%s must be one of: %s"

	keyCapacity   = "budget.capacity"
	keyRefill     = "budget.refill"
	aboutCapacity = "how many pings the budget can save up; 0 mutes"
	aboutRefill   = "minutes until one more ping is allowed"
)

// aboutLooks are what the dashboard's own settings change.
var aboutLooks = map[string]string{
	"theme":          "the colours of the dashboard; auto follows the terminal",
	"layout":         "which pane has the most room",
	"clock":          "whether times are shown as 14:02 or as 2:02pm",
	"charts":         "how curves are drawn: blocks if the font has no braille",
	"bell":           "how the terminal announces what needs you: bell or notification",
	"title":          "whether the window title shows what needs you",
	settings.Welcome: "whether the welcome opens by itself until setup is complete",
	"motion":         "whether seconds are counted on the screen; applies from the next start",
}
