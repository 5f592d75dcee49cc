package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// locking starts another process, which holds the lock of a directory until its input ends.
func locking(t *testing.T, d *Dir, args ...string) (process *exec.Cmd, end func() error) {
	t.Helper()
	process = child(t, "lock", d, args[1:]...)
	if args[0] != "" {
		process.Args[0] = args[0]
	}
	in, err := process.StdinPipe()
	testkit.Must(t, err)
	out, err := process.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, process.Start())
	var pid int
	if _, err := fmt.Fscanf(bufio.NewReader(out), "locked %d\n", &pid); err != nil || pid != process.Process.Pid {
		t.Fatalf("process %d says it is %d: %v", process.Process.Pid, pid, err)
	}
	return process, func() error { return errors.Join(in.Close(), process.Wait()) }
}

func TestOnlyOneBotLivesInADirectoryUntilItEndsOrIsKilled(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	for _, kill := range []bool{false, true} {
		other, end := locking(t, d, "")
		pid := other.Process.Pid
		_, err := d.Lock()
		var re *RunningError
		if !errors.As(err, &re) || re.PID != pid || err.Error() != fmt.Sprintf(msgRunningPID, d.Display(), pid, pid) {
			t.Errorf("beside a bot: %v", err)
		}
		if kill {
			testkit.Must(t, other.Process.Kill())
			_ = end() // killed
		} else {
			testkit.Must(t, end())
		}
		if _, err := os.Stat(d.Path(pidFile)); (err == nil) != kill {
			t.Errorf("bot.pid after the other bot, killed %v: %v", kill, err)
		}
		unlock, err := d.Lock()
		testkit.Must(t, err)
		if got, err := d.Read(pidFile); err != nil || string(got) != strconv.Itoa(os.Getpid()) {
			t.Errorf("bot.pid holds %q, %v", got, err)
		}
		for range 2 {
			testkit.Must(t, unlock())
		}
	}
}

// TestTheOriginalProgramIsRespected uses a process to imitate the original: it holds none of this
// program's locks, but bot.pid names it and it is Python with that script.
func TestTheOriginalProgramIsRespected(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	original, end := locking(t, newDir(t), "/usr/bin/python3.12", "/usr/local/bin/ollim-bot")
	put(t, d, pidFile, strconv.Itoa(original.Process.Pid)+"\n")
	_, err := d.Lock()
	var re *RunningError
	if !errors.As(err, &re) || re.PID != original.Process.Pid {
		t.Errorf("beside the original: %v", err)
	}
	if pid, ok := d.Running(); !ok || pid != original.Process.Pid {
		t.Errorf("running: %d, %v", pid, ok)
	}
	testkit.Must(t, end())
	unlock, err := d.Lock()
	if err != nil {
		t.Fatalf("after the original: %v", err)
	}
	testkit.Must(t, unlock())
}

func TestAStaleOrStrangePidFileIsOverwritten(t *testing.T) {
	testkit.Alone(t)
	// For example, an editor with a file of the directory.
	stranger, end := locking(t, newDir(t), "", "/home/sam/.ollim-bot/routines/ollim-bot.md", "ollim-bot")
	for name, text := range map[string]string{
		"garbage": "\x00what", "empty": "", "negative": "-1", "zero": "0", "huge": "99999999999999999999",
		"gone": "2147483646", "a stranger": strconv.Itoa(stranger.Process.Pid), "ourselves": strconv.Itoa(os.Getpid()),
	} {
		d := prepared(t)
		put(t, d, pidFile, text)
		unlock, err := d.Lock()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		testkit.Must(t, unlock())
	}
	testkit.Must(t, end())
}

func TestExclusiveOrdersProcessesAndGoroutines(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	again, err := At(d.Root())
	testkit.Must(t, err)
	var g errgroup.Group
	for range 2 {
		cmd := child(t, "count", d)
		g.Go(cmd.Run)
	}
	for _, dir := range []*Dir{d, d, again} {
		g.Go(func() error { return countUp(dir) })
	}
	testkit.Must(t, g.Wait())
	var n int
	if found, err := d.ReadJSON("state/n.json", &n); !found || err != nil || n != 200 {
		t.Errorf("counted to %d (%v), want 200", n, err)
	}
}

func TestExclusiveLetsGoAfterAPanicAndReturnsTheError(t *testing.T) {
	d := newDir(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = d.WithLock("x", func() error { panic("x") }) // panics
	}()
	want := errors.New("mine")
	if err := d.WithLock("x", func() error { return want }); !errors.Is(err, want) {
		t.Error(err)
	}
	for _, name := range []string{"a/b", `a\b`, ""} {
		if err := d.WithLock(name, func() error { return nil }); err == nil || !strings.Contains(err.Error(), "plain word") {
			t.Errorf("%q is taken for a name: %v", name, err)
		}
	}
}

// In a bubble, waiting takes no time.
func TestALockIsWaitedForAsLongAsItTakesButNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := prepared(t)
		lock := func() error {
			unlock, err := d.Lock()
			if err != nil {
				return err
			}
			return unlock()
		}
		for _, c := range []struct {
			path     string
			patience time.Duration
			lock     func() error
			says     string
		}{
			{d.Path("state/.x.lock"), turnPatience, func() error { return d.WithLock("x", func() error { return nil }) }, "x for more than 10s: stop it"},
			{d.Path(lockFile), lockPatience, lock, "already running"},
			{d.Root(), lockPatience, lock, "already running"},
		} {
			// Another process that holds the lock for a while, or does not release it.
			other := flock.New(c.path, flock.SetFlag(os.O_RDONLY))
			if c.path != d.Root() {
				other = flock.New(c.path)
			}
			testkit.Must(t, other.Lock())
			start := time.Now()
			if err := c.lock(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", c.path, err)
			}
			if waited := time.Since(start); waited != c.patience {
				t.Errorf("%s: gave up after %v, want %v", c.path, waited, c.patience)
			}
			time.AfterFunc(c.patience/2+1, func() { _ = other.Close() }) // an error does not matter
			start = time.Now()
			if err := c.lock(); err != nil {
				t.Errorf("%s, once it was free: %v", c.path, err)
			}
			if waited := time.Since(start); waited <= c.patience/2 || waited > c.patience*11/20 {
				t.Errorf("%s: waited for %v", c.path, waited)
			}
		}
	})
}

func TestTheOriginalIsKnownByTheScriptThatItRuns(t *testing.T) {
	for line, want := range map[string]bool{
		"python3 /usr/local/bin/ollim-bot":         true,
		"/usr/bin/python3.12 -u ollim-bot --debug": true,
		"Python ollim-bot":                         true,
		"python -m ollim_bot":                      true,
		"python -u -m ollim_bot.main":              true,
		"python -m pip install ollim_bot":          false,
		"python -m":                                false,
		"python":                                   false,
		"python -u":                                false,
		"python edit.py ollim-bot":                 false,
		"vim ollim-bot":                            false,
		"ollim-bot python":                         false,
		"":                                         false,
	} {
		if got := runsOriginal(strings.Fields(line)); got != want {
			t.Errorf("%q is the original: %v", line, got)
		}
	}
}

// Signal 0 to process 0 reaches our own group, which always lives.
func TestNoProcessIsNotAlive(t *testing.T) {
	for _, pid := range []int{0, -1} {
		if lives(pid) {
			t.Errorf("process %d is said to live", pid)
		}
	}
	if !lives(os.Getpid()) {
		t.Error("this process is said not to live")
	}
}

func TestAskingKeepsNoBotFromStarting(t *testing.T) {
	d := prepared(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				d.Running()
			}
		}
	}()
	for range 30 {
		unlock, err := d.Lock()
		testkit.Must(t, err)
		testkit.Must(t, unlock())
	}
	close(stop)
	<-done
	if pid, ok := d.Running(); ok || pid != 0 {
		t.Errorf("running: %d, %v", pid, ok)
	}
}
