package process

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
)

func TestTheRealCommandNamesItsVersion(t *testing.T) {
	testkit.Alone(t)
	path := claudetest.RequireCLI(t)
	home := t.TempDir()
	v, err := Version(t.Context(), path, Environment([]string{"PATH=/usr/bin:/bin", "HOME=" + home}, Env{ConfigDir: home}))
	if err != nil || CheckVersion(v) != nil {
		t.Errorf("got %q, %v, %v", v, err, CheckVersion(v))
	}
}

// TestShellsOfTheRealCommandAreCollected: claude runs each shell in its own session, and ends them
// only if it is stopped gently.
func TestShellsOfTheRealCommandAreCollected(t *testing.T) {
	testkit.Alone(t)
	path := claudetest.RequireCLI(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("needs sleep")
	}
	for name, c := range map[string]struct {
		signal syscall.Signal
		codes  []int // 0 or 1, depending on whether the interrupted turn already has its result
	}{
		"interrupted": {syscall.SIGINT, []int{0, 1}},
		"terminated":  {syscall.SIGTERM, []int{143}},
		"killed":      {syscall.SIGKILL, []int{-1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := shelling(t, path, sleep+" 301 & "+sleep+" 302")
			until(t, "its shell runs", func() bool { return len(commands(p.mark, sleep)) == 2 })
			for _, pid := range commands(p.mark, sleep) {
				if s, err := unix.Getsid(pid); err != nil || s == p.PID() {
					t.Errorf("process %d is in the session of claude: the mark is not needed", pid)
				}
			}
			testkit.Must(t, p.Signal(c.signal))
			if err := p.Stop(t.Context(), 20*time.Second); err != nil {
				t.Error(err)
			}
			end := new(ExitError)
			if errors.As(p.Err(), &end); !slices.Contains(c.codes, end.Code) || end.Stderr != "" {
				t.Errorf("it ended with %+v", end)
			}
			mustBeGone(t, p.PID())
			if left := commands(p.mark, ""); len(left) > 0 {
				t.Errorf("%v are still there", left)
			}
		})
	}
}

// shelling starts claude and makes its model call a shell.
func shelling(t *testing.T, path, command string) *Process {
	t.Helper()
	api := claudetest.Start(t, claudetest.Options{})
	dir := t.TempDir()
	p, err := Start(Spec{
		Path: path, Dir: dir, Env: Environment(claudetest.CLIEnv(t, api), Env{Mark: ownMark}),
		Args: strings.Fields("-p --output-format stream-json --input-format stream-json --verbose --setting-sources= --allowedTools Bash"),
	})
	testkit.Must(t, err)
	var reader sync.WaitGroup
	reader.Go(func() { _, _ = io.Copy(io.Discard, p.Stdout()) })
	t.Cleanup(func() {
		_ = p.Signal(os.Kill)
		_ = p.Stop(t.Context(), time.Millisecond)
		reader.Wait()
	})
	prompt := claudetest.Script(claudetest.Step{Tool: "Bash", Input: map[string]any{"command": command, "description": "wait"}})
	text := map[string]any{"type": "text", "text": prompt}
	err = json.NewEncoder(p.Stdin()).Encode(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": []any{text}},
	})
	testkit.Must(t, err)
	return p
}

// commands returns the processes with a mark that run a program, or all of them without a program.
func commands(mark, program string) []int {
	var out []int
	for pid := range procgroup.PIDs() {
		if procgroup.MarkOf(pid) != mark {
			continue
		}
		line, err := os.ReadFile(procgroup.File(pid, "cmdline"))
		if args := strings.Split(string(line), "\x00"); err == nil && (program == "" || slices.Contains(args[:1], program)) {
			out = append(out, pid)
		}
	}
	return out
}
