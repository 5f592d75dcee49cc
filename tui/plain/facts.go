package plain

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/transcript"
	"ollimbot/core/words"
)

func (m *session) status(string) {
	s := m.core.Snapshot()
	m.answer(kindStatus, statusText(&s, m.diff.zone))
}

// notices reads what the program has said; the newest ten unless told.
func (m *session) notices(rest string) {
	n, ok := howMany(rest, 10)
	if !ok {
		m.answer(kindError, textNoticesWhat)
		return
	}
	s := m.core.Snapshot()
	list := m.told(&s)
	if len(list) == 0 {
		m.answer(kindNotice, textNoNotices)
	}
	for _, one := range list[:min(n, len(list))] {
		m.answer(kindNotice, fmt.Sprintf("%s, %s, %s", clockText(one.at, s.At, m.diff.zone), one.kind, one.words))
	}
}

// told is everything that was heard as a word of the program, newest first: its
// notices, those in the conversation, and the one that it began with. What stands
// in two of these is there once.
func (m *session) told(s *core.Snapshot) []event {
	var list []event
	seen := map[string]bool{}
	add := func(at time.Time, kind, text string) {
		if words := flat(spoken(text)); words != "" && !seen[words] {
			seen[words] = true
			list = append(list, event{at, kind, words})
		}
	}
	// The same words may come again, so that only one source is told apart by them.
	for _, n := range s.Notices {
		list = append(list, event{n.At, string(n.Level), flat(spoken(n.Text))})
		seen[flat(spoken(n.Text))] = true
	}
	for _, e := range s.Chat {
		if e.Role == transcript.Notice && !e.Streaming {
			add(e.At, kindNotice, messageText(e))
		}
	}
	add(m.ready, kindNotice, m.o.Notice)
	slices.SortStableFunc(list, func(a, b event) int { return a.at.Compare(b.at) })
	slices.Reverse(list)
	return list
}

// howMany reads a number of lines or days, at least 1; n where none is given.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

func (m *session) problems(string) {
	s := m.core.Snapshot()
	if len(s.Schedule.Problems) == 0 {
		m.answer(kindProblem, textNoProblems)
	}
	for _, p := range s.Schedule.Problems {
		m.answer(kindProblem, flat(problemText(p)))
	}
}

func (m *session) engine(string) {
	s := m.core.Snapshot()
	m.answer(kindEngine, engineText(&s))
}

// costs tells what the runs of each task have cost.
func (m *session) costs(rest string) {
	days, ok := howMany(rest, 7)
	if !ok {
		m.answer(kindError, textCostsWhat)
		return
	}
	if o, ok := m.carryOut(command.Costs{Days: days}); ok {
		m.answer(kindCosts, costsText(o))
	}
}

func (m *session) webhooks(string) {
	s := m.core.Snapshot()
	if len(s.Deliveries) == 0 {
		m.answer(kindWebhook, textNoDeliveries)
	}
	for i, d := range s.Deliveries {
		if i == most {
			m.answer(kindWebhook, fmt.Sprintf(textMore, words.Thousands(uint64(len(s.Deliveries)-most))))
			break
		}
		m.answer(kindWebhook, deliveryText(d, s.At, m.diff.zone))
	}
}
