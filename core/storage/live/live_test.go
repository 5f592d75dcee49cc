package live

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/storage/trash"
	"ollimbot/routines/watch"
)

// house is a Directory with two readers, one for two files of state/ and one for every
// change.
type house struct {
	*Directory
	dir      *store.Dir
	settings *Settings

	mu      sync.Mutex
	logged  strings.Builder
	did     []string // in order
	notices []string
	forks   int // the setting in force for the last reader
}

func (h *house) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.logged.Write(p)
}

func (h *house) add(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, what)
	if h.settings != nil {
		h.forks = h.settings.Load().MaxBackgroundForks
	}
}

// take returns what happened since the last call.
func (h *house) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	did := strings.Join(h.did, ", ")
	h.did = nil
	return did
}

func (h *house) errors() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.logged.String(), "level=ERROR")
}

func open(t *testing.T) *house {
	h := &house{dir: storetest.Prepared(t)}
	unlock, err := h.dir.Lock()
	testkit.Must(t, err)
	t.Cleanup(func() { _ = unlock() }) // the directory may be missing
	log := slog.New(slog.NewTextHandler(h, nil))
	tell := func(text string) { h.notices = append(h.notices, text) }
	h.settings = NewSettings(h.dir, func() { h.add("settings") })
	h.Directory = NewDirectory(Options{
		Dir: h.dir, Log: log, Settings: h.settings, Shown: []string{"shown.json"}, Notice: tell, Changed: func() { h.add("changed") },
		Readers: []Reader{
			{Files: []string{"one.json", "two.json"}, Reload: func(watch.Batch) { h.add("some") }},
			{Reload: func(b watch.Batch) { h.add("all " + strings.Join(b.Names, " ")) }},
		},
	})
	h.take()
	return h
}

func (h *house) set(t *testing.T, text string) {
	t.Helper()
	storetest.Put(t, h.dir, config.SettingsFile, text)
}

func TestASavedFileIsReadByThoseThatItConcerns(t *testing.T) {
	for _, c := range []struct {
		batch watch.Batch
		want  string
	}{
		{watch.Batch{Names: []string{"state/one.json"}}, "some, all state/one.json, changed"},
		{watch.Batch{Names: []string{"routines/a.md", "state/two.json"}}, "some, all routines/a.md state/two.json, changed"},
		{watch.Batch{Names: []string{"routines/a.md"}}, "all routines/a.md, changed"},
		{watch.Batch{Names: []string{config.SettingsFile}}, "settings, all " + config.SettingsFile + ", changed"},
		{watch.Batch{Names: []string{"state/one.json", config.RuntimeFile}}, "settings, some, all state/one.json " + config.RuntimeFile + ", changed"},
		{watch.Batch{Full: true}, "settings, some, all , changed"},
	} {
		h := open(t)
		h.set(t, `{"max_background_forks": 7}`)
		h.Apply(c.batch)
		if got := h.take(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.batch, got, c.want)
		}
	}
}

func TestAnAbsentDirectoryIsNotReadAsEmpty(t *testing.T) {
	h := open(t)
	testkit.Must(t, os.RemoveAll(h.dir.Root()))
	if h.Apply(watch.Batch{Full: true}); h.take() != "" {
		t.Error("something was reloaded")
	}
}

func TestOnlyFilesWithAnEffectAreLookedAt(t *testing.T) {
	h := open(t)
	for name, want := range map[string]bool{
		"routines/a.md": true, "reminders/b.md": true, "webhooks/c.md": true, "routines/a.md~": false, "routines/.a.md.swp": false,
		config.RuntimeFile: true, config.SettingsFile: true, "state/one.json": true, "state/two.json": true, "state/shown.json": true,
		"state/other.json": false, "state/a.md": false, "routines/one.json": false,
	} {
		if got := h.matters(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// watch.Run uses the file system's events, which a bubble cannot wait for.
func TestASavedFileTakesEffectWhileItIsWatched(t *testing.T) {
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	reloaded := make(chan string, 1)
	h.o.Readers = []Reader{{Reload: func(b watch.Batch) {
		if slices.Contains(b.Names, "routines/a.md") {
			reloaded <- "by name"
			cancel()
		}
		if b.Full { // watching has begun
			testkit.Must(t, os.WriteFile(h.dir.Path("routines/a.md"), nil, 0o600))
		}
	}}}
	testkit.Must(t, os.MkdirAll(h.dir.Path("routines"), 0o700))
	if err := h.Watch(ctx); err != nil || len(reloaded) != 1 {
		t.Errorf("%v, reloaded %d times", err, len(reloaded))
	}
}

func TestAHalfSavedSettingsFileChangesNothing(t *testing.T) {
	h := open(t)
	h.set(t, `{"max_background_forks": 7}`)
	h.settings.Reload()
	before := h.settings.Load()
	if before.MaxBackgroundForks != 7 || h.take() != "settings" {
		t.Errorf("in force: %+v", before)
	}
	h.set(t, `{"max_background_forks": `)
	if h.settings.Reload(); h.settings.Load() != before || h.take() != "" || len(h.settings.Problems()) != 1 {
		t.Errorf("half a file: %+v, %+v", h.settings.Load(), h.settings.Problems())
	}
	h.set(t, `{"max_background_forks": 7}`)
	if h.settings.Reload(); h.settings.Load() != before || h.take() != "" {
		t.Error("equal settings count as a change")
	}
}

func TestAStartWithABrokenFileHasTheDefaultsInForce(t *testing.T) {
	dir := storetest.Prepared(t)
	storetest.Put(t, dir, config.SettingsFile, "{")
	s := NewSettings(dir, func() { t.Error("a change") })
	if s.Load() == nil || s.Load().MaxBackgroundForks != 4 {
		t.Errorf("in force: %+v", s.Load())
	}
}

// Q1: a broken file must not lift a cap, not even over a restart.
func TestABrokenFileKeepsItsLastValidVersionOverARestart(t *testing.T) {
	for name, broken := range map[string]string{"a value": `{"max_background_forks": "many"}`, "the whole file": `{"max_background_forks": `} {
		t.Run(name, func(t *testing.T) {
			dir := storetest.Prepared(t)
			storetest.Put(t, dir, config.SettingsFile, broken)
			if s := NewSettings(dir, func() {}); s.Load().MaxBackgroundForks != 4 || len(s.Problems()) != 1 || !s.Problems()[0].Kept.IsZero() {
				t.Errorf("without a version: %+v, %+v", s.Load(), s.Problems())
			}
			testkit.Must(t, dir.KeepValid(config.SettingsFile, []byte(`{"max_background_forks": 7}`)))
			s := NewSettings(dir, func() {})
			if s.Load().MaxBackgroundForks != 7 || len(s.Problems()) != 1 || s.Problems()[0].Kept.IsZero() || s.Problems()[0].Line != 1 {
				t.Errorf("with a version: %+v, %+v", s.Load(), s.Problems())
			}
		})
	}
}

func TestSettingsThatAreSetAreInForce(t *testing.T) {
	h := open(t)
	other := config.Runtime{MaxBackgroundForks: 9}
	if h.settings.Set(&other); h.settings.Load() != &other || h.take() != "settings" {
		t.Error("Set puts no settings in force")
	}
}

// keep runs Keep in a bubble, while do acts between its checks.
func keep(t *testing.T, do func(t *testing.T, h *house, look func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Keep(ctx) }()
		synctest.Wait()
		h.take()
		do(t, h, func() {
			time.Sleep(lookEvery)
			synctest.Wait()
		})
		cancel()
		testkit.Must(t, <-done)
	})
}

func TestADirectoryThatGoesAwayIsReportedOnceAndReadWhenItReturns(t *testing.T) {
	keep(t, func(t *testing.T, h *house, look func()) {
		away := h.dir.Root() + " moved"
		testkit.Must(t, os.Rename(h.dir.Root(), away))
		look()
		look()
		if h.errors() != 1 || h.take() != "" || len(h.notices) != 0 {
			t.Errorf("%d errors, notices %q", h.errors(), h.notices)
		}
		testkit.Must(t, os.WriteFile(filepath.Join(away, config.SettingsFile), []byte(`{"max_background_forks": 7}`), 0o600))
		testkit.Must(t, os.Rename(away, h.dir.Root()))
		look()
		if got := h.take(); got != "settings, some, all , changed" {
			t.Errorf("did %s", got)
		}
		if h.forks != 7 || !slices.Equal(h.notices, []string{textDirBack}) || h.errors() != 1 {
			t.Errorf("forks %d, notices %q, %d errors", h.forks, h.notices, h.errors())
		}
		if look(); h.take() != "" || len(h.notices) != 1 {
			t.Errorf("reported again: %q", h.notices)
		}
	})
}

func TestLostStateIsReportedAndEndsTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		testkit.Must(t, os.RemoveAll(h.dir.Path(store.StateDir)))
		h.take()
		err := h.Keep(t.Context())
		if _, ok := errors.AsType[*store.LostError](err); !ok || h.errors() != 1 || len(h.notices) != 1 || h.notices[0] != err.Error() {
			t.Errorf("%v, notices %q, logged %s", err, h.notices, &h.logged)
		}
		if h.Apply(watch.Batch{Full: true}); h.take() != "" {
			t.Error("what is missing was read")
		}
	})
}

func TestAnotherDirectoryInItsPlaceIsUsedOnceNoBotRunsInIt(t *testing.T) {
	keep(t, func(t *testing.T, h *house, look func()) {
		reported := func(errors int, says string) {
			t.Helper()
			look()
			look()
			lines := strings.Split(strings.TrimSpace(h.logged.String()), "\n")
			if h.errors() != errors || !strings.Contains(lines[len(lines)-1], says) {
				t.Errorf("%d errors, want %d, the last with %q:\n%s", h.errors(), errors, says, &h.logged)
			}
		}
		testkit.Must(t, os.Rename(h.dir.Root(), h.dir.Root()+" moved"))
		reported(1, "missing")
		other := storetest.At(t, h.dir.Root())
		testkit.Must(t, other.Prepare())
		unlock, err := other.Lock()
		testkit.Must(t, err)
		storetest.Put(t, other, config.SettingsFile, `{"max_background_forks": 7}`)
		if reported(2, "another bot is running in it"); h.take() != "" {
			t.Error("what belongs to another bot was read")
		}
		testkit.Must(t, unlock())
		reported(3, "is used from now on")
		if got := h.take(); got != "settings, some, all , changed" || h.forks != 7 || len(h.notices) != 0 {
			t.Errorf("did %s, forks %d, notices %q", got, h.forks, h.notices)
		}
	})
}

func TestOldFilesAreTidiedOnceADayWhileTheDirectoryIsThere(t *testing.T) {
	keep(t, func(t *testing.T, h *house, look func()) {
		old := h.dir.Path("state/old.json.corrupt-19990101T000000")
		put := func() {
			testkit.Must(t, os.WriteFile(old, nil, 0o600))
			testkit.Must(t, os.Chtimes(old, time.Time{}, time.Unix(1, 0)))
		}
		there := func() bool {
			_, err := os.Stat(old)
			return err == nil
		}
		put()
		time.Sleep(tidyEvery - 2*lookEvery)
		if look(); !there() {
			t.Error("removed too early")
		}
		if look(); there() {
			t.Error("kept for longer than a day")
		}
		put()
		if look(); !there() {
			t.Error("removed at every look")
		}
		away := h.dir.Root() + " moved"
		testkit.Must(t, os.Rename(h.dir.Root(), away))
		time.Sleep(tidyEvery)
		testkit.Must(t, os.Rename(away, h.dir.Root()))
		if look(); there() {
			t.Error("the day on which the directory was away counts as tidied")
		}
	})
}

func TestAStartDeletesWhatWasRemovedLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		storetest.Put(t, h.dir, "routines/a.md", "A")
		testkit.Must(t, trash.Put(h.dir, time.Now(), "routines/a.md"))
		time.Sleep(2 * trash.Kept)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		testkit.Must(t, h.Keep(ended))
		if entries, err := h.dir.Entries("state/trash"); err != nil || len(entries) > 0 {
			t.Errorf("kept: %v, %v", entries, err)
		}
	})
}

func TestRemovedFilesAreDeletedAfterADay(t *testing.T) {
	keep(t, func(t *testing.T, h *house, look func()) {
		storetest.Put(t, h.dir, "routines/a.md", "A")
		testkit.Must(t, trash.Put(h.dir, time.Now(), "routines/a.md"))
		kept := func() bool {
			entries, err := h.dir.Entries("state/trash")
			testkit.Must(t, err)
			return len(entries) > 0
		}
		time.Sleep(trash.Kept - 2*lookEvery)
		if look(); !kept() {
			t.Error("deleted within the day")
		}
		time.Sleep(tidyEvery)
		if look(); kept() {
			t.Error("kept for longer than a day")
		}
	})
}

func TestWhatShouldNotStayIsANotice(t *testing.T) {
	h := open(t)
	testkit.Must(t, os.Chmod(h.dir.Root(), 0o777))
	h.Concerns()
	if want := h.dir.Concerns(); len(want) == 0 || !slices.Equal(h.notices, want) || strings.Count(h.logged.String(), "level=WARN") != len(want) {
		t.Errorf("notices %q, want %q", h.notices, want)
	}
}
