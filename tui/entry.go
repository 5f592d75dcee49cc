package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// entry takes exact numbers for the budget and shows what would come of them.
type entry struct {
	fields [2]string // capacity, minutes
	at     int
	fresh  [2]bool // the first digit replaces what stands there
}

// maxDigits keeps a number far below what an int holds.
const maxDigits = 6

func newEntry(s budget.State) *entry {
	return &entry{
		fields: [2]string{strconv.Itoa(s.Capacity), strconv.Itoa(s.RefillRateMinutes)},
		fresh:  [2]bool{true, true},
	}
}

func (e *entry) title() string { return textEntryTitle }

// numbers reads the fields; why is what is wrong with them, or empty.
func (e *entry) numbers() (capacity, minutes int, why string) {
	capacity, err := strconv.Atoi(e.fields[0])
	if err != nil {
		return 0, 0, textNoCapacity
	}
	minutes, err = strconv.Atoi(e.fields[1])
	if err != nil || minutes < 1 {
		return 0, 0, textNoMinutes
	}
	return capacity, minutes, ""
}

func (e *entry) draw(l look, w, _ int) []string {
	w = min(w, 52)
	lines := []string{widget.Blank(w)}
	for i, name := range textEntryFields {
		mark, role, caret := "  ", theme.Text, theme.Text
		if i == e.at {
			mark, role, caret = l.theme.Glyph(theme.Pointer)+" ", theme.Select, theme.Caret
		}
		lines = append(lines, l.brush.Line(w,
			widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark},
			widget.Span{Text: padded(name, 14)},
			widget.Span{Role: role, Text: " " + e.fields[i]}, widget.Span{Role: caret, Text: " "},
			widget.Span{Role: role, Text: widget.Blank(maxDigits + 1 - len(e.fields[i]))},
			widget.Span{Role: theme.Dim, Text: " " + textEntryUnits[i]}))
	}
	text, role := textNoEffect, theme.Accent
	capacity, minutes, why := e.numbers()
	if why != "" {
		text, role = why, theme.Warn
	} else if effect := l.snap.Budget.State.Preview(l.snap.At, capacity, minutes); effect != "" {
		text = effect
	}
	lines = append(lines, widget.Blank(w))
	preview := widget.WrapN(text, w-4, 2, l.theme.Glyph(theme.Ellipsis))
	for i := range 2 {
		line := ""
		if i < len(preview) {
			line = preview[i]
		}
		lines = append(lines, l.brush.Line(w, widget.Span{Text: "   "}, widget.Span{Role: role, Text: line}))
	}
	return lines
}

func (e *entry) key(k string, _ tea.KeyPressMsg) verdict {
	f := &e.fields[e.at]
	switch {
	case len(k) == 1 && k[0] >= '0' && k[0] <= '9':
		e.paste(k)
	case k == "backspace":
		if n := len(*f); n > 0 {
			*f = (*f)[:n-1]
		}
		e.fresh[e.at] = false
	case k == "ctrl+u":
		*f = ""
	case k == "tab", k == "shift+tab", k == "up", k == "down":
		e.at = 1 - e.at
	case k == "enter":
		capacity, minutes, why := e.numbers()
		if why != "" {
			return verdict{toast: why}
		}
		return verdict{shut: true, answer: pane.Answer{Do: core.SetBudget{Capacity: &capacity, RefillMinutes: &minutes}}}
	}
	return verdict{}
}

// paste takes digits and leaves the rest.
func (e *entry) paste(s string) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		if e.fresh[e.at] {
			e.fields[e.at], e.fresh[e.at] = "", false
		}
		if len(e.fields[e.at]) < maxDigits {
			e.fields[e.at] += s[i : i+1]
		}
	}
}

func (e *entry) wheel(bool) {}

func (e *entry) hint() []string { return textEntryHint }
