package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Advise wraps an error of the file system and says what to do about it.
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

// full are the errors of a disk without room. EFBIG is a disk quota of the
// process (ulimit -f), which looks like a full disk to whoever meets it.
var full = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// Full reports whether an error came from a disk without room.
func Full(err error) bool {
	return slices.ContainsFunc(full, func(target error) bool { return errors.Is(err, target) })
}

// cures is what a user can do about an error.
var cures = []struct {
	errs []error
	cure string
}{
	{full, cureFull},
	{[]error{syscall.EROFS, fs.ErrPermission}, cureReadOnly},
	{[]error{errNotDirectory, syscall.ENOTDIR}, cureNotDirectory},
	{[]error{syscall.EISDIR}, cureIsDirectory},
	{[]error{syscall.ENAMETOOLONG}, cureLongName},
	{[]error{syscall.ELOOP}, cureLoop},
	{[]error{syscall.ENXIO}, cureNotFile},
	{[]error{syscall.EMFILE, syscall.ENFILE}, cureHandles},
}

// Bare takes the operation and the absolute path out of a path error: the
// wrapper names the file already, relative to the directory.
func Bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Every word of this package that a user may read.
const (
	msgIsFile        = "%s is a file, not a directory: move it away, or give another directory with --data-dir"
	msgUnreadableDir = "%s may not be read by you: make it yours (chmod -R u+rwX), or give another directory with --data-dir"
	msgParent        = "%s cannot be made: %s is not writable for you (%w); make it writable, or give another directory with --data-dir"

	msgNoRoot     = "no data directory: give --data-dir or set OLLIM_DATA_DIR"
	msgRunning    = "ollim-bot is already running in %s: stop it first, or use another directory with --data-dir"
	msgRunningPID = "ollim-bot is already running in %s (pid %d): stop it first (kill %d), " +
		"or use another directory with --data-dir"
	msgTurn = "another ollim-bot process holds %s for more than %s: stop it and try again"

	msgForeign     = "%s belongs to another user (uid %d), who can change what the bot does: commands of skills do not run; chown it: sudo chown -R $(id -u) '%s'"
	msgWritable    = "others can write to %s (mode %04o) and change what the bot does: chmod go-w '%s'"
	msgWasWritable = "everybody could write to %s (mode %04o); that is over now. Look through routines/, reminders/ and skills/ for what is not yours"

	cureFull         = "free some space and try again; nothing that was stored is harmed"
	cureReadOnly     = "make the data directory writable for your user (chmod -R u+rwX), or choose another with --data-dir"
	cureNotDirectory = "a file stands where a directory must be; move it away, or choose another data directory with --data-dir"
	cureIsDirectory  = "a directory stands where a file must be; move it away"
	cureLongName     = "the name is too long; choose a shorter one"
	cureLoop         = "this is a link that leads back to itself: remove it"
	cureNotFile      = "a pipe or device stands where a file must be: remove it"
	cureHandles      = "too many files are open: close other programs or raise the limit (ulimit -n); it goes on by itself then"
)
