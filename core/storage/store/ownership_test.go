package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

func TestOnlyOneBotLivesInADirectory(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	other := child(t, "lock", d)
	in, err := other.StdinPipe()
	testkit.Must(t, err)
	out, err := other.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, other.Start())
	var pid int
	if _, err := fmt.Fscanf(bufio.NewReader(out), "locked %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	_, err = d.Lock()
	var re *RunningError
	if !errors.As(err, &re) || re.PID != pid || !strings.Contains(err.Error(), fmt.Sprintf("kill %d", pid)) ||
		!strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("beside a bot: %v", err)
	}
	testkit.Must(t, in.Close())
	testkit.Must(t, other.Wait())
	if _, err := os.Stat(d.Path("state/bot.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("bot.pid is still there: %v", err)
	}
	unlock, err := d.Lock()
	testkit.Must(t, err)
	if got, err := d.Read("state/bot.pid"); err != nil || string(got) != strconv.Itoa(os.Getpid()) {
		t.Errorf("bot.pid holds %q, %v", got, err)
	}
	for range 2 {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
}

func TestALockDiesWithItsProcess(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	other := child(t, "lock", d)
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, other.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, other.Process.Kill())
	_ = other.Wait() // killed
	unlock, err := d.Lock()
	if err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

// TestTheOriginalProgramIsRespected uses a process to imitate the original: it holds none of this
// program's locks, but bot.pid names it and it is Python with that script.
func TestTheOriginalProgramIsRespected(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	original := child(t, "lock", newDir(t), "/usr/local/bin/ollim-bot")
	original.Args[0] = "/usr/bin/python3.12"
	in, err := original.StdinPipe()
	testkit.Must(t, err)
	out, err := original.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, original.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	put(t, d, "state/bot.pid", strconv.Itoa(original.Process.Pid)+"\n")
	_, err = d.Lock()
	var re *RunningError
	if !errors.As(err, &re) || re.PID != original.Process.Pid {
		t.Errorf("beside the original: %v", err)
	}
	if pid, ok := d.Running(); !ok || pid != original.Process.Pid {
		t.Errorf("running: %d, %v", pid, ok)
	}
	testkit.Must(t, in.Close())
	testkit.Must(t, original.Wait())
	unlock, err := d.Lock()
	if err != nil {
		t.Fatalf("after the original: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestAStaleOrStrangePidFileIsOverwritten(t *testing.T) {
	testkit.Alone(t)
	d := newDir(t)
	// For example, an editor with a file of the directory.
	stranger := child(t, "lock", d, "/home/sam/.ollim-bot/routines/ollim-bot.md", "ollim-bot")
	in, err := stranger.StdinPipe()
	testkit.Must(t, err)
	testkit.Must(t, stranger.Start())
	for name, text := range map[string]string{
		"garbage": "\x00what", "empty": "", "negative": "-1", "zero": "0", "huge": "99999999999999999999",
		"nobody": "2147483646", "a stranger": strconv.Itoa(stranger.Process.Pid), "ourselves": strconv.Itoa(os.Getpid()),
	} {
		d := prepared(t)
		put(t, d, "state/bot.pid", text)
		unlock, err := d.Lock()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := unlock(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	testkit.Must(t, in.Close())
	testkit.Must(t, stranger.Wait())
}

func TestUnlockingLeavesThePidFileOfAnother(t *testing.T) {
	d := prepared(t)
	unlock, err := d.Lock()
	testkit.Must(t, err)
	put(t, d, "state/bot.pid", "2147483646")
	testkit.Must(t, unlock())
	if got, err := d.Read("state/bot.pid"); err != nil || string(got) != "2147483646" {
		t.Errorf("%q, %v", got, err)
	}
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
		for _, c := range []struct {
			path     string
			patience time.Duration
			lock     func() error
			says     string
		}{
			{d.Path("state/.x.lock"), turnPatience, func() error { return d.WithLock("x", func() error { return nil }) }, "x for more than 10s: stop it"},
			{d.Path(lockFile), lockPatience, func() error {
				unlock, err := d.Lock()
				if err != nil {
					return err
				}
				return unlock()
			}, "already running"},
			{d.Root(), lockPatience, func() error {
				unlock, err := d.Lock()
				if err != nil {
					return err
				}
				return unlock()
			}, "already running"},
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
			time.AfterFunc(c.patience/2, func() { _ = other.Close() }) // an error does not matter
			start = time.Now()
			if err := c.lock(); err != nil {
				t.Errorf("%s, once it was free: %v", c.path, err)
			}
			if waited := time.Since(start); waited < c.patience/2 || waited > c.patience*3/5 {
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
