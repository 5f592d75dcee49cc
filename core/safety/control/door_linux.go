package control

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxParent sets no limit on Linux: pipes can have paths of any length.
const maxParent = unix.PathMax

// door is a folder with a named pipe, inside the sandbox of its session. Processes in the sandbox
// cannot create Unix sockets, but they can open a pipe.
//
// A caller creates two pipes next to it, for its request and for the answer, and writes their name
// to the door's pipe. The bot opens both and writes an empty line; from then on each side sees when
// the other ends.
type door struct {
	folder string
	names  *bufio.Reader // used by Accept only

	mu     sync.Mutex
	bell   *os.File // its pipe
	closed bool
}

const (
	bellName = "bell"
	inEnd    = ".in"
	outEnd   = ".out"
)

func openDoor(folder string) (*door, error) {
	d := &door{folder: folder}
	return d, d.make()
}

// make creates the folder and the pipe, and opens the pipe. Only this user can read it.
func (d *door) make() error {
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(d.folder, bellName)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return &fs.PathError{Op: "make a pipe", Path: path, Err: err}
	}
	// Opened for reading and writing, so that it does not reach EOF when the last caller leaves.
	bell, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	d.bell, d.names = bell, bufio.NewReaderSize(bell, unix.PathMax)
	return os.Chmod(path, 0o200)
}

// Path returns the path to give to callers.
func (d *door) Path() string { return d.folder }

// Accept waits for the next caller.
func (d *door) Accept() (conn, error) {
	for {
		line, err := d.names.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // garbage
			continue
		case err != nil:
			return nil, err
		}
		// A caller that has left, or that offers anything but pipes, is ignored.
		if c, err := d.meet(strings.TrimSuffix(string(line), "\n")); err == nil {
			return c, nil
		}
	}
}

// meet opens the pipes of a caller.
func (d *door) meet(name string) (conn, error) {
	if name == "" || strings.ContainsAny(name, "./") {
		return nil, errors.New("not a valid name of pipes")
	}
	path := filepath.Join(d.folder, name)
	in, err := openPipe(path+inEnd, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	out, err := openPipe(path+outEnd, os.O_WRONLY)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if _, err := out.WriteString("\n"); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return pipes{in, out}, nil
}

// openPipe opens a path that must be a pipe: anyone who can write in the folder could have put a
// link or a device there.
func openPipe(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, how|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return nil, errors.Join(errors.New("not a pipe"), err, f.Close())
	}
	return f, nil
}

// Close removes the door; Accept fails from then on.
func (d *door) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return errors.Join(d.bell.Close(), os.RemoveAll(d.folder))
}

// pipes are a connection of two pipes.
type pipes struct{ in, out *os.File }

func (p pipes) Read(b []byte) (int, error)         { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error)        { return p.out.Write(b) }
func (p pipes) Close() error                       { return errors.Join(p.out.Close(), p.in.Close()) }
func (p pipes) SetReadDeadline(t time.Time) error  { return p.in.SetReadDeadline(t) }
func (p pipes) SetWriteDeadline(t time.Time) error { return p.out.SetWriteDeadline(t) }

// dial returns the caller's side. The connection ends by the deadline.
func dial(folder string, deadline time.Time) (c conn, err error) {
	bell, err := os.OpenFile(filepath.Join(folder, bellName), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err // it has no reader, or was removed
	}
	defer bell.Close()
	name := rand.Text()
	request, answer := filepath.Join(folder, name+inEnd), filepath.Join(folder, name+outEnd)
	for _, path := range []string{request, answer} {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			return nil, &fs.PathError{Op: "make a pipe", Path: path, Err: err}
		}
		defer func() { _ = os.Remove(path) }() // its name is not needed once both sides have opened it
	}
	// A pipe that is open for both reading and writing has no EOF before the other side opens it.
	// Afterwards each is open for one direction only, so that the end of the other side is visible.
	both := pipes{}
	if both.in, err = openPipe(answer, os.O_RDWR); err != nil {
		return nil, err
	}
	defer both.in.Close()
	if both.out, err = openPipe(request, os.O_RDWR); err != nil {
		return nil, err
	}
	defer both.out.Close()
	if err := errors.Join(bell.SetDeadline(deadline), both.SetReadDeadline(deadline)); err != nil {
		return nil, err
	}
	if _, err := bell.WriteString(name + "\n"); err != nil { // short enough to be written atomically
		return nil, err
	}
	if _, err := io.ReadFull(both, make([]byte, 1)); err != nil {
		return nil, err
	}
	one := pipes{}
	if one.in, err = openPipe(answer, os.O_RDONLY); err != nil {
		return nil, err
	}
	if one.out, err = openPipe(request, os.O_WRONLY); err != nil {
		return nil, errors.Join(err, one.in.Close())
	}
	return one, errors.Join(one.SetReadDeadline(deadline), one.SetWriteDeadline(deadline))
}
