package routines

import (
	"context"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/git"
	"ollimbot/core/storage/store/storetest"
)

func reminder(body string) Reminder {
	return Reminder{Task: Task{Body: body, Background: true, Thinking: true, AllowPing: true, Mode: OnPing}, RunAt: time.Now().Add(time.Hour)}
}

// drained waits until everything pending is committed.
func drained(t *testing.T, g *git.Recorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Must(t, g.Run(ctx))
}

// TestNoOrderOfAddingAndCancellingLosesAReminder moves reminders, all with the same few
// texts, while commits happen at any time: everything that should be pending is on disk
// and in the last commit.
func TestNoOrderOfAddingAndCancellingLosesAReminder(t *testing.T) {
	testkit.Alone(t)
	_, missing := exec.LookPath("git")
	t.Setenv("HOME", t.TempDir())
	texts := []string{"Water the plants", "Tea", "茶"}
	testkit.Check(t, func(rt *rapid.T) {
		d := storetest.Dir(t)
		g := git.New(d, slog.New(slog.DiscardHandler))
		testkit.Must(rt, g.Init(t.Context()))
		want := map[string]string{} // text by id
		add := func(text string) {
			r, err := AddReminder(d, reminder(text))
			testkit.Must(rt, err)
			want[r.ID] = text
			g.Add(r.Path, "add reminder "+r.ID)
		}
		cancel := func(id string) {
			rel, found, err := RemoveTask(d, KindReminder, id, Task{})
			if err != nil || !found {
				rt.Fatalf("cancel %s: %v, %v", id, found, err)
			}
			delete(want, id)
			g.Remove(rel, "remove reminder "+id)
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			ids := slices.Sorted(maps.Keys(want))
			step := rapid.IntRange(0, 5).Draw(rt, "step")
			if len(ids) == 0 {
				step = 0
			}
			pick := func() string { return ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "which")] }
			switch step {
			case 0, 1:
				add(rapid.SampledFrom(texts).Draw(rt, "text"))
			case 2:
				cancel(pick())
			case 3: // moved: cancel, then add
				id := pick()
				text := want[id]
				cancel(id)
				add(text)
			case 4: // moved: add, then cancel
				id := pick()
				add(want[id])
				cancel(id)
			case 5:
				id := pick()
				cancel(id)
				back, err := RestoreTask(d, time.Now(), id)
				testkit.Must(rt, err)
				want[id] = back.Body
				g.Add(back.Path, "restore reminder "+id)
			}
			if rapid.IntRange(0, 9).Draw(rt, "commit") == 0 {
				drained(t, g)
			}
		}
		drained(t, g)
		x := NewIndex(d, time.UTC)
		x.Scan()
		got := map[string]string{}
		for _, r := range x.Set().Reminders {
			got[r.ID] = r.Body
		}
		if !maps.Equal(got, want) {
			rt.Fatalf("pending %v, want %v", got, want)
		}
		if missing != nil {
			return
		}
		out, err := exec.Command("git", "-C", d.Root(), "status", "--porcelain", "reminders").CombinedOutput()
		if err != nil || len(out) > 0 {
			rt.Fatalf("not recorded: %s, %v", out, err)
		}
	})
}
