package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// advise wraps an error of the file system and says what to do about it.
func advise(doing string, err error) error {
	err = bare(err)
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

// bare takes the operation and the absolute path out of a path error: the
// wrapper names the file already, relative to the directory.
func bare(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}
