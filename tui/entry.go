package tui

import (
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// entry takes exact numbers for the budget and shows what would come of them.
type entry struct {
	fields [2]widget.Input // capacity, minutes
	at     int
	fresh  [2]bool // the first digit replaces what stands there
}

// maxDigits keeps a number far below what an int holds.
const maxDigits = 6

func newEntry(s budget.State) *entry {
	e := &entry{fresh: [2]bool{true, true}}
	e.fields[0].Set(strconv.Itoa(s.Capacity))
	e.fields[1].Set(strconv.Itoa(s.RefillRateMinutes))
	return e
}

func (e *entry) title() string { return textEntryTitle }

// numbers reads the fields; why is what is wrong with them, or empty.
func (e *entry) numbers() (capacity, minutes int, why string) {
	capacity, err := strconv.Atoi(e.fields[0].Text())
	if err != nil {
		return 0, 0, textNoCapacity
	}
	minutes, err = strconv.Atoi(e.fields[1].Text())
	if err != nil || minutes < 1 {
		return 0, 0, textNoMinutes
	}
	return capacity, minutes, ""
}

func (e *entry) draw(l look, w, _ int) []string {
	w = min(w, 52)
	lines := []string{widget.Blank(w)}
	for i, name := range textEntryFields {
		mark, field := "  ", l.brush
		if i == e.at {
			mark, field.Back = l.theme.Glyph(theme.Pointer)+" ", theme.Select
		}
		head := l.brush.Line(18, widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: name})
		unit := l.brush.Line(w-18-maxDigits-2, widget.Span{Role: theme.Dim, Text: " " + textEntryUnits[i]})
		lines = append(lines, head+e.fields[i].Line(field, maxDigits+2, i == e.at)+unit)
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

func (e *entry) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, entryKeys.digits):
		e.insert(msg.Text)
	case key.Matches(msg, entryKeys.other):
		e.at = 1 - e.at
	case key.Matches(msg, entryKeys.set):
		capacity, minutes, why := e.numbers()
		if why != "" {
			return verdict{toast: why}
		}
		return verdict{shut: true, answer: pane.Answer{Do: core.SetBudget{Capacity: &capacity, RefillMinutes: &minutes}}}
	case msg.Text == "" && e.fields[e.at].Take(msg):
		e.fresh[e.at] = false
	}
	return verdict{}
}

// click goes to the field under the pointer; above the first one is a blank line.
func (e *entry) click(_, y int) verdict {
	if i := y - 1; i >= 0 && i < len(e.fields) {
		e.at = i
	}
	return verdict{}
}

func (e *entry) paste(msg tea.PasteMsg) { e.insert(msg.Content) }

// insert takes digits and leaves the rest.
func (e *entry) insert(s string) {
	field := &e.fields[e.at]
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		if e.fresh[e.at] {
			field.Set("")
			e.fresh[e.at] = false
		}
		if len(field.Text()) < maxDigits {
			field.Insert(s[i : i+1])
		}
	}
}

func (e *entry) wheel(bool) {}

func (e *entry) hint() []key.Binding {
	return []key.Binding{entryKeys.digits, entryKeys.other, entryKeys.set, entryKeys.leave}
}
