package attach

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
)

// bye reads the server's answer to a client that it refuses.
func bye(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	m, err := newWire(conn, nil).receive()
	if err != nil || m.Do != doBye || m.Ended {
		t.Errorf("the answer is %+v, %v", m, err)
	}
	return m.Text
}

func TestAnyInputButAHelloIsRefused(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	random := make([]byte, 4096)
	_, _ = rand.Read(random)
	hello, err := json.Marshal(h.hello())
	testkit.Must(t, err)
	for _, text := range []string{
		"GET / HTTP/1.1\r\n\r\n", "SSH-2.0-Go\r\n", string(random) + "\n", "{}\n", "null\n", strings.Repeat("x", maxLine+1), string(hello) + "\n",
	} {
		conn := h.dial()
		_, err := io.WriteString(conn, text)
		testkit.Must(t, err)
		if why := bye(t, conn); !strings.Contains(why, "restart the bot") {
			t.Errorf("%.20q is refused with %q", text, why)
		}
	}
	_ = h.dial().Close() // says nothing
	h.dial()             // says nothing and stays
	for _, n := range []int{1, 3, 40} {
		conn := h.dial()
		files := make([]*os.File, n)
		for i := range files {
			files[i] = os.Stderr
		}
		testkit.Must(t, newWire(conn, nil).send(h.hello(), files...))
		if why := bye(t, conn); !strings.Contains(why, "restart the bot") {
			t.Errorf("a hello with %d files is refused with %q", n, why)
		}
	}
	device := newDesk(t, 80, 24)
	null, err := os.Open(os.DevNull)
	testkit.Must(t, err)
	defer null.Close()
	for _, files := range [][]*os.File{{null, null}, {device.screen, null}} { // no terminal
		w := newWire(h.dial(), nil)
		testkit.Must(t, w.send(h.hello(), files...))
		if m, err := w.receive(); err != nil || m.Do != doAttached {
			t.Errorf("%+v, %v", m, err)
		}
		if m, err := w.receive(); err != nil || m.Do != doBye || m.Text != textNoTerminal {
			t.Errorf("%+v, %v", m, err)
		}
	}
	w := newWire(h.dial(), nil)
	testkit.Must(t, w.send(h.hello(), device.screen, device.screen))
	device.out.sees(t, "Ping budget")
	_, err = io.WriteString(w.conn, strings.Repeat("x", maxLine+1)) // a line that is too long
	testkit.Must(t, err)
	device.gone()
	h.attaches()
}

func TestAnotherVersionIsNamed(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	other := h.hello()
	other.Protocol, other.Version = protocol+1, "3.0.0"
	conn := h.dial()
	testkit.Must(t, newWire(conn, nil).send(other, os.Stdin, os.Stdout))
	if why := bye(t, conn); why != "the bot is version 2.0.0 and this program is version 3.0.0: restart the bot" {
		t.Errorf("it is refused with %q", why)
	}
	path := filepath.Join(t.TempDir(), "s.sock") // of a bot that was an SSH server
	l, err := unixsocket.Listen(path)
	testkit.Must(t, err)
	defer l.Close()
	o := h.client()
	o.Stays = true
	o.Dial = func() (*net.UnixConn, error) { return unixsocket.Dial(path) }
	d := sits(t, o)
	old, err := l.Accept()
	testkit.Must(t, err)
	_, err = io.WriteString(old, "SSH-2.0-ollim-bot\r\n")
	testkit.Must(t, err)
	d.fails("of an earlier version, and this program is version 1.0.0")
	testkit.Must(t, old.Close())
}

// A command of a model belongs to the same user, but cannot read the token.
func TestTheSocketWantsTheToken(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for _, word := range []string{"", "x", token + "x"} {
		o := h.client()
		o.Token = func() string { return word }
		d := sits(t, o)
		d.fails("token is wrong")
	}
	if strings.Contains(h.decisions(), "attached") {
		t.Error("a stranger has attached")
	}
}

func TestAViewerMoreThanTheMostIsRefused(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	first := h.attaches()
	for range maxViewers - 1 {
		h.dial()
	}
	settle(t, "viewers missing", 0, func() int { return maxViewers - int(h.server.conns.Load()) })
	sits(t, h.client()).fails("close one first")
	first.shows("1", "▸ 1 Ping budget")
}

func TestWhatADashboardCannotShowIsRefused(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for want, change := range map[string]func(o *ClientOptions){
		"TERM=dumb":          func(o *ClientOptions) { o.Env = []string{"TERM=dumb"} },
		"--theme takes auto": func(o *ClientOptions) { o.Theme = "x" },
	} {
		o := h.client()
		change(&o)
		sits(t, o).fails(want)
	}
}

// What the bot asks of a read-only client is not done either.
func TestAReadOnlyClientRunsNoProgram(t *testing.T) {
	l := &link{client: &client{ClientOptions{ReadOnly: true}}}
	if got := l.program(t.Context(), []string{"true"}); got.Text == "" {
		t.Errorf("it answers %+v", got)
	}
}
