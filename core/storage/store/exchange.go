package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Exchange puts the directory at from in the place of the one at root, in one step: at
// every moment the one or the other stands there, whole. With keep, root must hold
// something, which stands at keep then; without it, root must be empty or missing. All
// three are on one file system, and what was written there is on the disk by then. The error says what to do, and then nothing was changed.
func Exchange(from, root, keep string) error {
	if err := syncDisk(from); err != nil {
		return Advise("write "+from, err)
	}
	var err error
	if keep == "" {
		err = syscall.Rename(from, root) // os.Rename takes no empty directory's place
	} else {
		err = swap(from, root)
	}
	switch {
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EXDEV):
		return fmt.Errorf(msgMountPoint, root, root)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf(msgNotEmpty, root)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf(msgNoSwap, root)
	case err != nil:
		return Advise("put "+root+" in place", err)
	}
	if keep != "" {
		if err := os.Rename(from, keep); err != nil {
			return errors.Join(Advise("keep what was at "+root, err), swap(from, root))
		}
	}
	return syncFolder(filepath.Dir(root))
}
