package core

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/watch"
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
		must(t, os.Rename(h.root, away))
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
		must(t, os.Rename(away, h.root))
		time.Sleep(2 * time.Minute)
		if !noticed(b.Snapshot(), "is back") {
			t.Errorf("nobody was told: %+v", b.Snapshot().Notices)
		}
		if _, ok := b.Index().Set().ReminderByID(id); ok || h.has("reminders/say-it.md") {
			t.Error("what was due in between did not fire")
		}
	})
}

// W1: changes made since the bot's last check were lost. The test does not wait between
// the commands and the removal, because a user does not either.
func TestARemovedStateFolderIsPutBackAsItWasLast(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/later.md", "---\nid: \"cccc1002\"\ncron: \"0 12 * * *\"\n---\nLater.\n")
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		do(t, b, command.SetBudget{Capacity: new(7)})
		do(t, b, command.MuteUntil{Until: b.now().Add(5 * time.Hour)})
		do(t, b, command.Pause{ID: "cccc1002", Paused: true})
		do(t, b, command.SetConfig{Key: "daily_cap", Value: "9"})
		do(t, b, command.SetConfig{Key: "model_main", Value: "opus"})
		// A change by another process's command arrives as a change of its file.
		h.write("state/pending_updates.json", `[{"ts":"2000-01-01T00:00:30Z","message":"from elsewhere"}]`)
		b.directory.Apply(watch.Batch{Names: []string{"state/pending_updates.json"}})
		files := stateFiles(t, h)
		must(t, os.RemoveAll(filepath.Join(h.root, "state")))
		other := storetest.At(t, h.root)
		var running *store.RunningError
		if _, err := other.Lock(); !errors.As(err, &running) {
			t.Errorf("a second bot: %v", err)
		}
		time.Sleep(time.Minute)
		if !noticed(b.Snapshot(), "state/ was removed") {
			t.Errorf("nobody was told: %+v", b.Snapshot().Notices)
		}
		s := b.Snapshot()
		if s.Budget.State.Capacity != 7 || !viewOf(t, s, "cccc1002").Paused || s.Budget.Muted.IsZero() || b.settings.Load().DailyCap != 9 || len(b.updates.Peek()) != 1 {
			t.Errorf("budget %+v, muted %v, runtime %+v", s.Budget, s.Budget.Muted, b.settings.Load())
		}
		if now := stateFiles(t, h); !slices.Equal(now, files) {
			t.Errorf("%v were put back as %v", files, now)
		}
	})
}

// stateFiles returns the names of the JSON files in state/.
func stateFiles(t *testing.T, h home) (names []string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(h.root, "state", "*.json"))
	must(t, err)
	for _, path := range list {
		names = append(names, filepath.Base(path))
	}
	return names
}
