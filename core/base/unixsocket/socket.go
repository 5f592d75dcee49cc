// Package unixsocket opens Unix sockets that only their user can connect to, and connects to them. It owns their
// files; it must not know the protocol.
package unixsocket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// MaxPath is the longest path of a socket in bytes. Linux allows 108 and macOS 104,
// including the zero at the end.
const MaxPath = 100

var errNotSocket = errors.New("it is not a socket: move it away")

// checkEvery is how often a listener checks that its socket still exists.
const checkEvery = 10 * time.Second

// Listen opens a socket in a private folder. It replaces one left by a killed process;
// the caller ensures that no other process is listening there. If the socket is removed
// later, it is recreated, as long as its folder exists and Accept is running.
func Listen(path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errNotSocket}
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := openSocket(path)
	if err != nil {
		return nil, err
	}
	return &listener{path: path, open: l}, nil
}

// Dial connects to a socket.
func Dial(path string) (conn *net.UnixConn, err error) {
	err = within(path, func(short string) error {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	return conn, err
}

// Ours reports whether the process at the other end belongs to this user, as the system says.
func Ours(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var uid int
	var failed error
	err = raw.Control(func(fd uintptr) { uid, failed = peer(int(fd)) })
	return err == nil && failed == nil && uid == os.Geteuid()
}

// within calls f with a name of the socket that is short enough for the system. A path that is too long gets one through
// a link to its folder, for as long as f runs.
func within(path string, f func(short string) error) error {
	if len(path) <= MaxPath {
		return f(path)
	}
	parent := os.TempDir()
	if len(parent) > MaxPath/2 {
		parent = "/tmp"
	}
	folder, err := os.MkdirTemp(parent, "ollim-") // only this user can enter it
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // cleanup is best effort
	link := filepath.Join(folder, "s")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		return err
	}
	return f(filepath.Join(link, filepath.Base(path)))
}

func openSocket(path string) (l *net.UnixListener, err error) {
	err = within(path, func(short string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)                     // its short name may be gone by then
	if err := os.Chmod(path, 0o600); err != nil { // the folder is already private
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listener survives the removal of its socket.
type listener struct {
	path string

	mu     sync.Mutex
	open   *net.UnixListener
	closed bool
}

// Accept implements net.Listener.
func (s *listener) Accept() (net.Conn, error) {
	for {
		l, err := s.current()
		if err != nil {
			return nil, err
		}
		if err := l.SetDeadline(time.Now().Add(checkEvery)); err != nil {
			return nil, err
		}
		conn, err := l.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
	}
}

// current returns the open socket, or a new one if the old one was removed.
func (s *listener) current() (*net.UnixListener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, missing := os.Lstat(s.path)
	_, folder := os.Lstat(filepath.Dir(s.path))
	if s.closed || folder != nil || !errors.Is(missing, fs.ErrNotExist) {
		return s.open, nil
	}
	_ = s.open.Close() // no one can reach it
	l, err := openSocket(s.path)
	if err == nil {
		s.open = l
	}
	return s.open, err
}

// Addr implements net.Listener.
func (s *listener) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close removes the socket.
func (s *listener) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	err := s.open.Close()
	if gone := os.Remove(s.path); err == nil && !errors.Is(gone, fs.ErrNotExist) {
		err = gone
	}
	return err
}
