package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
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

// firstFrame is at the end of each frame, and the first one has come with it.
const firstFrame = "\x1b[?2026l"

// runOnTerminal starts the program on a terminal that is not drawn. Who is set up gets no welcome, which would take a key.
func runOnTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	return startRaw(t, exec.Command(built(t), args...), newWorld(t, "OLLIM_USER_NAME=Ada").env, nil)
}

// mode is how the terminal takes input.
func (term *terminal) mode() unix.Termios {
	term.t.Helper()
	// Not by File.Fd: it would make reads of the device block, and its Close wait.
	conn, err := term.device.SyscallConn()
	testkit.Must(term.t, err)
	var m *unix.Termios
	var failed error
	testkit.Must(term.t, conn.Control(func(fd uintptr) { m, failed = unix.IoctlGetTermios(int(fd), unix.TCGETS) }))
	testkit.Must(term.t, failed)
	return *m
}

// calm is how a terminal takes input that no program has taken.
func calm(t testing.TB) unix.Termios {
	t.Helper()
	device, tty, err := pty.Open()
	testkit.Must(t, err)
	defer tty.Close()
	defer device.Close()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	testkit.Must(t, err)
	return *m
}

// restored sees to it that the terminal is as it was: how it takes input, and what was switched on by these sequences.
func (term *terminal) restored(sequences ...string) {
	term.t.Helper()
	if before := calm(term.t); term.mode() != before {
		term.t.Errorf("the terminal takes input otherwise than before: %+v, was %+v", term.mode(), before)
	}
	for _, on := range sequences {
		off := on[:len(on)-1] + map[byte]string{'h': "l", 'l': "h"}[on[len(on)-1]]
		if first, last := strings.LastIndex(term.text(), on), strings.LastIndex(term.text(), off); first < 0 || last < first {
			term.t.Errorf("%q is on at %d and off at %d", on, first, last)
		}
	}
}

// What a dashboard switches on.
const (
	otherScreen, hiddenCursor, mouse = "\x1b[?1049h", "\x1b[?25l", "\x1b[?1000h"
	bracketedPaste, focus, noWrap    = "\x1b[?2004h", "\x1b[?1004h", "\x1b[?7l"
)

// runsScript runs a bot without a model in a directory of its own.
func runsScript(t *testing.T) []string {
	return []string{"run", "--engine", "script", "--data-dir", filepath.Join(t.TempDir(), "data")}
}

func TestTheTerminalIsAsItWasAfterEveryEnd(t *testing.T) {
	testkit.Alone(t)
	const closed = "the loss of the terminal"
	for name, end := range map[string]func(p *terminal){
		"quit":    func(p *terminal) { p.typeKeys("q") },
		"SIGTERM": sends(syscall.SIGTERM),
		"SIGHUP":  sends(syscall.SIGHUP),
		closed:    func(p *terminal) { testkit.Must(p.t, p.device.Close()) }, // as when the window is closed: the kernel says SIGHUP
	} {
		t.Run(name, func(t *testing.T) {
			args := runsScript(t)
			p := runOnTerminal(t, args...)
			p.sees(firstFrame)
			if p.mode() == calm(t) {
				t.Error("the dashboard did not take the terminal")
			}
			end(p)
			if name != closed {
				p.leaves()
				p.restored(otherScreen, hiddenCursor, mouse, bracketedPaste, focus, noWrap)
				return
			}
			late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
			defer late.Stop()
			err := p.cmd.Wait()
			if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signaled() {
				t.Errorf("it was ended by a signal: %v", err)
			}
			if exists(filepath.Join(args[len(args)-1], "state", "bot.pid")) {
				t.Error("it left its lock behind")
			}
		})
	}
}

// S28: TERM, HUP and QUIT did nothing for as long as nothing read the terminal. S31: SIGKILL left the other screen, the
// mouse and raw mode behind.
func TestTheTerminalIsAsItWasAlsoWhenItIsFrozenOrTheProgramIsKilled(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "stty")
	bot := serveViewers(t)
	attach := []string{"attach", "--data-dir", bot.data}
	for _, c := range []struct {
		name   string
		args   []string
		frozen bool
		end    func(p *terminal)
		last   string // what its terminal gets at the end
	}{
		{"a frozen bot", nil, true, sends(syscall.SIGTERM), ""},
		{"a frozen bot that loses its terminal", nil, true, sends(syscall.SIGHUP), ""},
		{"a frozen attached dashboard", attach, true, sends(syscall.SIGTERM), ""},
		{"a killed bot", nil, false, func(p *terminal) {
			watched(p.t, strconv.Itoa(p.cmd.Process.Pid))
			sends(syscall.SIGKILL)(p)
		}, "the program was killed"},
		{"a killed attached dashboard", attach, false, sends(syscall.SIGKILL), "\x1b[?1049l"}, // the bot still has the terminal
		{"an attached dashboard whose bot is killed", attach, false, func(p *terminal) {
			bot.kill()
			p.sees("reconnecting in")
			sends(syscall.SIGTERM)(p)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args == nil {
				c.args = runsScript(t)
			}
			p := runOnTerminal(t, c.args...)
			p.sees(firstFrame)
			if c.frozen {
				p.freezes()
				p.typeKeys("2") // one more frame
			}
			c.end(p)
			if c.last == "" {
				late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
				testkit.Must(t, p.cmd.Wait())
				late.Stop()
				p.reads()
				testkit.Must(t, p.work.Wait())
			} else {
				_ = p.cmd.Wait() // killed
				p.sees(c.last)
				eventually(patience, func() bool { return p.mode() == calm(t) }) // another process restores it
			}
			p.restored(otherScreen, mouse)
		})
	}
}

func sends(sig syscall.Signal) func(p *terminal) {
	return func(p *terminal) { testkit.Must(p.t, p.cmd.Process.Signal(sig)) }
}

// freezes writes to the terminal until it takes no more, and stops reading it.
func (term *terminal) freezes() {
	term.t.Helper()
	testkit.Must(term.t, term.device.SetReadDeadline(time.Now()))
	testkit.Must(term.t, term.work.Wait())
	testkit.Must(term.t, term.device.SetReadDeadline(time.Time{}))
	conn, err := term.device.SyscallConn()
	testkit.Must(term.t, err)
	number := 0
	testkit.Must(term.t, conn.Control(func(fd uintptr) { number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN) }))
	testkit.Must(term.t, err)
	// It is opened once more: whether writes wait is a property that the program's own output shares with its file.
	fd, err := unix.Open(fmt.Sprintf("/dev/pts/%d", number), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	testkit.Must(term.t, err)
	for text := bytes.Repeat([]byte("x"), 512); len(text) > 0; {
		if n, err := unix.Write(fd, text); n <= 0 && !errors.Is(err, unix.EINTR) {
			text = text[:len(text)/2]
		}
	}
	testkit.Must(term.t, unix.Close(fd))
}

// watched waits until a program has its watcher: its shell, which has to be reading.
func watched(t testing.TB, pid string) {
	t.Helper()
	if !eventually(patience, func() bool {
		all, err := filepath.Glob("/proc/" + pid + "/task/*/children")
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
		t.Fatal("nothing watches the program")
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
		return strings.Contains(shell(t, built(t), []string{"OLLIM_DATA_DIR=" + root, "HOME=" + root}, "allow").out, rel)
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
		p := runOnTerminal(t, "allow", "w0000001", "--data-dir", root)
		p.typeKeys(c.before)
		p.sees("and enter.")
		shown := p.text()
		if !strings.Contains(shown, "Tidy.") || !strings.Contains(shown, "Bash(") {
			t.Fatalf("%s: it shows\n%s", c.name, shown)
		}
		_, digest, _ := strings.Cut(shown, "digest ")
		if c.meanwhile != "" {
			agents(c.meanwhile)
		}
		p.typeKeys(strings.Replace(c.after, "DIGEST", digest[:shortDigest], 1))
		<-p.ended
		if err := p.cmd.Wait(); (err == nil) != c.allowed || waits() == c.allowed {
			t.Errorf("%s: %v, it waits: %v\n%s", c.name, err, waits(), p.text())
		}
	}
}
