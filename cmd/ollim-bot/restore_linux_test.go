package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
)

// onPty runs a command on a terminal device and gives the device and what is written to it.
type onPty struct {
	t      *testing.T
	cmd    *exec.Cmd
	device *os.File
	before unix.Termios
	out    bytes.Buffer
}

// runsScript runs a bot without a model; the data directory follows.
var runsScript = []string{"run", "--engine", "script", "--data-dir"}

// firstFrame is at the end of each frame, and the first one has come with it.
const firstFrame = "\x1b[?2026l"

// commandOnPty starts a command whose terminal nobody reads yet.
func commandOnPty(t *testing.T, args []string, env ...string) (p *onPty, tty *os.File) {
	t.Helper()
	p = &onPty{t: t, cmd: exec.Command(built(t), args...)}
	// The library closes its input while its reader may still look at it, which
	// the race detector reports as the program ends. What is ours is checked with
	// the dashboard in this process.
	p.cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "XDG_CONFIG_HOME=", "TERM=xterm-256color", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GORACE=exitcode=0", "OLLIM_USER_NAME=Ada") // who is set up gets no welcome, which would take the key
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

// restored sees to it that the terminal is as it was: how it takes input, and what was switched on by these sequences.
func (p *onPty) restored(sequences ...string) {
	p.t.Helper()
	if p.mode() != p.before {
		p.t.Errorf("the terminal takes input otherwise than before: %+v, was %+v", p.mode(), p.before)
	}
	for _, on := range sequences {
		off := on[:len(on)-1] + map[byte]string{'h': "l", 'l': "h"}[on[len(on)-1]]
		if first, last := strings.LastIndex(p.out.String(), on), strings.LastIndex(p.out.String(), off); first < 0 || last < first {
			p.t.Errorf("%q is on at %d and off at %d", on, first, last)
		}
	}
}

// What a dashboard switches on.
const (
	otherScreen, hiddenCursor, mouse = "\x1b[?1049h", "\x1b[?25l", "\x1b[?1000h"
	bracketedPaste, focus, noWrap    = "\x1b[?2004h", "\x1b[?1004h", "\x1b[?7l"
)

func TestTheTerminalIsAsItWasAfterEveryEnd(t *testing.T) {
	testkit.Alone(t)
	const lost = "the loss of the terminal"
	for name, end := range map[string]func(p *onPty) error{
		"quit":    func(p *onPty) error { _, err := io.WriteString(p.device, "q"); return err },
		"SIGTERM": func(p *onPty) error { return p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(p *onPty) error { return p.cmd.Process.Signal(syscall.SIGHUP) },
		lost:      func(p *onPty) error { return p.device.Close() }, // as when the window is closed: the kernel says SIGHUP
	} {
		t.Run(name, func(t *testing.T) {
			p, tty := commandOnPty(t, append(slices.Clip(runsScript), filepath.Join(t.TempDir(), "data")))
			testkit.Must(t, tty.Close())
			testkit.Must(t, p.readUntil(firstFrame))
			if p.mode() == p.before {
				t.Error("the dashboard did not take the terminal")
			}
			testkit.Must(t, end(p))
			if name == lost {
				p.endsInOrder()
				return
			}
			testkit.Must(t, ignoreEnd(p.readUntil("")))
			p.ends()
			p.restored(otherScreen, hiddenCursor, mouse, bracketedPaste, focus, noWrap)
			testkit.Must(t, p.device.Close())
		})
	}
}

// endsInOrder waits for the end of the program, of which its data directory shows nothing, and no signal is the reason.
func (p *onPty) endsInOrder() {
	p.t.Helper()
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	err := p.cmd.Wait()
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signaled() {
		p.t.Errorf("it was ended by a signal: %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.cmd.Args[len(p.cmd.Args)-1], "state", "bot.pid")); !os.IsNotExist(err) {
		p.t.Errorf("it left its lock behind: %v", err)
	}
}

// S28: TERM, HUP and QUIT did nothing for as long as nobody read the terminal. S31: SIGKILL left the other screen, the
// mouse and raw mode behind.
func TestTheTerminalIsAsItWasAlsoWhenItIsFrozenOrTheProgramIsKilled(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "stty")
	bot := serveViewers(t, "")
	run, attach := append(slices.Clip(runsScript), filepath.Join(t.TempDir(), "data")), []string{"attach", "--data-dir", bot.root}
	for _, c := range []struct {
		name   string
		args   []string
		frozen bool
		end    func(p *onPty)
		last   string // what its terminal gets at the end
	}{
		{"a frozen bot", run, true, sends(syscall.SIGTERM), ""},
		{"a frozen bot that loses its terminal", run, true, sends(syscall.SIGHUP), ""},
		{"a frozen attached dashboard", attach, true, sends(syscall.SIGTERM), ""},
		{"a killed bot", run, false, func(p *onPty) { watched(p.t, p.cmd.Process.Pid); sends(syscall.SIGKILL)(p) }, "the program was killed"},
		{"a killed attached dashboard", attach, false, sends(syscall.SIGKILL), "\x1b[?1049l"}, // the bot still has the terminal
		{"an attached dashboard whose bot is killed", attach, false, func(p *onPty) {
			bot.kill()
			testkit.Must(p.t, p.readUntil("reconnecting in"))
			sends(syscall.SIGTERM)(p)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, tty := commandOnPty(t, c.args)
			testkit.Must(t, p.readUntil(firstFrame))
			if c.frozen {
				freeze(t, tty)
				_, err := io.WriteString(p.device, "2") // one more frame
				testkit.Must(t, err)
			}
			c.end(p)
			if c.last == "" {
				p.ends()
				testkit.Must(t, tty.Close())
				testkit.Must(t, ignoreEnd(p.readUntil("")))
			} else {
				_ = p.cmd.Wait() // killed
				testkit.Must(t, p.readUntil(c.last))
				eventually(patience, func() bool { return p.mode() == p.before }) // another process restores it
			}
			p.restored(otherScreen, mouse)
			testkit.Must(t, errors.Join(p.device.Close(), ignoreEnd(tty.Close())))
		})
	}
}

func sends(sig syscall.Signal) func(p *onPty) {
	return func(p *onPty) { testkit.Must(p.t, p.cmd.Process.Signal(sig)) }
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

// watched waits until a program has its watcher: its shell, which has to be reading.
func watched(t *testing.T, pid int) {
	t.Helper()
	if !eventually(patience, func() bool {
		all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		testkit.Must(t, err)
		for _, path := range all {
			for child := range strings.FieldsSeq(stored(path)) { // the thread may have ended
				if strings.Contains(stored("/proc", child, "cmdline"), "the program was killed") {
					return true
				}
			}
		}
		return false
	}) {
		t.Fatal("nobody watches the program")
	}
}

func TestTheModeOfATerminalIsWrittenAsSttyDoes(t *testing.T) {
	testkit.Alone(t)
	stty := testkit.Needs(t, "stty")
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

// A3: on a terminal `ollim-bot allow` shows what it would approve and takes only an answer to that.
func TestOnATerminalAllowApprovesOnlyWhatItHasShown(t *testing.T) {
	testkit.Alone(t)
	root := t.TempDir()
	dir, err := store.At(root)
	testkit.Must(t, err)
	guard := policy.New(policy.Options{Dir: dir, Zone: time.UTC, Log: slog.New(slog.DiscardHandler)})
	const rel = "routines/w.md"
	agents := func(rights string) {
		text := []byte("---\nid: w0000001\ncron: 0 9 * * *\nbackground: true\nallowed-tools: [" + rights + "]\n---\nTidy.\n")
		testkit.Must(t, guard.Written(policy.Writer{Kind: "main session"}, rel, text))
		put(t, filepath.Join(root, rel), string(text))
	}
	waits := func() bool {
		status := shell(t, built(t), []string{"OLLIM_DATA_DIR=" + root, "HOME=" + root}, "allow")
		return strings.Contains(status.out, rel)
	}
	agents(`"Bash(rm *)"`)
	for _, c := range []struct {
		name          string
		before, after string // what is typed before the question, and after it; DIGEST is what it asks for
		meanwhile     string // what the agent writes while it is asked
		allowed       bool
	}{
		{name: "no", after: "n\n"},
		{name: "a habit", after: "y\n"},
		{name: "typed ahead", before: "y\nyes\n", after: "\n"},
		{name: "what has changed since", after: "DIGEST\n", meanwhile: `Write, "Bash(python3 *)"`},
		{name: "what is shown", after: "DIGEST\n", allowed: true},
	} {
		p, tty := commandOnPty(t, []string{"allow", "w0000001", "--data-dir", root}, "OLLIM_TIMEZONE=UTC")
		testkit.Must(t, tty.Close())
		_, err := io.WriteString(p.device, c.before)
		testkit.Must(t, err)
		testkit.Must(t, p.readUntil("and enter."))
		shown := p.out.String()
		if !strings.Contains(shown, "Tidy.") || !strings.Contains(shown, "Bash(") {
			t.Fatalf("%s: it shows\n%s", c.name, shown)
		}
		_, digest, _ := strings.Cut(shown, "digest ")
		if c.meanwhile != "" {
			agents(c.meanwhile)
		}
		_, err = io.WriteString(p.device, strings.Replace(c.after, "DIGEST", digest[:shortDigest], 1))
		testkit.Must(t, err)
		_ = p.readUntil("") // an error ends it
		if err := p.cmd.Wait(); (err == nil) != c.allowed || waits() == c.allowed {
			t.Errorf("%s: %v, it waits: %v\n%s", c.name, err, waits(), &p.out)
		}
		testkit.Must(t, p.device.Close())
	}
}
