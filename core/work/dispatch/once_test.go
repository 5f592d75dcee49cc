package dispatch

import (
	"strings"
	"testing"

	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
)

func TestAReminderInTheConversationIsUsedUpBeforeAnythingSaysThatItRan(t *testing.T) {
	for name, fails := range map[string]error{"it ran": nil, "its turn failed": errTurn} {
		s := newStage(t, map[string]string{"reminders/kettle.md": "---\nid: k1\nrun-at: \"2000-01-01T09:00:00Z\"\nbackground: false\n---\nThe kettle.\n"})
		s.talk.err = fails
		due, finished := s.due(t, "k1"), 0
		due.Finish = func() {
			finished++
			if said := audited(t, s.dir); strings.Contains(said, audit.RunInFront) {
				t.Errorf("%s: a kill would leave a reminder that ran: %s", name, said)
			}
		}
		if err := s.d.Fire(t.Context(), due); (err == nil) != (fails == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if (finished == 1) != (fails == nil) || !strings.Contains(audited(t, s.dir), audit.RunInFront) {
			t.Errorf("%s: used up %d times, audit %s", name, finished, audited(t, s.dir))
		}
	}
}

func audited(t *testing.T, d *store.Dir) string {
	t.Helper()
	data, _ := d.Read(audit.File) // missing at first
	return string(data)
}
