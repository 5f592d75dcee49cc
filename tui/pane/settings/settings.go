// Package settings is the page of settings: the bot's configuration, the ping budget, and the dashboard's appearance.
// It must not change anything directly: a new value is a command, which can be undone and is in the audit log.
package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	picked int // the clicked choice, from 1
}

// New returns the page.
func New() *Page {
	p := &Page{}
	p.Columns = []table.Column[*setting]{
		table.Words("SETTING", 20, theme.Strong, func(s *setting) string { return s.About.Name }),
		table.Words("VALUE", 23, theme.Accent, func(s *setting) string { return s.Long }),
		table.Words("WHAT IT CHANGES", 0, theme.Text, func(s *setting) string { return s.About.About }),
	}
	p.Noun, p.Facts, p.Open = "setting", (*setting).facts, action.SettingsEdit
	p.Group = func(s *setting) widget.Span { return widget.Span{Role: theme.Strong, Text: s.About.Group} }
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
	case id == action.SettingsEdit && config.TakesModel(s.Key):
		return dialog.PickModel(s.About.Name, s.About.About, s.Text, s.Choices, func(value string) (command.Value, error) { return s.set(s, value) })
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

// step selects the next or previous choice; a setting without choices opens its form.
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

// take sets a value, unless it is the current one.
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

// form asks for a value: one of the choices, or a text.
func (s *setting) form() *dialog.Form {
	if s.Closed {
		return dialog.Pick(s.About.Name, s.Choices, max(0, slices.Index(s.Choices, s.Text)), func(i int) command.Value { return s.take(s.Choices[i]).Do })
	}
	field := dialog.Text("Value", s.Text, func(_ pane.Context, text string) (string, bool) {
		if _, err := s.set(s, strings.TrimSpace(text)); err != nil {
			return strings.TrimPrefix(err.Error(), s.Key+": "), false
		}
		return s.About.About, true
	})
	field.Hint, field.Selected = s.About.About+" "+s.example(), true
	if s.About.Unit != "" {
		field.Label = strings.ToUpper(s.About.Unit[:1]) + s.About.Unit[1:]
	}
	return &dialog.Form{
		Name: s.About.Name, Fields: []*dialog.Field{field},
		Make: func(pane.Context) command.Value { return s.take(strings.TrimSpace(field.Text())).Do },
	}
}

// example returns a valid value.
func (s *setting) example() string {
	return fmt.Sprintf("For example %s.", strings.TrimSpace(s.About.Example+" "+s.About.Unit))
}

// choicePlace is the Place of the first choice below the table.
const choicePlace = 1 << 20

// Press implements pane.Pane: a click on a choice below the table selects it.
func (p *Page) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if i := int(at) - choicePlace; i >= 0 {
		p.picked = i + 1
		return action.SettingsNext
	}
	return p.List.Press(c, at, focused)
}

// Draw implements pane.Pane: the table and everything about the selected setting.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	list := func(w, h int) []widget.Row {
		narrow := w < 100 // the description is in the detail
		p.Columns[1].Cells, p.Columns[1].Least, p.Columns[2].Hidden = 23, 0, narrow
		if narrow {
			p.Columns[1].Cells, p.Columns[1].Least = 0, 8
		}
		return p.Table.Draw(c.Theme, w, h, focused)
	}
	s, ok := p.Row()
	if !ok || h < leastRows+detailRows {
		return list(w, h)
	}
	most := max(len(detail(c, s, w).Rows), detailRows)
	return pane.Duo{List: list, Lines: p.Lines(), Most: most, Detail: func(w, _ int) pane.Detail { return detail(c, s, w) }}.Draw(c, w, h)
}

const (
	leastRows  = 6 // of the table with details
	detailRows = 4 // at least, so that the table keeps its height from setting to setting
	valueRows  = 3 // of a long value
	aboutRows  = 3
)

// detail is everything about a setting: its key, value, explanation and choices.
func detail(c pane.Context, s *setting, w int) pane.Detail {
	d := pane.Sheet{Context: c, W: w}
	d.Say(widget.Inner, theme.Accent, s.Long, valueRows)
	d.Say(widget.Inner, theme.Text, s.About.About, aboutRows)
	if !s.Closed {
		d.Say(widget.Inner, theme.Dim, s.example(), 1)
	}
	if len(s.Choices) > 0 {
		d.Rows = append(d.Rows, choices(widget.Brush{Theme: c.Theme}, s, w))
	}
	return pane.Detail{Title: pane.Named(s.About.Name, w), State: []widget.Span{{Role: theme.Dim, Text: s.elsewhere()}}, Rows: d.Rows}
}

// elsewhere returns the setting's name outside of the dashboard.
func (s *setting) elsewhere() string {
	if look, ok := strings.CutPrefix(s.Key, lookKeys); ok {
		return settings.DashboardFile + ": " + look
	}
	if strings.HasPrefix(s.Key, budgetKeys) {
		return textSetBudget
	}
	return fmt.Sprintf(textSetConfig, s.Key)
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
	set func(s *setting, value string) (command.Value, error)
}

// facts returns the searchable properties of a setting.
func (s *setting) facts() query.Facts {
	return query.Facts{Text: strings.Join([]string{s.About.Group, s.About.Name, strings.ReplaceAll(s.Key, "_", " "), s.Long, s.About.About}, " ")}
}

// rowsOf returns all settings, by group.
func rowsOf(c pane.Context) []*setting {
	var rows []*setting
	for _, about := range config.Settings {
		rows = append(rows, rowOf(c, about))
	}
	return rows
}

// rowOf returns a setting with its value: of the dashboard, of the budget, or of the bot.
func rowOf(c pane.Context, about config.Setting) *setting {
	if name, ok := strings.CutPrefix(about.Key, lookKeys); ok {
		value, choices := c.Chosen.Get(name), settings.Choices[name]
		long := strings.TrimSpace(value + " " + about.Unit)
		return &setting{config.Line{Key: about.Key, Text: value, Long: long, Choices: choices, Closed: true, About: about}, setLook}
	}
	if line, ok := c.Snap.Budget.State.Setting(about.Key); ok {
		return &setting{line, setBudget}
	}
	line, _ := config.ShowOne(c.Snap.Config, about.Key) // the table has no unknown keys
	return &setting{line, setConfig}
}

// Described is a setting as text, for plain mode.
type Described struct {
	*setting
	Takes string // the allowed values, as a sentence
}

// Describe returns all settings as text, by group.
func Describe(c pane.Context) (list []Described) {
	for _, s := range rowsOf(c) {
		takes := s.example()
		if s.Closed {
			takes = fmt.Sprintf("One of %s.", strings.Join(s.Choices, ", "))
		}
		list = append(list, Described{s, takes})
	}
	return list
}

// Set returns the command that sets a value, or an error that says why the value is invalid.
func (t Described) Set(value string) (command.Value, error) { return t.set(t.setting, value) }

// Find lists the settings for the search of the palette.
func Find(c pane.Context) (list []dialog.Found) {
	for _, s := range rowsOf(c) {
		list = append(list, dialog.Found{
			Key: s.Key, Name: s.About.Name + ": " + s.Long, Others: strings.Join(s.Choices, " ") + " " + s.About.Unit,
		})
	}
	return list
}

func setConfig(s *setting, value string) (command.Value, error) {
	return command.SetConfig{Key: s.Key, Value: value}, config.Try(&config.Runtime{}, s.Key, value)
}

func setBudget(s *setting, value string) (command.Value, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, fmt.Errorf(textNoNumber, s.About.Name, value)
	}
	var set command.SetBudget
	if s.Key == budget.KeyCapacity {
		set.Capacity = &n
	} else {
		set.RefillMinutes = &n
	}
	return set, budget.Validate(set.Capacity, set.RefillMinutes)
}

func setLook(s *setting, value string) (command.Value, error) {
	if !slices.Contains(s.Choices, value) {
		return nil, fmt.Errorf(textNoChoice, s.About.Name, strings.Join(s.Choices, ", "))
	}
	return command.SetLook{Name: strings.TrimPrefix(s.Key, lookKeys), Value: value, Was: s.Text}, nil
}

const (
	textNothing   = "no setting is selected"
	textSetConfig = "ollim-bot settings %s"
	textSetBudget = "ollim-bot budget set"

	textNoNumber = "%s: %q is not a whole number"
	textNoChoice = "%s must be one of: %s"

	lookKeys   = "dashboard."
	budgetKeys = "budget."
)
