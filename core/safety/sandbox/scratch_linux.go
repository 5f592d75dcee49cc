package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// scratch is the folder below os.TempDir that a Landlock Box's commands use as /tmp. All Boxes of
// one data directory share it. Each holds a shared lock on it, which ends with the process. A
// folder that can be locked exclusively has no owner.
type scratch struct {
	root string
	lock *os.File
}

// scratchName returns the prefix of the names of all such folders of this user.
func scratchName() string { return "ollim-bot-" + strconv.Itoa(os.Getuid()) + "-" }

// folders returns the two folders of a Box: one that its commands read, with the shell in it, and
// one that they write.
func (b *Box) folders() (run, tmp string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.scratch.lock == nil {
		sweep(os.TempDir())
		sum := sha256.Sum256([]byte(b.o.Dir))
		if b.scratch, err = openScratch(filepath.Join(os.TempDir(), scratchName()+hex.EncodeToString(sum[:6]))); err != nil {
			return "", "", err
		}
	}
	run, tmp = filepath.Join(b.scratch.root, "run"), filepath.Join(b.scratch.root, "tmp")
	for _, dir := range []string{run, tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", "", fmt.Errorf(errNoScratch, err)
		}
	}
	return run, tmp, nil
}

// closeScratch ends the use of the folder. The caller holds the lock.
func (b *Box) closeScratch() {
	if b.scratch.lock != nil {
		b.scratch.removeIfUnused()
		b.scratch = scratch{}
	}
}

// sweep removes what Boxes of ended processes have left. Anything that cannot be removed stays,
// which does no harm.
func sweep(temp string) {
	all, _ := os.ReadDir(temp)
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), scratchName()) {
			continue
		}
		if s, err := lockScratch(filepath.Join(temp, e.Name()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			s.removeIfUnused()
		}
	}
}

// removeIfUnused ends the use of the folder.
func (s scratch) removeIfUnused() {
	if unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && s.inPlace() {
		_ = os.RemoveAll(s.root) // does not follow links
	}
	_ = s.lock.Close()
}

// openScratch creates the folder if it is missing and takes a shared lock on it.
func openScratch(root string) (scratch, error) {
	for {
		if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return scratch{}, fmt.Errorf(errNoScratch, err)
		}
		s, err := lockScratch(root, unix.LOCK_SH)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has just swept it
		}
		return s, err
	}
}

// lockScratch opens the user's own folder and locks it. Because /tmp is shared by all users, it
// refuses a link and a folder that another user has created under the name. fs.ErrNotExist means
// that the folder was removed meanwhile.
func lockScratch(root string, how int) (scratch, error) {
	f, err := os.OpenFile(root, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return scratch{}, err
	}
	if err != nil {
		return scratch{}, fmt.Errorf(errScratch, root)
	}
	info, err := f.Stat()
	if err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf(errScratch, root)
		}
	}
	if err == nil {
		err = unix.Flock(int(f.Fd()), how)
	}
	s := scratch{root: root, lock: f}
	if err == nil && !s.inPlace() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = f.Close()
		return scratch{}, err
	}
	return s, nil
}

// inPlace reports whether the locked folder still has that name.
func (s scratch) inPlace() bool {
	now, err := os.Lstat(s.root)
	mine, mineErr := s.lock.Stat()
	return err == nil && mineErr == nil && os.SameFile(now, mine)
}
