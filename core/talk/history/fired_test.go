package history

import (
	"testing"
	"time"

	"ollimbot/core/storage/store/storetest"
)

func TestATaskHasFiredWhenItsRunWasQueuedAndNotWhenThatStarted(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, "state/fork_runs.jsonl", `{"id": "11111111", "kind": "routine", "task": "9a8b7c6d", "state": "done", `+
		`"queued": "2026-11-21T09:00:00Z", "started": "2026-11-21T09:40:00Z", "ended": "2026-11-21T09:41:00Z"}`+"\n")
	list, _, err := New(Options{Dir: d, ConfigDir: t.TempDir()}).Pings(time.Time{})
	if err != nil || len(list) != 1 || list[0].At.Format("15:04") != "09:00" {
		t.Errorf("%+v, %v; want a fire at 09:00", list, err)
	}
}
