package core

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
)

func TestTheBotWorksOnceTheDashboardHasPainted(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // of the first frame; 0 for never
		works time.Duration // when the bot starts working
	}{
		"a frame":                     {300 * time.Millisecond, 300 * time.Millisecond},
		"a terminal that is not read": {0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.put(task("routines/tea.md", "id: \"cccc1003\"\ncron: \"0 12 * * *\"\n", "Tea."))
				shown := make(chan struct{})
				w := &world{t, h, h.bot(offline(), func(o *Options) { o.Shown = shown })}
				end := begin(t, w.Bot)
				defer end()
				if c.after != 0 {
					time.AfterFunc(c.after, func() { close(shown) })
				}
				w.sleep(c.works - time.Millisecond)
				w.holds(!w.Snapshot().Started.IsZero(), "the dashboard waits for the lock")
				w.is("tasks read before the first frame", len(w.index.Set().Routines), 0)
				w.holds(!w.has(filepath.Join("skills", "setup", "SKILL.md")), "the bot competes with the first frame")
				w.sleep(2 * time.Millisecond)
				w.is("tasks read after it", len(w.index.Set().Routines), 1)
			})
		})
	}
}

func TestADirectoryThatGoesAwayIsReportedAndReturns(t *testing.T) {
	const rel = "reminders/say-it.md"
	story(t, []file{
		task(rel, "id: \"cccc1001\"\nrun-at: \"2000-01-01T00:10:00Z\"\n", "Say it.\n\n"+plays("say done")),
		task("routines/later.md", "id: \"cccc1002\"\ncron: \"0 12 * * *\"\n", "Later."),
	}, func(w *world) {
		set := w.index.Set()
		w.needs(len(set.Reminders) == 1 && set.Reminders[0].RunAt.After(w.now()), "ahead", set.Reminders)
		away := w.root + ".away"
		testkit.Must(t, os.Rename(w.root, away))
		w.sleep(time.Minute)
		w.holds(w.noted("put it back") > 0, "notices", w.Snapshot().Notices)
		n := len(w.Snapshot().Notices)
		w.sleep(time.Hour)
		w.is("notices in an hour more", len(w.Snapshot().Notices), n)
		_, err := os.Lstat(w.root)
		w.holds(errors.Is(err, os.ErrNotExist), "something was made in its place", err)
		set = w.index.Set()
		w.holds(len(set.Reminders) == 1 && len(set.Routines) == 1, "tasks were forgotten", set)
		testkit.Must(t, os.Rename(away, w.root))
		w.sleep(2 * time.Minute)
		w.holds(w.noted("is back") > 0, "notices", w.Snapshot().Notices)
		_, waits := w.index.Set().ReminderByID("cccc1001")
		w.holds(!waits && !w.has(rel), "what was due in between did not fire")
	})
}

// What a bot knows without its state/ no longer matches the disk.
func TestALostStateFolderEndsTheBotBeforeItWrites(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.put(routine("cccc1002", "* * * * *", "", "say done"))
				w := &world{t, h, h.bot(offline())}
				ended := make(chan error, 1)
				go func() { ended <- w.Run(t.Context()) }()
				time.Sleep(90 * time.Second)
				state := filepath.Join(h.root, "state")
				testkit.Must(t, os.RemoveAll(state))
				if replace {
					testkit.Must(t, os.Mkdir(state, 0o700))
				}
				w.refuses("", command.SetBudget{Capacity: new(7)})
				err := <-ended
				var lost *store.LostError
				w.holds(errors.As(err, &lost) && strings.Contains(err.Error(), state+" was removed or replaced"), "it ended with", err)
				w.holds(w.noted("was removed or replaced") > 0, "notices", w.Snapshot().Notices)
				left, err := os.ReadDir(state)
				w.holds(len(left) == 0 && replace == (err == nil), "state/ holds", left, err)
			})
		})
	}
}
