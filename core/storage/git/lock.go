package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core/storage/store"
)

// leftLock is the age above which a lock may have been left behind by a killed git.
const leftLock = time.Minute

// busyReason is the prefix of the reasons of warnings about locks.
const busyReason = "busy "

// busyError means that another git has a lock, or that a merge or rebase is unfinished.
type busyError struct {
	file string
	old  bool // old enough that the user should look at it
}

func (e *busyError) Error() string {
	return fmt.Sprintf("another git is running, or a merge or rebase is unfinished (%s); changes are recorded "+
		"afterwards. If no git is running, remove it: rm -r '%s'", e.file, e.file)
}

// free returns a *busyError if no commit can be made now: another git has a lock, or a merge
// or rebase is unfinished. It removes a lock whose git has ended.
func (r repo) free() error {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(r.meta(name)); err == nil {
			return &busyError{file: r.meta(name)}
		}
	}
	for _, lock := range r.locks() {
		info, err := os.Lstat(lock)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() || time.Since(info.ModTime()) < leftLock {
			return &busyError{file: lock}
		}
		if !ownerGone(lock, info.ModTime()) {
			return &busyError{file: lock, old: true}
		}
		if err := os.Remove(lock); err != nil {
			return &busyError{file: lock, old: true}
		}
		r.log.Warn("git: an abandoned lock was removed", "file", lock, "from", info.ModTime())
	}
	return nil
}

// orBusy converts the error of a git that found a lock to a *busyError.
func (r repo) orBusy(err error) error {
	var failed *gitError
	if !errors.As(err, &failed) || !strings.Contains(failed.said, ".lock") {
		return err
	}
	for _, lock := range r.locks() {
		if strings.Contains(failed.said, lock) || strings.Contains(failed.said, filepath.Base(lock)) {
			return &busyError{file: lock}
		}
	}
	return err
}

// locks returns the lock files that prevent a commit.
func (r repo) locks() []string {
	list := []string{r.meta("index.lock"), r.meta("HEAD.lock")}
	if head, err := store.ReadFile(r.meta("HEAD")); err == nil {
		if ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: "); ok && filepath.IsLocal(ref) {
			list = append(list, r.meta(filepath.FromSlash(ref)+".lock"))
		}
	}
	return list
}
