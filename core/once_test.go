package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// A kill between the last ledger line of a run and the removal of its reminder.
func TestAReminderWhoseRunStandsAsDoneDoesNotFireAgain(t *testing.T) {
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		reminder := remind("dddd0001", 10*time.Second, "", `call report_updates {"message":"Watered."}`, "wait 1m")
		h.put(reminder)
		engine := &recorder{Engine: offline()}
		end := begin(t, h.bot(engine))
		time.Sleep(40 * time.Second)
		record := h.read("state/schedule.json") // while it runs
		time.Sleep(time.Minute)
		end()
		needs(t, !h.has(reminder.rel) && len(engine.messages()) == 1, "it ran", engine.messages())
		h.put(reminder, file{"state/schedule.json", record})
		w := &world{t, h, h.bot(engine)}
		end = begin(t, w.Bot)
		w.sleep(time.Minute)
		w.is("runs, updates", []any{len(engine.messages()), w.pending()}, []any{1, "Watered."})
		w.holds(!w.has(reminder.rel), "its file is there again")
		end()
	})
}
