package store

import (
	"errors"
	"io/fs"
	"net"
	"os"
)

// MaxSocketPath is how long the path of a socket may be: 108 bytes on Linux and 104 on
// macOS, with the zero at their end. A few are left over.
const MaxSocketPath = 100

var errNoSocket = errors.New("it is no socket: move it away")

// ListenSocket opens a unix socket that nobody else may use, in a private folder. One
// that a bot has left which was killed is replaced: whoever calls holds the lock of the
// data directory, so that nobody listens there any more.
func ListenSocket(path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errNoSocket}
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // the folder is private already
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
