//go:build !linux

package routines

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// stamp tells one state of a file or folder from another without reading it.
type stamp struct{ size, mtime int64 }

// openedFolder is a folder during one look.
type openedFolder struct {
	path  string
	stamp stamp // taken before the names are read: a later change shows at the next look
}

func openFolder(path string) (*openedFolder, error) {
	s, err := statFile(path)
	if err != nil {
		return nil, err
	}
	return &openedFolder{path: path, stamp: s}, nil
}

func (h *openedFolder) close() {}

func (h *openedFolder) entries() ([]fs.DirEntry, error) {
	dir, err := os.OpenFile(h.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe of that name would be waited for
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	return dir.ReadDir(-1)
}

// stat follows symbolic links, so that a change of what a link points to shows.
func (h *openedFolder) stat(name string) (stamp, error) {
	return statFile(filepath.Join(h.path, name))
}

func statFile(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}, nil
}
