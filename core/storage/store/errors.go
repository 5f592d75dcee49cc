package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Advise wraps a file system error and adds the cure.
func Advise(doing string, err error) error {
	err = Bare(err)
	for _, a := range cures {
		for _, target := range a.errs {
			if errors.Is(err, target) {
				return fmt.Errorf("%s: %w: %s", doing, err, a.cure)
			}
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// full lists the errors of a full disk. EFBIG means a limit of the process (ulimit -f), which looks
// the same to the user.
var full = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// Full reports whether an error means a full disk.
func Full(err error) bool {
	return slices.ContainsFunc(full, func(target error) bool { return errors.Is(err, target) })
}

// cures are the cures for errors.
var cures = []struct {
	errs []error
	cure string
}{
	{full, cureFull},
	{[]error{syscall.EROFS, fs.ErrPermission}, cureReadOnly},
	{[]error{syscall.ENOTDIR}, cureNotDirectory},
	{[]error{syscall.EISDIR}, cureIsDirectory},
	{[]error{syscall.ENAMETOOLONG}, cureLongName},
	{[]error{syscall.ELOOP}, cureLoop},
	{[]error{syscall.ENXIO}, cureNotFile},
	{[]error{syscall.EMFILE, syscall.ENFILE}, cureHandles},
}

// Bare removes the operation and the absolute path from an error, because the wrapper names the
// file relative to the directory.
func Bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// User-visible texts.
const (
	msgIsFile        = "%s is a file, not a directory: move it away, or choose another directory with --data-dir"
	msgUnreadableDir = "you have no permission to read %s: get it with chmod -R u+rwX, or choose another directory with --data-dir"
	msgParent        = "%s cannot be created: you cannot write to %s (%w); make it writable, or choose another directory with --data-dir"

	msgNoRoot     = "no data directory: use --data-dir or set OLLIM_DATA_DIR"
	msgRunning    = "ollim-bot is already running in %s: stop it first, or use another directory with --data-dir"
	msgRunningPID = "ollim-bot is already running in %s (pid %d): stop it first (kill %d), " +
		"or use another directory with --data-dir"
	msgLost = "%s was removed or replaced while the bot was running: the bot ends and writes nothing more. Put back the folder if you have " +
		"it, and start the bot"
	msgTurn = "another ollim-bot process has held the lock %s for more than %s: stop it and try again"

	msgForeign     = "%s belongs to another user (uid %d), who can change what the bot does: commands of skills do not run; chown it: sudo chown -R $(id -u) '%s'"
	msgWritable    = "others can write to %s (mode %04o) and change what the bot does: chmod go-w '%s'"
	msgWasWritable = "every user could write to %s (mode %04o), which was fixed. Check routines/, reminders/ and skills/ for files that are not yours"

	cureFull         = "free some space and try again; stored data is intact"
	cureReadOnly     = "make the data directory writable for your user (chmod -R u+rwX), or choose another with --data-dir"
	cureNotDirectory = "a file is where a directory should be; move it away, or choose another data directory with --data-dir"
	cureIsDirectory  = "a directory is where a file should be; move it away"
	cureLongName     = "the name is too long; choose a shorter one"
	cureLoop         = "this is a link to itself; remove it"
	cureNotFile      = "a pipe or device is where a file should be; remove it"
	cureHandles      = "too many files are open: close other programs or raise the limit (ulimit -n); the bot then continues"
)
