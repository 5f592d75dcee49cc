package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// largest is how many bytes a tracked file may have outside of screenshots/.
const largest = 300_000

// programs are how the executables of Linux, macOS and Windows begin.
var programs = []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"}

// unwanted says why a file may not be tracked; empty when it may.
func unwanted(path string, size int64, executable bool, head []byte) string {
	for _, magic := range programs {
		if bytes.HasPrefix(head, []byte(magic)) {
			return "it is a built program"
		}
	}
	switch {
	case executable && !bytes.HasPrefix(head, []byte("#!")):
		return "it is executable, but no script: it has to begin with #!"
	case size > largest && !strings.HasPrefix(path, "screenshots/"):
		return "it is larger than 300 kB: only pictures in screenshots/ may be"
	}
	return ""
}

func TestTheTreeHoldsNoLargeFileAndNoProgram(t *testing.T) {
	testkit.Alone(t)
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		t.Skip("this source is no clone of git")
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--stage").Output()
	testkit.Must(t, err)
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 100 {
		t.Fatalf("git lists %d files; the test looks in the wrong place", len(files))
	}
	for _, line := range files {
		about, path, _ := strings.Cut(line, "\t") // "MODE OBJECT STAGE\tPATH"
		file, err := os.Open(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) { // removed, but not yet from the index
			continue
		}
		testkit.Must(t, err)
		info, err := file.Stat()
		testkit.Must(t, err)
		head, err := io.ReadAll(io.LimitReader(file, 4))
		testkit.Must(t, errors.Join(err, file.Close()))
		if why := unwanted(path, info.Size(), strings.HasPrefix(about, "100755"), head); why != "" {
			t.Errorf("git tracks %s: %s", path, why)
		}
	}
}

func TestWhatTheTreeRefuses(t *testing.T) {
	for _, c := range []struct {
		path       string
		size       int64
		executable bool
		head       string
		allowed    bool
	}{
		{".ci/run", 9_000, true, "#!/u", true},
		{"core/bot.go", 9_000, false, "pack", true},
		{"screenshots/demo.gif", 600_000, false, "GIF8", true},
		{"core/testdata/captures.jsonl", largest, false, "{\"a\"", true},

		{"core/testdata/captures.jsonl", largest + 1, false, "{\"a\"", false},
		{"core/testdata/tool", 10, true, "echo", false},
		{"empty", 0, true, "", false},
		{"release", 10, true, "\x7fELF", false},
		{"screenshots/ollim-bot", 10, false, "\xcf\xfa\xed\xfe", false},
		{"ollim-bot.exe", 10, false, "MZ\x90\x00", false},
	} {
		if got := unwanted(c.path, c.size, c.executable, []byte(c.head)) == ""; got != c.allowed {
			t.Errorf("%s of %d bytes, executable %v: allowed %v, want %v", c.path, c.size, c.executable, got, c.allowed)
		}
	}
}
