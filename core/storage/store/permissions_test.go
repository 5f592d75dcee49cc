package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// N22, N23: problems of a data directory are reported before anything is written.
func TestWhyADirectoryCannotBeUsedIsSaidFirst(t *testing.T) {
	top := t.TempDir()
	t.Setenv("HOME", filepath.Join(top, "home")) // which errors shorten to ~
	file, sealed, locked := filepath.Join(top, "file"), filepath.Join(top, "sealed"), filepath.Join(top, "locked")
	loop, taken := filepath.Join(top, "loop"), filepath.Join(top, "taken")
	for _, err := range []error{
		os.WriteFile(file, nil, 0o600), os.Mkdir(sealed, 0o500), os.Mkdir(locked, 0), os.Symlink(loop, loop), os.Mkdir(taken, 0o700),
		os.WriteFile(filepath.Join(taken, StateDir), nil, 0o600),
	} {
		testkit.Must(t, err)
	}
	root := os.Geteuid() == 0 // no mode restricts root
	for _, c := range []struct {
		path             string
		usable, writable string // part of the error; empty means none
		modes            bool   // the error comes from a mode
	}{
		{top, "", "", false},
		{filepath.Join(top, "new", "deep"), "", "", false},
		{file, "is a file, not a directory: ", "is a file, not a directory: ", false},
		{filepath.Join(file, "below", "it"), "file is a file, not a directory", "file is a file", false},
		{sealed, "", "write in " + sealed + ": permission denied: make the data directory writable", true},
		{filepath.Join(sealed, "new", "deep"), "", "cannot be created: you cannot write to " + sealed, true},
		{locked, "no permission to read " + locked, "no permission to read " + locked, true},
		{loop, "open " + loop + ": too many levels of symbolic links: " + cureLoop, "open " + loop, false},
		{taken, "", "", false}, // see below
	} {
		if c.modes && root {
			c.usable, c.writable = "", ""
		}
		d, err := At(c.path)
		testkit.Must(t, err)
		for _, said := range []struct {
			err  error
			want string
		}{{d.Usable(), c.usable}, {d.Writable(), c.writable}} {
			if (said.err == nil) != (said.want == "") || said.err != nil && !strings.Contains(said.err.Error(), said.want) {
				t.Errorf("%s: %v, want %q", c.path, said.err, said.want)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(top, "new")); err == nil {
		t.Error("the question has made the directory")
	}
	for path, want := range map[string]string{
		file: "is a file, not a directory: move it away", filepath.Join(file, "below"): "--data-dir",
		taken: "prepare " + taken + ": not a directory: " + cureNotDirectory,
	} {
		d, err := At(path)
		testkit.Must(t, err)
		if err := d.Prepare(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("prepare %s: %v, want %q", path, err, want)
		}
	}
}

func TestADirectoryThatEverybodyCouldWriteToIsTakenBackAndTold(t *testing.T) {
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

func TestWhoMayWriteDecidesWhatIsTrusted(t *testing.T) {
	for _, c := range []struct {
		state, skills fs.FileMode
		root          fs.FileMode
		trusted       bool
		concerns      int
	}{
		{0o700, 0o755, 0o700, true, 0},
		{0o700, 0o775, 0o770, true, 1}, // the user's group is the user's choice
		{0o720, 0o700, 0o755, true, 1},
		{0o702, 0o700, 0o702, false, 2},
		{0o700, 0o777, 0o700, false, 0},
		{0o700, 0o777 | fs.ModeSticky, 0o777 | fs.ModeSticky, true, 1},
	} {
		d := prepared(t)
		put(t, d, "skills/x/SKILL.md", "x")
		for rel, mode := range map[string]fs.FileMode{StateDir: c.state, "skills": c.skills, ".": c.root} {
			testkit.Must(t, os.Chmod(d.Path(rel), mode))
		}
		if err := d.Trusted(); (err == nil) != c.trusted {
			t.Errorf("%+v: %v", c, err)
		}
		if got := d.Concerns(); len(got) != c.concerns {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
