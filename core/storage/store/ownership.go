package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// lockPatience is how long Lock retries: a process that checks whether a bot is running holds the
// lock briefly.
const lockPatience = 200 * time.Millisecond

// RunningError means that another bot is running in the directory.
type RunningError struct {
	Dir string // for messages
	PID int    // 0 if unknown
}

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf(msgRunning, e.Dir)
	}
	return fmt.Sprintf(msgRunningPID, e.Dir, e.PID, e.PID)
}

// ownership is a bot's ownership of its directory, made of two locks: one on the
// directory itself, which emptying it does not remove, and one on a file, for file
// systems that lock only files. Both end with the process.
type ownership struct {
	root, lock fs.FileInfo  // of the directory and of the locked file
	dir, state *flock.Flock // dir is nil if directories cannot be locked
}

// own acquires both locks. If another bot holds them, it returns a *RunningError.
func own(root string) (o *ownership, err error) {
	if err := os.MkdirAll(filepath.Join(root, StateDir), dirMode); err != nil {
		return nil, Advise("lock "+display(root), err)
	}
	o = &ownership{dir: flock.New(root, flock.SetFlag(os.O_RDONLY))}
	got, err := tryLock(o.dir)
	switch {
	case err == nil && !got:
		return nil, &RunningError{Dir: display(root), PID: readPID(root)}
	case err == nil:
		o.root, err = o.dir.Stat()
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
	default: // this file system does not lock directories
		o.dir = nil
		o.root, err = os.Stat(root)
	}
	if err == nil {
		o.state, err = lockState(root)
	}
	if err == nil {
		o.lock, err = o.state.Stat()
	}
	if err != nil {
		if o.dir != nil {
			err = errors.Join(err, o.dir.Close())
		}
		return nil, err
	}
	return o, nil
}

func (o *ownership) close() error {
	if o.dir == nil {
		return o.state.Close()
	}
	return errors.Join(o.state.Close(), o.dir.Close())
}

// lockState acquires the lock on the file.
func lockState(root string) (*flock.Flock, error) {
	l, err := fileLock(root, lockFile)
	if err != nil {
		return nil, err
	}
	got, err := tryLock(l)
	if err != nil {
		return nil, Advise("lock "+display(root), err)
	}
	if !got {
		return nil, &RunningError{Dir: display(root), PID: readPID(root)}
	}
	return l, nil
}

// fileLock returns a lock on a file. Anything but a regular file would block the open forever, or
// lock something else.
func fileLock(root, rel string) (*flock.Flock, error) {
	path := filepath.Join(root, rel)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock %s: %w", rel, errNotLockable)
	}
	return flock.New(path, flock.SetPermissions(fileMode), flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK)), nil
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

// readPID returns the process named in bot.pid, 0 if there is none.
func readPID(root string) int {
	data, err := ReadFile(filepath.Join(root, pidFile))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

// writePID does not wait for the disk: a process does not outlive the crash of its machine.
func (d *Dir) writePID() error { return d.write(pidFile, []byte(strconv.Itoa(os.Getpid())), false) }

// Lock makes this process the only bot of the directory until unlock is called. If a bot is
// running, this program or the original, it returns a *RunningError. From now on the bot is tied to
// this directory: if it vanishes or is replaced, nothing is written (errGone) until Look finds it
// again, and if its state folder does, nothing is written at all (*LostError). bot.pid is for the original,
// which has no locks; this program relies on the locks alone.
func (d *Dir) Lock() (unlock func() error, err error) {
	o, err := own(d.root)
	if err != nil {
		return nil, err
	}
	if pid := readPID(d.root); pid != os.Getpid() && isOriginal(pid) {
		return nil, errors.Join(&RunningError{Dir: d.Display(), PID: pid}, o.close())
	}
	d.owned.Store(o)
	if err := d.writePID(); err != nil {
		d.owned.Store(nil)
		return nil, errors.Join(err, o.close())
	}
	return sync.OnceValue(func() error {
		var err error
		if readPID(d.root) == os.Getpid() && d.Present() == nil {
			err = d.Remove(pidFile)
		}
		return errors.Join(err, d.owned.Swap(nil).close())
	}), nil
}

// Running reports whether a bot is running in the directory, this program or the original, and its
// process ID if known. This program is recognized by its lock, even if bot.pid is missing.
func (d *Dir) Running() (pid int, ok bool) {
	pid = readPID(d.root)
	if held(d.root) || held(d.Path(lockFile)) || isOriginal(pid) {
		return pid, true
	}
	return 0, false
}

// held reports whether another process holds the lock on a path. It briefly acquires the lock,
// shared; a starting bot waits for that.
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
