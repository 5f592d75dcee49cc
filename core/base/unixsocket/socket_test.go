package unixsocket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
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

func TestASocketOfAnyLengthIsReachedByItsUserOnly(t *testing.T) {
	testkit.Alone(t)
	temp, err := os.MkdirTemp("/tmp", "s") // short enough to be used
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(temp)) })
	t.Setenv("TMPDIR", temp)
	for _, extra := range []int{0, 120} {
		folder := filepath.Join(temp, "data", strings.Repeat("d", extra))
		testkit.Must(t, os.MkdirAll(folder, 0o700))
		path := filepath.Join(folder, "s.sock")
		l, err := Listen(path)
		testkit.Must(t, err)
		if l.Addr().String() != path {
			t.Errorf("its address is %s", l.Addr())
		}
		conn, err := Dial(path)
		testkit.Must(t, err)
		got, err := l.Accept()
		testkit.Must(t, err)
		if !Ours(conn) || !Ours(got.(*net.UnixConn)) {
			t.Error("our own process counts as a stranger's")
		}
		testkit.Must(t, errors.Join(got.Close(), conn.Close()))
		if Ours(conn) {
			t.Error("a closed connection counts as ours")
		}
		left, err := filepath.Glob(filepath.Join(temp, "ollim-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("short names are left: %v, %v", left, err)
		}
		testkit.Must(t, l.Close())
		if err := l.Close(); err == nil {
			t.Error("a second Close finds something to close")
		}
	}
	if _, err := Dial(filepath.Join(t.TempDir(), "none.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a socket that does not exist: %v", err)
	}
}

func TestASocketReplacesOnlyAnOldSocket(t *testing.T) {
	testkit.Alone(t)
	path := filepath.Join(t.TempDir(), "s.sock")
	first, err := Listen(path)
	testkit.Must(t, err)
	second, err := Listen(path) // as after a kill
	testkit.Must(t, err)
	conn, err := Dial(path)
	testkit.Must(t, err)
	got, err := second.Accept()
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(got.Close(), conn.Close(), second.Close()))
	_ = first.Close() // its socket is gone
	testkit.Must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := Listen(path); !errors.Is(err, errNotSocket) || !strings.Contains(err.Error(), path+": it is not a socket: move it away") {
		t.Errorf("a file is replaced: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Listen(filepath.Join(path, "s.sock")); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
	if _, err := Listen(filepath.Join(t.TempDir(), "none", "s.sock")); err == nil {
		t.Error("a folder that does not exist is made")
	}
}
