package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"ollimbot/core/storage/store"
)

// exchange replaces the directory root with from in one step, so that a complete one exists at
// every moment. If keep is set, root must exist and is moved to keep; otherwise, root must be empty
// or missing. All three are on one file system. The new directory is durable before the exchange.
// An error says what to do and means that nothing was changed.
func exchange(from, root, keep string) error {
	if err := syncDisk(from); err != nil {
		return store.Advise("write "+from, err)
	}
	var err error
	if keep == "" {
		err = syscall.Rename(from, root) // os.Rename refuses an existing directory
	} else {
		err = swap(from, root)
	}
	switch {
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EXDEV):
		return fmt.Errorf(textMountPoint, root, root)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf(textRefilled, root)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf(textNoSwap, root)
	case err != nil:
		return store.Advise("put "+root+" in place", err)
	}
	if keep != "" {
		if err := os.Rename(from, keep); err != nil {
			return errors.Join(store.Advise("keep the old "+root, err), swap(from, root))
		}
	}
	return store.SyncFolder(filepath.Dir(root))
}
