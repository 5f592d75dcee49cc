//go:build !linux

package control

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"

	"ollimbot/core/base/unixsocket"
)

// maxParent leaves room for the path of a socket in a folder.
const maxParent = unixsocket.MaxPath - len("/ollim-01234567-0123456789/123/s")

// door is a Unix socket in a folder.
type door struct {
	net.Listener
	path string
}

func openDoor(folder string) (*door, error) {
	d := &door{path: filepath.Join(folder, "s")}
	if len(d.path) > unixsocket.MaxPath {
		return nil, errors.New("the path is too long for a socket")
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	var err error
	d.Listener, err = unixsocket.Listen(d.path)
	return d, err
}

// Path returns the path to give to callers.
func (d *door) Path() string { return d.path }

// Accept waits for the next caller.
func (d *door) Accept() (conn, error) { return d.Listener.Accept() }

// Close removes the door; Accept fails from then on.
func (d *door) Close() error {
	return errors.Join(d.Listener.Close(), os.RemoveAll(filepath.Dir(d.path)))
}

// dial returns the caller's side. The connection ends by the deadline.
func dial(path string, deadline time.Time) (conn, error) {
	c, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(deadline)
}
