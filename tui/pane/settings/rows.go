package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/core/config"
	"ollimbot/core/words"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
)

// setting is one row: what can be set, and how.
type setting struct {
	key, label string
	value      string // as it is written
	shown      string // in people's words
	offers     []string
	choices    []string // values that can be taken as they stand
	about      string
	// set is the command that sets a value, or why it is not accepted.
	set func(s *setting, value string) (command.Value, error)
}

// text is all that a filter finds it by.
func (s *setting) text() string {
	return s.label + " " + strings.ReplaceAll(s.key, "_", " ") + " " + s.shown + " " + s.about
}

// rowsOf are all settings: of the bot, of the budget, of the dashboard.
func rowsOf(c pane.Context) []*setting {
	var rows []*setting
	for _, l := range config.Show(c.Snap.Config) {
		rows = append(rows, &setting{
			key: l.Key, label: l.Label, value: l.Text, shown: l.Value, offers: l.Offers, choices: l.Choices, about: l.About, set: setConfig,
		})
	}
	b := c.Snap.Budget.State
	rows = append(rows,
		&setting{
			key: keyCapacity, label: textCapacity, value: strconv.Itoa(b.Capacity), shown: words.Grouped(uint64(max(0, b.Capacity)), "token"),
			offers: []string{textNumber}, about: aboutCapacity, set: setBudget,
		},
		&setting{
			key: keyRefill, label: textRefill, value: strconv.Itoa(b.RefillRateMinutes), shown: words.Grouped(uint64(max(0, b.RefillRateMinutes)), "minute"),
			offers: []string{textMinutes}, about: aboutRefill, set: setBudget,
		})
	for _, name := range settings.Names {
		value, choices := c.Chosen.Get(name, layout.Presets)
		rows = append(rows, &setting{
			key: "dashboard." + name, label: textDashboard + name, value: value, shown: value,
			offers: choices, choices: choices, about: aboutLooks[name], set: setLook,
		})
	}
	return rows
}

// Find is the settings that a search may name: their keys, what they say now, and
// what finds them.
func Find(c pane.Context) (list []Found) {
	for _, s := range rowsOf(c) {
		list = append(list, Found{Key: s.key, Name: s.label + ": " + s.shown, Text: s.text()})
	}
	return list
}

// Found is a setting as the search knows it.
type Found struct{ Key, Name, Text string }

func setConfig(s *setting, value string) (command.Value, error) {
	return command.SetConfig{Key: s.key, Value: value}, config.Try(&config.Runtime{}, s.key, value)
}

func setBudget(s *setting, value string) (command.Value, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, fmt.Errorf(textNoNumber, s.label, value)
	}
	var set command.SetBudget
	if s.key == keyCapacity {
		set.Capacity = &n
	} else {
		set.RefillMinutes = &n
	}
	return set, budget.Validate(set.Capacity, set.RefillMinutes)
}

func setLook(s *setting, value string) (command.Value, error) {
	if !slices.Contains(s.choices, value) {
		return nil, fmt.Errorf(textNoChoice, s.label, strings.Join(s.choices, ", "))
	}
	return command.SetLook{Name: strings.TrimPrefix(s.key, "dashboard."), Value: value, Was: s.value}, nil
}
