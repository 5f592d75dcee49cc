package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// lockPatience is how long Lock looks again: whoever asks whether a bot runs
// holds the lock for a moment.
const lockPatience = 200 * time.Millisecond

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

// tenancy is the hold of a bot on its directory. Two locks stand for it: one on
// the directory itself, which nobody can take away by emptying it, and one on a
// file, for file systems that lock files only. Both die with the process.
type tenancy struct {
	root       fs.FileInfo
	dir, state *flock.Flock // dir is nil where directories cannot be locked
}

func (t *tenancy) close() error {
	if t.dir == nil {
		return t.state.Close()
	}
	return errors.Join(t.state.Close(), t.dir.Close())
}

// Lock makes this process the one bot of the directory until unlock is called.
// A running bot, ours or the original program, gives a *RunningError. From now
// on the directory is this one: should it vanish, or another stand in its place,
// nothing is written (errGone) until Look finds it again. bot.pid is for the
// original, which knows no locks; ours decides by the lock alone.
func (d *Dir) Lock() (unlock func() error, err error) {
	t, err := d.settle()
	if err != nil {
		return nil, err
	}
	if pid := d.readPID(); pid != os.Getpid() && isOriginal(pid) {
		return nil, errors.Join(&RunningError{Dir: d.Display(), PID: pid}, t.close())
	}
	d.tenant.Store(t)
	if err := d.writePID(); err != nil {
		d.tenant.Store(nil)
		return nil, errors.Join(err, t.close())
	}
	return sync.OnceValue(func() error {
		var err error
		if d.readPID() == os.Getpid() && d.Present() == nil {
			err = d.Remove(pidFile)
		}
		return errors.Join(err, d.tenant.Swap(nil).close())
	}), nil
}

// settle takes both locks.
func (d *Dir) settle() (t *tenancy, err error) {
	if err := os.MkdirAll(d.Path(StateDir), dirMode); err != nil {
		return nil, Advise("lock "+d.Display(), err)
	}
	t = &tenancy{dir: flock.New(d.root, flock.SetFlag(os.O_RDONLY))}
	got, err := tryLock(t.dir)
	switch {
	case err == nil && !got:
		return nil, &RunningError{Dir: d.Display(), PID: d.readPID()}
	case err == nil:
		t.root, err = t.dir.Stat()
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
	default: // this file system does not lock directories
		t.dir = nil
		t.root, err = os.Stat(d.root)
	}
	if err == nil {
		t.state, err = d.lockState()
	}
	if err != nil {
		if t.dir != nil {
			err = errors.Join(err, t.dir.Close())
		}
		return nil, err
	}
	return t, nil
}

// lockState takes the lock on the file.
func (d *Dir) lockState() (*flock.Flock, error) {
	l, err := d.lockOf(lockFile)
	if err != nil {
		return nil, err
	}
	got, err := tryLock(l)
	if err != nil {
		return nil, Advise("lock "+d.Display(), err)
	}
	if !got {
		return nil, &RunningError{Dir: d.Display(), PID: d.readPID()}
	}
	return l, nil
}

// lockOf prepares a lock on a file. What is no ordinary file would block the
// open for ever, or lock something else.
func (d *Dir) lockOf(rel string) (*flock.Flock, error) {
	if info, err := os.Lstat(d.Path(rel)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock %s: %w", rel, errNotLockable)
	}
	return flock.New(d.Path(rel), flock.SetPermissions(fileMode),
		flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK)), nil
}

func tryLock(l *flock.Flock) (bool, error) {
	if got, err := l.TryLock(); got || err != nil {
		return got, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	got, err := l.TryLockContext(ctx, lockPatience/20)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return got, err
}

func (d *Dir) writePID() error { return d.Write(pidFile, []byte(strconv.Itoa(os.Getpid()))) }

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

// How long WithLock waits for another process, and how often it looks.
const (
	turnPatience = 10 * time.Second
	turnPoll     = 2 * time.Millisecond
)

// WithLock runs fn while no other goroutine and no other process runs one
// under the same name: for reading a file, changing it and writing it back. It
// waits at most 10 seconds for another process. Not reentrant. Its locks are
// held over fn's I/O because ordering that I/O is what they are for.
func (d *Dir) WithLock(name string, fn func() error) error {
	if strings.ContainsAny(name, `/\`) || name == "" {
		return fmt.Errorf("lock %q: the name of a lock is one plain word", name)
	}
	turn := d.turn(name)
	turn.Lock()
	defer turn.Unlock()

	if err := d.makeFolder(d.Path(StateDir)); err != nil {
		return Advise("lock "+name, err)
	}
	l, err := d.lockOf(StateDir + "/." + name + ".lock")
	if err != nil {
		return err
	}
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
		return Advise("lock "+name, err)
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

// Running reports whether a bot lives in the directory, ours or the original
// program, and its process where that is known. Ours is known by its lock,
// whatever has become of its program's file or of bot.pid.
func (d *Dir) Running() (pid int, ok bool) {
	pid = d.readPID()
	if held(d.root) || held(d.Path(lockFile)) || isOriginal(pid) {
		return pid, true
	}
	return 0, false
}

// held reports whether somebody holds the lock on a path. It takes it, shared,
// for a moment, which a bot that just starts sits out.
func held(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))
	defer func() { _ = l.Close() }() // closing a lock cannot lose anything
	got, err := l.TryRLock()
	return err == nil && !got
}

// isOriginal reports whether a process is the original program, which is a
// Python script and holds no lock. That a process has the name somewhere in its
// arguments says nothing: so has an editor with a file of the directory.
func isOriginal(pid int) bool {
	if pid <= 0 || !lives(pid) {
		return false
	}
	args := arguments(pid)
	if len(args) < 2 || !strings.HasPrefix(filepath.Base(args[0]), "python") && !strings.HasPrefix(filepath.Base(args[0]), "Python") {
		return false
	}
	for i, arg := range args[1:] {
		if arg == "-m" && i+2 < len(args) {
			return strings.HasPrefix(args[i+2], "ollim_bot")
		}
		if !strings.HasPrefix(arg, "-") { // the script
			return filepath.Base(arg) == "ollim-bot"
		}
	}
	return false
}

func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // only frees memory
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// arguments is the command line of a process; nil where it cannot be known.
func arguments(pid int) []string {
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	line, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(line))
}
