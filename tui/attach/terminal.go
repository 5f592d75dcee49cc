package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"

	"ollimbot/core"
	"ollimbot/core/safety/audit"
	"ollimbot/tui"
	"ollimbot/tui/plain"
)

// onTerminal shows the dashboard, or plain mode, on a new pty: raw mode, the editor and line editing work as on any
// terminal, and a viewer that does not read blocks only itself.
func (s *session) onTerminal(ctx context.Context, w wish, viewer *core.Viewer) error {
	master, slave, err := openTerminal()
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	defer func() { _ = master.Close() }() // it may be closed already
	s.master.Store(master)
	if err := s.sized(s.size); err != nil {
		_ = slave.Close()
		return fmt.Errorf("size the terminal: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.pumps.Go(func() { s.listen(ctx, w.what == "plain", stop) })
	var shown sync.WaitGroup
	shown.Go(s.show)
	if w.what == "plain" {
		err = plain.Run(ctx, viewer, plain.Options{
			Input: slave, Output: slave, ReadOnly: w.readOnly, ByKey: w.byKey, Config: s.server.o.Settings,
		})
	} else {
		err = tui.Run(ctx, viewer, s.options(ctx, w, slave))
	}
	_ = slave.Close()
	// The last bytes are still sent, unless the viewer does not read.
	late := time.AfterFunc(farewell, func() { _ = master.Close() })
	defer late.Stop()
	shown.Wait()
	return err
}

// openTerminal opens a pty whose master can be closed during a read: otherwise a program left running by an editor
// would keep the viewer open. A blocked read also needs no thread.
func openTerminal() (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = blocking.Close() }() // the copy stays
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, errors.Join(err, slave.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), slave, nil
}

// sized sets the size of the terminal. File.Fd would make the file block.
func (s *session) sized(to *unix.Winsize) error {
	raw, err := s.master.Load().SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, to) })
	return errors.Join(err, failed)
}

// options returns the options of a dashboard on the terminal.
func (s *session) options(ctx context.Context, w wish, slave *os.File) tui.Options {
	o := &s.server.o
	vars := append([]string{"TERM=" + s.term}, s.vars...)
	remote := &tui.Remote{
		Signals: s.resized, Programs: append(append([]string{}, o.Environ...), vars[0]),
		OnInput: func() { s.unheard.Store(0) },
		OnOpen:  func(file string) { o.Bot.Note(ctx, audit.FileOpened, file, "") },
	}
	if s.from != local {
		remote.Host = o.Host
	}
	out := tui.Options{
		Input: slave, Output: slave, Env: vars, ReadOnly: w.readOnly, Theme: w.theme, Config: o.Settings, Remote: remote,
	}
	if key := s.may(permKey); key != "" && o.Settings != "" {
		name := strings.NewReplacer("/", "_", "+", "-").Replace(strings.TrimPrefix(key, "SHA256:"))
		out.Own = filepath.Join(o.Settings, "viewers", name)
	}
	return out
}

// listen forwards the viewer's input until it leaves. In plain mode only the kernel would see ctrl+c, so listen calls
// interrupt for it.
func (s *session) listen(ctx context.Context, lines bool, interrupt func()) {
	limit := rate.NewLimiter(inRate, inBurst)
	b := make([]byte, 4<<10)
	for {
		n, err := input{s}.Read(b)
		if n > 0 {
			if s.unheard.Add(int64(n)) > maxUnheard && !lines {
				s.server.o.Log.Warn("a viewer sent too much that is no key, and was cut off", "who", audit.OriginOf(ctx).From)
				_ = s.conn.Close()
				return
			}
			if lines && strings.ContainsRune(string(b[:n]), '\x03') {
				interrupt()
				return
			}
			if limit.WaitN(ctx, n) != nil { // the viewer ends
				return
			}
			if _, err := s.master.Load().Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				_, _ = s.master.Load().Write([]byte{4}) // as ctrl+d; a closed terminal needs none
			}
			return
		}
	}
}

// show sends the output of the terminal until it ends or cannot be sent, and then closes
// the terminal.
func (s *session) show() {
	defer func() { _ = s.master.Load().Close() }()
	// The file's own WriteTo would use a larger buffer.
	_, _ = io.CopyBuffer(s.writer(s.channel), struct{ io.Reader }{s.master.Load()}, make([]byte, 8<<10))
}

// writer writes to the other end, and disconnects it if it does not read.
func (s *session) writer(w io.Writer) io.Writer {
	late := time.AfterFunc(time.Hour, func() { _ = s.conn.Close() })
	late.Stop()
	return patient{w, late}
}

// patient is a writer whose timer runs while it writes.
type patient struct {
	io.Writer
	late *time.Timer
}

func (p patient) Write(b []byte) (int, error) {
	p.late.Reset(keepalive * keptMissing)
	defer p.late.Stop()
	return p.Writer.Write(b)
}
