package plain

import (
	"strconv"
	"strings"

	"ollimbot/core/command"
)

// budget reads "+1", "-1", "6", "refill 60", "refill +5"; nothing tells it.
func (m *machine) budget(rest string) {
	s := m.core.Snapshot()
	now := s.Budget.State
	words := strings.Fields(rest)
	var set command.SetBudget
	switch {
	case len(words) == 0:
		m.answer(kindBudget, budgetText(&s, m.ear.zone))
		if !s.Budget.Muted.IsZero() {
			m.answer(kindBudget, mutedText(s.Budget.Muted, s.At, m.ear.zone))
		}
		return
	case m.o.ReadOnly:
		m.answer(kindError, textReadOnly)
		return
	case len(words) == 1:
		set.Capacity = number(words[0], now.Capacity)
	case len(words) == 2 && words[0] == "refill":
		set.RefillMinutes = number(words[1], now.RefillRateMinutes)
	}
	if set.Capacity == nil && set.RefillMinutes == nil {
		m.answer(kindError, textBudgetWhat)
		return
	}
	m.do(set)
}

// number is a number, or one that a step leads to: "+1". Nil is none.
func number(word string, now int) *int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return nil
	}
	if word[0] == '+' || word[0] == '-' {
		n += now
	}
	return &n
}

// mute reads a moment, and "off".
func (m *machine) mute(rest string) {
	if rest == "off" {
		m.do(command.MuteUntil{})
		return
	}
	at, ok := moment(rest, m.now())
	if !ok {
		m.answer(kindError, textMuteWhat)
		return
	}
	m.do(command.MuteUntil{Until: at})
}
