package main

import (
	"errors"
	"flag"
	"io"
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

	"ollimbot/core/base/testkit"
)

// terminal is the real binary in a pseudo terminal, drawn into memory.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	device *os.File
	work   errgroup.Group
	ended  chan struct{} // closed when the program has closed its side

	patience time.Duration // how long the screen may take to show what is expected

	mu sync.Mutex
	// screen is not safe for concurrent use; the lock guards it.
	screen *vt.Emulator
}

// startTerminal runs ollim-bot in a terminal of 120 by 40.
func startTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	return startTerminalIn(t, append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "OLLIM_DATA_DIR=",
		"OLLIM_TIMEZONE=America/Los_Angeles", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull), args...)
}

// startTerminalIn is startTerminal with a whole environment.
func startTerminalIn(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	return startCommand(t, exec.Command(built(t), args...), env)
}

// startCommand runs any command in a terminal of 120 by 40.
func startCommand(t *testing.T, cmd *exec.Cmd, env []string) *terminal {
	t.Helper()
	term := &terminal{t: t, cmd: cmd, patience: patience, screen: vt.NewEmulator(120, 40), ended: make(chan struct{})}
	term.cmd.Env = append(env, "TERM=xterm-256color", "GORACE=exitcode=0") // see startOnPty
	var err error
	term.device, err = pty.StartWithSize(term.cmd, &pty.Winsize{Cols: 120, Rows: 40})
	testkit.Must(t, err)
	term.work.Go(term.draw)
	term.work.Go(func() error { // answers of the terminal, such as its background
		_, err := io.Copy(term.device, term.screen)
		return ignoreEnd(err)
	})
	return term
}

// draw feeds the screen until the program ends.
func (term *terminal) draw() error {
	defer close(term.ended)
	// Ends the copy of answers. The emulator's own Close would race with its Read.
	defer func() {
		if w, ok := term.screen.InputPipe().(io.Closer); ok {
			_ = w.Close()
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := term.device.Read(buf)
		term.mu.Lock()
		_, _ = term.screen.Write(buf[:n]) // a screen in memory cannot fail
		term.mu.Unlock()
		if err != nil {
			return ignoreEnd(err)
		}
	}
}

// ignoreEnd: reading a terminal whose program has ended is an error on Linux.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EIO) {
		return nil
	}
	return err
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.screen.String()
}

func (term *terminal) typeKeys(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.device, keys); err != nil {
		term.t.Fatal(err)
	}
}

// seen watches the screen until every pattern was on it, each at any time.
func (term *terminal) seen(wanted map[string]string) {
	term.t.Helper()
	left := map[string]*regexp.Regexp{}
	for what, pattern := range wanted {
		left[what] = regexp.MustCompile(pattern)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(term.patience)
	for len(left) > 0 {
		text := term.text()
		for what, pattern := range left {
			if pattern.MatchString(text) {
				delete(left, what)
			}
		}
		select {
		case <-deadline:
			for what, pattern := range left {
				term.t.Errorf("never on the screen: %s (%s)", what, pattern)
			}
			term.t.Fatalf("the last screen:\n%s", text)
		case <-term.ended:
			term.t.Fatalf("the program ended early; the last screen:\n%s", text)
		case <-tick.C:
		}
	}
}

// sees watches the screen until a text is on it, which may be the last that is shown.
func (term *terminal) sees(text string) {
	term.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(term.patience)
	for over := false; !strings.Contains(term.text(), text); {
		if over {
			term.t.Fatalf("%q was never on the screen:\n%s", text, term.text())
		}
		select {
		case <-deadline:
			over = true
		case <-term.ended:
			over = true
		case <-tick.C:
		}
	}
}

// quit leaves as a user does: q, and y where the program asks because runs are
// under way. It gives the exit status.
func (term *terminal) quit() int {
	term.t.Helper()
	term.typeKeys("q")
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for { // a question that has just opened takes no key for a moment
		select {
		case <-term.ended:
			return term.leave()
		case <-deadline:
			return term.leave()
		case <-tick.C:
			// What yes does is named by the runs of now: the last may end, and the next
			// begin, while the question stands.
			if strings.Contains(term.text(), "y quit") {
				term.typeKeys("y")
			}
		}
	}
}

// leave waits for the program to end and gives its exit status.
func (term *terminal) leave() int {
	term.t.Helper()
	select {
	case <-term.ended:
	case <-time.After(patience):
		_ = term.cmd.Process.Kill() // the test fails below
		term.t.Errorf("the program did not end; the last screen:\n%s", term.text())
	}
	err := term.cmd.Wait()
	if e := term.work.Wait(); e != nil {
		term.t.Error(e)
	}
	_ = term.device.Close() // nothing is left to be read
	if err != nil {
		term.t.Logf("ended with %v", err)
	}
	return term.cmd.ProcessState.ExitCode()
}

// demoCommand is README.md's own command in .ci/bare.
var demoCommand = flag.String("demo", "", "a `command` for a shell at the root of the tree that plays the demo, in place of this binary's")

// startDemo plays the demo of this binary, or with -demo that command in the environment as it is.
func startDemo(t *testing.T) *terminal {
	t.Helper()
	if *demoCommand == "" {
		term := startTerminal(t, "demo", "--speed", "6")
		term.patience = time.Minute // the story alone takes 17 s
		return term
	}
	term := startCommand(t, exec.Command("sh", "-c", "cd ../.. && exec "+*demoCommand), os.Environ())
	term.patience = 3 * time.Minute // it is built first, and plays at its own speed
	return term
}

func TestTheDemoTellsItsStory(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	term := startDemo(t)
	if *demoCommand != "" { // at its own speed: what README.md promises for the first ten seconds
		term.seen(map[string]string{
			"a run":          `[1-9] running`,
			"a ping spent":   `Medication +(1 |ping)`,
			"a ping refused": `ping refused`,
		})
		if status := term.quit(); status != exitDone {
			t.Errorf("status %d, want %d", status, exitDone)
		}
		return
	}
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
	if status := term.quit(); status != exitDone {
		t.Errorf("status %d, want %d", status, exitDone)
	}
}
