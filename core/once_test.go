package core

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// TestAReminderWhoseRunStandsAsDoneDoesNotFireAgain simulates a kill between the last
// ledger line of a run and the removal of its reminder.
func TestAReminderWhoseRunStandsAsDoneDoesNotFireAgain(t *testing.T) {
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		h.reminder("dddd0001", 10*time.Second, "", `call report_updates {"message":"Watered."}`, "wait 1m")
		text := h.read("reminders/dddd0001.md")
		engine := &recorder{Engine: offline()}
		end := begin(t, h.bot(engine))
		time.Sleep(40 * time.Second)
		record := h.read("state/schedule.json") // while it runs
		time.Sleep(time.Minute)
		end()
		if h.has("reminders/dddd0001.md") || len(engine.messages()) != 1 {
			t.Fatalf("it ran %d times", len(engine.messages()))
		}
		h.write("reminders/dddd0001.md", text)
		h.write("state/schedule.json", record)
		b := h.bot(engine)
		end = begin(t, b)
		time.Sleep(time.Minute)
		if len(engine.messages()) != 1 || len(b.Snapshot().Updates) != 1 || h.has("reminders/dddd0001.md") {
			t.Errorf("it ran %d times, updates %+v", len(engine.messages()), b.Snapshot().Updates)
		}
		end()
	})
}

func (h home) read(rel string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, rel))
	testkit.Must(h.t, err)
	return string(data)
}
