package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftLock is how old a lock must be before it can count as left behind: no git
// that was there when it was made may run any more, either.
const leftLock = time.Minute

// busyReason begins the reasons of warnings about locks.
const busyReason = "busy "

// busyError says that another git, or the user, is in the middle of something.
type busyError struct {
	file string
	old  bool // so old that somebody should look at it
}

func (e *busyError) Error() string {
	return fmt.Sprintf(msgGitBusy, e.file, e.file)
}

// free reports, with a *busyError, that this is no moment to commit: a git holds
// a lock, or the user is in a merge or rebase. A lock whose git has gone is
// removed.
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
		r.git.log.Warn("git: a lock that was left behind has been removed", "file", lock, "from", info.ModTime())
	}
	return nil
}

// orBusy turns the failure of a git that found a lock into a *busyError.
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

// locks are the files that keep a commit from being made.
func (r repo) locks() []string {
	list := []string{r.meta("index.lock"), r.meta("HEAD.lock")}
	if head, err := readRegular(r.meta("HEAD")); err == nil {
		if ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: "); ok && local(ref) == nil {
			list = append(list, r.meta(filepath.FromSlash(ref)+".lock"))
		}
	}
	return list
}
