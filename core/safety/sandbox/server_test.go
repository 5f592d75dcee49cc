package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAServerSeesWhatItsArgumentsName(t *testing.T) {
	root := resolved(t.TempDir())
	for _, name := range []string{"data/notes/a.md", "users/home/photos/a.jpg", "shared/a.txt", "shared/.env"} {
		testkit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		testkit.Must(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	home := filepath.Join(root, "users", "home")
	box := New(Options{Dir: filepath.Join(root, "data"), Home: home, Settings: func() Settings { return Settings{} }})
	for _, c := range []struct {
		what, path string
		seen       bool
	}{
		{"a folder outside the home is seen", "shared", true},
		{"a folder in the home is seen", "users/home/photos", true},
		{"a file in the home is seen", "users/home/photos/a.jpg", true},
		{"the home is not", "users/home", false},
		{"a folder that contains the home is not", "users", false},
		{"the data directory is not", "data", false},
		{"a folder in the data directory is not", "data/notes", false},
		{"a file with secrets is not", "shared/.env", false},
		{"a path that does not exist is not", "nothing", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := filepath.Join(root, c.path)
			v, err := box.serverView(Server{Folder: filepath.Join(root, "own"), Shown: []string{path}}, &exec.Cmd{Path: "/usr/bin/true"})
			testkit.Must(t, err)
			if seen := slices.ContainsFunc(v.mounts, func(m mount) bool { return m.How == readOnly && m.To == path }); seen != c.seen {
				t.Errorf("%s is seen: %t", c.path, seen)
			}
		})
	}
}

func TestWhatIsListedIsVisibleUnlessItHasTheHomeOrTheDataDirectoryInIt(t *testing.T) {
	root := resolved(t.TempDir())
	for _, folder := range []string{"data/notes", "users/home/photos", "shared"} {
		testkit.Must(t, os.MkdirAll(filepath.Join(root, folder), 0o700))
	}
	home := filepath.Join(root, "users", "home")
	testkit.Must(t, os.Symlink(filepath.Join(root, "users"), filepath.Join(root, "link")))
	for path, want := range map[string]string{
		"~/photos": home + "/photos", home + "/photos": home + "/photos", root + "/shared": root + "/shared",
		root + "/link/home/photos": home + "/photos",
		home:                       "", root + "/users": "", root + "/link": "", root: "", "/": "", root + "/data": "", root + "/none": "",
	} {
		for _, write := range []bool{false, true} {
			v := &view{data: filepath.Join(root, "data"), links: map[string]string{}}
			testkit.Must(t, v.visible([]Visible{{Path: path, Write: write}}, home))
			got, how := "", readOnly
			if write {
				how = writable
			}
			for _, m := range v.mounts {
				if m.How == how {
					got += m.To
				}
			}
			if got != want {
				t.Errorf("%s, written to %t, shows %q, want %q", path, write, got, want)
			}
		}
	}
}
