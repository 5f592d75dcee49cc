package attach_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/access"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/tui/attach"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

// decisions are the lines of the audit log.
func (h *house) decisions() string {
	h.t.Helper()
	list, _, err := audit.New(audit.Options{Dir: h.dir}).Read(1000)
	must(h.t, err)
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", e.From, e.Action, e.Subject, e.Detail)
	}
	return b.String()
}

func TestAViewerDetachesAndTheBotGoesOn(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	full := h.key("")
	for i, key := range []string{"", full} {
		v := h.attaches(key, "")
		v.out.sees(t, "Ping budget")
		if local, named := key == "", strings.Contains(v.out.shows(), "@attic"); local == named {
			t.Errorf("over the socket: %v, the host is named: %v", local, named)
		}
		v.types("1")
		v.out.sees(t, "▸ 1 Ping budget")
		v.types("+")
		v.out.sees(t, fmt.Sprintf("capacity %d → %d", 5+i, 6+i))
		v.types("q")
		if status := v.ends(); status != 0 {
			t.Errorf("it ends with %d", status)
		}
		if !strings.Contains(v.out.String(), "\x1b[?1049l") {
			t.Error("the terminal was not given back")
		}
	}
	if n := h.bot.Snapshot().Budget.State.Capacity; n != 7 {
		t.Errorf("the capacity is %d after two steps", n)
	}
	got := h.decisions()
	for _, want := range []string{
		"viewer 1: this machine|viewer.attached|dashboard|full\n", "viewer 1: this machine|budget.changed|",
		"|viewer.attached|dashboard|full, SHA256:", " from 127.0.0.1|budget.changed|", "viewer 2: ada@laptop SHA256:",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the audit log lacks %q:\n%s", want, got)
		}
	}
}

func TestAReadOnlyKeyChangesNothing(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	key := h.key("read-only")
	for _, command := range []string{"", "dashboard", "dashboard --theme light"} {
		v := h.attaches(key, command)
		v.out.sees(t, "read-only")
		v.types("1")
		v.out.sees(t, "▸ 1 Ping budget")
		v.types("+")
		v.out.sees(t, "the dashboard is read-only")
		v.types("q")
		if status := v.ends(); status != 0 {
			t.Errorf("it ends with %d", status)
		}
	}
	conn, err := h.dial(key)
	must(t, err)
	v := h.session(conn)
	must(t, v.begin("plain"))
	v.types("budget capacity 9\nmute 2h\nquit\n")
	v.ends()
	// N14: advice about a flag is of no use to a key that is read-only.
	if out := v.out.String(); !strings.Contains(out, "read-only because your key is") || strings.Contains(out, "--read-only") {
		t.Errorf("plain mode says:\n%s", v.out.String())
	}
	if s := h.bot.Snapshot().Budget; s.State.Capacity != 5 || !s.Muted.IsZero() {
		t.Errorf("the budget was changed: %+v", s.State)
	}
}

// T8: these bytes, typed by a viewer that may only read, ended the whole bot.
func TestBytesOfAReadOnlyViewerEndNobody(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	other := h.attaches("", "")
	other.out.sees(t, "Ping budget")
	for _, bytes := range []string{"\x1b[" + strings.Repeat("1;", 33) + "m", "\x9bM\x24\x9c\x9c"} {
		v := h.attaches(h.key("read-only"), "")
		v.out.sees(t, "Ping budget")
		v.types(bytes)
		v.types("1")
		v.out.sees(t, "▸ 1 Ping budget")
		v.types("q")
		if status := v.ends(); status != 0 {
			t.Errorf("after %q the viewer ends with %d", bytes, status)
		}
	}
	other.types("1")
	other.out.sees(t, "▸ 1 Ping budget")
	other.types("+")
	other.out.sees(t, "capacity 5 → 6")
}

func TestThirtyViewersEachHaveTheirOwn(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	first := h.attaches("", "")
	first.out.sees(t, "Ping budget")
	first.types("q")
	first.ends()
	_ = first.conn.Close()
	before := runtime.NumGoroutine()
	var all []*viewer
	for i := range 30 {
		conn, err := h.dial("")
		must(t, err)
		v := h.session(conn)
		must(t, v.Setenv("LANG", "C.UTF-8"))
		v.terminal("xterm-256color", 80+3*i, 20+i)
		must(t, v.begin(""))
		all = append(all, v)
	}
	for _, v := range all {
		v.out.sees(t, "detach")
	}
	if n := len(h.bot.Snapshot().Notices); n > 5 {
		t.Errorf("%d notices", n)
	}
	all[7].types("1")
	all[7].out.sees(t, "▸ 1 ")
	all[7].types("+")
	for i, v := range all {
		v.out.sees(t, "5 / 6")
		if i != 7 && strings.Contains(v.out.shows(), "▸ 1 ") {
			t.Errorf("viewer %d has the focus of another", i)
		}
	}
	var g sync.WaitGroup
	for i, v := range all {
		g.Go(func() {
			if i%2 == 0 {
				v.types("q")
				v.ends()
			}
			_ = v.conn.Close() // some just die
		})
	}
	g.Wait()
	for _, v := range append(all, first) {
		v.leaves()
	}
	settle(t, "goroutines", before+4, runtime.NumGoroutine)
}

// settle waits until a number has come down.
func settle(t *testing.T, what string, most int, number func() int) {
	t.Helper()
	over := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for number() > most {
		select {
		case <-tick.C:
		case <-over:
			buf := make([]byte, 1<<20)
			t.Fatalf("%d %s, want at most %d\n%s", number(), what, most, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestAViewerThatReadsNothingHoldsUpNobody(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	conn, err := h.dial("")
	must(t, err)
	channel, requests, err := conn.OpenChannel("session", nil)
	must(t, err)
	go ssh.DiscardRequests(requests)
	_, err = channel.SendRequest("pty-req", true, ssh.Marshal(struct {
		Term       string
		C, R, W, H uint32
		Modes      string
	}{"xterm", 600, 200, 0, 0, ""}))
	must(t, err)
	_, err = channel.SendRequest("shell", true, nil)
	must(t, err)
	go func() { // more than its window and all buffers hold: nothing of it is read
		for range 400 {
			if _, err := io.WriteString(channel, "\x0c1\x0c2"); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	v := h.attaches("", "")
	v.out.sees(t, "Ping budget")
	for _, key := range "1231" {
		v.types(string(key))
		v.out.sees(t, "▸ "+string(key)+" ")
	}
	h.end()
}

func TestTheEndOfTheBotIsTold(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	v := h.attaches(h.key(""), "")
	v.out.sees(t, "Ping budget")
	h.end()
	if status := v.ends(); status != attach.Ended || !strings.Contains(v.said.String(), "the bot has ended") {
		t.Errorf("status %d, %q", status, v.said.String())
	}
	if !strings.Contains(v.out.String(), "\x1b[?1049l") {
		t.Error("the terminal was not given back")
	}
}

func TestGarbageDoesNoHarm(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	random := make([]byte, 4096)
	_, _ = rand.Read(random)
	dials := map[string]func() (net.Conn, error){
		"socket": func() (net.Conn, error) { return access.Dial(h.dir) },
		"port":   func() (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+h.port) },
	}
	for _, dial := range dials {
		for i := range 60 {
			conn, err := dial()
			must(t, err)
			_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
			for _, piece := range [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n"), random, []byte("SSH-2.0-x\r\n" + string(random)), nil}[i%4 : i%4+1] {
				_, _ = conn.Write(piece) // it may be refused before its end
			}
			if i%4 == 3 {
				_ = conn.Close()
				continue
			}
			_, _ = io.Copy(io.Discard, io.LimitReader(conn, 100))
			_ = conn.Close()
		}
	}
	v := h.attaches("", "")
	v.out.sees(t, "Ping budget")
}

// N11: what one address begins at once is limited, and what is refused gets a reason.
func TestOneAddressHasFewHandshakesAtATime(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	var open []net.Conn
	greeted := func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+h.port)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, err = io.WriteString(conn, "SSH-2.0-x\r\n")
		must(t, err)
		packet := make([]byte, len("SSH-2.0-ollim-bot\r\n")+6)
		_, err = io.ReadFull(conn, packet)
		must(t, err)
		return packet[len(packet)-1] != 1 // SSH_MSG_DISCONNECT
	}
	for i := range 34 {
		if got, want := greeted(), i < 32; got != want {
			t.Errorf("handshake %d is begun: %v", i+1, got)
		}
	}
	if _, err := h.dial(h.key("")); err == nil || !strings.Contains(err.Error(), "too many connections at once") {
		t.Errorf("one too many gets %v", err)
	}
	if n := strings.Count(h.log.String(), "viewers are refused"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	settle(t, "refused handshakes", 0, func() int {
		if greeted() {
			return 0
		}
		return 1
	})
	v := h.attaches("", "") // the socket has room of its own
	v.out.sees(t, "Ping budget")
}

func TestWhatIsNoDashboardIsRefused(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	conn, err := h.dial(h.key(""))
	must(t, err)
	if c, err := conn.Dial("tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "forwards nothing") {
		t.Errorf("a port is forwarded: %v, %v", c, err)
	}
	if _, err := conn.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("a port is forwarded back")
	}
	if _, err := conn.ListenUnix(filepath.Join(t.TempDir(), "s")); err == nil {
		t.Error("a socket is forwarded back")
	}
	s, err := conn.NewSession()
	must(t, err)
	if s.RequestSubsystem("sftp") == nil {
		t.Error("there is sftp")
	}
	for _, name := range []string{"auth-agent-req@openssh.com", "x11-req"} {
		if ok, err := s.SendRequest(name, true, nil); ok || err != nil {
			t.Errorf("%s is granted: %v", name, err)
		}
	}
	for _, name := range []string{"EDITOR", "PATH", "TMUX", "LD_PRELOAD", "SSH_TTY"} {
		if s.Setenv(name, "x") == nil {
			t.Errorf("%s counts", name)
		}
	}
	if s.Setenv("LANG", "$(reboot)") == nil || s.RequestPty("../../x y", 1, 1, nil) == nil {
		t.Error("words that are none count")
	}
	_ = s.Close()
	for command, want := range map[string]string{
		"":                     "needs a terminal",
		"rm -rf /":             "choose dashboard",
		"plain --json":         "choose dashboard",
		"dashboard --theme x":  "--theme takes auto",
		"status ; ls":          "choose dashboard",
		"status --json --json": "",
	} {
		v := h.session(conn)
		must(t, v.begin(command))
		if status := v.ends(); (status == 0) != (want == "") || !strings.Contains(v.said.String(), want) {
			t.Errorf("%q: status %d, %q", command, status, v.said.String())
		}
	}
	v := h.session(conn)
	v.terminal("xterm", 80, 24)
	must(t, v.WindowChange(0, 0)) // there is no terminal yet
	must(t, v.begin(""))
	v.out.sees(t, "detach")
	_ = v.Close()
	v = h.session(conn)
	must(t, v.RequestPty("xterm", 0, 0, nil))
	must(t, v.begin(""))
	v.out.sees(t, "detach")
	_ = v.Close()
	v = h.session(conn)
	must(t, v.RequestPty("dumb", 24, 80, nil))
	must(t, v.begin(""))
	if status := v.ends(); status != 1 || !strings.Contains(v.said.String(), "TERM=dumb") {
		t.Errorf("on a dumb terminal: %d, %q", status, v.said.String())
	}
}

func TestUnknownKeysAreOneLineInTheLog(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	h.key("")
	for range 3 {
		if _, err := h.dial(h.key("unknown")); err == nil {
			t.Fatal("a stranger is let in")
		}
	}
	if _, err := h.dial(h.key(`command="ls"`)); err == nil {
		t.Error("a key with an option that is not understood is let in")
	}
	if n := strings.Count(h.log.String(), "unknown key was refused"); n != 1 {
		t.Errorf("%d lines:\n%s", n, h.log.String())
	}
	if strings.Contains(h.decisions(), "attached") {
		t.Error("a stranger has attached")
	}
}

func TestTheSocketWantsTheTokenAndThePortAKey(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for _, word := range []string{"", "x", token + "x"} {
		conn, err := access.Dial(h.dir)
		must(t, err)
		_, _, _, err = ssh.NewClientConn(conn, "bot", &ssh.ClientConfig{
			HostKeyCallback: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.Password(word)},
		})
		if err == nil {
			t.Errorf("the socket takes %q", word)
		}
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+h.port)
	must(t, err)
	_, _, _, err = ssh.NewClientConn(conn, "bot", &ssh.ClientConfig{
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.Password(token)},
	})
	if err == nil {
		t.Error("the port takes the token")
	}
}

func TestPlainModeAndCommandsNeedNoTerminal(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	conn, err := h.dial(h.key(""))
	must(t, err)
	v := h.session(conn)
	must(t, v.begin("status --json"))
	if status := v.ends(); status != 0 || v.out.String() != `{"said":"status --json"}`+"\n" {
		t.Errorf("status %d: %q", status, v.out.String())
	}
	v = h.session(conn)
	must(t, v.begin("plain"))
	v.out.sees(t, "pings left")
	v.types("budget\n")
	v.out.sees(t, "5 of 5 pings left")
	must(t, v.in.Close()) // as a pipe that ends
	if status := v.ends(); status != 0 || strings.Contains(v.out.String(), "\x1b") {
		t.Errorf("status %d: %q", status, v.out.String())
	}
	v = h.attaches("", "plain") // on a terminal ctrl+c leaves
	v.out.sees(t, "pings left")
	v.types("budget\r")
	v.out.sees(t, "5 of 5 pings left")
	v.types("\x03")
	if status := v.ends(); status != 0 {
		t.Errorf("ctrl+c gives %d", status)
	}
}

func TestAPasteWithoutAnEndIsCutOff(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	v := h.attaches("", "")
	v.out.sees(t, "Ping budget")
	v.types("\x1b[200~")
	for range 5000 {
		if _, err := io.WriteString(v.in, strings.Repeat("x", 1000)); err != nil {
			break
		}
	}
	if status := v.ends(); status != -1 {
		t.Errorf("it ends with %d", status)
	}
	h.log.sees(t, "sent too much that is no key")
	other := h.attaches("", "")
	other.out.sees(t, "Ping budget")
}

func TestTheEditorRunsOnATerminalOfTheBots(t *testing.T) {
	testkit.Alone(t)
	var seen string
	h := open(t, func(h *house) {
		bin := t.TempDir()
		seen = filepath.Join(bin, "seen")
		program := filepath.Join(bin, "editor")
		must(t, os.WriteFile(program, []byte("#!/bin/sh\necho THE-EDITOR on $(tty) size $(stty size) $TERM $EDITOR\nread line\necho \"$line $1\" > "+seen+"\n"), 0o700))
		h.env = []string{"VISUAL=" + program, "EDITOR=theirs-is-not-this"}
		storetest.Put(t, h.dir, "routines/a.md", "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	})
	v := h.attaches(h.key(""), "")
	v.out.sees(t, "Sweep")
	<-v.answered // what its background is, which is not for the editor
	v.types("2o")
	v.out.sees(t, "THE-EDITOR on /dev/pts/")
	v.out.sees(t, "size 40 120 xterm-256color")
	v.types("hello\r")
	v.out.sees(t, "▸ 2 Schedule")
	if got, err := os.ReadFile(seen); err != nil || string(got) != "hello "+h.dir.Path("routines/a.md")+"\n" {
		t.Errorf("the editor was given %q, %v", got, err)
	}
	v.types("1")
	v.out.sees(t, "▸ 1 Ping")
	if got := h.decisions(); !strings.Contains(got, "|file.opened|routines/a.md|") {
		t.Errorf("the audit log:\n%s", got)
	}
}

func TestEachKeyHasChoicesOfItsOwn(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	one, two := h.key(""), h.key("read-only")
	v := h.attaches(one, "")
	v.out.sees(t, "Ping budget")
	v.types("T")
	v.out.sees(t, "theme auto → dark")
	v.types("q")
	v.ends()
	for key, want := range map[string]string{one: "theme dark → light", two: "theme auto → dark"} {
		v := h.attaches(key, "")
		v.out.sees(t, "Ping budget")
		v.types("T")
		v.out.sees(t, want)
		v.types("q")
		v.ends()
	}
}

func TestAViewerLooksThroughTheEyesOfItsTerminal(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for _, c := range []struct {
		term, variable, value string
		has, lacks            string
	}{
		{"xterm-256color", "COLORTERM", "truecolor", "\x1b[38;2;", "nothing"},
		{"xterm-256color", "NO_COLOR", "1", "Ping budget", "38;5;"},
		{"xterm-256color", "LANG", "C", "+-", "╭"},
	} {
		conn, err := h.dial("")
		must(t, err)
		v := h.session(conn)
		must(t, v.Setenv(c.variable, c.value))
		v.terminal(c.term, 120, 40)
		must(t, v.begin(""))
		v.out.sees(t, "detach")
		if got := v.out.String(); !strings.Contains(got, c.has) || strings.Contains(got, c.lacks) {
			t.Errorf("%s=%s: %.300q", c.variable, c.value, got)
		}
		must(t, v.WindowChange(24, 70))
		v.out.sees(t, "2 Schedule  3 Updates") // tabs
	}
}

func TestAProgramThatAnEditorLeavesBehindHoldsNobody(t *testing.T) {
	testkit.Alone(t)
	h := open(t, func(h *house) {
		program := filepath.Join(t.TempDir(), "editor")
		must(t, os.WriteFile(program, []byte("#!/bin/sh\ntrap '' HUP\nsleep 300 & echo $! >\"$0.pid\"; echo THE-EDITOR\n"), 0o700))
		t.Cleanup(func() {
			pid, _ := os.ReadFile(program + ".pid")
			left, err := strconv.Atoi(strings.TrimSpace(string(pid)))
			must(t, err)
			must(t, unix.Kill(left, unix.SIGKILL))
		})
		h.env = []string{"VISUAL=" + program}
		storetest.Put(t, h.dir, "routines/a.md", "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	})
	v := h.attaches("", "")
	v.out.sees(t, "Sweep")
	<-v.answered // what its background is, which is not for the editor
	v.types("2o")
	v.out.sees(t, "▸ 2 Schedule")
	h.log.sees(t, "a viewer has attached")
	settle(t, "editors", 0, func() int { return 1 - strings.Count(v.out.String(), "THE-EDITOR") })
	settle(t, "editors on the screen", 0, func() int { return 1 - strings.Count(v.out.shows(), "detach") })
	v.types("q")
	if status := v.ends(); status != 0 {
		t.Errorf("it ends with %d", status)
	}
	h.end()
}

// L3, L4: what arrives at a viewer's terminal in two reads acts as what it is. The bot's reply to the first half, here a
// change of the size, is waited for before the second half is sent.
func TestAViewersSequencesMayArriveInPieces(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	v := h.attaches("", "")
	v.out.sees(t, "Ping budget")
	<-v.answered // what its background is
	v.types("5i")
	v.out.sees(t, "enter send")
	between := func(size int) {
		v.out.reset()
		must(t, v.WindowChange(40, 120-size%2))
		over := time.After(patience)
		for v.out.String() == "" {
			select {
			case <-v.out.more:
			case <-over:
				t.Fatal("the size has no effect")
			}
		}
	}
	want, n := "", 0
	for _, sequence := range []string{"\x1b[200~ab \x1b[201~", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[<64;10;10M", "\x1b[?2026;2$y", "\x1bP>|x(1)\x1b\\"} {
		for cut := 2; cut < len(sequence); cut++ {
			v.types(sequence[:cut])
			between(n)
			v.types(sequence[cut:])
			if n++; strings.Contains(sequence, "200~") {
				want += "ab "
			}
		}
	}
	v.types("end")
	v.out.sees(t, want+"end")
}
