package tui

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// entry takes exact numbers for the budget and shows what would come of them. It
// stays until they are set.
type entry struct {
	fields [2]widget.Input // capacity, minutes
	at     int
	fresh  [2]bool // the first digit replaces what stands there
	first  int     // the line of the first field when it was drawn last
	sent   bool    // the core is writing them
	fault  string  // what the core has said against them
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
	if err != nil {
		return 0, 0, textNoMinutes
	}
	if err := budget.Validate(&capacity, &minutes); err != nil {
		return 0, 0, err.Error()
	}
	return capacity, minutes, e.fault
}

// refused implements asking.
func (e *entry) refused(why string) { e.sent, e.fault = false, why }

// entryRows is how many lines a preview or a refusal has.
const entryRows = 4

func (e *entry) draw(l look, w, h int) []string {
	w = min(w, 52)
	var blank []string // apart, where there is room
	if h >= 2+len(e.fields)+entryRows {
		blank = []string{widget.Blank(w)}
	}
	lines := slices.Clone(blank)
	e.first = len(lines)
	for i, name := range textEntryFields {
		mark, field := "  ", l.brush
		if i == e.at {
			mark, field.Back = l.theme.Glyph(theme.Pointer)+" ", theme.Select
		}
		head := l.brush.Line(18, widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: name})
		unit := l.brush.Line(w-18-maxDigits-2, widget.Span{Role: theme.Dim, Text: " " + textEntryUnits[i]})
		lines = append(lines, head+e.fields[i].Line(field, maxDigits+2, i == e.at)+unit)
	}
	lines = append(append(lines, blank...), e.said(l, w)...)
	return lines[:max(0, min(h, len(lines)))]
}

// said is what would come of the numbers, or what is wrong with them.
func (e *entry) said(l look, w int) []string {
	text, role := textNoEffect, theme.Accent
	capacity, minutes, why := e.numbers()
	if why != "" {
		text, role = why, theme.Warn
	} else if effect := l.snap.Budget.State.Preview(l.snap.At, capacity, minutes); effect != "" {
		text = effect
	}
	rows := make([]string, entryRows)
	copy(rows, widget.WrapN(text, max(1, w-4), entryRows, l.theme.Glyph(theme.Ellipsis)))
	for i, row := range rows {
		rows[i] = l.brush.Line(w, widget.Span{Text: "   "}, widget.Span{Role: role, Text: row})
	}
	return rows
}

func (e *entry) key(msg tea.KeyPressMsg) verdict {
	if e.sent {
		return verdict{}
	}
	if !key.Matches(msg, entryKeys.other) {
		e.fault = ""
	}
	switch {
	case key.Matches(msg, entryKeys.other):
		e.at = 1 - e.at
	case key.Matches(msg, entryKeys.set):
		capacity, minutes, why := e.numbers()
		if why != "" { // it stands in the dialog
			return verdict{}
		}
		e.sent = true
		return verdict{ask: command.SetBudget{Capacity: &capacity, RefillMinutes: &minutes}}
	case msg.Text != "":
		e.insert(msg.Text)
	case e.fields[e.at].Take(msg):
		e.fresh[e.at] = false
	}
	return verdict{}
}

// click goes to the field under the pointer.
func (e *entry) click(_, y int) verdict {
	if i := y - e.first; i >= 0 && i < len(e.fields) {
		e.at = i
	}
	return verdict{}
}

func (e *entry) paste(msg tea.PasteMsg) {
	if !e.sent {
		e.fault = ""
		e.insert(strings.TrimSpace(msg.Content))
	}
}

// insert goes to the field. What is no digit goes there too, and is refused with
// it: to leave it out would make 15 of 1.5.
func (e *entry) insert(s string) {
	field := &e.fields[e.at]
	if e.fresh[e.at] && s != "" {
		field.Set("")
		e.fresh[e.at] = false
	}
	for _, r := range s {
		if len(field.Text()) < maxDigits {
			field.Insert(string(r))
		}
	}
}

func (e *entry) wheel(bool) {}

func (e *entry) hint() []key.Binding {
	return []key.Binding{entryKeys.set, entryKeys.digits, entryKeys.other, entryKeys.leave}
}
