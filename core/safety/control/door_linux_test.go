package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// Files that a hostile process can put into its session's door.
func TestADoorOpensPipesOnly(t *testing.T) {
	s, _ := served(t, t.TempDir())
	token := s.Issue(echo("one"))
	folder, _ := token.Door()
	beside := filepath.Join(t.TempDir(), "pipe")
	testkit.Must(t, unix.Mkfifo(beside, 0o600))
	held, err := os.OpenFile(beside, os.O_RDWR, 0)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = held.Close() })
	for _, end := range []string{inEnd, outEnd} {
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "file"+end), []byte("{}"), 0o600))
		testkit.Must(t, os.Symlink(beside, filepath.Join(folder, "link"+end)))
		testkit.Must(t, os.Symlink("/dev/zero", filepath.Join(folder, "device"+end)))
	}
	bell, err := os.OpenFile(filepath.Join(folder, bellName), os.O_WRONLY, 0)
	testkit.Must(t, err)
	_, err = bell.WriteString("file\nlink\ndevice\nnothing\n\n../1/file\n" + strings.Repeat("x", 2*unix.PathMax) + "\n")
	testkit.Must(t, err)
	testkit.Must(t, bell.Close())
	if r := call(t, token, "help"); r.Exit != 3 {
		t.Errorf("afterwards a command gives %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "file"+outEnd)); err != nil || string(data) != "{}" {
		t.Errorf("a file was written: %q, %v", data, err)
	}
}
