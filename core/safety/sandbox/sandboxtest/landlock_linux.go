package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/safety/sandbox"
)

// Landlock is a sandbox of Landlock, as on a machine without bubblewrap. The
// package's TestMain has to answer to sandbox.HelperArg; see testbinary.Answer.
func Landlock(t testing.TB, o sandbox.Options) *sandbox.Box {
	t.Helper()
	o.Executable, o.Search = binarytest.Path(), t.TempDir()
	for _, name := range []string{"bash", "sh", "true"} {
		path, err := exec.LookPath(name)
		if err != nil && name == "bash" {
			continue // only the inner fence of claude's shell needs it
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(o.Search, name)); err != nil {
			t.Fatal(err)
		}
	}
	b := sandbox.New(o)
	t.Cleanup(b.Close)
	if s := b.State(); s.Kind != sandbox.Landlock {
		missing(t, s.String())
	}
	return b
}
