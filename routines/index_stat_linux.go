package routines

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// stamp tells one state of a file or folder from another without reading it.
// The time of the last change of the inode catches tools that restore mtimes.
type stamp struct {
	ino                uint64
	size, mtime, ctime int64
}

// openedFolder is a folder during one look: its files are examined relative to
// it, which saves the kernel from walking the whole path for each.
type openedFolder struct {
	dir   *os.File
	fd    int
	stamp stamp // taken before the names are read: a later change shows at the next look
}

func openFolder(path string) (*openedFolder, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe of that name would be waited for
	if err != nil {
		return nil, err
	}
	h := &openedFolder{dir: dir, fd: int(dir.Fd())}
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		h.close()
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	h.stamp = stampOf(&st)
	return h, nil
}

func (h *openedFolder) close() { _ = h.dir.Close() } // only read

func (h *openedFolder) entries() ([]fs.DirEntry, error) { return h.dir.ReadDir(-1) }

// stat follows symbolic links, so that a change of what a link points to shows.
func (h *openedFolder) stat(name string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(h.fd, name, &st, 0)
		if err == nil {
			return stampOf(&st), nil
		}
		if err != unix.EINTR {
			return stamp{}, err
		}
	}
}

func statFile(path string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if err == nil {
			return stampOf(&st), nil
		}
		if err != unix.EINTR {
			return stamp{}, err
		}
	}
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}
