package unixsocket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestARemovedSocketIsMadeAgain(t *testing.T) {
	testkit.Alone(t)
	folder := filepath.Join(t.TempDir(), "state")
	testkit.Must(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "s.sock")
	l, err := Listen(path)
	testkit.Must(t, err)
	s := l.(*listener)
	testkit.Must(t, os.RemoveAll(folder))
	if _, err := s.current(); err != nil {
		t.Errorf("without its folder: %v", err)
	}
	testkit.Must(t, os.Mkdir(folder, 0o700))
	_, err = s.current()
	testkit.Must(t, err)
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	conn, err := net.Dial("unix", path)
	testkit.Must(t, err)
	if got, err := l.Accept(); err != nil {
		t.Error(err)
	} else {
		testkit.Must(t, got.Close())
	}
	testkit.Must(t, conn.Close())
	testkit.Must(t, l.Close())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
