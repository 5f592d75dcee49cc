package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
)

// ownMark is that of this run: others on the machine must not collect its processes.
var ownMark = fmt.Sprintf("bot-%d", os.Getpid())

// family starts a process with children in their own sessions and returns their IDs in the order of
// the names.
func family(t *testing.T, mark, children string) (p *Process, pids []int) {
	t.Helper()
	p = play(t, "parent", procgroup.MarkName+"="+mark, "OLLIM_TEST_CHILDREN="+children)
	out := bufio.NewReader(p.Stdout())
	for range strings.FieldsSeq(children) {
		pid := toInt(t, line(t, out))
		pids = append(pids, pid)
		t.Cleanup(func() { endPlay(pid) })
	}
	return p, pids
}

// endPlay ends a leftover of a failed test, if it is a played process.
func endPlay(pid int) {
	if b, err := os.ReadFile(procgroup.File(pid, "cmdline")); err == nil && len(b) > 0 && alive(pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// alive reports whether a process is running. A zombie is not.
func alive(pid int) bool {
	state := procgroup.Stat(pid, procgroup.FieldState)
	return state != "" && state != "Z" && state != "X"
}

func mustBeGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

func toInt(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	testkit.Must(t, err)
	return n
}

// until waits for an effect of another process.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestTheOrphansOfAProcessAreCollected(t *testing.T) {
	testkit.Alone(t)
	stop := func(t *testing.T, p *Process) { testkit.Must(t, p.Stop(t.Context(), time.Millisecond)) }
	for name, c := range map[string]struct {
		mark, children string
		end            func(t *testing.T, p *Process)
	}{
		"before Stop returns": {"", "sleeper stubborn", stop},
		// It shows no environment while it frees its memory, but still runs.
		"though one is already exiting":   {"", "heavy", stop},
		"except those without its mark":   {ownMark, "stranger-sleeper", stop},
		"without a Stop if it was killed": {ownMark, "sleeper stubborn sleeper", func(t *testing.T, p *Process) { testkit.Must(t, p.Signal(os.Kill)) }},
	} {
		t.Run(name, func(t *testing.T) {
			p, pids := family(t, c.mark, c.children)
			for _, pid := range pids {
				if s, err := unix.Getsid(pid); err != nil || s != pid {
					t.Fatalf("process %d is not in a session of its own: %d, %v", pid, s, err)
				}
			}
			c.end(t, p)
			<-p.Done()
			<-p.collected
			if n, err := CollectOrphans(ownMark); n != 0 || err != nil {
				t.Errorf("%d were left, %v", n, err)
			}
			mustBeGone(t, p.PID())
			if stranger := strings.HasPrefix(c.children, "stranger"); !stranger {
				mustBeGone(t, pids...)
			} else if !alive(pids[0]) {
				t.Error("a stranger was ended")
			}
		})
	}
}

func TestTheEndOfOneProcessLeavesAnotherWithTheSameMarkAlone(t *testing.T) {
	testkit.Alone(t)
	one, ones := family(t, ownMark, "sleeper")
	two, twos := family(t, ownMark, "sleeper")
	testkit.Must(t, one.Stop(t.Context(), time.Millisecond))
	if n, err := CollectOrphans(ownMark); n != 0 || err != nil {
		t.Errorf("%d orphans of a process that lives were ended, %v", n, err)
	}
	if alive(ones[0]) || !alive(twos[0]) || !alive(two.PID()) {
		t.Errorf("the first's child is there: %v, the second's: %v, the second: %v", alive(ones[0]), alive(twos[0]), alive(two.PID()))
	}
	testkit.Must(t, two.Stop(t.Context(), time.Millisecond))
	mustBeGone(t, twos...)
}

func TestWhatAKilledBotLeftIsCollectedByTheNext(t *testing.T) {
	testkit.Alone(t)
	s := playSpec(t, "bot", "OLLIM_TEST_MARK="+ownMark+"/dir")
	cmd := exec.Command(s.Path)
	cmd.Env = s.Env
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	lines := bufio.NewReader(out)
	command, sleeper := toInt(t, line(t, lines)), toInt(t, line(t, lines))
	t.Cleanup(func() { endPlay(command); endPlay(sleeper) })
	testkit.Must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatal("a killed program ended well")
	}
	for _, other := range []string{"", ownMark, ownMark + "/dir/", ownMark + "/di", "dir"} {
		if n, err := CollectOrphans(other); n != 0 || err != nil {
			t.Errorf("%d were ended by the mark %q, %v", n, other, err)
		}
	}
	until(t, "the command has died with its bot", func() bool { return !alive(command) })
	if !alive(sleeper) {
		t.Fatal("the orphan is gone before it was collected")
	}
	if n, err := CollectOrphans(ownMark + "/dir"); n != 1 || err != nil {
		t.Errorf("%d were ended, %v", n, err)
	}
	mustBeGone(t, command, sleeper)
}

func TestMemoryIsReportedWhileTheProcessLives(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	n, ok := p.Resident()
	if !ok || n < 1<<20 || n > 1<<30 {
		t.Errorf("%d bytes, %v", n, ok)
	}
	testkit.Must(t, p.Signal(syscall.SIGKILL))
	<-p.Done()
	if n, ok := p.Resident(); ok {
		t.Errorf("%d bytes after the end", n)
	}
}
