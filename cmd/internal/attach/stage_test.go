package attach_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/safety/access"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/tui/attach"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"
)

const (
	token    = "what stands in the data directory"
	patience = 20 * time.Second
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// text collects what is written, and can be waited for.
type text struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	vt   *vt.Emulator // of a viewer on a terminal: what stands on it
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

// shows is what stands on the terminal, or all that was written where there is none.
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
	over := time.After(patience)
	for !strings.Contains(w.shows(), want) {
		select {
		case <-w.more:
		case <-over:
			t.Fatalf("%q never came:\n%s", want, w.shows())
		}
	}
}

// house is a bot that takes viewers.
type house struct {
	t    testing.TB
	dir  *store.Dir
	bot  *core.Bot
	log  *text
	port string
	env  []string // of the editor
	end  func()
}

// open starts a bot and its door; both end with the test, or with end.
func open(t testing.TB, prepare ...func(h *house)) *house {
	t.Helper()
	h := &house{t: t, dir: storetest.Prepared(t)}
	for _, p := range prepare {
		p(h)
	}
	h.start()
	return h
}

func (h *house) start() {
	h.t.Helper()
	h.log = newText()
	log := slog.New(slog.NewTextHandler(h.log, nil))
	bot, err := core.New(core.Options{
		Dir: h.dir, Env: config.Env{Zone: time.UTC}, Engine: script.New(script.Options{}), EngineName: "script", Log: log, Still: true,
	})
	must(h.t, err)
	h.bot = bot
	h.serve(bot, log)
}

// serve runs the bot and its door, until end.
func (h *house) serve(bot *core.Bot, log *slog.Logger) {
	h.t.Helper()
	server := attach.New(attach.Options{
		Bot: bot, Log: log, Listen: "127.0.0.1:0", Host: "attic", Environ: append(os.Environ(), h.env...),
		Settings: h.dir.Path("settings"), Tidy: func() {},
		Socket:  func() (net.Listener, error) { return access.Listen(h.dir) },
		Token:   func() string { return token },
		HostKey: func() (ssh.Signer, error) { return access.HostKey(h.dir) },
		Find:    func(k ssh.PublicKey) (access.Key, bool, error) { return access.Find(h.dir, k) },
		Commands: func(_ context.Context, args []string) agent.CommandResult {
			return agent.CommandResult{Stdout: "{\n \"said\": \"" + strings.Join(args, " ") + "\"\n}\n"}
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
		if err := server.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	h.log.sees(h.t, "viewers can attach")
	_, rest, _ := strings.Cut(h.log.String(), "address=127.0.0.1:")
	h.port, _, _ = strings.Cut(rest, "\n")
	h.end = sync.OnceFunc(func() { stop(); all.Wait() })
	h.t.Cleanup(h.end)
}

// key makes a key and lets it in, with what stands before it on its line. It gives the
// path of the private one.
func (h *house) key(option string) string {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "id")
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(h.t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must(h.t, err)
	must(h.t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	signer := signer(h.t, path)
	if option == "unknown" {
		return path
	}
	line := strings.TrimSpace(option + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) + " ada@laptop")
	old, _ := os.ReadFile(h.dir.Path(access.KeysFile)) // none yet
	must(h.t, os.WriteFile(h.dir.Path(access.KeysFile), append(old, line+"\n"...), 0o600))
	return path
}

func signer(t testing.TB, path string) ssh.Signer {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	s, err := ssh.ParsePrivateKey(data)
	must(t, err)
	return s
}

// dial opens a connection over the port with a key, or over the socket without one.
func (h *house) dial(key string) (*ssh.Client, error) {
	h.t.Helper()
	c := &ssh.ClientConfig{User: "ada", HostKeyCallback: ssh.InsecureIgnoreHostKey()}
	var conn net.Conn
	var err error
	if key == "" {
		c.Auth = []ssh.AuthMethod{ssh.Password(token)}
		conn, err = access.Dial(h.dir)
	} else {
		c.Auth = []ssh.AuthMethod{ssh.PublicKeys(signer(h.t, key))}
		conn, err = net.Dial("tcp", "127.0.0.1:"+h.port)
	}
	must(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	client, channels, requests, err := ssh.NewClientConn(conn, "bot", c)
	if err != nil {
		return nil, err
	}
	return ssh.NewClient(client, channels, requests), nil
}

// viewer is somebody who looks.
type viewer struct {
	*ssh.Session
	t    testing.TB
	in   io.WriteCloser
	out  *text
	said *text // on standard error
	conn *ssh.Client
	// leaves ends the terminal.
	leaves func()
	// answered is closed when the terminal has said something itself.
	answered chan struct{}
}

// attaches opens a session on a terminal of 120×40.
func (h *house) attaches(key, command string) *viewer {
	h.t.Helper()
	conn, err := h.dial(key)
	must(h.t, err)
	v := h.session(conn)
	v.terminal("xterm-256color", 120, 40)
	must(h.t, v.begin(command))
	return v
}

// terminal asks for a terminal, which is drawn.
func (v *viewer) terminal(name string, w, h int) {
	v.t.Helper()
	glass := vt.NewEmulator(w, h)
	v.out.vt, v.leaves = glass, sync.OnceFunc(func() { _ = glass.InputPipe().(io.Closer).Close() })
	v.answered = make(chan struct{})
	answers := sync.OnceFunc(func() { close(v.answered) })
	go func() {
		b := make([]byte, 1024)
		for {
			n, err := glass.Read(b)
			if err != nil {
				return
			}
			if _, err := v.in.Write(b[:n]); err != nil {
				return
			}
			answers()
		}
	}()
	v.t.Cleanup(v.leaves)
	must(v.t, v.RequestPty(name, h, w, nil))
}

func (h *house) session(conn *ssh.Client) *viewer {
	h.t.Helper()
	s, err := conn.NewSession()
	must(h.t, err)
	v := &viewer{Session: s, t: h.t, out: newText(), said: newText(), conn: conn}
	s.Stdout, s.Stderr = v.out, v.said
	v.in, err = s.StdinPipe()
	must(h.t, err)
	return v
}

func (v *viewer) begin(command string) error {
	if command == "" {
		return v.Shell()
	}
	return v.Start(command)
}

func (v *viewer) types(keys string) {
	v.t.Helper()
	_, err := io.WriteString(v.in, keys)
	must(v.t, err)
}

// ends waits for the end of the session and gives its status.
func (v *viewer) ends() int {
	v.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- v.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			return 0
		}
		var exit *ssh.ExitError
		if !errors.As(err, &exit) {
			return -1
		}
		return exit.ExitStatus()
	case <-time.After(patience):
		v.t.Fatalf("the viewer does not end:\n%q", v.out.String())
		return -1
	}
}
