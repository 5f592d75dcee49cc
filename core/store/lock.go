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
// nothing is written (ErrGone) until Look finds it again. bot.pid is for the
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
		return nil, advise("lock "+d.Display(), err)
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
		return nil, advise("lock "+d.Display(), err)
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
