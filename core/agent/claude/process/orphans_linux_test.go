package process

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// family starts a process with children in sessions of their own and returns
// their ids in the order of the names.
func family(t *testing.T, mark, children string) (p *Process, pids []int) {
	t.Helper()
	p = play(t, "parent", MarkName+"="+mark, "OLLIM_TEST_CHILDREN="+children)
	out := bufio.NewReader(p.Stdout())
	for range strings.Fields(children) {
		pid := toInt(t, line(t, out))
		pids = append(pids, pid)
		t.Cleanup(func() { endPlay(pid) })
	}
	return p, pids
}

// endPlay ends what a failed test has left; only a process that plays.
func endPlay(pid int) {
	if b, err := os.ReadFile(procFile(pid, "cmdline")); err == nil && len(b) > 0 && alive(pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

func alive(pid int) bool {
	s, ok := statOf(pid)
	return ok && !s.dead()
}

// listed reports a process that is alive or dead but not reaped.
func listed(pid int) bool {
	_, ok := statOf(pid)
	return ok
}

// children are the processes whose parent is this program, dead ones too.
func children() []int {
	var out []int
	for pid := range pids() {
		if s, ok := statOf(pid); ok && s.parent == os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}

func mustBeGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if listed(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if c := children(); len(c) > 0 {
		t.Errorf("children that nobody has reaped: %v", c)
	}
}

func toInt(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// until waits for what another process does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestTheChildrenOfAKilledProcessAreCollectedThoughTheyLeftItsSession(t *testing.T) {
	p, pids := family(t, "bot", "sleeper stubborn sleeper")
	for _, pid := range pids {
		if s, ok := statOf(pid); !ok || s.session != pid {
			t.Fatalf("process %d is not in a session of its own: %+v", pid, s)
		}
	}
	if err := p.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	until(t, "the children are collected without a Stop", func() bool {
		return !listed(pids[0]) && !listed(pids[1]) && !listed(pids[2])
	})
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, append(pids, p.PID())...)
}

func TestStopReturnsWithTheOrphansCollected(t *testing.T) {
	p, pids := family(t, "", "sleeper stubborn")
	if err := p.Stop(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, append(pids, p.PID())...)
}

func TestTheEndOfOneProcessLeavesAnotherWithTheSameMarkAlone(t *testing.T) {
	one, ones := family(t, "bot", "sleeper")
	two, twos := family(t, "bot", "sleeper")
	if err := one.Stop(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if n, err := CollectOrphans("bot"); n != 0 || err != nil {
		t.Errorf("%d orphans of a process that lives were ended, %v", n, err)
	}
	if listed(ones[0]) || !alive(twos[0]) || !alive(two.PID()) {
		t.Errorf("the first's child is there: %v, the second's: %v, the second: %v", listed(ones[0]), alive(twos[0]), alive(two.PID()))
	}
	if err := two.Stop(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, twos...)
}

func TestWhatAKilledBotLeftIsCollectedByTheNext(t *testing.T) {
	s := playSpec(t, "bot", "OLLIM_TEST_MARK=data/dir")
	cmd := exec.Command(s.Path)
	cmd.Env = s.Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	command, sleeper := toInt(t, line(t, lines)), toInt(t, line(t, lines))
	t.Cleanup(func() { endPlay(command); endPlay(sleeper) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("a killed program ended well")
	}
	for _, other := range []string{"", "data", "data/dir/", "data/di", "dir"} {
		if n, err := CollectOrphans(other); n != 0 || err != nil {
			t.Errorf("%d were ended by the mark %q, %v", n, other, err)
		}
	}
	until(t, "the command has died with its bot", func() bool { return !alive(command) })
	if !alive(sleeper) {
		t.Fatal("the orphan is gone before it was collected")
	}
	if n, err := CollectOrphans("data/dir"); n != 1 || err != nil {
		t.Errorf("%d were ended, %v", n, err)
	}
	mustBeGone(t, command, sleeper)
}

func TestADeadOrphanWithoutAMarkIsBuriedAfterAWhile(t *testing.T) {
	p, pids := family(t, "bot", "stranger-sleeper")
	if err := p.Stop(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if !alive(pids[0]) {
		t.Fatal("a process without the mark was ended")
	}
	if err := unix.Kill(pids[0], unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it has died", func() bool { return !alive(pids[0]) })
	if !listed(pids[0]) {
		t.Fatal("somebody else has reaped it")
	}
	if n, err := CollectOrphans("bot"); n != 0 || err != nil {
		t.Errorf("%d were ended, %v", n, err)
	}
	mustBeGone(t, pids...)
}

func TestAChildThatWasStartedByOtherMeansIsNoOrphan(t *testing.T) {
	start := func(name string) *exec.Cmd {
		s := playSpec(t, name)
		cmd := exec.Command(s.Path)
		cmd.Env = append(s.Env, MarkName+"=bot")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	dead, living := start("failing"), start("sleeper")
	t.Cleanup(func() { endPlay(living.Process.Pid) })
	until(t, "it has died", func() bool { return !alive(dead.Process.Pid) })
	until(t, "it shows its mark", func() bool { _, ok := markOf(living.Process.Pid); return ok })
	if n, err := CollectOrphans("bot"); n != 0 || err != nil {
		t.Errorf("%d were ended, %v", n, err)
	}
	exit := new(exec.ExitError)
	if err := dead.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("os/exec was told %v", err)
	}
	if !alive(living.Process.Pid) {
		t.Error("it was ended")
	}
	if err := living.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := living.Wait(); !errors.As(err, &exit) {
		t.Errorf("os/exec was told %v", err)
	}
}

func TestANumberThatPassedToAnotherProcessIsNotSignalled(t *testing.T) {
	p, pids := family(t, "bot", "stranger-sleeper")
	before, ok := statOf(pids[0])
	if !ok {
		t.Fatal("the stranger is not there")
	}
	// The hunt believes that this number is one of its own.
	h := hunt{owns: func(m string) bool { return m == p.mark }, held: map[int]*orphan{
		pids[0]: {pid: pids[0], start: before.start - 1, fd: -1},
	}}
	defer h.release()
	if h.marked(pids[0]) {
		t.Error("the stranger has the mark")
	}
	h.drop()
	if len(h.held) != 0 {
		t.Error("it is still held, though another process has its number")
	}
	if !alive(pids[0]) {
		t.Error("the stranger was ended")
	}
	endPlay(pids[0])
	if err := p.Stop(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := CollectOrphans("bot"); err != nil {
		t.Error(err)
	}
	mustBeGone(t, pids...)
}

func TestAnOldKernelIsHuntedOnByNumber(t *testing.T) {
	p, pids := family(t, "bot", "sleeper")
	o := new(hunt).hold(pids[0])
	o.close() // as if the kernel had given none
	if err := p.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	o.signal(unix.SIGKILL)
	until(t, "it is reaped", func() bool { return o.gone(func(int) bool { return true }) })
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, pids...)
}

func TestMemoryIsToldWhileTheProcessLives(t *testing.T) {
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	n, ok := p.Resident()
	if !ok || n < 1<<20 || n > 1<<30 {
		t.Errorf("%d bytes, %v", n, ok)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if n, ok := p.Resident(); ok {
		t.Errorf("%d bytes after the end", n)
	}
}

func TestAProcessNameWithBracketsIsNoTrap(t *testing.T) {
	const tail = " S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 0 0\n"
	for _, name := range []string{"(bash)", "(a) Z 1 1)", "((x))", "()", "(\n) R 1 (y)"} {
		s, ok := parseStat("42 " + name + tail)
		if !ok || s != (stat{state: 'S', parent: 7, session: 9, start: 4711}) {
			t.Errorf("%q: %+v, %v", name, s, ok)
		}
	}
	for _, bad := range []string{"", "42", "42 (bash)", "42 (bash) S 7", "42 (bash) S x 8 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 4711"} {
		if s, ok := parseStat(bad); ok {
			t.Errorf("%q is read as %+v", bad, s)
		}
	}
}

func BenchmarkCollectNothing(b *testing.B) {
	for b.Loop() {
		if n, err := CollectOrphans("nobody has this mark"); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkResident(b *testing.B) {
	for b.Loop() {
		if _, ok := resident(os.Getpid()); !ok {
			b.Fatal("not told")
		}
	}
}
