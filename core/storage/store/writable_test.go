package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// N22, N23: what stands against a data directory is said before anything is written.
func TestWhatStandsAgainstADirectoryIsSaidFirst(t *testing.T) {
	top := t.TempDir()
	file, sealed, locked := filepath.Join(top, "file"), filepath.Join(top, "sealed"), filepath.Join(top, "locked")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Mkdir(sealed, 0o500), os.Mkdir(locked, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root := os.Geteuid() == 0 // whom no mode keeps out
	for _, c := range []struct {
		path             string
		usable, writable string // part of the error; empty: none
		modes            bool   // the error comes from a mode
	}{
		{top, "", "", false},
		{filepath.Join(top, "new", "deep"), "", "", false},
		{file, "is a file, not a directory: ", "is a file, not a directory: ", false},
		{filepath.Join(file, "below", "it"), "file is a file, not a directory", "file is a file", false},
		{sealed, "", "write in " + sealed + ": permission denied: make the data directory writable", true},
		{filepath.Join(sealed, "new", "deep"), "", "cannot be made: " + sealed + " is not writable", true},
		{locked, "may not be read", "may not be read", true},
	} {
		if c.modes && root {
			c.usable, c.writable = "", ""
		}
		d, err := At(c.path)
		if err != nil {
			t.Fatal(err)
		}
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
}
