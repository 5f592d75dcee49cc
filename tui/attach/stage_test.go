package attach

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

const (
	token   = "what is in the data directory"
	waiting = 20 * time.Second
)

// text collects what is written, and can be waited for.
type text struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	vt   *vt.Emulator // what is on a terminal
	more chan struct{}
}

func newText() *text { return &text{more: make(chan struct{}, 1)} }

func (w *text) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.vt != nil {
		_, _ = w.vt.Write(b)
	}
	select {
	case w.more <- struct{}{}:
	default:
	}
	return w.buf.Write(b)
}

// String is all that was written.
func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (w *text) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Reset()
}

// shows is what is on the terminal, or all that was written where there is none.
func (w *text) shows() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.vt != nil {
		return w.vt.String()
	}
	return w.buf.String()
}

// sees waits for a text.
func (w *text) sees(t testing.TB, want string) {
	t.Helper()
	w.until(t, want, func(shown string) bool { return strings.Contains(shown, want) })
}

// until waits until what is shown has a property.
func (w *text) until(t testing.TB, what string, has func(shown string) bool) {
	t.Helper()
	over := time.After(waiting)
	for !has(w.shows()) {
		select {
		case <-w.more:
		case <-over:
			t.Fatalf("%q never came:\n%s", what, w.shows())
		}
	}
}

// house is a bot that accepts viewers.
type house struct {
	t   testing.TB
	dir *store.Dir
	bot *core.Bot
	log *text

	server *Server
	end    func()
}

// open starts a bot and its server; both end with the test, or with end.
func open(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, dir: storetest.Prepared(t)}
	h.start()
	return h
}

func (h *house) socket() string { return h.dir.Path("state/attach.sock") }

func (h *house) start() {
	h.t.Helper()
	h.log = newText()
	log := slog.New(slog.NewTextHandler(h.log, nil))
	bot, err := core.New(core.Options{
		Dir: h.dir, Env: config.Env{Zone: time.UTC}, Engine: script.New(script.Options{}), EngineName: "script", Log: log, Still: true,
	})
	testkit.Must(h.t, err)
	h.bot = bot
	opened := make(chan struct{})
	h.server = NewServer(ServerOptions{
		Bot: bot, Log: log, Version: "2.0.0", Host: "attic", Settings: h.dir.Path("settings"), Tidy: func() {}, Token: func() string { return token },
		Listen: func() (net.Listener, error) {
			defer close(opened)
			return unixsocket.Listen(h.socket())
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if err := bot.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	h.log.sees(h.t, "bot started")
	all.Go(func() {
		if err := h.server.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	<-opened
	h.end = sync.OnceFunc(func() { stop(); all.Wait() })
	h.t.Cleanup(h.end)
}

// client are the options of a client of this bot.
func (h *house) client() ClientOptions {
	return ClientOptions{
		Name: "the bot", Version: "1.0.0", Dial: func() (*net.UnixConn, error) { return unixsocket.Dial(h.socket()) },
		Token: func() string { return token }, Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8"},
	}
}

// hello is what such a client says.
func (h *house) hello() hello {
	return hello{Protocol: protocol, Token: token, Env: h.client().Env}
}

func (h *house) dial() *net.UnixConn {
	h.t.Helper()
	conn, err := unixsocket.Dial(h.socket())
	testkit.Must(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	testkit.Must(h.t, conn.SetReadDeadline(time.Now().Add(waiting)))
	return conn
}

// desk is a terminal.
type desk struct {
	t            testing.TB
	keys, screen *os.File
	out          *text
	// answered is closed when the terminal has said something itself.
	answered chan struct{}
	before   term.State

	// Of the client on it.
	said  *text
	ended chan error
	stop  context.CancelFunc
}

func newDesk(t testing.TB, w, h int) *desk {
	t.Helper()
	master, slave, err := pty.Open()
	testkit.Must(t, err)
	testkit.Must(t, pty.Setsize(master, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}))
	d := &desk{t: t, keys: master, screen: slave, out: newText(), said: newText(), answered: make(chan struct{})}
	d.before = d.modes()
	glass := vt.NewEmulator(w, h)
	d.out.vt = glass
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(d.out, master) }) // it ends with the terminal
	copying.Go(func() {
		said := sync.OnceFunc(func() { close(d.answered) })
		b := make([]byte, 1024)
		for {
			n, err := glass.Read(b)
			if err != nil {
				return
			}
			if _, err := master.Write(b[:n]); err != nil {
				return
			}
			said()
		}
	})
	t.Cleanup(func() {
		d.hangUp()
		_ = glass.InputPipe().(io.Closer).Close()
		copying.Wait()
	})
	return d
}

// hangUp closes the window.
func (d *desk) hangUp() {
	_ = d.screen.Close() // else its end would not be seen
	_ = d.keys.Close()
}

// sits runs a client on a terminal of 120×40.
func sits(t testing.TB, o ClientOptions) *desk {
	t.Helper()
	d := newDesk(t, 120, 40)
	d.runs(o)
	return d
}

func (d *desk) runs(o ClientOptions) {
	d.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d.stop, d.ended = stop, make(chan error, 1)
	o.In, o.Out, o.Err = d.screen, d.screen, d.said
	go func() { d.ended <- Run(ctx, o) }()
	d.t.Cleanup(stop)
}

// attaches runs a client and waits for its dashboard.
func (h *house) attaches() *desk {
	h.t.Helper()
	d := sits(h.t, h.client())
	d.out.sees(h.t, "Ping budget")
	return d
}

func (d *desk) types(keys string) {
	d.t.Helper()
	_, err := d.keys.WriteString(keys)
	testkit.Must(d.t, err)
}

// shows types keys and waits for a text.
func (d *desk) shows(keys, want string) {
	d.t.Helper()
	d.types(keys)
	d.out.sees(d.t, want)
}

// quits types the last keys, after which the client ends without an error and gives the terminal back.
func (d *desk) quits(keys string) {
	d.t.Helper()
	d.types(keys)
	if err := d.ends(); err != nil {
		d.t.Errorf("it ends with %v", err)
	}
	d.gone()
	d.asBefore()
}

// fails expects that the client ends with an error and gives the terminal back.
func (d *desk) fails(want string) {
	d.t.Helper()
	if err := d.ends(); err == nil || !strings.Contains(err.Error(), want) {
		d.t.Errorf("it ends with %v, not %s", err, want)
	}
	d.gone()
	d.asBefore()
}

// ends waits for the end of the client.
func (d *desk) ends() error {
	d.t.Helper()
	select {
	case err := <-d.ended:
		return err
	case <-time.After(waiting):
		d.t.Fatalf("the client does not end:\n%s", d.out.shows())
		return nil
	}
}

// resize changes the size, and says so as the system would.
func (d *desk) resize(w, h int) {
	d.t.Helper()
	testkit.Must(d.t, pty.Setsize(d.keys, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}))
	testkit.Must(d.t, syscall.Kill(os.Getpid(), syscall.SIGWINCH))
}

func (d *desk) modes() term.State {
	d.t.Helper()
	m, err := term.GetState(d.screen.Fd())
	testkit.Must(d.t, err)
	return *m
}

// asBefore expects that the terminal is as it was.
func (d *desk) asBefore() {
	d.t.Helper()
	if d.modes() != d.before {
		d.t.Errorf("the terminal has other modes than before: %+v, were %+v", d.modes(), d.before)
	}
	d.out.until(d.t, "the end of the other screen", func(string) bool {
		out := d.out.String()
		return strings.LastIndex(out, "\x1b[?1049l") >= strings.LastIndex(out, "\x1b[?1049h")
	})
	out := d.out.String()
	for _, mode := range []string{"1049", "1000", "1006", "2004", "1004", "2031"} {
		if strings.LastIndex(out, "\x1b[?"+mode+"l") < strings.LastIndex(out, "\x1b[?"+mode+"h") {
			d.t.Errorf("the terminal has mode %s", mode)
		}
	}
	if strings.Count(out, "\x1b[<1u") < strings.Count(out, "\x1b[>1u") {
		d.t.Error("the terminal has another keyboard")
	}
	d.blocks()
}

// blocks expects that the open file, which the user's shell has too, was not made non-blocking.
func (d *desk) blocks() {
	d.t.Helper()
	flags, err := unix.FcntlInt(d.screen.Fd(), unix.F_GETFL, 0)
	testkit.Must(d.t, err)
	if flags&unix.O_NONBLOCK != 0 {
		d.t.Error("the terminal is non-blocking")
	}
}

// gone waits until the dashboard has left the screen.
func (d *desk) gone() {
	d.t.Helper()
	d.out.until(d.t, "the screen as it was", func(shown string) bool { return !strings.Contains(shown, "Ping budget") })
}

// settle waits until a number has come down.
func settle(t *testing.T, what string, most int, number func() int) {
	t.Helper()
	over := time.After(waiting)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for number() > most {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%d %s, want at most %d", number(), what, most)
		}
	}
}
