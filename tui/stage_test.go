package tui

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"

	"ollimbot/core"
)

// stage is a dashboard on a terminal, both real, in a bubble: the program
// reads bytes as a keyboard sends them, and the test reads the screen.
type stage struct {
	t     *testing.T
	bot   *bot
	glass *glass
	keys  *io.PipeWriter
	ended chan error
	stop  context.CancelFunc
}

// glass is the terminal. The emulator is not safe for concurrent use.
type glass struct {
	mu     sync.Mutex
	vt     *vt.Emulator
	raw    strings.Builder // what was written since the last look
	writes int
}

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes++
	g.raw.Write(p)
	return g.vt.Write(p)
}

// setup is how a story begins.
type setup struct {
	w, h    int
	snap    func(at time.Time) core.Snapshot
	env     []string
	options Options
	paper   color.Color // the terminal's background, when it is not black
}

// play runs a story on a dashboard and ends the dashboard after it.
func play(t *testing.T, s setup, story func(st *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if s.snap == nil {
			s.snap = busyDay
		}
		if s.w == 0 {
			s.w, s.h = 120, 40
		}
		ctx, stop := context.WithCancel(context.Background())
		in, keys := io.Pipe()
		st := &stage{
			t: t, bot: newBot(s.snap(time.Now().UTC())), keys: keys, stop: stop,
			glass: &glass{vt: vt.NewEmulator(s.w, s.h)}, ended: make(chan error, 1),
		}
		if s.paper != nil {
			st.glass.vt.SetDefaultBackgroundColor(s.paper)
		}
		o := s.options
		o.Input, o.Output = in, st.glass
		o.Env = append([]string{
			"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8",
			fmt.Sprintf("COLUMNS=%d", s.w), fmt.Sprintf("LINES=%d", s.h),
		}, s.env...)
		go func() { _, _ = io.Copy(keys, st.glass.vt) }() // what the terminal answers
		go func() { st.ended <- Run(ctx, st.bot, o) }()
		synctest.Wait()
		story(st)
		st.end()
	})
}

func (s *stage) end() {
	s.t.Helper()
	s.stop()
	synctest.Wait()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("the dashboard ended with: %v", err)
		}
	default:
	}
	s.glass.mu.Lock()
	_ = s.glass.vt.Close()
	s.glass.mu.Unlock()
	_ = s.keys.Close()
	synctest.Wait()
}

// quits expects that the dashboard has ended by itself.
func (s *stage) quits() {
	s.t.Helper()
	synctest.Wait()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("the dashboard ended with: %v", err)
		}
	default:
		s.t.Error("the dashboard is still there")
	}
}

// stays expects that it has not.
func (s *stage) stays() {
	s.t.Helper()
	synctest.Wait()
	select {
	case err := <-s.ended:
		s.ended <- err
		s.t.Errorf("the dashboard has ended: %v", err)
	default:
	}
}

// keyBytes is what a keyboard sends for the keys that are no letters.
var keyBytes = map[string]string{
	"enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "esc": "\x1b", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "pgdown": "\x1b[6~", "end": "\x1b[F",
	"ctrl+c": "\x03", "ctrl+l": "\x0c", "ctrl+p": "\x10", "ctrl+u": "\x15",
}

// press sends keys one after the other.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		b, ok := keyBytes[k]
		if !ok {
			b = k
		}
		s.send(b)
		if k == "esc" {
			time.Sleep(150 * time.Millisecond) // a lone escape is known by the pause after it
		}
		synctest.Wait()
	}
}

func (s *stage) send(b string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, b); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// resize changes the terminal; it reports its size in band.
func (s *stage) resize(w, h int) {
	s.glass.mu.Lock()
	s.glass.vt.Resize(w, h)
	s.glass.mu.Unlock()
	s.send(fmt.Sprintf("\x1b[48;%d;%d;0;0t", h, w))
}

// rows are the lines on the screen.
func (s *stage) rows() []string {
	synctest.Wait()
	s.glass.mu.Lock()
	defer s.glass.mu.Unlock()
	out := make([]string, s.glass.vt.Height())
	for y := range out {
		var b strings.Builder
		for x := 0; x < s.glass.vt.Width(); {
			c := s.glass.vt.CellAt(x, y)
			if c == nil || c.Width == 0 {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += c.Width
		}
		out[y] = b.String()
	}
	return out
}

func (s *stage) screen() string { return strings.Join(s.rows(), "\n") }

// sees expects texts on the screen.
func (s *stage) sees(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Errorf("the screen does not show %q:\n%s", text, screen)
		}
	}
}

func (s *stage) misses(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Errorf("the screen shows %q:\n%s", text, screen)
		}
	}
}

// written is what was sent to the terminal since the last call.
func (s *stage) written() string {
	synctest.Wait()
	s.glass.mu.Lock()
	defer s.glass.mu.Unlock()
	out := s.glass.raw.String()
	s.glass.raw.Reset()
	return out
}

func (s *stage) writes() int {
	synctest.Wait()
	s.glass.mu.Lock()
	defer s.glass.mu.Unlock()
	return s.glass.writes
}

var colourSGR = regexp.MustCompile(`\x1b\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;[0-9;]*)?m`)
