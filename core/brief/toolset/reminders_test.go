package toolset

import (
	"testing"

	"ollimbot/routines"
)

func TestOnlyAReminderOfAChainThatCanBeWrittenHasOne(t *testing.T) {
	chain := &routines.Reminder{MaxChain: 1}
	for what, c := range map[string]struct {
		book     ReminderBook
		reminder *routines.Reminder
		has      bool
	}{
		"a chain": {&recorder{}, chain, true}, "no reminder": {&recorder{}, nil, false}, "a single one": {&recorder{}, &routines.Reminder{}, false},
		"a session that writes no reminders": {nil, chain, false},
	} {
		if has := NewChain(c.book, c.reminder) != nil; has != c.has {
			t.Errorf("%s: has a chain: %v", what, has)
		}
	}
}
