package process

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// boxed starts a play in the real sandbox of this machine.
func boxed(t *testing.T, name string, env ...string) *Process {
	t.Helper()
	s := playSpec(t, name, env...)
	box := sandboxtest.Box(t, sandbox.Options{Dir: s.Dir, Executable: s.Path})
	s.Wrap = box.Engine
	p, err := Start(s)
	testkit.Must(t, err)
	t.Cleanup(func() {
		_ = p.Signal(os.Kill)
		if err := p.Stop(t.Context(), time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestACommandInASandboxGetsItsSignalsAndReportsHowItEnded(t *testing.T) {
	testkit.Alone(t)
	p := boxed(t, "diarist")
	out := bufio.NewReader(p.Stdout())
	if got := line(t, out); got != "ready" {
		t.Fatalf("it says %q", got)
	}
	testkit.Must(t, p.Stdin().Close())
	if got := line(t, out); got != "input closed" {
		t.Fatalf("it says %q", got)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		testkit.Must(t, p.Signal(sig))
		if got := line(t, out); got != sig.String() {
			t.Errorf("it heard %q", got)
		}
	}
	<-p.Done()
	if end := new(ExitError); !errors.As(p.Err(), &end) || end.Code != 143 || end.Stderr != "" {
		t.Errorf("it ended with %v", p.Err())
	}
}

func TestMemoryInASandboxIsThatOfTheCommand(t *testing.T) {
	testkit.Alone(t)
	p := boxed(t, "sleeper")
	line(t, bufio.NewReader(p.Stdout()))
	pid := p.command()
	if name, err := os.ReadFile(procgroup.File(pid, "comm")); err != nil || pid == p.PID() || strings.TrimSpace(string(name)) == "bwrap" {
		t.Fatalf("the command is process %d, %s", pid, name)
	}
	size, ok := p.Resident()
	want, there := resident(pid)
	if outer, _ := resident(p.PID()); !ok || !there || size < want/2 || size <= outer {
		t.Errorf("it has %d bytes by %v, the command %d, its sandbox %d", size, ok, want, outer)
	}
}

// The children of a parent continue in their own sessions and hold its output.
func TestTheEndOfASandboxIsTheEndOfAllThatIsInIt(t *testing.T) {
	testkit.Alone(t)
	for name, end := range map[string]func(p *Process) error{
		"the sandbox is killed": func(p *Process) error { return p.Signal(os.Kill) },
		"the command is killed": func(p *Process) error { return syscall.Kill(p.command(), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			p := boxed(t, "parent", "OLLIM_TEST_CHILDREN=stranger-sleeper")
			line(t, bufio.NewReader(p.Stdout()))
			inside := descendants(p.PID())
			if len(inside) < 3 {
				t.Fatalf("only %v are in it", inside)
			}
			testkit.Must(t, end(p))
			<-p.Done()
			if e := new(ExitError); !errors.As(p.Err(), &e) || e.Signal != syscall.SIGKILL {
				t.Errorf("it ended with %v", p.Err())
			}
			until(t, "all of it is gone", func() bool {
				return !slices.ContainsFunc(inside, alive)
			})
		})
	}
}

// descendants returns all processes below one.
func descendants(pid int) []int {
	var out []int
	for other := range procgroup.PIDs() {
		for at := other; at > 1; {
			if at, _ = strconv.Atoi(procgroup.Stat(at, procgroup.FieldParent)); at == pid {
				out = append(out, other)
				break
			}
		}
	}
	return out
}

func TestASandboxThatCannotBeMadeStartsNothing(t *testing.T) {
	testkit.Alone(t)
	s := playSpec(t, "sleeper")
	testkit.Must(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(s.Dir, "CLAUDE.md")))
	box := sandboxtest.Box(t, sandbox.Options{Dir: s.Dir, Executable: s.Path})
	s.Wrap = box.Engine
	p, err := Start(s)
	if err == nil {
		_ = p.Stop(t.Context(), time.Millisecond)
		t.Fatal("it was started")
	}
	if !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("the error is %v", err)
	}
}
