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

// A reminder fires as approved and removes its pending edit, which must not fire after a
// restart.
func TestAReminderTakesTheEditThatWaitsWithIt(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		during         bool // the edit is made during the run
	}{
		{"another text", "Call", "Do not call", false},
		{"another time", "09:00", "12:00", false},
		{"another id", "id: b", "id: c", false},
		{"during the run", "09:00", "12:00", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const old = "---\nid: b\nrun-at: \"2026-03-10T09:00:00Z\"\nbackground: true\n---\nCall Ada.\n"
			edit := strings.NewReplacer("Ada", "agent", c.from, c.to).Replace(old)
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
			if c.during {
				r.put("reminders/b.md", old)
				index.Scan()
			}
			ran, _ := index.Set().ReminderByID("b")
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
			if !c.during {
				ran = rem
			}
			if done := x.newLoop().runner.finish(ran); !done {
				t.Error("its run has to be repeated")
			}
			if _, err := os.Stat(r.dir.Path("reminders/b.md")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its file is still there: %v", err)
			}
		})
	}
}
