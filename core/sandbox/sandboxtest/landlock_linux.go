package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ollimbot/core/sandbox"
)

// Landlock is a sandbox of Landlock, as on a machine without bubblewrap. The
// test's own program has to answer to sandbox.HelperArg.
func Landlock(t testing.TB, o sandbox.Options) *sandbox.Box {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Executable, o.Search = exe, t.TempDir()
	for _, name := range []string{"bash", "sh", "true"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(o.Search, name)); err != nil {
			t.Fatal(err)
		}
	}
	b := sandbox.New(o)
	if s := b.State(); s.Kind != sandbox.Landlock {
		missing(t, s.String())
	}
	return b
}
