package binarytest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func TestMain(m *testing.M) {
	Answer(Hidden{"__answer": func(args []string) int {
		_, _ = os.Stdout.WriteString("asked for " + strings.Join(args, " "))
		return len(args)
	}})
	os.Exit(m.Run())
}

// again starts this binary; one that ran its tests would start itself endlessly.
func again(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Path(), args...)
	cmd.Env = []string{"GOCOVERDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestABinaryStartedForSomethingUnknownEndsAtOnce(t *testing.T) {
	testkit.Alone(t)
	out, status := again(t, "__confined", "{}", "--", "/bin/true")
	if status != wrongUsage || !strings.Contains(out, `is a test binary and not ollim-bot: it does not know "__confined"`) || strings.Contains(out, "PASS") {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestABinaryPlaysThePartThatItKnows(t *testing.T) {
	testkit.Alone(t)
	if out, status := again(t, "__answer", "a", "b", "c"); out != "asked for a b c" || status != 3 {
		t.Errorf("status %d: %s", status, out)
	}
}

// startsItself matches code with which a test starts the running binary.
var startsItself = regexp.MustCompile(`os\.Executable\(\)|exec\.Command.*os\.Args\[0\]`)

// TestNoTestStartsItsBinaryPastThisPackage keeps this the only place that names the
// binary, so that none is started without the guard.
func TestNoTestStartsItsBinaryPastThisPackage(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); name == "binarytest" || strings.HasPrefix(name, ".") && name != ".." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "sandboxtest") {
			return nil
		}
		seen++
		text, err := os.ReadFile(path)
		if err == nil && startsItself.Match(text) {
			t.Errorf("%s: take binarytest.Path", strings.TrimPrefix(path, root))
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were read: %v", seen, err)
	}
}
