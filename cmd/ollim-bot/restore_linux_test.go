package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// onPty runs the dashboard on a terminal device and gives the device and what is
// written to it once that ends.
type onPty struct {
	t      *testing.T
	cmd    *exec.Cmd
	device *os.File
	before unix.Termios
	work   errgroup.Group
	opened chan struct{} // closed at the first frame
	out    bytes.Buffer  // of the goroutine of work, until it has ended
}

// runsScript runs a bot without a model; the data directory follows.
var runsScript = []string{"run", "--engine", "script", "--data-dir"}

func startOnPty(t *testing.T, env ...string) *onPty {
	t.Helper()
	p, tty := commandOnPty(t, append(slices.Clip(runsScript), filepath.Join(t.TempDir(), "data")), env...)
	testkit.Must(t, tty.Close())
	p.work.Go(p.read)
	return p
}

// commandOnPty starts a command whose terminal nobody reads yet.
func commandOnPty(t *testing.T, args []string, env ...string) (p *onPty, tty *os.File) {
	t.Helper()
	p = &onPty{t: t, cmd: exec.Command(built(t), args...), opened: make(chan struct{})}
	home := t.TempDir()
	p.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "TERM=xterm-256color", "GIT_CONFIG_GLOBAL="+os.DevNull)
	// The library closes its input while its reader may still look at it, which
	// the race detector reports as the program ends. What is ours is checked with
	// the dashboard in this process.
	p.cmd.Env = append(p.cmd.Env, "GORACE=exitcode=0")
	p.cmd.Env = append(p.cmd.Env, env...)
	device, tty, err := pty.Open()
	testkit.Must(t, err)
	p.device = polled(t, device)
	testkit.Must(t, pty.Setsize(p.device, &pty.Winsize{Cols: 100, Rows: 30}))
	p.before = p.mode()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testkit.Must(t, p.cmd.Start())
	return p, tty
}

// polled is the same device with reads that a Close ends at once. The library's
// own may be blocking: then Close waits for what the program writes next, and the
// terminal is not lost until then.
func polled(t *testing.T, device *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(device.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(unix.SetNonblock(fd, true), device.Close()))
	return os.NewFile(uintptr(fd), device.Name())
}

func (p *onPty) read() error {
	err := p.readUntil("\x1b[?2026l")
	close(p.opened)
	if err == nil {
		err = p.readUntil("")
	}
	return ignoreEnd(err)
}

// readUntil reads until a text has come, or without one until the end, which is an error. If neither comes, as when
// the program has ended and the test keeps its side of the terminal open, that is an error too.
func (p *onPty) readUntil(text string) error {
	if err := p.device.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := p.device.Read(buf)
		p.out.Write(buf[:n])
		if text != "" && bytes.Contains(p.out.Bytes(), []byte(text)) || err != nil {
			return err
		}
	}
}

// mode is how the terminal takes input.
func (p *onPty) mode() unix.Termios {
	p.t.Helper()
	// Not by File.Fd: it would make reads of the device block, and its Close wait.
	conn, err := p.device.SyscallConn()
	testkit.Must(p.t, err)
	var m *unix.Termios
	var failed error
	if err := conn.Control(func(fd uintptr) { m, failed = unix.IoctlGetTermios(int(fd), unix.TCGETS) }); err != nil || failed != nil {
		p.t.Fatal(err, failed)
	}
	return *m
}

// ends waits for the end of the program.
func (p *onPty) ends() {
	p.t.Helper()
	late := time.AfterFunc(patience, func() {
		p.t.Error("the program does not end")
		_ = p.cmd.Process.Kill()
	})
	defer late.Stop()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("it ended with %v", err)
	}
}

func TestTheTerminalIsAsItWasAfterEveryEnd(t *testing.T) {
	testkit.Alone(t)
	if testing.Short() {
		t.Skip("starts the program four times")
	}
	for name, end := range map[string]func(p *onPty) error{
		"quit":    func(p *onPty) error { _, err := io.WriteString(p.device, "q"); return err },
		"SIGTERM": func(p *onPty) error { return p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(p *onPty) error { return p.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			p := startOnPty(t, "OLLIM_USER_NAME=Ada") // who is set up gets no welcome, which would take the key
			<-p.opened
			if p.mode() == p.before {
				t.Error("the dashboard did not take the terminal")
			}
			testkit.Must(t, end(p))
			p.ends()
			if after := p.mode(); after != p.before {
				t.Errorf("the terminal takes input otherwise than before: %+v, was %+v", after, p.before)
			}
			if err := p.work.Wait(); err != nil {
				t.Error(err)
			}
			_ = p.device.Close() // nothing is left to be read
			out := p.out.String()
			for _, sequence := range []struct{ name, on, off string }{
				{"the other screen", "\x1b[?1049h", "\x1b[?1049l"},
				{"the hidden cursor", "\x1b[?25l", "\x1b[?25h"},
				{"the mouse", "\x1b[?1000h", "\x1b[?1000l"},
				{"bracketed paste", "\x1b[?2004h", "\x1b[?2004l"},
				{"reports of the focus", "\x1b[?1004h", "\x1b[?1004l"},
				{"lines without wrapping", "\x1b[?7l", "\x1b[?7h"},
			} {
				if on, off := strings.LastIndex(out, sequence.on), strings.LastIndex(out, sequence.off); on < 0 || off < on {
					t.Errorf("%s is on at %d and off at %d", sequence.name, on, off)
				}
			}
		})
	}
}

func TestALostTerminalEndsTheProgramInOrder(t *testing.T) {
	testkit.Alone(t)
	if testing.Short() {
		t.Skip("starts the program")
	}
	p := startOnPty(t)
	<-p.opened
	_ = p.device.Close() // as when the window is closed: the kernel says SIGHUP
	late := time.AfterFunc(patience, func() {
		t.Error("the program does not end")
		_ = p.cmd.Process.Kill()
	})
	defer late.Stop()
	err := p.cmd.Wait()
	if e := p.work.Wait(); e != nil {
		t.Error(e)
	}
	// It can tell nobody any more; what counts is that it went in order.
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signaled() {
		t.Errorf("it was ended by a signal: %v", err)
	}
	data := p.cmd.Args[len(p.cmd.Args)-1]
	if _, err := os.Stat(filepath.Join(data, "state", "bot.pid")); !os.IsNotExist(err) {
		t.Errorf("it left its lock behind: %v", err)
	}
}

// S28: TERM, HUP and QUIT did nothing for as long as nobody read the terminal.
func TestAFrozenTerminalDoesNotKeepTheProgram(t *testing.T) {
	testkit.Alone(t)
	if testing.Short() {
		t.Skip("starts the program three times")
	}
	bot := serveViewers(t)
	run := append(slices.Clip(runsScript), filepath.Join(t.TempDir(), "data"))
	for _, c := range []struct {
		name string
		args []string
		sig  syscall.Signal
	}{
		{"a bot", run, syscall.SIGTERM},
		{"a bot that loses its terminal", run, syscall.SIGHUP},
		{"an attached dashboard", []string{"attach", "--data-dir", bot.root}, syscall.SIGTERM},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, tty := commandOnPty(t, c.args, "OLLIM_USER_NAME=Ada", "TMPDIR="+t.TempDir())
			testkit.Must(t, p.readUntil("\x1b[?2026l"))
			freeze(t, tty)
			_, err := io.WriteString(p.device, "2") // one more frame
			testkit.Must(t, err)
			testkit.Must(t, p.cmd.Process.Signal(c.sig))
			p.ends()
			if after := p.mode(); after != p.before {
				t.Errorf("the terminal takes input otherwise than before: %+v, was %+v", after, p.before)
			}
			testkit.Must(t, tty.Close())
			testkit.Must(t, ignoreEnd(p.readUntil("")))
			if out := p.out.String(); strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
				t.Error("the terminal was not given back")
			}
			testkit.Must(t, p.device.Close())
		})
	}
}

// freeze writes to a terminal until it takes no more. It opens the terminal again: whether writes wait is a property that
// the program's own output shares with tty.
func freeze(t *testing.T, tty *os.File) {
	t.Helper()
	fd, err := unix.Open(tty.Name(), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	testkit.Must(t, err)
	for text := bytes.Repeat([]byte("x"), 512); len(text) > 0; {
		if n, err := unix.Write(fd, text); n <= 0 && !errors.Is(err, unix.EINTR) {
			text = text[:len(text)/2]
		}
	}
	testkit.Must(t, unix.Close(fd))
}

// S31: SIGKILL left the other screen, the mouse and raw mode behind.
func TestAKilledProgramLeavesTheTerminalAsItWas(t *testing.T) {
	testkit.Alone(t)
	if testing.Short() {
		t.Skip("starts the program several times")
	}
	if _, err := exec.LookPath("stty"); err != nil {
		t.Skip("needs stty")
	}
	bot := serveViewers(t)
	for name, c := range map[string]struct {
		args []string
		last string // what its terminal gets at the end
	}{
		"a bot":                 {append(slices.Clip(runsScript), filepath.Join(t.TempDir(), "data")), "the program was killed"},
		"an attached dashboard": {[]string{"attach", "--data-dir", bot.root}, "\x1b[?1049l"}, // the bot still has the terminal
	} {
		t.Run(name, func(t *testing.T) {
			p, tty := commandOnPty(t, c.args, "OLLIM_USER_NAME=Ada", "TMPDIR="+t.TempDir()) // where it leaves its folders
			testkit.Must(t, p.readUntil("\x1b[?2026l"))
			if c.args[0] == "run" {
				watched(t, p.cmd.Process.Pid)
			}
			testkit.Must(t, p.cmd.Process.Kill())
			_ = p.cmd.Wait() // killed
			testkit.Must(t, p.readUntil(c.last))
			p.modeAsBefore()
			if out := p.out.String(); !strings.Contains(out, "\x1b[?1000l") || strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
				t.Error("the terminal was not given back")
			}
			testkit.Must(t, errors.Join(tty.Close(), p.device.Close()))
		})
	}
	t.Run("the bot of an attached dashboard", func(t *testing.T) {
		p, tty := commandOnPty(t, []string{"attach", "--data-dir", bot.root})
		testkit.Must(t, p.readUntil("\x1b[?2026l"))
		bot.kill()
		testkit.Must(t, p.readUntil("reconnecting in"))
		testkit.Must(t, p.cmd.Process.Signal(syscall.SIGTERM))
		p.ends()
		p.modeAsBefore()
		if out := p.out.String(); !strings.Contains(out, "\x1b[?1000l") || strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
			t.Error("the terminal was not given back")
		}
		testkit.Must(t, errors.Join(tty.Close(), p.device.Close()))
	})
}

// modeAsBefore waits until the terminal takes input as before: another process may restore it.
func (p *onPty) modeAsBefore() {
	p.t.Helper()
	for over := time.Now().Add(patience); p.mode() != p.before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(over) {
			p.t.Fatalf("the terminal takes input otherwise than before: %+v, was %+v", p.mode(), p.before)
		}
	}
}

// watched waits until a program has its watcher: its shell, which has to be reading.
func watched(t *testing.T, pid int) {
	t.Helper()
	lists := fmt.Sprintf("/proc/%d/task/*/children", pid)
	for over := time.Now().Add(patience); time.Now().Before(over); time.Sleep(5 * time.Millisecond) {
		all, err := filepath.Glob(lists)
		testkit.Must(t, err)
		for _, path := range all {
			children, _ := os.ReadFile(path) // the thread may have ended
			for _, child := range strings.Fields(string(children)) {
				if line, err := os.ReadFile("/proc/" + child + "/cmdline"); err == nil && bytes.Contains(line, []byte("the program was killed")) {
					return
				}
			}
		}
	}
	t.Fatal("nobody watches the program")
}

func TestTheModeOfATerminalIsWrittenAsSttyDoes(t *testing.T) {
	testkit.Alone(t)
	stty, err := exec.LookPath("stty")
	if err != nil {
		t.Skip("needs stty")
	}
	device, tty, err := pty.Open()
	testkit.Must(t, err)
	defer device.Close()
	defer tty.Close()
	for _, change := range []string{"sane", "raw", "-echo erase ^H"} {
		c := exec.CommandContext(t.Context(), stty, strings.Fields(change)...)
		c.Stdin = tty
		testkit.Must(t, c.Run())
		c = exec.CommandContext(t.Context(), stty, "-g")
		c.Stdin = tty
		want, err := c.Output()
		testkit.Must(t, err)
		got, err := sttyMode(tty)
		testkit.Must(t, err)
		if got != strings.TrimSpace(string(want)) {
			t.Errorf("after %s: %s, stty prints %s", change, got, want)
		}
	}
}
