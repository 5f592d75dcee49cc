package schedule

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"ollimbot/routines"
)

// A reminder fires as it was approved, and takes the edit that waits with it: a later start
// must not fire it again.
func TestAReminderTakesTheEditThatWaitsWithIt(t *testing.T) {
	for name, change := range map[string]string{"another text": "Call Bob.", "another time": "12:00"} {
		t.Run(name, func(t *testing.T) {
			const old = "---\nid: b\nrun-at: \"2026-03-10T09:00:00Z\"\nbackground: true\n---\nCall Ada.\n"
			edit := strings.ReplaceAll(old, "Call Ada.", "agent: "+change)
			if name == "another time" {
				edit = strings.ReplaceAll(strings.ReplaceAll(old, "Ada", "agent"), "09:00", change)
			}
			r := newRoom(t)
			index := routines.NewIndex(r.dir, time.UTC)
			x := made(Options{Dir: r.dir, Index: index})
			index.JudgeBy(func(task *routines.Task) string {
				if strings.Contains(task.Body, "agent") {
					return "it may do more"
				}
				return ""
			})
			index.KeepBy(func(version string) string {
				if version == routines.Digest([]byte(edit)) {
					return routines.Digest([]byte(old))
				}
				return ""
			})
			if err := routines.KeepText(r.dir, []byte(old)); err != nil {
				t.Fatal(err)
			}
			r.put("reminders/b.md", edit)
			index.Scan()
			rem, ok := index.Set().ReminderByID("b")
			if !ok || rem.Body != "Call Ada." || rem.RunAt.Hour() != 9 || rem.Waits != "" {
				t.Fatalf("in force is %+v", rem)
			}
			for _, e := range x.View(rem.RunAt.Add(-time.Hour)).Entries {
				if e.ID == "b" && (e.Held || e.Tag != TagProposed) {
					t.Errorf("its row is %+v", e)
				}
			}
			if done := x.newLoop().runner.finish(rem); !done {
				t.Error("its run has to be repeated")
			}
			if _, err := os.Stat(r.dir.Path("reminders/b.md")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its file is still there: %v", err)
			}
		})
	}
}
