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
	t.Setenv("HOME", "")
	for _, none := range []string{" ", "~", "~/x"} {
		if d, err := At(none); err == nil {
			t.Errorf("%q is taken for %s", none, d.Root())
		}
	}
}

func TestOurLeftoversAreDistinguishedFromOtherFiles(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		base := rapid.StringN(1, -1, 250).Draw(t, "base")
		name := tempName(base)
		if !IsTemp(name) || len(name) > 255 || !strings.HasPrefix(name, "."+base[:min(len(base), 200)]+".") {
			t.Fatalf("%q is not taken for ours, of %q", name, base)
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

func TestOldLeftoversAreRemovedAndNothingElse(t *testing.T) {
	d := prepared(t)
	now := time.Now().Truncate(time.Second)
	temp := tempName("x.json")
	const month, while = 30 * 24 * time.Hour, 10 * time.Minute
	for _, c := range []struct {
		rel  string
		age  time.Duration
		gone bool
	}{
		{"state/x.json" + asideMark + "1", month - 1, false},
		{"state/x.json" + asideMark + "2", month, true},
		{"state/x.json", 2 * month, false},
		{"notes" + asideMark + "1", 2 * month, false},
		{"state/" + temp, while, true},
		{"reminders/" + temp, while - 1, false},
		{"webhooks/" + temp, while, true},
		{"routines/" + temp, while, true},
		{"state/forks/" + temp, while, true},
		{temp, while, true},
		{"state/notes.tmp", time.Hour, false},
		{"routines/.a.md.swp", time.Hour, false},
		{"routines/.a.md.0123.tmp", time.Hour, false},
		{"downloads/" + temp, time.Hour, false},
	} {
		put(t, d, c.rel, "x")
		testkit.Must(t, os.Chtimes(d.Path(c.rel), now, now.Add(-c.age)))
		d.Tidy(now)
		if _, err := os.Lstat(d.Path(c.rel)); errors.Is(err, fs.ErrNotExist) != c.gone {
			t.Errorf("%s after %v: %v, should be gone: %v", c.rel, c.age, err, c.gone)
		}
	}
	put(t, d, temp, "x")
	testkit.Must(t, os.Chtimes(d.Path(temp), now, now.Add(-time.Hour)))
	testkit.Must(t, d.Prepare())
	if _, err := os.Lstat(d.Path(temp)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a leftover after Prepare: %v", err)
	}
}
