package archive

import "golang.org/x/sys/unix"

// swap exchanges two directories.
func swap(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
