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
)

// patience bounds the wait for events that arrive within a fraction of a second; only a
// failing test waits that long.
const patience = 2 * time.Minute

// field is a Run over real folders with real system events.
type field struct {
	t     *testing.T
	root  string
	told  chan Batch
	tries int
}

func newField(t *testing.T, root string) *field {
	return &field{t: t, root: root, told: make(chan Batch, 1000)}
}

// start runs the watcher; its timer alone would be a minute late.
func (f *field) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Root: f.root, Folders: []string{"in", "deep/er"}, Log: slog.New(slog.DiscardHandler),
			Match:   func(name string) bool { return strings.HasSuffix(name, ".md") },
			Changed: func(b Batch) { f.told <- b },
		})
	}()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("run: %v", err)
		}
	})
	if b := f.next(); !b.Full {
		f.t.Errorf("the first batch is %v", b)
	}
}

func (f *field) next() Batch {
	f.t.Helper()
	select {
	case b := <-f.told:
		return b
	case <-time.After(patience):
		f.t.Fatal("nothing was told")
		return Batch{}
	}
}

// full waits for a full batch.
func (f *field) full() {
	f.t.Helper()
	for !f.next().Full {
	}
}

// alive checks that a write into the folder is reported by name. While the watch is still
// being renewed, a full batch may arrive instead; then it writes again.
func (f *field) alive(folder string) {
	f.t.Helper()
	for range 50 {
		f.tries++
		name := fmt.Sprintf("%s/%d.md", folder, f.tries)
		f.write(name)
		if b := f.next(); slices.Contains(b.Names, name) {
			return
		}
	}
	f.t.Fatalf("writes into %s are not told by name", folder)
}

func (f *field) write(name string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, name), []byte("text"), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *field) do(errs ...error) {
	f.t.Helper()
	for _, err := range errs {
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *field) path(name string) string { return filepath.Join(f.root, name) }

func TestAWriteIsToldByName(t *testing.T) {
	f := newField(t, t.TempDir())
	f.do(os.MkdirAll(f.path("in"), 0o700), os.MkdirAll(f.path("deep/er"), 0o700))
	f.start()
	f.alive("in")
	f.alive("deep/er")
}

func TestASaveByRenameIsToldByTheNameThatMatters(t *testing.T) {
	f := newField(t, t.TempDir())
	f.do(os.Mkdir(f.path("in"), 0o700))
	f.start()
	f.write("in/.a.md.tmp")
	f.do(os.Rename(f.path("in/.a.md.tmp"), f.path("in/a.md")))
	if b := f.next(); b.Full || !slices.Equal(b.Names, []string{"in/a.md"}) {
		t.Errorf("told %v", b)
	}
	// Like vim: move the old file away and write a new one in its place.
	f.do(os.Rename(f.path("in/a.md"), f.path("in/a.md~")))
	f.write("in/a.md")
	f.do(os.Remove(f.path("in/a.md~")))
	if b := f.next(); b.Full || !slices.Equal(b.Names, []string{"in/a.md"}) {
		t.Errorf("told %v", b)
	}
	f.do(os.Remove(f.path("in/a.md")))
	if b := f.next(); b.Full || !slices.Equal(b.Names, []string{"in/a.md"}) {
		t.Errorf("told %v", b)
	}
}

func TestAFolderThatAppearsLaterIsWatched(t *testing.T) {
	f := newField(t, t.TempDir())
	f.start()
	f.do(os.Mkdir(f.path("in"), 0o700))
	f.full()
	f.alive("in")
	f.do(os.MkdirAll(f.path("deep/er"), 0o700))
	f.full()
	f.alive("deep/er")
}

func TestAFolderThatIsDeletedAndComesBackIsWatched(t *testing.T) {
	f := newField(t, t.TempDir())
	f.do(os.Mkdir(f.path("in"), 0o700))
	f.start()
	for range 3 {
		f.alive("in")
		f.do(os.RemoveAll(f.path("in")), os.Mkdir(f.path("in"), 0o700))
		f.full()
	}
	f.alive("in")
}

func TestAFolderThatIsReplacedByAnotherIsWatched(t *testing.T) {
	f := newField(t, t.TempDir())
	f.do(os.Mkdir(f.path("in"), 0o700), os.Mkdir(f.path("other"), 0o700))
	f.start()
	f.do(os.Rename(f.path("in"), f.path("old")), os.Rename(f.path("other"), f.path("in")))
	f.full()
	f.alive("in")
	f.write("old/x.md") // the moved folder is no longer watched
	f.write("in/last.md")
	for {
		b := f.next()
		if slices.Contains(b.Names, "in/x.md") {
			t.Error("a file of the folder that moved away was told")
		}
		if b.Full || slices.Contains(b.Names, "in/last.md") {
			break
		}
	}
}

func TestAFolderMayBeALinkAndMayChangeWhereItLeads(t *testing.T) {
	f := newField(t, t.TempDir())
	elsewhere := t.TempDir()
	f.do(os.Symlink(elsewhere, f.path("in")))
	f.start()
	f.alive("in")
	f.do(os.Remove(f.path("in")), os.Symlink(t.TempDir(), f.path("in")))
	f.full()
	f.alive("in")
}

func TestARootThatIsMissingIsWaitedFor(t *testing.T) {
	f := newField(t, filepath.Join(t.TempDir(), "one", "two"))
	f.start()
	f.do(os.MkdirAll(f.path("in"), 0o700))
	f.full()
	f.alive("in")
	f.do(os.RemoveAll(f.root))
	f.full()
	f.do(os.MkdirAll(f.path("in"), 0o700))
	f.full()
	f.alive("in")
}

// tells waits until a name is reported.
func (f *field) tells(name string) {
	f.t.Helper()
	for {
		if b := f.next(); slices.Contains(b.Names, name) {
			return
		}
	}
}

func TestAFileThatIsALinkIsToldWhenWhatItLeadsToIsSaved(t *testing.T) {
	f := newField(t, t.TempDir())
	elsewhere, other := t.TempDir(), t.TempDir()
	notes := filepath.Join(elsewhere, "notes.md")
	f.do(os.Mkdir(f.path("in"), 0o700), os.WriteFile(notes, []byte("one"), 0o600))
	f.do(os.Symlink(notes, f.path("in/a.md")), os.Symlink("a.md", f.path("in/twice.md")))
	f.start()
	f.do(os.WriteFile(notes, []byte("two"), 0o600)) // in place
	f.tells("in/a.md")
	f.do(os.WriteFile(notes+".tmp", []byte("three"), 0o600), os.Rename(notes+".tmp", notes)) // by renaming
	f.tells("in/twice.md")
	// A link created later, and one whose target changes.
	f.do(os.Symlink(filepath.Join(other, "not yet.md"), f.path("in/b.md")))
	f.tells("in/b.md")
	f.do(os.WriteFile(filepath.Join(other, "not yet.md"), []byte("there"), 0o600))
	f.tells("in/b.md")
	f.do(os.Remove(f.path("in/a.md")), os.Symlink(filepath.Join(other, "moved.md"), f.path("in/a.md")))
	f.tells("in/a.md")
	f.do(os.WriteFile(filepath.Join(other, "moved.md"), []byte("there"), 0o600))
	f.tells("in/a.md")
	// Former targets are no longer watched, nor are files next to them.
	f.do(os.Remove(f.path("in/b.md")), os.Remove(f.path("in/a.md")), os.Remove(f.path("in/twice.md")))
	f.tells("in/twice.md")
	f.do(os.WriteFile(notes, []byte("four"), 0o600), os.WriteFile(filepath.Join(other, "x.md"), nil, 0o600))
	f.write("in/last.md")
	if b := f.next(); !slices.Equal(b.Names, []string{"in/last.md"}) {
		t.Errorf("told %v", b)
	}
}
