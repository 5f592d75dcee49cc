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

func TestADirectoryThatGoesAwayIsToldAndComesBack(t *testing.T) {
	running(t, func(h home) {
		h.write("reminders/say-it.md", "---\nid: \"cccc1001\"\nrun-at: \"2000-01-01T00:10:00Z\"\n---\nSay it.\n\n```script\nsay done\n```\n")
		h.write("routines/later.md", "---\nid: \"cccc1002\"\ncron: \"0 12 * * *\"\n---\nLater.\n")
	}, func(h home, b *Bot) {
		id := "cccc1001"
		if set := b.Index().Set(); len(set.Reminders) != 1 || !set.Reminders[0].RunAt.After(b.now()) {
			t.Fatalf("%+v at %s", set.Reminders, b.now())
		}
		away := h.root + ".away"
		testkit.Must(t, os.Rename(h.root, away))
		time.Sleep(time.Minute)
		if !noticed(b.Snapshot(), "put it back") {
			t.Errorf("nobody was told: %+v", b.Snapshot().Notices)
		}
		n := len(b.Snapshot().Notices)
		time.Sleep(time.Hour)
		if got := len(b.Snapshot().Notices); got != n {
			t.Errorf("told %d times more: %+v", got-n, b.Snapshot().Notices)
		}
		if _, err := os.Lstat(h.root); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something was made in its place: %v", err)
		}
		if set := b.Index().Set(); len(set.Reminders) != 1 || len(set.Routines) != 1 {
			t.Errorf("tasks were forgotten: %+v", set)
		}
		testkit.Must(t, os.Rename(away, h.root))
		time.Sleep(2 * time.Minute)
		if !noticed(b.Snapshot(), "is back") {
			t.Errorf("nobody was told: %+v", b.Snapshot().Notices)
		}
		if _, ok := b.Index().Set().ReminderByID(id); ok || h.has("reminders/say-it.md") {
			t.Error("what was due in between did not fire")
		}
	})
}

// What a bot knows without its state/ no longer matches the disk.
func TestALostStateFolderEndsTheBotBeforeItWrites(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.write("routines/often.md", "---\nid: \"cccc1002\"\ncron: \"* * * * *\"\nbackground: true\n---\nOften.\n\n```script\nsay done\n```\n")
				b := h.bot(offline(), func(*Options) {})
				ended := make(chan error, 1)
				go func() { ended <- b.Run(t.Context()) }()
				time.Sleep(90 * time.Second)
				state := filepath.Join(h.root, "state")
				testkit.Must(t, os.RemoveAll(state))
				if replace {
					testkit.Must(t, os.Mkdir(state, 0o700))
				}
				if _, err := b.Do(t.Context(), command.SetBudget{Capacity: new(7)}); err == nil {
					t.Error("a change was taken that is not on disk")
				}
				var lost *store.LostError
				if err := <-ended; !errors.As(err, &lost) || !strings.Contains(err.Error(), state+" was removed or replaced") {
					t.Errorf("it ended with %v", err)
				}
				if !noticed(b.Snapshot(), "was removed or replaced") {
					t.Errorf("no notice: %+v", b.Snapshot().Notices)
				}
				if left, err := os.ReadDir(state); len(left) > 0 || replace != (err == nil) {
					t.Errorf("state/ holds %v, %v", left, err)
				}
			})
		})
	}
}
