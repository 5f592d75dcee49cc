package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	pidFile  = StateDir + "/bot.pid"
	lockFile = StateDir + "/bot.lock"
)

// RunningError says that another bot lives in the directory.
type RunningError struct {
	Dir string // as people read it
	PID int    // 0 when it is not known
}

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf(msgRunning, e.Dir)
	}
	return fmt.Sprintf(msgRunningPID, e.Dir, e.PID, e.PID)
}

// Lock makes this process the one bot of the directory until unlock is called.
// A running bot, ours or the original program, gives a *RunningError. The lock
// itself dies with the process; bot.pid is for the original (spec 01.6.7).
func (d *Dir) Lock() (unlock func() error, err error) {
	if err := os.MkdirAll(d.Path(StateDir), dirMode); err != nil {
		return nil, advise("lock "+d.Display(), err)
	}
	l := flock.New(d.Path(lockFile), flock.SetPermissions(fileMode))
	got, err := l.TryLock()
	if err != nil {
		return nil, advise("lock "+d.Display(), err)
	}
	if !got {
		return nil, &RunningError{Dir: d.Display(), PID: d.readPID()}
	}
	if pid := d.readPID(); pid != 0 && pid != os.Getpid() && isBot(pid) {
		return nil, errors.Join(&RunningError{Dir: d.Display(), PID: pid}, l.Close())
	}
	own := strconv.Itoa(os.Getpid())
	if err := d.Write(pidFile, []byte(own)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return sync.OnceValue(func() error {
		var err error
		if d.readPID() == os.Getpid() {
			err = d.Remove(pidFile)
		}
		return errors.Join(err, l.Close())
	}), nil
}

// readPID is the process named in bot.pid, 0 when there is none to be read.
func (d *Dir) readPID() int {
	data, err := d.Read(pidFile)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

// isBot reports whether the process lives and, where /proc can tell, is a bot.
func isBot(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // only frees memory
	if err := p.Signal(syscall.Signal(0)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return false
	}
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return true // no /proc: a live process is all there is to know
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(line), "ollim-bot")
}

// sameProgram reports whether the process runs the file that we are: the
// program may have been given another name.
func sameProgram(pid int) bool {
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	ours, err := os.Stat("/proc/self/exe")
	return err == nil && os.SameFile(theirs, ours)
}

// How long Exclusive waits for another process, and how often it looks.
const (
	turnPatience = 10 * time.Second
	turnPoll     = 2 * time.Millisecond
)

// Exclusive runs fn while no other goroutine and no other process runs one
// under the same name: for reading a file, changing it and writing it back. It
// waits at most 10 seconds for another process. Not reentrant. Its locks are
// held over fn's I/O because ordering that I/O is what they are for.
func (d *Dir) Exclusive(name string, fn func() error) error {
	if strings.ContainsAny(name, `/\`) || name == "" {
		return fmt.Errorf("lock %q: the name of a lock is one plain word", name)
	}
	turn := d.turn(name)
	turn.Lock()
	defer turn.Unlock()

	if err := os.MkdirAll(d.Path(StateDir), dirMode); err != nil {
		return advise("lock "+name, err)
	}
	l := flock.New(d.Path(StateDir+"/."+name+".lock"), flock.SetPermissions(fileMode))
	got, err := l.TryLock()
	if err == nil && !got {
		ctx, cancel := context.WithTimeout(context.Background(), turnPatience)
		defer cancel()
		got, err = l.TryLockContext(ctx, turnPoll)
	}
	if errors.Is(err, context.DeadlineExceeded) || err == nil && !got {
		return fmt.Errorf(msgTurn, name, turnPatience)
	}
	if err != nil {
		return advise("lock "+name, err)
	}
	defer func() { _ = l.Close() }() // closing a lock file cannot lose anything
	return fn()
}

// turn is the lock within this process.
func (d *Dir) turn(name string) *sync.Mutex {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turns[name] == nil {
		d.turns[name] = &sync.Mutex{}
	}
	return d.turns[name]
}
