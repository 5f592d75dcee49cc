package watch

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// patience bounds the wait for events that arrive within a fraction of a second; only a
// failing test waits that long.
const patience = 2 * time.Minute

// field is a Run over real folders with real system events.
type field struct {
	t       *testing.T
	root    string
	outside string
	got     chan Batch
	tries   int
}

// start runs the watcher; its timer alone would be a minute late.
func (f *field) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Root: f.root, Folders: []string{"in", "deep/er"}, Log: slog.New(slog.DiscardHandler),
			Match:   func(name string) bool { return strings.HasSuffix(name, ".md") },
			Changed: func(b Batch) { f.got <- b },
		})
	}()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("run: %v", err)
		}
	})
	if b := f.next("start"); !b.Full {
		f.t.Errorf("the first batch is %v", b)
	}
}

func (f *field) next(step string) Batch {
	f.t.Helper()
	select {
	case b := <-f.got:
		return b
	case <-time.After(patience):
		f.t.Fatalf("%s: nothing was reported", step)
		return Batch{}
	}
}

// alive checks that a write into the folder is reported by name. While the watch is still
// being renewed, a full batch may arrive instead; then it writes again.
func (f *field) alive(folder string) {
	f.t.Helper()
	for range 50 {
		f.tries++
		name := fmt.Sprintf("%s/%d.md", folder, f.tries)
		f.step("write " + name)
		if slices.Contains(f.next("alive "+folder).Names, name) {
			return
		}
	}
	f.t.Fatalf("writes into %s are not reported by name", folder)
}

// path is that of a name below the root, or outside of it.
func (f *field) path(name string) string {
	if rel, is := strings.CutPrefix(name, "outside/"); is {
		return filepath.Join(f.outside, rel)
	}
	return filepath.Join(f.root, name)
}

// step takes a step of a story. only waits for a batch with just this name, sees for one with it, full for a full one, last for either,
// without any file that has moved away.
func (f *field) step(text string) {
	f.t.Helper()
	verb, rest, _ := strings.Cut(text, " ")
	name, to, _ := strings.Cut(rest, " to ")
	switch verb {
	case "start":
		f.start()
	case "mkdir":
		testkit.Must(f.t, os.MkdirAll(f.path(name), 0o700))
	case "write":
		testkit.Must(f.t, os.WriteFile(f.path(name), []byte(fmt.Sprint(f.tries)), 0o600))
	case "rename":
		testkit.Must(f.t, os.Rename(f.path(name), f.path(to)))
	case "remove":
		testkit.Must(f.t, os.RemoveAll(f.path(name)))
	case "link": // a relative one only for a name without a folder
		if strings.Contains(to, "/") {
			to = f.path(to)
		}
		testkit.Must(f.t, os.Symlink(to, f.path(name)))
	case "alive":
		f.alive(name)
	case "only":
		if b := f.next(text); b.Full || !slices.Equal(b.Names, []string{name}) {
			f.t.Errorf("%s: reported %v", text, b)
		}
	case "full":
		for !f.next(text).Full {
		}
	case "sees":
		for !slices.Contains(f.next(text).Names, name) {
		}
	case "last":
		for {
			b := f.next(text)
			if slices.Contains(b.Names, "in/x.md") {
				f.t.Error("a file of the folder that moved away was reported")
			}
			if b.Full || slices.Contains(b.Names, name) {
				return
			}
		}
	default:
		f.t.Fatalf("%s is no step", text)
	}
}

func TestWhatOtherProgramsDoToFilesAndFoldersIsReported(t *testing.T) {
	const vim = "rename in/a.md to in/a.md~, write in/a.md, remove in/a.md~, only in/a.md"
	const again = "alive in, remove in, mkdir in, full"
	for name, steps := range map[string]string{
		"a write is reported by name":                      "mkdir in, mkdir deep/er, start, alive in, alive deep/er",
		"a save by renaming by the name that matters":      "mkdir in, start, write in/.a.md.tmp, rename in/.a.md.tmp to in/a.md, only in/a.md, " + vim + ", remove in/a.md, only in/a.md",
		"a folder that appears later is watched":           "start, mkdir in, full, alive in, mkdir deep/er, full, alive deep/er",
		"so is one that is deleted and made again":         "mkdir in, start, " + again + ", " + again + ", " + again + ", alive in",
		"so is another in its place, and not the old one":  "mkdir in, mkdir other, start, rename in to old, rename other to in, full, alive in, write old/x.md, write in/last.md, last in/last.md",
		"a folder may be a link and change where it leads": "mkdir outside/a, mkdir outside/b, link in to outside/a, start, alive in, remove in, link in to outside/b, full, alive in",
		"a missing root is waited for":                     "remove ., start, mkdir in, full, alive in, remove ., full, mkdir in, full, alive in",
		"a file that is a link is reported when what it leads to is saved, in place or by renaming": "mkdir in, mkdir outside/n, write outside/n/notes.md, " +
			"link in/a.md to outside/n/notes.md, link in/twice.md to a.md, start, write outside/n/notes.md, sees in/a.md, write outside/n/tmp, " +
			"rename outside/n/tmp to outside/n/notes.md, sees in/twice.md",
		"so is one that is made later or leads elsewhere, and not what it led to before": "mkdir in, mkdir outside/n, mkdir outside/m, start, " +
			"link in/b.md to outside/n/not yet.md, sees in/b.md, write outside/n/not yet.md, sees in/b.md, remove in/b.md, link in/b.md to outside/m/moved.md, " +
			"sees in/b.md, write outside/m/moved.md, sees in/b.md, remove in/b.md, sees in/b.md, write outside/n/not yet.md, write outside/m/x.md, write in/last.md, " +
			"only in/last.md",
	} {
		t.Run(name, func(t *testing.T) {
			f := &field{t: t, root: filepath.Join(t.TempDir(), "one", "two"), outside: t.TempDir(), got: make(chan Batch, 1000)}
			testkit.Must(t, os.MkdirAll(f.root, 0o700))
			for step := range strings.SplitSeq(steps, ", ") {
				f.step(step)
			}
		})
	}
}
