package live

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/goldentest"
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
	end      func() error // of Keep
	unlock   func() error // of another bot in the same place

	mu     sync.Mutex
	logged strings.Builder
	did    []string // since the last step, in order
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
}

// take returns what happened since the last call.
func (h *house) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	did := h.did
	h.did = nil
	for line := range strings.Lines(h.logged.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
		did = append(did, "log: "+line)
	}
	h.logged.Reset()
	for i := range did {
		did[i] = strings.ReplaceAll(did[i], filepath.Dir(h.dir.Root()), "TOP")
		did[i] = regexp.MustCompile(fmt.Sprintf(`(pid |kill )%d\b`, os.Getpid())).ReplaceAllString(did[i], "${1}PID")
	}
	return did
}

func open(t *testing.T) *house {
	h := &house{dir: storetest.Prepared(t), end: func() error { return nil }}
	unlock, err := h.dir.Lock()
	testkit.Must(t, err)
	t.Cleanup(func() { _ = unlock() }) // the directory may be missing
	h.settings = NewSettings(h.dir, func() { h.add("the settings change") })
	h.Directory = NewDirectory(Options{
		Dir: h.dir, Log: slog.New(slog.NewTextHandler(h, nil)), Settings: h.settings, Shown: []string{"shown.json"},
		Notice: func(text string) { h.add("notice: " + text) }, Changed: func() { h.add("what is shown has changed") },
		Readers: []Reader{
			{Files: []string{"one.json", "two.json"}, Reload: func(watch.Batch) { h.add("the reader of two files reads") }},
			{Reload: func(b watch.Batch) {
				h.add(fmt.Sprintf("the reader of all reads %q with %d forks", b.Names, h.settings.Load().MaxBackgroundForks))
			}},
		},
	})
	h.take()
	return h
}

// TestADirectoryInUse plays testdata/live.txt in a bubble: below a line with ">" is who reads, what is shown to the user and what is logged.
func TestADirectoryInUse(t *testing.T) {
	goldentest.Stories(t, "live.txt", func(t *testing.T, story string) (out string) {
		synctest.Test(t, func(t *testing.T) {
			h := open(t)
			var lines []string
			for line := range strings.Lines(story) {
				line = strings.TrimRight(line, "\n")
				step, is := strings.CutPrefix(line, "> ")
				if is || strings.HasPrefix(line, "#") {
					lines = append(lines, line)
				}
				if is {
					h.step(t, step)
					synctest.Wait()
					lines = append(lines, h.take()...)
				}
			}
			testkit.Must(t, h.end())
			out = strings.Join(lines, "\n")
		})
		return out
	})
}

func (h *house) step(t *testing.T, step string) {
	verb, rest, _ := strings.Cut(step, " ")
	name, text, _ := strings.Cut(rest, " ")
	root := h.dir.Root()
	switch verb {
	case "saves": // as a user does, without the store
		testkit.Must(t, os.WriteFile(h.dir.Path(name), []byte(text), 0o600))
	case "rm":
		testkit.Must(t, os.RemoveAll(h.dir.Path(name)))
	case "moves": // away, or back
		from, to := root, root+" moved"
		if name == "back" {
			from, to = to, from
		}
		testkit.Must(t, os.Rename(from, to))
	case "chmod":
		testkit.Must(t, os.Chmod(root, 0o777))
	case "apply": // a batch of changes, or of everything
		h.Apply(watch.Batch{Names: strings.Fields(rest), Full: rest == ""})
	case "matters":
		for name := range strings.FieldsSeq(rest) {
			h.add(fmt.Sprintf("%s is looked at: %t", name, h.matters(name)))
		}
	case "reload":
		h.settings.Reload()
	case "starts": // the settings of a new program
		h.settings = NewSettings(h.dir, func() { h.add("the settings change") })
	case "status":
		h.add(fmt.Sprintf("%d forks are in force", h.settings.Load().MaxBackgroundForks))
		for _, p := range h.settings.Problems() {
			h.add(fmt.Sprintf("%s:%d, an earlier version is in force: %t", p.File, p.Line, !p.Kept.IsZero()))
		}
	case "valid": // a version of a file
		testkit.Must(t, h.dir.KeepValid(name, []byte(text)))
	case "concerns":
		h.Concerns()
	case "keeps": // the directory, from now on
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			err := h.Keep(ctx)
			if err != nil {
				h.add("it ends: " + err.Error())
			}
			done <- nil
		}()
		h.end = func() error {
			cancel()
			return <-done
		}
	case "ends":
		testkit.Must(t, h.end())
		h.end = func() error { return nil }
	case "looks":
		time.Sleep(lookEvery)
	case "wait":
		took, err := time.ParseDuration(name)
		testkit.Must(t, err)
		time.Sleep(took)
	case "old": // a file that was set aside long ago
		old := h.dir.Path("state/old.json.corrupt-19990101T000000")
		testkit.Must(t, os.WriteFile(old, nil, 0o600))
		testkit.Must(t, os.Chtimes(old, time.Time{}, time.Unix(1, 0)))
	case "removes": // as the program does
		storetest.Put(t, h.dir, name, "A")
		testkit.Must(t, trash.Put(h.dir, time.Now(), name))
	case "ls":
		old, _ := filepath.Glob(h.dir.Path("state/old*"))
		removed, _ := h.dir.Entries("state/trash")
		h.add(fmt.Sprintf("%d old files, %d removed ones", len(old), len(removed)))
	case "another": // bot in the same place
		other := storetest.At(t, root)
		testkit.Must(t, other.Prepare())
		unlock, err := other.Lock()
		testkit.Must(t, err)
		h.unlock = unlock
	case "unlocks": // the other bot
		testkit.Must(t, h.unlock())
	default:
		t.Fatalf("no step %q", verb)
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

func TestSettingsThatAreSetAreInForce(t *testing.T) {
	h := open(t)
	other := config.Runtime{MaxBackgroundForks: 9}
	if h.settings.Set(&other); h.settings.Load() != &other || !slices.Equal(h.take(), []string{"the settings change"}) {
		t.Error("Set puts no settings in force")
	}
}
