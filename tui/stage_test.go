package tui

import (
	"cmp"
	"context"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	gocmp "github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/settings"
	"ollimbot/tui/tuitest"
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
	at    string // the step of the story
	out   string // what was written during the step

	config string // the directory of its settings
	before string // the screen before a step after which it is unchanged
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
	change  func(s *core.Snapshot) // of snap
	env     []string
	options Options
	paper   color.Color  // the terminal's background, when it is not black
	rings   func(b *bot) // what tails hold already
	happen  happening    // what happens in it
}

// sized is an everyday bot on a terminal of that size.
func sized(w, h int) setup { return setup{w: w, h: h} }

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
			glass: &glass{vt: vt.NewEmulator(s.w, s.h)}, ended: make(chan error, 1), config: s.options.Config,
		}
		if s.change != nil {
			s.change(&st.bot.snap)
		}
		if s.rings != nil {
			s.rings(st.bot)
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

// quits expects that the dashboard has ended by itself, or that it has not.
func (s *stage) quits(want bool) {
	s.t.Helper()
	synctest.Wait()
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil || !want {
			s.t.Errorf("%s: the dashboard has ended: %v", s.at, err)
		}
	default:
		if want {
			s.t.Errorf("%s: the dashboard is still there", s.at)
		}
	}
}

// keyBytes is what a keyboard sends for the keys that are no letters.
var keyBytes = map[string]string{
	"enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "esc": "\x1b", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "shift+up": "\x1b[1;2A", "shift+down": "\x1b[1;2B",
	"pgup": "\x1b[5~", "pgdown": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F", "space": " ", "alt+enter": "\x1b\r",
	"ctrl+b": "\x02", "ctrl+c": "\x03", "ctrl+f": "\x06", "ctrl+l": "\x0c", "ctrl+o": "\x0f", "ctrl+p": "\x10", "ctrl+r": "\x12", "ctrl+u": "\x15", "ctrl+y": "\x19", "ctrl+z": "\x1a",
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
		if k == "esc" || k == "alt+enter" {
			time.Sleep(150 * time.Millisecond) // an escape is known by the pause after it
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

// click presses and releases the left button on a cell, counted from 0.
func (s *stage) click(x, y int) {
	s.t.Helper()
	s.send(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
}

// clickOn clicks on the first letter of a text.
func (s *stage) clickOn(text string) {
	s.t.Helper()
	x, y := s.find(text)
	s.click(x, y)
}

// find is the cell, counted from 0, where a text is on the screen.
func (s *stage) find(text string) (x, y int) {
	s.t.Helper()
	rows := s.rows()
	for i := range rows {
		y := (i + 1) % len(rows) // what the top line names too is meant where it is
		l := rows[y]
		if before, _, found := strings.Cut(l, text); found {
			return ansi.StringWidth(before), y
		}
	}
	s.t.Fatalf("%s: no %q:\n%s", s.at, text, s.screen())
	return 0, 0
}

// wheelDown turns the wheel by n notches in the middle of the screen.
func (s *stage) wheelDown(n int) {
	s.t.Helper()
	s.send(strings.Repeat(fmt.Sprintf("\x1b[<65;%d;%dM", s.glass.vt.Width()/2, s.glass.vt.Height()/2), n))
	time.Sleep(2 * frameGap)
}

// resize changes the terminal; it reports its size in band.
func (s *stage) resize(w, h int) {
	s.glass.mu.Lock()
	s.glass.vt.Resize(w, h)
	s.glass.mu.Unlock()
	s.send(fmt.Sprintf("\x1b[48;%d;%d;0;0t", h, w))
	time.Sleep(frameGap) // more sizes may follow
	synctest.Wait()
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
func (s *stage) sees(texts ...string) { s.t.Helper(); s.looks(true, texts) }

func (s *stage) misses(texts ...string) { s.t.Helper(); s.looks(false, texts) }

func (s *stage) looks(want bool, texts []string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) != want {
			s.t.Errorf("%s: the screen shows %q: %t\n%s", s.at, text, !want, screen)
		}
	}
}

// change lets something happen to the bot, and waits until it is on the screen.
func (s *stage) change(f func(s *core.Snapshot)) {
	s.bot.change(f)
	time.Sleep(100 * time.Millisecond)
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

// A story is a row of a table: where it begins, and its steps, a line each: keys => what is seen then.
//
//	1 e up                keys, one after the other
//	"some words"          letters that are typed, one by one
//	<q quit> <100,36>     a click on that text, or on that cell, counted from 0
//	~2s @80x24            time that passes, another size of the terminal
//	{\x1b[I}              bytes as a terminal sends them
//	(the answer ends)     something that happens, of the row or of happenings
//
// What is seen are texts with " | " between them, in quotes where blanks at their ends count:
//
//	!zoomed               it is not seen
//	top: muted            the first line has it, or begins: with it; last: the last line
//	once: muted           it is seen once; 4×: four times
//	wrote \x1b[?1000h     it was written to the terminal since the last look, of several with … between them one after the other; unwritten: it was not
//	did Say Text=hi; …    all that the bot has done so far, the last of which may continue at …; did nothing
//	quits, stays          whether the dashboard has ended
//	unchanged             at the end of the line: the screen is as before the line, but for clocks
//	remembers theme=dark  the dashboard's own settings have it
//	given back            the terminal has its own screen again
type story struct {
	name  string
	on    setup
	steps string
}

// happening is what a row calls something that is no key.
type happening = map[string]func(s *stage)

// tell plays the stories of a table.
func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, row := range stories {
		t.Run(row.name, func(t *testing.T) {
			play(t, row.on, func(s *stage) { s.plays(row.on.happen, row.steps) })
		})
	}
}

// plays carries out the steps of a story.
func (s *stage) plays(own happening, steps string) {
	s.t.Helper()
	for step := range tuitest.Steps(steps) {
		s.at, s.out = step.Line, ""
		if slices.Contains(step.Texts, "unchanged") {
			s.before = steady(s.screen())
		}
		for _, in := range step.Inputs {
			s.input(own, in)
		}
		for _, text := range step.Texts {
			s.expects(text)
		}
	}
}

func (s *stage) input(own happening, in string) {
	s.t.Helper()
	inner := in[1 : max(len(in), 2)-1]
	var x, y int
	happens := own[inner]
	if happens == nil {
		happens = happenings[inner]
	}
	switch {
	case len(in) == 1, keyBytes[in] != "":
		s.press(in)
	case in[0] == '"':
		s.press(strings.Split(inner, "")...)
	case in[0] == '<':
		if n, _ := fmt.Sscanf(inner+".", "%d,%d.", &x, &y); n == 2 {
			s.click(x, y)
		} else {
			s.clickOn(inner)
		}
	case in[0] == '~':
		d, err := time.ParseDuration(in[1:])
		testkit.Must(s.t, err)
		time.Sleep(d)
	case in[0] == '@':
		_, err := fmt.Sscanf(in, "@%dx%d", &x, &y)
		testkit.Must(s.t, err)
		s.resize(x, y)
	case in[0] == '{':
		s.send(unquoted(s.t, inner))
	case in[0] == '(' && happens != nil:
		happens(s)
	default:
		s.t.Fatalf("%s: no input %q", s.at, in)
	}
}

// unquoted has the bytes for escapes as \x1b.
func unquoted(t *testing.T, text string) string {
	t.Helper()
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	testkit.Must(t, err)
	return out
}

func (s *stage) expects(text string) {
	s.t.Helper()
	kind, rest, _ := strings.Cut(text, " ")
	if text[0] == '!' {
		kind, rest = "!", text[1:]
	}
	if plain, err := strconv.Unquote(rest); err == nil {
		rest = plain
	}
	rows := s.rows()
	switch fails := func(what string) { s.t.Errorf("%s: %s:\n%s", s.at, what, s.screen()) }; kind {
	case "!":
		s.misses(rest)
	case "top:":
		if !strings.Contains(rows[0], rest) {
			fails("the first line lacks " + rest)
		}
	case "begins:":
		if !strings.HasPrefix(rows[0], rest) {
			fails("the first line does not begin with " + rest)
		}
	case "last:":
		if !strings.Contains(rows[len(rows)-1], rest) {
			fails("the last line lacks " + rest)
		}
	case "once:", "4×:":
		if n := strings.Count(s.screen(), rest); n != map[string]int{"once:": 1, "4×:": 4}[kind] {
			fails(fmt.Sprintf("%q is seen %d times", rest, n))
		}
	case "did":
		var did []string
		for _, c := range s.bot.done() {
			did = append(did, tuitest.Words(c))
		}
		got := cmp.Or(strings.Join(did, "; "), "nothing")
		if want, begins := strings.CutSuffix(rest, "…"); got != want && (!begins || !strings.HasPrefix(got, want) || strings.Count(got, "; ") != strings.Count(want, "; ")) {
			s.t.Errorf("%s: did %s", s.at, got)
		}
	case "remembers":
		name, value, _ := strings.Cut(rest, "=")
		if d, problems := settings.Load(s.config); d[name] != value || len(problems) > 0 {
			s.t.Errorf("%s: %v is remembered, of which it cannot read %v", s.at, d, problems)
		}
	case "wrote", "unwritten:":
		s.out += s.written()
		left, found := s.out, true
		for part := range strings.SplitSeq(unquoted(s.t, rest), " … ") {
			_, after, has := strings.Cut(left, part)
			left, found = after, found && has
		}
		if found != (kind == "wrote") {
			s.t.Errorf("%s: written was %q", s.at, s.out)
		}
	default:
		switch text {
		case "quits", "stays":
			s.quits(text == "quits")
		case "unchanged":
			if d := gocmp.Diff(s.before, steady(s.screen())); d != "" {
				s.t.Errorf("%s (-before +after):\n%s", s.at, d)
			}
		case "given back":
			if s.glass.vt.IsAltScreen() {
				fails("the alternate screen is left on")
			}
		default:
			if plain, err := strconv.Unquote(text); err == nil {
				text = plain
			}
			s.sees(text)
		}
	}
}
