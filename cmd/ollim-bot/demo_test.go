package main

import (
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

// startCommand runs any command in a terminal of 120 by 40.
func startCommand(t *testing.T, cmd *exec.Cmd, env []string) *terminal {
	t.Helper()
	term := &terminal{t: t, cmd: cmd, patience: patience, screen: vt.NewEmulator(120, 40), ended: make(chan struct{})}
	term.cmd.Env = append(env, "TERM=xterm-256color", "GORACE=exitcode=0") // see commandOnPty
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
		term.t.Fatalf("%v was never on the screen; the last:\n%s", wanted, term.text())
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
		// What yes does is named by the runs of now: the last may end, and the next begin, while the question stands.
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
	if !eventually(patience, term.over) {
		_ = term.cmd.Process.Kill() // the test fails below
	}
	if err := errors.Join(term.cmd.Wait(), term.work.Wait()); err != nil {
		term.t.Errorf("the program ended with %v; the last screen:\n%s", err, term.text())
	}
	_ = term.device.Close() // nothing is left to be read
}

// demoCommand is README.md's own command in .ci/bare.
var demoCommand = flag.String("demo", "", "a `command` for a shell at the root of the tree that plays the demo, in place of this binary's")

// startDemo plays the demo of this binary, or with -demo that command in the environment as it is.
func startDemo(t *testing.T) *terminal {
	t.Helper()
	if *demoCommand == "" {
		term := startCommand(t, exec.Command(built(t), "demo", "--speed", "6"), append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "OLLIM_DATA_DIR=",
			"OLLIM_TIMEZONE=America/Los_Angeles", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull))
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
		term.quits()
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
	term.quits()
}
