package sandbox

import "golang.org/x/sys/unix"

// held reports whether the sandbox around this process already has a cover, so that a sandbox
// within it inherits the cover: a mount cannot be moved away, and read-only paths stay read-only.
// Each mount that is not repeated saves a command about a tenth of a millisecond. If the kernel
// cannot tell, nothing counts as held.
func held(m mount) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, m.To, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE, &s)
	if err != nil || s.Attributes_mask&s.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return false
	}
	switch m.How {
	case writable:
		return true
	case readOnly:
		return readOnlyAt(m.To)
	case hidden:
		null := s.Mode&unix.S_IFMT == unix.S_IFCHR && s.Rdev_major == nullMajor && s.Rdev_minor == nullMinor
		return null && readOnlyAt(m.To)
	}
	return false
}

// Device numbers of /dev/null.
const (
	nullMajor = 1
	nullMinor = 3
)

// readOnlyAt reports whether the mount at a path is read-only.
func readOnlyAt(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.ST_RDONLY != 0
}
