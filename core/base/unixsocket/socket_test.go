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
	must(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "s.sock")
	l, err := Listen(path)
	must(t, err)
	s := l.(*listener)
	must(t, os.RemoveAll(folder))
	if _, err := s.current(); err != nil {
		t.Errorf("without its folder: %v", err)
	}
	must(t, os.Mkdir(folder, 0o700))
	_, err = s.current()
	must(t, err)
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	conn, err := net.Dial("unix", path)
	must(t, err)
	if got, err := l.Accept(); err != nil {
		t.Error(err)
	} else {
		must(t, got.Close())
	}
	must(t, conn.Close())
	must(t, l.Close())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
