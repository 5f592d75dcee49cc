package sandbox_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// keepArg makes the test binary hold a Box's folder until it is killed.
const keepArg = "__keep"

func keep(args []string) int {
	box := sandbox.New(sandbox.Options{Dir: args[0], Executable: binarytest.Path(), Search: args[1]})
	cmd := exec.Command("/bin/true")
	cmd.Env = []string{}
	done := box.Command(cmd)
	defer done()
	_, _ = os.Stdout.WriteString("ready\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// scratchOf returns the names of the folders in a temporary directory.
func scratchOf(t *testing.T, temp string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(temp)
	testkit.Must(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// used returns a Box in which a command has run.
func used(t *testing.T, dir string) *sandbox.Box {
	t.Helper()
	box := sandboxtest.Landlock(t, sandbox.Options{Dir: dir})
	cmd := exec.Command("/bin/sh", "-c", "echo x > $TMPDIR/left")
	cmd.Dir = dir
	done := box.Command(cmd)
	defer done()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return box
}

func TestTheFolderOfLandlockGoesWithTheLastThatUsesIt(t *testing.T) {
	testkit.Alone(t)
	temp, dir := filepath.Join(t.TempDir(), "with a space"), t.TempDir()
	testkit.Must(t, os.Mkdir(temp, 0o700))
	t.Setenv("TMPDIR", temp)
	one, two := used(t, dir), used(t, dir)
	one.Close()
	if names := scratchOf(t, temp); len(names) != 1 {
		t.Errorf("while one is used there are %v", names)
	}
	two.Close()
	two.Close()
	if names := scratchOf(t, temp); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestTheFolderOfAKilledBotIsSweptByTheNext(t *testing.T) {
	testkit.Alone(t)
	temp, dir := t.TempDir(), t.TempDir()
	search := t.TempDir() // a PATH without bubblewrap
	testkit.Must(t, os.Symlink("/bin/true", filepath.Join(search, "true")))
	t.Setenv("TMPDIR", temp)
	keeper := exec.CommandContext(t.Context(), binarytest.Path(), keepArg, dir, search)
	_, err := keeper.StdinPipe()
	testkit.Must(t, err)
	out, err := keeper.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, keeper.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("it says %q, %v", line, err)
	}
	// Things that a sweep must not touch: a link, its target, and folders accessible to others.
	beside, prefix := t.TempDir(), filepath.Join(temp, "ollim-bot-"+strconv.Itoa(os.Getuid())+"-")
	testkit.Must(t, os.WriteFile(filepath.Join(beside, "kept"), nil, 0o600))
	testkit.Must(t, os.Symlink(beside, prefix+"link"))
	testkit.Must(t, os.WriteFile(prefix+"file", nil, 0o600))
	testkit.Must(t, os.Mkdir(prefix+"open", 0o700))
	testkit.Must(t, os.Chmod(prefix+"open", 0o755))
	used(t, t.TempDir()).Close()
	if names := scratchOf(t, temp); len(names) != 4 {
		t.Errorf("beside a living bot a sweep leaves %v", names)
	}
	testkit.Must(t, keeper.Process.Kill())
	_ = keeper.Wait() // it was killed
	used(t, t.TempDir()).Close()
	if names := scratchOf(t, temp); len(names) != 3 {
		t.Errorf("the folder of a killed bot stays: %v", names)
	}
	if _, err := os.Stat(filepath.Join(beside, "kept")); err != nil {
		t.Error(err)
	}
}

func TestATemporaryDirectoryThatCannotBeWrittenIsSaid(t *testing.T) {
	dir, search := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", "/proc/1")
	box := sandbox.New(sandbox.Options{Dir: dir, Executable: binarytest.Path(), Search: search})
	if s := box.State(); s.Kind != sandbox.None || !strings.Contains(s.Reason, "make the temporary directory writable") {
		t.Errorf("it says %v", s)
	}
}
