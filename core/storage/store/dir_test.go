package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newDir(t testing.TB) *Dir {
	t.Helper()
	d, err := At(filepath.Join(t.TempDir(), "data"))
	must(t, err)
	return d
}

func prepared(t testing.TB) *Dir {
	t.Helper()
	d := newDir(t)
	must(t, d.Prepare())
	return d
}

// put writes a file as a user would, past the store.
func put(t testing.TB, d *Dir, rel, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(d.Path(rel)), 0o700))
	must(t, os.WriteFile(d.Path(rel), []byte(text), 0o600))
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Mode().Perm()
}

func TestTheHomeDirectoryIsExpandedAndShown(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, tt := range []struct{ in, root, display string }{
		{"~/.ollim-bot", filepath.Join(home, ".ollim-bot"), "~/.ollim-bot"},
		{"~", home, "~"},
		{home + "/x/../y/", filepath.Join(home, "y"), "~/y"},
		{"/srv/bot", "/srv/bot", "/srv/bot"},
		{home + "er/x", home + "er/x", home + "er/x"},
	} {
		d, err := At(tt.in)
		must(t, err)
		if d.Root() != tt.root || d.Display() != tt.display {
			t.Errorf("%s: root %s, display %s", tt.in, d.Root(), d.Display())
		}
	}
	if _, err := At(" "); err == nil {
		t.Error("no directory at all is taken")
	}
}

func TestNamingADirectoryTouchesNothing(t *testing.T) {
	d := newDir(t)
	if d.Exists() {
		t.Error("it exists")
	}
	if names, err := os.ReadDir(filepath.Dir(d.Root())); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

func TestPrepareMakesThePlacePrivate(t *testing.T) {
	d := newDir(t)
	for _, path := range []string{d.Root(), d.Path("state")} {
		must(t, os.MkdirAll(path, 0o755))
		must(t, os.Chmod(path, 0o755))
	}
	put(t, d, "state/token.json", "{}")
	put(t, d, "USER.md", "Sam")
	for _, rel := range []string{"state/token.json", "USER.md"} {
		must(t, os.Chmod(d.Path(rel), 0o644))
	}
	must(t, d.Prepare())
	for rel, want := range map[string]fs.FileMode{".": 0o700, "state": 0o700, "state/token.json": 0o600, "USER.md": 0o644} {
		if got := mode(t, d.Path(rel)); got != want {
			t.Errorf("%s has mode %#o, want %#o", rel, got, want)
		}
	}
	if !d.Exists() {
		t.Error("it does not exist")
	}
}

func TestPrepareLeavesSomebodyElsesDirectoryOpen(t *testing.T) {
	d := newDir(t)
	put(t, d, "holiday.jpg", "x")
	must(t, os.Chmod(d.Root(), 0o755))
	must(t, d.Prepare())
	if got := mode(t, d.Root()); got != 0o755 {
		t.Errorf("mode is %#o", got)
	}
	if got := mode(t, d.Path("state")); got != 0o700 {
		t.Errorf("state has mode %#o", got)
	}
	shared := filepath.Join(t.TempDir(), "shared")
	must(t, os.MkdirAll(filepath.Join(shared, "state"), 0o777))
	must(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	if d, err := At(shared); err != nil || d.Prepare() != nil || mode(t, shared) != 0o777 {
		t.Errorf("a shared directory became %#o (%v)", mode(t, shared), err)
	}
}

func TestPrepareRemovesOnlyOurOwnOldLeftovers(t *testing.T) {
	d := prepared(t)
	old := time.Now().Add(-time.Hour)
	ours := map[string]bool{ // true: must be gone
		"state/" + tempName("config.json"):   true,
		"routines/" + tempName("a.md"):       true,
		"state/forks/" + tempName("r.jsonl"): true,
		tempName("x"):                        true,
		"state/notes.tmp":                    false,
		"routines/.a.md.swp":                 false,
		"routines/.a.md.0123.tmp":            false,
		"downloads/" + tempName("a.pdf"):     false,
	}
	for rel := range ours {
		put(t, d, rel, "x")
		must(t, os.Chtimes(d.Path(rel), old, old))
	}
	young := "state/" + tempName("young")
	put(t, d, young, "x")
	ours[young] = false
	must(t, d.Prepare())
	for rel, gone := range ours {
		if _, err := os.Lstat(d.Path(rel)); errors.Is(err, fs.ErrNotExist) != gone {
			t.Errorf("%s: %v, should be gone: %v", rel, err, gone)
		}
	}
}

func TestPrepareSaysWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(d *Dir) error
		says []string
	}{
		{
			"a file in its place", func(d *Dir) error { return os.WriteFile(d.Root(), nil, 0o600) },
			[]string{"not a directory", "move it away", "--data-dir"},
		},
		{"a file in the way of its parent", func(d *Dir) error {
			d.root = filepath.Join(d.root, "below")
			return os.WriteFile(filepath.Dir(d.root), nil, 0o600)
		}, []string{"not a directory", "--data-dir"}},
		{"a file instead of state", func(d *Dir) error {
			return errors.Join(os.MkdirAll(d.Root(), 0o700), os.WriteFile(d.Path("state"), nil, 0o600))
		}, []string{"not a directory", "move it away"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDir(t)
			must(t, tt.make(d))
			err := d.Prepare()
			if err == nil {
				t.Fatal("no error")
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q does not say %q", err, says)
				}
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
