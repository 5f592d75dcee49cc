package attach

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/tui/screen"
)

// decisions are the lines of the audit log.
func (h *house) decisions() string {
	h.t.Helper()
	list, _, err := audit.New(audit.Options{Dir: h.dir}).Read(1000)
	testkit.Must(h.t, err)
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", e.From, e.Action, e.Subject, e.Detail)
	}
	return b.String()
}

func TestAViewerDetachesAndTheBotRunsOn(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for i, from := range []string{"", "SSH_CONNECTION=203.0.113.5 50000 10.0.0.1 22"} {
		o := h.client()
		o.Env = append(o.Env, from)
		d := sits(t, o)
		d.out.sees(t, "Ping budget")
		d.blocks()
		if d.modes() == d.before {
			t.Error("the terminal is not raw")
		}
		if far, named := from != "", strings.Contains(d.out.shows(), "@attic"); far != named {
			t.Errorf("from elsewhere: %v, the host is named: %v", far, named)
		}
		d.shows("1", "▸ 1 Ping budget")
		d.shows("+", fmt.Sprintf("capacity %d → %d", 5+i, 6+i))
		d.quits("q")
	}
	if n := h.bot.Snapshot().Budget.State.Capacity; n != 7 {
		t.Errorf("the capacity is %d after two steps", n)
	}
	got := h.decisions()
	for _, want := range []string{
		"viewer 1: this machine|viewer.attached|dashboard|full\n", "viewer 1: this machine|budget.changed|",
		"viewer 2: 203.0.113.5|viewer.attached|dashboard|full\n", "viewer 2: 203.0.113.5|budget.changed|",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the audit log lacks %q:\n%s", want, got)
		}
	}
}

// The bot refuses: it does not rely on the client.
func TestAReadOnlyViewerChangesNothing(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	o := h.client()
	o.ReadOnly = true
	for _, theme := range []string{"", "light"} {
		o.Theme = theme
		d := sits(t, o)
		d.out.sees(t, "read-only")
		d.shows("1", "▸ 1 Ping budget")
		d.shows("+", "the dashboard is read-only")
		d.shows("T", "theme ")
		d.quits("q")
	}
	in, out, ended := lines(t, o)
	_, err := io.WriteString(in, "capacity 9\nmute 2h\nquit\n")
	testkit.Must(t, err)
	if err := <-ended; err != nil || strings.Count(out.String(), "this is read-only") != 2 {
		t.Errorf("plain mode ends with %v and says:\n%s", err, out.String())
	}
	if s := h.bot.Snapshot().Budget; s.State.Capacity != 5 || !s.Muted.IsZero() {
		t.Errorf("the budget was changed: %+v", s.State)
	}
	if _, err := os.Stat(h.dir.Path("settings")); err == nil {
		t.Error("it has saved its choices")
	}
}

// lines runs a client in plain mode, without a terminal.
func lines(t testing.TB, o ClientOptions) (in *os.File, out *text, ended chan error) {
	t.Helper()
	r, in, err := os.Pipe()
	testkit.Must(t, err)
	printed, w, err := os.Pipe()
	testkit.Must(t, err)
	out, ended = newText(), make(chan error, 1)
	o.In, o.Out, o.Err, o.Plain = r, w, out, true
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(out, printed) })
	go func() {
		err := Run(t.Context(), o)
		_ = w.Close()
		copying.Wait()
		ended <- err
	}()
	t.Cleanup(func() { closeAll([]*os.File{r, in, printed, w}) })
	return in, out, ended
}

func TestPlainModeNeedsNoTerminal(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	in, out, ended := lines(t, h.client())
	out.sees(t, "pings left")
	_, err := io.WriteString(in, "list\n")
	testkit.Must(t, err)
	out.sees(t, "no routines or reminders yet")
	testkit.Must(t, in.Close())
	if err := <-ended; err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("it ends with %v:\n%q", err, out.String())
	}
	in, out, ended = lines(t, h.client())
	out.sees(t, "pings left")
	h.end()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), textEnded) {
		t.Errorf("at the end of the bot it ends with %v", err)
	}
	_ = in.Close()
}

// On a terminal, the kernel has the lines, and ctrl+c is a signal.
func TestPlainModeLeavesTheTerminalInItsMode(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	o := h.client()
	o.Plain = true
	d := sits(t, o)
	d.out.sees(t, "pings left")
	d.shows("lixx\x7f\x7fst\r", "no routines or reminders yet")
	d.asBefore()
	d.stop() // as SIGINT does
	d.quits("")
}

// T8: these bytes, typed by a viewer that may only read, ended the whole bot.
func TestBytesOfAReadOnlyViewerEndOnlyItself(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	other := h.attaches()
	o := h.client()
	o.ReadOnly = true
	for _, bytes := range []string{"\x1b[" + strings.Repeat("1;", 33) + "m", "\x9bM\x24\x9c\x9c"} {
		d := sits(t, o)
		d.out.sees(t, "Ping budget")
		d.types(bytes)
		d.shows("1", "▸ 1 Ping budget")
		d.quits("q")
	}
	other.shows("1", "▸ 1 Ping budget")
	other.shows("+", "capacity 5 → 6")
}

func TestViewersHaveTheirOwnSizeAndFocus(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	var all []*desk
	for i := range 8 {
		d := newDesk(t, 80+10*i, 24+3*i)
		d.runs(h.client())
		all = append(all, d)
	}
	for _, d := range all {
		d.out.sees(t, "detach")
	}
	all[5].shows("1", "▸ 1 ")
	all[5].types("+")
	for i, d := range all {
		d.out.sees(t, "\n    6 ") // the scale of the budget
		if i != 5 && strings.Contains(d.out.shows(), "▸ 1 ") {
			t.Errorf("viewer %d has the focus of another", i)
		}
	}
	for range 300 { // as somebody drags a window
		all[5].resize(70, 24)
		all[5].resize(120, 40)
	}
	all[5].out.mu.Lock()
	all[5].out.vt.Resize(70, 24)
	all[5].out.mu.Unlock()
	all[5].resize(70, 24)
	all[5].out.sees(t, "2 Schedule  3 Updates") // tabs
	for i, d := range all {
		if i%2 == 0 {
			d.types("q")
		} else {
			d.stop() // as SIGTERM does
		}
		if err := d.ends(); err != nil {
			t.Errorf("viewer %d ends with %v", i, err)
		}
		d.gone()
		d.asBefore()
	}
}

func TestTheTerminalsVariablesCount(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for _, c := range []struct{ variable, has, lacks string }{
		{"COLORTERM=truecolor", "\x1b[38;2;", "nothing"},
		{"NO_COLOR=1", "Ping budget", "38;5;"},
		{"LC_ALL=C", "+-", "╭"},
		{"LC_ALL=$(reboot)", "╭", "nothing"}, // no plain word
	} {
		o := h.client()
		o.Env = append(o.Env, c.variable)
		d := sits(t, o)
		d.out.sees(t, "detach")
		if got := d.out.String(); !strings.Contains(got, c.has) || strings.Contains(got, c.lacks) {
			t.Errorf("%s: %.300q", c.variable, got)
		}
		d.stop()
		_ = d.ends()
	}
}

// The one who reads nothing is a terminal that is full.
func TestAViewerThatReadsNothingHoldsUpNothing(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	frozen := newDesk(t, 600, 190)
	frozen.out.mu.Lock() // nothing is read any more
	frozen.runs(h.client())
	h.log.sees(t, "a viewer has attached")
	go func() {
		for range 200 {
			if _, err := frozen.keys.WriteString("\x0c1\x0c2"); err != nil {
				return
			}
		}
	}()
	d := h.attaches()
	for _, key := range "1231" {
		d.shows(string(key), "▸ "+string(key)+" ")
	}
	h.end() // does not wait for it either
	frozen.out.mu.Unlock()
	_ = frozen.ends()
	if frozen.modes() != frozen.before {
		t.Error("the terminal was not given back")
	}
}

func TestTheClientFindsABotThatHasRestarted(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	o := h.client()
	o.Stays = true
	d := sits(t, o)
	d.out.sees(t, "Ping budget")
	for range 2 {
		h.end()
		d.said.sees(t, "the connection to the bot is lost; ctrl+c stops reconnecting")
		d.said.sees(t, "reconnecting in")
		d.gone()
		if d.modes().Lflag&unix.ISIG == 0 {
			t.Error("ctrl+c does not end the wait")
		}
		d.said.reset()
		d.out.reset()
		h.start()
		d.out.sees(t, "Ping budget")
		if said := d.said.String(); strings.Contains(said, "attached") {
			t.Errorf("it prints in the terminal that the bot draws in: %q", said)
		}
	}
	d.shows("1", "▸ 1 Ping budget")
	d.quits("q")
	d = sits(t, o)
	d.out.sees(t, "Ping budget")
	h.end()
	d.said.sees(t, "reconnecting in")
	d.stop() // as SIGINT does
	d.quits("")
	if err := sits(t, o).ends(); err == nil {
		t.Error("the client waits for a bot that never was there")
	}
}

// A bot that is killed restores nothing: the client does.
func TestAKilledBotLeavesTheTerminalAsItWas(t *testing.T) {
	testkit.Alone(t)
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := unixsocket.Listen(path)
	testkit.Must(t, err)
	defer l.Close()
	d := sits(t, ClientOptions{
		Name: "the bot", Dial: func() (*net.UnixConn, error) { return unixsocket.Dial(path) }, Token: func() string { return token },
	})
	conn, err := l.Accept()
	testkit.Must(t, err)
	w, got, files, err := greet(conn.(*net.UnixConn))
	testkit.Must(t, err)
	if got.Token != token || len(files) != 2 {
		t.Errorf("it says %+v, with %d files", got, len(files))
	}
	testkit.Must(t, w.send(message{Do: doAttached}))
	s := screen.New(t.Context(), files[1], files[0])
	testkit.Must(t, s.Open())
	testkit.Must(t, s.SetMouse(true))
	testkit.Must(t, s.Paint([]string{"Ping budget"}))
	d.out.sees(t, "Ping budget")
	testkit.Must(t, conn.Close())
	d.fails("the connection is lost")
	closeAll(files)
}

// A client that is killed restores nothing: the bot does.
func TestAKilledClientLeavesTheTerminalAsItWas(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	d := newDesk(t, 120, 40)
	conn := h.dial()
	testkit.Must(t, newWire(conn, nil).send(h.hello(), d.screen, d.screen))
	d.out.sees(t, "Ping budget")
	testkit.Must(t, conn.Close())
	d.gone()
	h.log.sees(t, "a viewer has left")
	d.asBefore()
}

func TestAClosedTerminalEndsItsViewer(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	d := h.attaches()
	d.hangUp()
	h.log.sees(t, "a viewer has attached")
	d.stop() // SIGHUP
	_ = d.ends()
	h.log.sees(t, "a viewer has left")
	if strings.Contains(h.log.String(), "broke") {
		t.Errorf("the log has:\n%s", h.log.String())
	}
}

// The client has the controlling terminal, so it runs the editor.
func TestTheEditorRunsInTheClient(t *testing.T) {
	testkit.Alone(t)
	h := &house{t: t, dir: storetest.Prepared(t)}
	bin := t.TempDir()
	seen, program := filepath.Join(bin, "seen"), filepath.Join(bin, "editor")
	testkit.Program(t, program, "#!/bin/sh\necho x >> "+seen+".times\n"+
		"echo THE-EDITOR number $(wc -l < "+seen+".times) size $(stty size) $THEIRS\nread line\necho \"$line $1\" > "+seen+"\nexit $line\n")
	storetest.Put(t, h.dir, "routines/a.md", "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	h.start()
	o := h.client()
	o.Editor, o.Env = program, append(o.Env, "THEIRS=of-the-client", "PATH="+os.Getenv("PATH"))
	d := sits(t, o)
	d.out.sees(t, "Sweep")
	<-d.answered                                // what its background is, which is not for the editor
	for i, status := range []string{"0", "3"} { // what the first one has printed is still on the screen when the second starts
		d.shows("2o", fmt.Sprintf("THE-EDITOR number %d size 40 120 of-the-client", i+1))
		if d.modes() != d.before {
			t.Error("the editor has the terminal in other modes")
		}
		d.shows(status+"\r", "▸ 2 Schedule")
		if got, err := os.ReadFile(seen); err != nil || string(got) != status+" "+h.dir.Path("routines/a.md")+"\n" {
			t.Errorf("the editor was given %q, %v", got, err)
		}
	}
	d.out.sees(t, "editor ended with exit status 3: check the file")
	d.shows("1", "▸ 1 Ping")
	if got := h.decisions(); !strings.Contains(got, "|file.opened|routines/a.md|") {
		t.Errorf("the audit log:\n%s", got)
	}
	d.shows("2o", "THE-EDITOR number 3")
	h.end() // the user keeps writing
	d.types("0\r")
	d.fails(textEnded)
}

// L3, L4: what arrives at a viewer's terminal in two reads acts as what it is. The bot's reply to the first half, here a
// change of the size, is waited for before the second half is sent.
func TestAViewersSequencesMayArriveInPieces(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	d := h.attaches()
	<-d.answered // what its background is
	d.shows("5i", "enter send")
	between := func(size int) {
		d.out.reset()
		d.resize(120-size%2, 40)
		over := time.After(waiting)
		for d.out.String() == "" {
			select {
			case <-d.out.more:
			case <-over:
				t.Fatal("the size has no effect")
			}
		}
	}
	want, n := "", 0
	for _, sequence := range []string{"\x1b[200~ab \x1b[201~", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[<64;10;10M", "\x1b[?2026;2$y", "\x1bP>|x(1)\x1b\\"} {
		for cut := 2; cut < len(sequence); cut++ {
			d.types(sequence[:cut])
			between(n)
			d.types(sequence[cut:])
			if n++; strings.Contains(sequence, "200~") {
				want += "ab "
			}
		}
	}
	d.shows("end", want+"end")
}

// N12: a client that waits says for how long, tries again at once after r, and never waits
// more than five seconds.
func TestAWaitEndsWithOneKey(t *testing.T) {
	testkit.Alone(t)
	d := newDesk(t, 120, 40)
	said := newText()
	c := &client{ClientOptions{In: d.screen, Out: d.screen, Err: said}}
	d.types("xr") // typed ahead, without Enter
	if !c.wait(t.Context(), time.Hour) {
		t.Error("r does not end the wait")
	}
	if want := "reconnecting in 3600 s, r to retry now"; !strings.Contains(said.String(), want) {
		t.Errorf("says %q, want %q", said.String(), want)
	}
	d.asBefore()
	if longestPause > 5*time.Second {
		t.Errorf("it waits up to %s", longestPause)
	}
}
