package service

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestACommandReachesTheUsersSupervisorAndSaysWhatItSaid(t *testing.T) {
	testkit.Alone(t)
	for given, want := range map[string]string{"": "/run/user/" + strconv.Itoa(os.Getuid()), "/run/me": os.Getenv("XDG_RUNTIME_DIR")} {
		var out, failed bytes.Buffer
		c := Commands{Getenv: func(string) string { return given }, Out: &out, Err: &failed}
		words := []string{"/bin/sh", "-c", `echo "$XDG_RUNTIME_DIR"; echo bad >&2; exit 3`}
		if said, err := c.Run(t.Context(), words...); said != want+"\nbad\n" || err == nil || err.Error() != "exit status 3" {
			t.Errorf("with %q it says %q, %v", given, said, err)
		}
		if err := c.Show(t.Context(), words...); out.String() != want+"\n" || failed.String() != "bad\n" || err == nil {
			t.Errorf("with %q it shows %q and %q, %v", given, out.String(), failed.String(), err)
		}
	}
}

func TestAProgramOfTheTemporaryFolderIsKnown(t *testing.T) {
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	testkit.Must(t, os.WriteFile(file, nil, 0o600))
	testkit.Must(t, os.WriteFile(other, nil, 0o600))
	testkit.Must(t, os.Symlink(file, link))
	if !same(link, file) || same(other, file) || same(file, filepath.Join(dir, "gone")) || same(filepath.Join(dir, "gone"), file) {
		t.Error("two names of a file are not the same, or two files are")
	}
	if path, err := Program(); err != nil || !exists(path) || !strings.HasSuffix(filepath.Base(path), ".test") && !filepath.IsAbs(path) {
		t.Errorf("this program is %q, %v", path, err)
	}
	for path, want := range map[string]bool{filepath.Join(os.TempDir(), "go-build1", "bot"): true, filepath.Dir(os.TempDir()): false, "/opt/bin/bot": false, "/tmpx/bot": false} {
		if Temporary(path) != want {
			t.Errorf("%s is in the temporary folder: %t", path, !want)
		}
	}
}
