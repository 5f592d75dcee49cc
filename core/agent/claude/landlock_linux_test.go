package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/config"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	os.Exit(m.Run())
}

func TestTheRealCommandIsKeptInByLandlockToo(t *testing.T) {
	testkit.Alone(t)
	dir := t.TempDir()
	for name, text := range map[string]string{".env": "heliotrope", "notes/a.txt": "a plum", "routines/a.md": "mine"} {
		testkit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	r := newRig(t, func(o *Options) {
		o.Sandbox = sandboxtest.Landlock(t, sandbox.Options{Dir: dir, Home: config.Lookup(o.Env, "HOME")}).Engine
	})
	r.dir = dir
	s := r.open()
	if e := shell(t, s, "pwd; cat notes/a.txt; echo pear > notes/b.txt"); e.IsError || e.Text != dir+"\na plum" {
		t.Errorf("it says %q", e.Text)
	}
	for _, attack := range []string{"cat .env", "echo x > routines/b.md", "echo x > new.md", "echo x > CLAUDE.md", "env | grep ANTHROPIC || exit 3", "ls ~/.ssh"} {
		if e := shell(t, s, attack); !e.IsError || strings.Contains(e.Text, "heliotrope") {
			t.Errorf("%s: %q", attack, e.Text)
		}
	}
}
