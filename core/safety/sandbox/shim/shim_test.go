package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func program(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return testkit.Program(t, path, text)
}

// E4: a wrapper of a version manager worked outside of the sandbox, and every session failed in it.
func TestTheProgramBehindAWrapperIsFound(t *testing.T) {
	testkit.Alone(t)
	home := t.TempDir()
	target := program(t, filepath.Join(home, ".pyenv/versions/3.13.0/bin/python"), "#!/bin/sh\n")
	wrapper := program(t, filepath.Join(home, ".pyenv/shims/python"), "#!/bin/sh\nexec pyenv exec python\n")
	program(t, filepath.Join(home, ".pyenv/bin/pyenv"), "#!/bin/sh\necho a remark\n[ \"$1 $2\" = 'which python' ] && echo \"$PYENV_ROOT/versions/3.13.0/bin/python\"\n")
	volta := program(t, filepath.Join(home, ".volta/bin/node"), "")
	program(t, filepath.Join(home, ".volta/bin/volta"), "#!/bin/sh\necho no such tool\nexit 1\n")
	lost := program(t, filepath.Join(home, ".asdf/shims/node"), "")
	plain := program(t, filepath.Join(home, "bin/node"), "")
	env := []string{"PATH=/usr/bin:/bin"}
	for path, want := range map[string]string{wrapper: target, plain: plain, target: target} {
		if got, err := Resolve(t.Context(), path, env); err != nil || got != want {
			t.Errorf("%s is %s, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{volta: `"volta which node" does not say which program it starts`, lost: `write the path that "asdf which node" prints`} {
		if got, err := Resolve(t.Context(), path, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %s, %v", path, got, err)
		}
	}
}
