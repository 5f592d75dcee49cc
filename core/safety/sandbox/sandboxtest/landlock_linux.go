package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
)

// Landlock returns a Landlock sandbox, as on a machine without bubblewrap. The package's TestMain
// must handle sandbox.HelperArg; see binarytest.Answer. Programs in the first folder of o.Search
// take precedence over those of the machine.
func Landlock(t testing.TB, o sandbox.Options) *sandbox.Box {
	t.Helper()
	first, _, _ := strings.Cut(o.Search, ":")
	o.Executable, o.Search = binarytest.Path(), t.TempDir()
	// Only the inner sandbox of claude's shell needs bash, and only a scope needs systemd-run.
	for name, needed := range map[string]bool{"bash": false, "sh": true, "true": true, "env": true, "systemd-run": false} {
		path := filepath.Join(first, name)
		_, err := os.Stat(path)
		if first == "" || err != nil {
			path, err = exec.LookPath(name)
		}
		if err != nil && !needed {
			continue
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
		testkit.Missing(t, "Landlock: "+s.String())
	}
	return b
}
