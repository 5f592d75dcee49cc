package tasks

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestWithoutANameTheTaskThatWasRemovedLastIsRestored(t *testing.T) {
	d, log := storetest.Prepared(t), slog.New(slog.DiscardHandler)
	for _, id := range []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
		storetest.Put(t, d, "routines/"+id+".md", "---\nid: \""+id+"\"\ncron: \"0 9 * * *\"\n---\nTask "+id+"\n")
	}
	synctest.Test(t, func(t *testing.T) {
		index := routines.NewIndex(d, time.UTC)
		index.Scan()
		e := New(Options{
			Dir: d, Zone: time.UTC, Index: index, Kept: func(time.Time, string) {},
			Schedule: schedule.New(schedule.Options{Dir: d, Index: index, Zone: time.UTC, Log: log}),
		})
		for _, id := range []string{"aaaaaaaa", "cccccccc", "bbbbbbbb"} {
			if _, err := e.delete(t.Context(), command.DeleteTask{ID: id}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		for _, want := range []string{"bbbbbbbb", "cccccccc", "aaaaaaaa"} {
			if out, err := e.restore(t.Context(), command.RestoreTask{}); err != nil || out.Undo != (command.DeleteTask{ID: want}) {
				t.Errorf("%+v, %v; want %s", out, err, want)
			}
		}
	})
}
