package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/core/base/unixsocket"
)

const socketName = "control.sock"

// socket is a listener with the files to remove after it.
type socket struct {
	net.Listener
	path   string
	folder string // created for it, or empty
}

// listen opens the socket in dir, or in a new private folder if the path would be too long
// or the file system does not support sockets.
func listen(dir string) (*socket, error) {
	if path := filepath.Join(dir, socketName); len(path) <= unixsocket.MaxPath {
		if l, err := unixsocket.Listen(path); err == nil {
			return &socket{Listener: l, path: path}, nil
		}
	}
	folder, err := freshFolder(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, socketName)
	l, err := unixsocket.Listen(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &socket{Listener: l, path: path, folder: folder}, nil
}

// freshFolder creates a folder that only this user can enter, and removes those of earlier
// runs: all for the same directory, and others without a listening bot. The folder's name
// is unpredictable, because others may be able to write to its parent.
func freshFolder(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	prefix := "ollim-" + hex.EncodeToString(sum[:4]) + "-"
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if !filepath.IsAbs(parent) || len(filepath.Join(parent, prefix+"0123456789", socketName)) > unixsocket.MaxPath {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(parent, "ollim-*-*")) // tidying only
		for _, folder := range left {
			if strings.HasPrefix(filepath.Base(folder), prefix) || unixsocket.Abandoned(filepath.Join(folder, socketName)) {
				_ = os.RemoveAll(folder) // keep those of other users
			}
		}
		if folder, err := os.MkdirTemp(parent, prefix); err == nil {
			return folder, nil
		}
	}
	return "", errors.New(textNoPlace)
}

// close removes the socket and the folder created for it.
func (s *socket) close() error {
	err := s.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}
