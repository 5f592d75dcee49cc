package attach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/cmd/internal/attach"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/access"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

// desk is somebody's terminal, with our client on it.
type desk struct {
	t            testing.TB
	keys, screen *os.File
	out          *text
	said         *text
	ended        chan error
	stop         context.CancelFunc
}

// sits runs the client on a terminal of 120×40.
func sits(t testing.TB, o attach.Options) *desk {
	t.Helper()
	master, slave, err := pty.Open()
	must(t, err)
	must(t, pty.Setsize(master, &pty.Winsize{Cols: 120, Rows: 40}))
	ctx, stop := context.WithCancel(context.Background())
	d := &desk{t: t, keys: master, screen: slave, out: newText(), said: newText(), ended: make(chan error, 1), stop: stop}
	d.out.vt = vt.NewEmulator(120, 40)
	o.In, o.Out, o.Err, o.User = slave, slave, d.said, "ada"
	o.Env = append(o.Env, "TERM=xterm-256color", "LANG=C.UTF-8")
	go func() { _, _ = io.Copy(d.out, master) }() // it ends with the terminal
	go func() { _, _ = io.Copy(master, d.out.vt) }()
	go func() { d.ended <- attach.Run(ctx, o) }()
	t.Cleanup(func() { stop(); _ = master.Close(); _ = slave.Close(); _ = d.out.vt.InputPipe().(io.Closer).Close() })
	return d
}

func (d *desk) types(keys string) {
	d.t.Helper()
	_, err := d.keys.WriteString(keys)
	must(d.t, err)
}

// socket are the options of a client on the machine of the bot.
func (h *house) socket() attach.Options {
	return attach.Options{
		Name: "the bot", Dial: func(context.Context) (net.Conn, error) { return access.Dial(h.dir) },
		HostKey: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.Password(token)}, Stays: true,
	}
}

func modes(t testing.TB, f *os.File) term.State {
	t.Helper()
	m, err := term.GetState(f.Fd())
	must(t, err)
	return *m
}

func TestTheClientFindsABotThatBeganAnew(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	_, slave, err := pty.Open()
	must(t, err)
	was := modes(t, slave)
	d := sits(t, h.socket())
	d.out.sees(t, "Ping budget")
	if modes(t, d.screen) == was {
		t.Error("the terminal is not raw")
	}
	for range 2 {
		h.end()
		d.said.sees(t, "the connection to the bot is lost; ctrl+c stops reconnecting")
		settleShown(t, d)
		if modes(t, d.screen).Lflag&unix.ISIG == 0 {
			t.Error("ctrl+c does not end the wait")
		}
		d.said.reset()
		h.start()
		d.said.sees(t, "attached to the bot again")
		d.out.sees(t, "Ping budget")
	}
	must(t, pty.Setsize(d.keys, &pty.Winsize{Cols: 120, Rows: 40}))
	d.types("1")
	d.out.sees(t, "▸ 1 Ping budget")
	d.types("q")
	if err := <-d.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	if modes(t, d.screen) != was {
		t.Error("the terminal was not given back")
	}
}

func TestTheTerminalIsGivenBackWhenTheConnectionBreaks(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	o := h.socket()
	o.Stays = false
	var conn net.Conn
	dial := o.Dial
	o.Dial = func(ctx context.Context) (c net.Conn, err error) { conn, err = dial(ctx); return conn, err }
	d := sits(t, o)
	d.out.sees(t, "Ping budget")
	must(t, conn.Close())
	if err := <-d.ended; err == nil || !strings.Contains(err.Error(), "the connection is lost") {
		t.Errorf("it ends with %v", err)
	}
	settleShown(t, d)
}

// settleShown waits until the dashboard is gone from the screen.
func settleShown(t *testing.T, d *desk) {
	t.Helper()
	settle(t, "dashboards on the screen", 0, func() int { return strings.Count(d.out.shows(), "Ping budget") })
}

func TestABotThatIsNotThereIsAnError(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	h.end()
	d := sits(t, h.socket())
	if err := <-d.ended; err == nil {
		t.Error("the client waits for a bot that never was there")
	}
	o := h.socket()
	h.start()
	o.Auth = []ssh.AuthMethod{ssh.Password("x")}
	d = sits(t, o)
	if err := <-d.ended; err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
		t.Errorf("a wrong token gives %v", err)
	}
}

func TestAWaitingClientEndsWithCtrlC(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	d := sits(t, h.socket())
	d.out.sees(t, "Ping budget")
	h.end()
	d.said.sees(t, "reconnecting in")
	d.stop() // as SIGINT does
	if err := <-d.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestTheKeyOfABotIsAskedForOnceAndAnotherRefused(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	key := h.key("")
	file := filepath.Join(t.TempDir(), "config", "known_hosts")
	var asked []string
	answer := "no"
	options := func() attach.Options {
		o := h.socket()
		o.Dial = func(context.Context) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+h.port) }
		o.Name, o.Stays = "127.0.0.1:2226", false
		identity, err := attach.Identity(key, "", "", nil)
		must(t, err)
		o.Auth = []ssh.AuthMethod{identity}
		o.Ask = func(q string) (string, error) {
			asked = append(asked, q)
			if answer == "" {
				return "", errors.New("there is no terminal")
			}
			return answer, nil
		}
		o.HostKey = func(_ string, _ net.Addr, k ssh.PublicKey) error {
			return attach.KnownHosts(file)("127.0.0.1:2226", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2226}, k)
		}
		return o
	}
	for _, c := range []struct{ answer, want string }{{"no", "not attached"}, {"", "attach on a terminal once"}} {
		answer = c.answer
		if err := <-sits(t, options()).ended; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the answer %q gives %v", c.answer, err)
		}
	}
	answer = "yes"
	for range 2 {
		d := sits(t, options())
		d.out.sees(t, "Ping budget")
		d.types("q")
		if err := <-d.ended; err != nil {
			t.Errorf("it ends with %v", err)
		}
	}
	mark, err := access.Fingerprint(h.dir)
	must(t, err)
	if len(asked) != 3 || !strings.Contains(asked[2], mark) {
		t.Errorf("asked %q, and the fingerprint is %s", asked, mark)
	}
	h.end()
	must(t, os.Remove(h.dir.Path(access.HostKeyFile)))
	h.start()
	if err := <-sits(t, options()).ended; err == nil || !strings.Contains(err.Error(), "shows another key than before") || !strings.Contains(err.Error(), "line 1 of "+file) {
		t.Errorf("another key gives %v", err)
	}
}

func TestAPlaceIsReadAsPeopleWriteIt(t *testing.T) {
	t.Setenv("USER", "me")
	for text, want := range map[string]string{
		"server": "me server:2226", "ada@server": "ada server:2226", "ada@server:22": "ada server:22", "ada@[::1]:22": "ada [::1]:22", "::1": "me [::1]:2226",
		"": "", "ada@": "", "-oProxyCommand=x": "", "a b": "",
	} {
		user, address, err := attach.Place(text)
		if got := strings.TrimSpace(user + " " + address); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}
