// Package plain is the dashboard without a screen: it prints one line for each event,
// with its time and kind, and reads commands from lines of input. It moves no cursor
// and uses no colour, so that screen readers, pipes and simple terminals can use it.
// It must not know how the bot works: it reads snapshots and sends commands.
package plain

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/muesli/cancelreader"
	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui"
	look "ollimbot/tui/settings"
	"ollimbot/tui/toast"
)

// Options are the input, output and settings of plain mode.
type Options struct {
	// Input is where commands are read from; nil reads none. Its end means "quit", after the last message was answered.
	// A reader that is not a file must be an io.Closer whose Close ends a Read.
	Input io.Reader
	// Output receives whole lines, with one Write for simultaneous events.
	Output io.Writer
	// Typed means that a person types the commands: one that is nearly right is shown before its words go to the agent.
	Typed bool
	// ReadOnly refuses every command that changes the bot.
	ReadOnly bool
	// Remains means that the bot runs on when plain mode ends.
	Remains bool
	// Notice is printed once at the start, one line each; it may be empty.
	Notice string
	// Config is the directory of the user's settings (settings.Dir), for the clock;
	// empty uses the defaults.
	Config string
}

const (
	// gap is how long events are collected before they are printed together.
	gap = 100 * time.Millisecond
	// commandTime is how long a command of the user may take.
	commandTime = 10 * time.Second
)

// Run prints events and executes commands until "quit", the end of the input or the end of ctx, which are not errors.
func Run(ctx context.Context, c tui.Core, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(ctx, c, o)
	lines := make(chan string)
	var g errgroup.Group
	g.Go(fault.Guard("the input", func() error { return readLines(ctx, o.Input, lines) }))
	err := fault.Guard("plain mode", func() error { return s.run(lines) })()
	cancel() // ends the reader
	if err = errors.Join(err, g.Wait()); err != nil {
		return fmt.Errorf("run without a screen: %w", err)
	}
	return nil
}

// session is one run of plain mode. The goroutine of Run owns all of it.
type session struct {
	*console
	notice string
	diff   snapshotDiff
	input  input
}

func newSession(ctx context.Context, c tui.Core, o Options) *session {
	shared := newConsole(ctx, c, o.Output, o.whyReadOnly(), o.Config)
	shared.piped, shared.remains = !o.Typed, o.Remains
	s := &session{console: shared, notice: o.Notice, diff: snapshotDiff{numbers: shared.numbers}}
	shared.look = s.look
	return s
}

func (s *session) run(lines <-chan string) error {
	s.start()
	for {
		if lines == nil && len(s.awaited) == 0 {
			s.look()
			s.done = true
		}
		if err := s.flush(); err != nil || s.done {
			return err
		}
		var oldest <-chan error // nil if no answer is awaited
		if len(s.awaited) > 0 {
			oldest = s.awaited[0]
		}
		select {
		case <-s.ctx.Done():
			s.look() // the last events
			return s.flush()
		case <-oldest: //nolint:errcheck // the chat shows why a message was not answered
			s.awaited = s.awaited[1:]
			s.look()
		case <-s.core.Changed():
			s.collect()
			s.look()
		case line, ok := <-lines:
			if !ok {
				lines = nil // pending answers are still printed
				s.end()
				continue
			}
			s.look() // events first, then the answer
			s.take(line)
		}
	}
}

// start prints the state at the start: first the items that need the user, then the rest.
func (s *session) start() {
	s.refresh()
	s.diff.last = *s.snap
	events := s.diff.news(s.snap)
	s.answer(s.snap.Headline().Text() + "\n" + fmt.Sprintf(textReady, s.snap.Dir, engineName(s.snap.Engine)))
	s.answer(strings.Join(waitsText(s.snap), "\n"))
	for _, e := range events {
		if e.kind == kindProblem || e.kind == kindApproval {
			s.say(e.at, e.kind, e.words)
		} else {
			s.keep(e)
		}
	}
	for _, line := range strings.FieldsFunc(s.notice, func(r rune) bool { return r == '\n' }) {
		s.print(event{s.snap.At, kindNotice, line})
	}
}

// collect waits for events that belong together.
func (s *session) collect() {
	select {
	case <-time.After(gap):
	case <-s.ctx.Done():
	}
}

// look prints the events since the last call.
func (s *session) look() {
	s.refresh()
	for _, e := range s.diff.news(s.snap) {
		s.print(e)
	}
	printNewLines(s.console)
}

func (s *session) print(e event) {
	s.say(e.at, e.kind, e.words)
	s.keep(e)
}

// take handles a line of input and executes the command that it completes.
func (s *session) take(line string) {
	if s.input.add(line) {
		s.answer(textContinues)
		return
	}
	s.end()
}

// end executes the lines of input since the last command.
func (s *session) end() {
	text, ok := s.input.end()
	switch {
	case !ok:
		s.fail(textTooLong)
	case text != "":
		obey(s.console, text)
	}
}

// whyReadOnly returns why changes are refused; empty if they are allowed.
func (o Options) whyReadOnly() string {
	if o.ReadOnly {
		return textReadOnly
	}
	return ""
}

// console is the state shared by all commands: the last snapshot, the printer, the numbers of lists, the bot,
// notices, and the followed tail.
type console struct {
	snap *core.Snapshot
	*printer
	*finder
	*executor
	chooser

	past     toast.List  // notices, to read again
	listed   []fork.View // the stored runs of the last list
	followed *following  // nil if nothing is followed
	look     func()      // takes a new snapshot and prints the news
	told     []string    // names that mean something else than before, which has been said
	remains  bool        // the bot runs on when the user quits
	done     bool        // the user has quit
}

// chooser stores the user's display settings, such as the clock.
type chooser struct {
	chosen look.Dashboard
	dir    string // where they are saved
}

// choose changes and saves them.
func (k *chooser) choose(name, value string) error {
	k.chosen = k.chosen.With(map[string]string{name: value})
	return look.Save(k.dir, k.chosen)
}

func newConsole(ctx context.Context, c tui.Core, w io.Writer, readOnly, dir string) *console {
	snap := new(core.Snapshot)
	out := &printer{w: w, snap: snap}
	chosen, _ := look.Load(dir) // the dashboard reports errors in the file
	shared := &console{
		snap: snap, printer: out, finder: &finder{out: out, numbers: numbers{}}, chooser: chooser{chosen, dir},
		executor: &executor{ctx: ctx, core: c, out: out, readOnly: readOnly},
	}
	shared.wear = shared.choose
	return shared
}

// refresh takes a new snapshot.
func (c *console) refresh() {
	*c.snap = c.core.Snapshot()
	c.snap.TwelveHours, c.untimed = c.chosen.Get("clock") == look.Clocks[1], c.chosen.Get(look.Prefix) == "off"
}

// keep stores an event if it is a notice. An event without a time gets the current time.
func (c *console) keep(e event) {
	if e.notice() {
		c.past.Record(cmp.Or(e.at, c.snap.At), notice.Level(e.kind), e.words)
	}
}

// now is the current time in the bot's zone.
func (c *console) now() time.Time { return c.snap.Local(c.snap.At) }

// maxLine is the longest command, in bytes.
const maxLine = 64 << 10

// input joins lines that end in a backslash. Two backslashes at the end stand for one.
type input struct {
	begun string // at most one line more than maxLine
}

// add adds a line and reports whether the command continues in the next one.
func (in *input) add(line string) (continues bool) {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, continues = strings.CutSuffix(line, `\`)
	if len(in.begun) <= maxLine {
		in.begun += strings.TrimRightFunc(line, unicode.IsSpace) + "\n"
	}
	return continues && !strings.HasSuffix(line, `\`)
}

// end returns the whole command. False means that it was too long.
func (in *input) end() (text string, ok bool) {
	text, in.begun = in.begun, ""
	return strings.TrimSpace(text), len(text) <= maxLine // readLine may have cut it
}

// readLines sends the lines of the input until its end or the end of ctx, and closes
// the channel.
func readLines(ctx context.Context, from io.Reader, lines chan<- string) error {
	defer close(lines)
	if from == nil {
		<-ctx.Done()
		return nil
	}
	in, stop := interruptible(ctx, from)
	defer stop()
	r := bufio.NewReaderSize(in, 4096)
	for {
		line, err := readLine(r)
		if line != "" { // an empty line still has its line break
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return nil
		default:
			return fmt.Errorf("read a command: %w", err)
		}
	}
}

// readLine reads a line of any length and keeps its first maxLine bytes.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part[:min(len(part), maxLine-b.Len())])
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), err
		}
	}
}

// interruptible makes a Read of the input end with ctx. Closing a terminal does not wake its reader, so files are
// polled; other inputs are closed.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func()) {
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return in, func() {}
	}
	stop := context.AfterFunc(ctx, func() {
		if c, ok := in.(io.Closer); !r.Cancel() && ok {
			_ = c.Close() // nothing can be done if the input does not close
		}
	})
	return r, func() { stop(); _ = r.Close() }
}

// request is a command of the user and the text after its name.
type request struct {
	command.Command
	rest string
}

// howMany reads a number of lines or days, at least 1; an empty text is the default n.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

// countFirst reads a number of lines, n by default, before a filter.
func countFirst(text string, n int) (most int, filter string) {
	first, rest := command.CutWord(text)
	if most, ok := howMany(first, n); ok && first != "" {
		return most, rest
	}
	return n, text
}

// cutAt cuts a line before and after a word.
func cutAt(line, word string) (before, after string) {
	before, after, _ = strings.Cut(" "+line+" ", " "+word+" ")
	return strings.TrimSpace(before), strings.TrimSpace(after)
}
