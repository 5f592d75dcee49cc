package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// terminal is a program in a pseudo terminal of 120 by 40, which is drawn into memory.
type terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	device *os.File
	work   errgroup.Group
	ended  chan struct{} // closed when the program has closed its side, or nothing reads it any more

	patience time.Duration // how long the screen may take to show what is expected

	mu     sync.Mutex   // guards what follows, which is not safe for concurrent use
	raw    bytes.Buffer // all that was written
	screen *vt.Emulator // nil on a terminal that is not drawn, and answers nothing
}

// startCommand starts a program in a terminal that is drawn.
func startCommand(t *testing.T, cmd *exec.Cmd, env []string) *terminal {
	t.Helper()
	term := startRaw(t, cmd, env, vt.NewEmulator(120, 40))
	term.work.Go(func() error { // answers of the terminal, such as its background
		_, err := io.Copy(term.device, term.screen)
		return ignoreEnd(err)
	})
	return term
}

func startRaw(t testing.TB, cmd *exec.Cmd, env []string, screen *vt.Emulator) *terminal {
	t.Helper()
	term := &terminal{t: t, cmd: cmd, patience: patience, screen: screen}
	// The library closes its input while its reader may still look at it, which the race detector reports as the program
	// ends. What is ours is checked with the dashboard in this process.
	cmd.Env = append(env, "TERM=xterm-256color", "GORACE=exitcode=0")
	device, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	testkit.Must(t, err)
	// The same device with reads that a Close or a deadline ends at once. The library's own may be blocking: then Close waits
	// for what the program writes next, and the terminal is not lost until then.
	fd, err := unix.FcntlInt(device.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(unix.SetNonblock(fd, true), device.Close()))
	term.device = os.NewFile(uintptr(fd), device.Name())
	t.Cleanup(func() { _ = term.device.Close() }) // nothing is left to be read
	term.reads()
	return term
}

// reads has the terminal read until the program ends, or until it is held.
func (term *terminal) reads() {
	term.ended = make(chan struct{})
	term.work.Go(func() error {
		defer close(term.ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := term.device.Read(buf)
			term.mu.Lock()
			term.raw.Write(buf[:n])
			if term.screen != nil {
				_, _ = term.screen.Write(buf[:n]) // a screen in memory cannot fail
			}
			term.mu.Unlock()
			if err != nil {
				if w, ok := term.input().(io.Closer); ok { // ends the copy of answers; the emulator's own Close would race with its Read
					_ = w.Close()
				}
				return ignoreEnd(err)
			}
		}
	})
}

func (term *terminal) input() any {
	if term.screen == nil {
		return nil
	}
	return term.screen.InputPipe()
}

// ignoreEnd: reading a terminal whose program has ended is an error on Linux.
func ignoreEnd(err error) error {
	for _, end := range []error{io.EOF, io.ErrClosedPipe, os.ErrClosed, os.ErrDeadlineExceeded, syscall.EIO} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

// text is what the terminal shows, or all that was written to one that is not drawn.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	if term.screen == nil {
		return term.raw.String()
	}
	return term.screen.String()
}

func (term *terminal) typeKeys(keys string) {
	term.t.Helper()
	_, err := io.WriteString(term.device, keys)
	testkit.Must(term.t, err)
}

// seen watches the screen until every pattern was on it, each at any time.
func (term *terminal) seen(wanted map[string]string) {
	term.t.Helper()
	left := map[string]*regexp.Regexp{}
	for what, pattern := range wanted {
		left[what] = regexp.MustCompile(pattern)
	}
	term.watch(left, func(screen string) bool {
		maps.DeleteFunc(left, func(_ string, pattern *regexp.Regexp) bool { return pattern.MatchString(screen) })
		return len(left) == 0
	})
}

// sees watches the screen until a text is on it.
func (term *terminal) sees(text string) {
	term.t.Helper()
	term.watch(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// shows presses keys and watches the screen until a text is on it.
func (term *terminal) shows(text, keys string) {
	term.t.Helper()
	term.typeKeys(keys)
	term.sees(text)
}

// watch watches the screen until it is as wanted, which its last one may be.
func (term *terminal) watch(wanted any, is func(screen string) bool) {
	term.t.Helper()
	met := false
	if eventually(term.patience, func() bool { over := term.over(); met = is(term.text()); return met || over }); !met {
		term.t.Fatalf("%q was never on the screen; the last:\n%s", wanted, term.text())
	}
}

// over reports whether the program has closed its side.
func (term *terminal) over() bool {
	select {
	case <-term.ended:
		return true
	default:
		return false
	}
}

// quits leaves as a user does: q, and y where the program asks because runs are under way.
func (term *terminal) quits() {
	term.t.Helper()
	term.typeKeys("q")
	eventually(patience, func() bool { // a question that has just opened takes no key for a moment
		select {
		case <-term.ended:
			return true
		case <-time.After(500 * time.Millisecond):
		}
		// What yes does is named by the runs of now: the last may end, and the next begin, while the question is open.
		if strings.Contains(term.text(), "y quit") {
			term.typeKeys("y")
		}
		return false
	})
	term.leaves()
}

// leaves waits for the program to end, which it has to do without an error.
func (term *terminal) leaves() {
	term.t.Helper()
	late := time.AfterFunc(patience, func() { _ = term.cmd.Process.Kill() }) // which is an error
	defer late.Stop()
	if err := errors.Join(term.cmd.Wait(), term.work.Wait()); err != nil {
		term.t.Errorf("the program ended with %v; the last screen:\n%s", err, term.text())
	}
}

// demoCommand is README.md's own command in .ci/bare.
var demoCommand = flag.String("demo", "", "a `command` for a shell at the root of the tree that plays the demo, in place of this binary's")

// The demo plays its story; with -demo, at its own speed, what README.md promises for the first ten seconds.
func TestTheDemoTellsItsStory(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	if *demoCommand != "" {
		term := startCommand(t, exec.Command("sh", "-c", "cd ../.. && exec "+*demoCommand), os.Environ())
		term.patience = 3 * time.Minute // it is built first
		term.seen(map[string]string{"a run": `[1-9] running`, "a ping spent": `Medication +(1 |ping)`, "a ping refused": `ping refused`})
		term.quits()
		return
	}
	term := startCommand(t, exec.Command(built(t), "demo", "--speed", "6"), newWorld(t, "OLLIM_TIMEZONE=America/Los_Angeles").env)
	term.patience = time.Minute // the story alone takes 17 s
	term.seen(map[string]string{
		"a run":                      `[1-9] running`,
		"a ping spent":               `Medication +(1 |ping)`,
		"its token missing":          `[34](\.\d)? / 5|[█▇▆▅▄▃▂▁ ] ?[34](\.\d)? ▒`,
		"a report among the updates": `Inbox sweep: 2 of 7`,
		"the chain's next check":     `Take the laundry.* in 1m|in 1m +∞ Take the laundry`,
		"the edited routine, before": `in 5[45]m +Water|Water the plants +in 5[45]m`,
		"the edited routine, moved":  `in 1[0-2]m +Water|Water the plants +in 1[0-2]m`,
		"a good answer":              `two letters: the landlord`,
		"a run that failed":          `Newsletter digest +the mail`,
	})
	term.quits()
}
