package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func newDir(t testing.TB) *Dir {
	t.Helper()
	d, err := At(filepath.Join(t.TempDir(), "data"))
	testkit.Must(t, err)
	return d
}

func prepared(t testing.TB) *Dir {
	t.Helper()
	d := newDir(t)
	testkit.Must(t, d.Prepare())
	return d
}

// put writes a file as a user would, without the store.
func put(t testing.TB, d *Dir, rel, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(d.Path(rel)), 0o700))
	testkit.Must(t, os.WriteFile(d.Path(rel), []byte(text), 0o600))
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	testkit.Must(t, err)
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
		testkit.Must(t, err)
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
	for _, look := range []func() error{
		func() error { return second(d.Read("state/x.json")) },
		func() error { return second(d.Open("state/x.json")) },
		func() error { return second(d.Entries("state")) },
	} {
		if err := look(); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	var v any
	if found, err := d.PeekJSON("state/x.json", &v); found || err != nil {
		t.Error(found, err)
	}
	if found, err := d.Look(); found != AsItWas || err != nil {
		t.Error(found, err)
	}
	if pid, ok := d.Running(); ok || pid != 0 || len(d.Concerns()) > 0 || d.Trusted() != nil || d.Usable() != nil {
		t.Error(pid, ok, d.Concerns(), d.Trusted(), d.Usable())
	}
	d.Tidy(time.Now())
	if names, err := os.ReadDir(filepath.Dir(d.Root())); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

func TestPrepareMakesThePlacePrivate(t *testing.T) {
	d := newDir(t)
	for _, path := range []string{d.Root(), d.Path("state")} {
		testkit.Must(t, os.MkdirAll(path, 0o755))
		testkit.Must(t, os.Chmod(path, 0o755))
	}
	put(t, d, "state/token.json", "{}")
	put(t, d, "USER.md", "Sam")
	for _, rel := range []string{"state/token.json", "USER.md"} {
		testkit.Must(t, os.Chmod(d.Path(rel), 0o644))
	}
	testkit.Must(t, d.Prepare())
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
	for _, c := range []struct {
		name       string
		make       func(d *Dir) error
		mode, want fs.FileMode
	}{
		{"empty", func(*Dir) error { return nil }, 0o755, 0o700},
		{"a bot's", func(d *Dir) error { return os.Mkdir(d.Path(StateDir), 0o700) }, 0o750, 0o700},
		{"with files and folders of others", func(d *Dir) error {
			return errors.Join(os.WriteFile(d.Path("holiday.jpg"), nil, 0o600), os.Mkdir(d.Path("photos"), 0o700))
		}, 0o755, 0o755},
		{"shared", func(d *Dir) error { return os.Mkdir(d.Path(StateDir), 0o700) }, 0o777 | fs.ModeSticky, 0o777},
		{"the home directory", func(d *Dir) error {
			t.Setenv("HOME", d.Root())
			return os.Mkdir(d.Path(StateDir), 0o700)
		}, 0o755, 0o755},
	} {
		d := newDir(t)
		testkit.Must(t, os.Mkdir(d.Root(), 0o700))
		testkit.Must(t, c.make(d))
		testkit.Must(t, os.Chmod(d.Root(), c.mode))
		testkit.Must(t, d.Prepare())
		if got := mode(t, d.Root()); got != c.want {
			t.Errorf("%s: mode is %#o, want %#o", c.name, got, c.want)
		}
		if got := mode(t, d.Path("state")); got != 0o700 {
			t.Errorf("%s: state has mode %#o", c.name, got)
		}
	}
}

func TestPrepareRemovesOnlyOurOwnOldLeftovers(t *testing.T) {
	d := prepared(t)
	old := time.Now().Add(-time.Hour)
	ours := map[string]bool{ // true: must be removed
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
		testkit.Must(t, os.Chtimes(d.Path(rel), old, old))
	}
	young := "state/" + tempName("young")
	put(t, d, young, "x")
	ours[young] = false
	testkit.Must(t, d.Prepare())
	for rel, gone := range ours {
		if _, err := os.Lstat(d.Path(rel)); errors.Is(err, fs.ErrNotExist) != gone {
			t.Errorf("%s: %v, should be gone: %v", rel, err, gone)
		}
	}
}

func TestOurLeftoversAreToldFromOtherFiles(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		base := rapid.StringN(1, -1, 250).Draw(t, "base")
		name := tempName(base)
		if !IsTemp(name) || len(name) > 255 {
			t.Fatalf("%q is not taken for ours", name)
		}
		at := rapid.IntRange(len(name)-21, len(name)-1).Draw(t, "at")
		for _, other := range []string{"x" + name, name + "x", name[:at] + "X" + name[at+1:]} {
			if IsTemp(other) {
				t.Fatalf("%q is taken for ours", other)
			}
		}
	})
	for _, name := range []string{"", ".", ".tmp", "..0123456789abcdef.tmp", ".0123456789abcdef.tmp", "x.0123456789abcdef.tmp"} {
		if IsTemp(name) {
			t.Errorf("%q is taken for ours", name)
		}
	}
}

func TestWhatWasSetAsideIsKeptForThirtyDays(t *testing.T) {
	d := prepared(t)
	now := time.Now().Truncate(time.Second)
	temp := tempName("x.json")
	for _, c := range []struct {
		rel  string
		age  time.Duration
		gone bool
	}{
		{"state/x.json" + asideMark + "1", asideFor - time.Second, false},
		{"state/x.json" + asideMark + "2", asideFor, true},
		{"state/x.json", 2 * asideFor, false},
		{"notes" + asideMark + "1", 2 * asideFor, false},
		{"state/" + temp, leftoverAge, true},
		{"reminders/" + temp, leftoverAge - time.Second, false},
		{"webhooks/" + temp, leftoverAge, true},
	} {
		put(t, d, c.rel, "x")
		testkit.Must(t, os.Chtimes(d.Path(c.rel), now, now.Add(-c.age)))
		d.Tidy(now)
		if _, err := os.Lstat(d.Path(c.rel)); errors.Is(err, fs.ErrNotExist) != c.gone {
			t.Errorf("%s after %v: %v, should be gone: %v", c.rel, c.age, err, c.gone)
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
			testkit.Must(t, tt.make(d))
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
