package store

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// MaxSocketPath is how long the path of a socket may be: 108 bytes on Linux and 104 on
// macOS, with the zero at their end. A few are left over.
const MaxSocketPath = 100

var errNoSocket = errors.New("it is no socket: move it away")

// socketLook is how often a listener checks that its socket still exists.
const socketLook = 10 * time.Second

// ListenSocket opens a unix socket that only its user may connect to, in a private
// folder. One that a killed bot has left is replaced: the caller owns the data
// directory, so no other bot listens there. A socket that is removed later is made
// again, as long as its folder exists; Accept has to be running for that.
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
	l, err := openSocket(path)
	if err != nil {
		return nil, err
	}
	return &socket{path: path, open: l}, nil
}

// Abandoned reports whether path is a socket whose listener has ended without
// removing it.
func Abandoned(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func openSocket(path string) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // the folder is private already
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// socket is a listener that survives the removal of its file.
type socket struct {
	path string

	mu     sync.Mutex
	open   *net.UnixListener
	closed bool
}

// Accept is net.Listener's.
func (s *socket) Accept() (net.Conn, error) {
	for {
		l, err := s.current()
		if err != nil {
			return nil, err
		}
		if err := l.SetDeadline(time.Now().Add(socketLook)); err != nil {
			return nil, err
		}
		conn, err := l.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
	}
}

// current is the listener, of a new socket where the old one was removed.
func (s *socket) current() (*net.UnixListener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, missing := os.Lstat(s.path)
	_, folder := os.Lstat(filepath.Dir(s.path))
	if s.closed || folder != nil || !errors.Is(missing, fs.ErrNotExist) {
		return s.open, nil
	}
	_ = s.open.Close() // first: closing removes what has its name
	l, err := openSocket(s.path)
	if err == nil {
		s.open = l
	}
	return s.open, err
}

// Addr is net.Listener's.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close removes the socket.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.open.Close()
}
