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

// maxParent limits nothing here: pipes can have paths of any length.
const maxParent = unix.PathMax

// door is a folder with a named pipe, which lies inside the sandbox of its session. A
// sandbox lets no process make a unix socket, but everything can open a pipe.
//
// A caller makes two pipes beside it, for its request and for the answer, and writes their
// name to the pipe of the door. The bot opens both and writes an empty line; from then on
// the end of either side is seen by the other.
type door struct {
	folder string
	names  *bufio.Reader // of Accept alone

	mu     sync.Mutex
	bell   *os.File // its pipe
	closed bool
}

const (
	bellName = "bell"
	inEnd    = ".in"
	outEnd   = ".out"
	// checkEvery is how often a door checks that its folder still exists.
	checkEvery = 10 * time.Second
)

func openDoor(folder string) (*door, error) {
	d := &door{folder: folder}
	return d, d.make()
}

// make makes the folder and the pipe, and opens the pipe, which nobody else may read.
func (d *door) make() error {
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(d.folder, bellName)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return &fs.PathError{Op: "make a pipe", Path: path, Err: err}
	}
	// Opened for both, it does not end when the last caller leaves.
	bell, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	d.bell, d.names = bell, bufio.NewReaderSize(bell, unix.PathMax)
	return os.Chmod(path, 0o200)
}

// Path is what a caller needs.
func (d *door) Path() string { return d.folder }

// Accept waits for the next caller.
func (d *door) Accept() (conn, error) {
	for {
		if err := d.check(); err != nil {
			return nil, err
		}
		line, err := d.names.ReadSlice('\n')
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, bufio.ErrBufferFull): // the latter is garbage
			continue
		case err != nil:
			return nil, err
		}
		// A caller that has left, or that offers something else than pipes, gets nothing.
		if c, err := d.meet(strings.TrimSuffix(string(line), "\n")); err == nil {
			return c, nil
		}
	}
}

// check makes the door again if it was removed, as soon as the bot has made its folder
// again, and says when to check next.
func (d *door) check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, missing := os.Lstat(filepath.Join(d.folder, bellName))
	_, state := os.Lstat(filepath.Dir(filepath.Dir(d.folder)))
	if !d.closed && errors.Is(missing, fs.ErrNotExist) && state == nil {
		_ = os.Mkdir(filepath.Dir(d.folder), 0o700) // another door may have made it
		_ = os.RemoveAll(d.folder)
		_ = d.bell.Close()
		if err := d.make(); err != nil {
			return err
		}
	}
	return d.bell.SetReadDeadline(time.Now().Add(checkEvery))
}

// meet opens the pipes of a caller.
func (d *door) meet(name string) (conn, error) {
	if name == "" || strings.ContainsAny(name, "./") {
		return nil, errors.New("this is no name")
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

// openPipe opens what must be a pipe: who may write in the folder could have put a link
// or a device there.
func openPipe(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, how|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return nil, errors.Join(errors.New("this is no pipe"), err, f.Close())
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

// dial is the caller's side. The connection ends by the deadline.
func dial(folder string, deadline time.Time) (c conn, err error) {
	bell, err := os.OpenFile(filepath.Join(folder, bellName), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err // nobody reads it, or it is gone
	}
	defer bell.Close()
	name := rand.Text()
	request, answer := filepath.Join(folder, name+inEnd), filepath.Join(folder, name+outEnd)
	for _, path := range []string{request, answer} {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			return nil, &fs.PathError{Op: "make a pipe", Path: path, Err: err}
		}
		defer func() { _ = os.Remove(path) }() // once both sides have opened it, nobody needs its name
	}
	// Held for both, a pipe waits for the other side. Each is then held for one, so that
	// the other side's end is seen.
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
	if _, err := bell.WriteString(name + "\n"); err != nil { // short enough to stay in one piece
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
