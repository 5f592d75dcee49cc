package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// N22, N23: no mode restricts root, for whom all of these are usable.
func TestADirectoryThatModesCloseIsNamed(t *testing.T) {
	top := t.TempDir()
	sealed, locked := filepath.Join(top, "sealed"), filepath.Join(top, "locked")
	testkit.Must(t, os.Mkdir(sealed, 0o500))
	testkit.Must(t, os.Mkdir(locked, 0))
	for path, says := range map[string][2]string{ // of Usable and of Writable
		sealed:                               {"", "write in " + sealed + ": permission denied: make the data directory writable"},
		filepath.Join(sealed, "new", "deep"): {"", "cannot be created: you cannot write to " + sealed},
		locked:                               {"no permission to read " + locked, "no permission to read " + locked},
	} {
		if os.Geteuid() == 0 {
			says = [2]string{}
		}
		d, err := At(path)
		testkit.Must(t, err)
		for i, err := range []error{d.Usable(), d.Writable()} {
			if (err == nil) != (says[i] == "") || err != nil && !strings.Contains(err.Error(), says[i]) {
				t.Errorf("%s: %v, want %q", path, err, says[i])
			}
		}
	}
}

func TestADirectoryThatEverybodyCouldWriteToIsClosedAndReported(t *testing.T) {
	d := newDir(t)
	put(t, d, "skills/x/SKILL.md", "x")
	testkit.Must(t, os.Chmod(d.Root(), 0o777))
	if err := d.Trusted(); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Error(err)
	}
	testkit.Must(t, d.Prepare())
	if got := mode(t, d.Root()); got.Perm()&0o022 != 0 {
		t.Errorf("mode %v", got)
	}
	if got := d.Concerns(); len(got) != 1 || !strings.Contains(got[0], "0777") {
		t.Errorf("%q", got)
	}
	if err := d.Trusted(); err != nil {
		t.Error(err)
	}
	again, err := At(d.Root())
	testkit.Must(t, err)
	if got := again.Concerns(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestADirectoryOfAnotherUserIsNotTrusted(t *testing.T) {
	d := prepared(t)
	if err := os.Chown(d.Root(), 4711, -1); err != nil {
		t.Log("only root can give a directory away; this is not tested here")
		return
	}
	if err := d.Trusted(); err == nil || !strings.Contains(err.Error(), "uid 4711") || !strings.Contains(err.Error(), "chown") {
		t.Error(err)
	}
	if got := d.Concerns(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
