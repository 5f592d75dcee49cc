// Package plain is the dashboard without a screen: one line for each thing that
// happens, with its time, its kind and its words, and commands as lines of input.
// It draws nothing, moves no cursor and uses no colour, so that a screen reader,
// a pipe and a terminal that can do nothing more all serve. It must not know how
// the bot works: it reads snapshots and sends commands, as the dashboard does.
package plain

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/muesli/cancelreader"
	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/tui"
	look "ollimbot/tui/settings"
)

// Options say where plain mode reads and writes.
type Options struct {
	// Input is where commands come from; nil reads none. Its end is "quit", after
	// the answer to what was said last. A reader that is no file must be an
	// io.Closer whose Close ends a Read.
	Input io.Reader
	// Output takes whole lines, one Write for all that happened at once.
	Output io.Writer
	// ReadOnly refuses every command that changes the bot.
	ReadOnly bool
	// ByKey says that the user's key is read-only, which only the owner of the bot changes.
	ByKey bool
	// Notice is said once at the start, a line each; it may be empty.
	Notice string
	// Config is the directory of the user's settings (settings.Dir), for the clock;
	// empty reads none.
	Config string
}

const (
	// gap is how long what happens together is collected.
	gap = 100 * time.Millisecond
	// commandTime is how long a command of the user may take.
	commandTime = 10 * time.Second
	// maxLine is the longest line of input, in bytes.
	maxLine = 64 << 10
	// maxWords is the longest line of output, in characters: it is heard, or read
	// in one go. "read" gives the whole.
	maxWords = 2000
	// undoDepth is how many changes can be undone, newest first.
	undoDepth = 50
	// maxTold is how many notices can be read again.
	maxTold = 100
)

// Run says what happens and does what it is told until "quit", the end of the
// input or the end of ctx, all without an error.
func Run(ctx context.Context, c tui.Core, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chosen, _ := look.Load(o.Config) // what is wrong in it is the dashboard's to say
	m := &session{ctx: ctx, core: c, o: o, lines: make(chan string), numbers: numbers{}, twelve: chosen.Get("clock") == look.Clocks[1]}
	m.diff.numbers = m.numbers
	var g errgroup.Group
	g.Go(fault.Guard("the input", func() error { return m.listen(ctx) }))
	err := fault.Guard("plain mode", m.run)()
	cancel() // ends the reader
	if err = errors.Join(err, g.Wait()); err != nil {
		return fmt.Errorf("run without a screen: %w", err)
	}
	return nil
}

// session is a run of plain mode. Run's goroutine owns all of it but lines.
type session struct {
	ctx   context.Context
	core  tui.Core
	o     Options
	lines chan string // of input; closed at its end
	// twelve is that times of day are told as 2:02pm.
	twelve bool

	s     core.Snapshot // of the last look
	diff  snapshotDiff
	out   bytes.Buffer // lines that are not written yet
	told  []event      // the words of the program that were heard
	undo  []command.Value
	named command.Command // that is being obeyed
	asked *question       // that waits for yes
	begun string          // that goes on in the next line; what is beyond maxLine is not kept
	done  bool
	// numbers are what the numbers of the lists that were read last mean.
	numbers  numbers
	followed *following // a tail whose lines are said as they come; nil for none
	// answers are closed when words that were said have been answered.
	answers []<-chan struct{}
}

func (m *session) run() error {
	m.s = m.snapshot()
	m.diff.last = m.s
	past := m.diff.hear(&m.s) // save for what waits for the user and what is wrong
	m.say(m.s.At, kindReady, readyText(&m.s))
	for _, e := range past {
		if e.kind == kindProblem || e.kind == kindApproval {
			m.say(e.at, e.kind, e.words)
		} else {
			m.remember(e)
		}
	}
	for _, line := range strings.FieldsFunc(m.o.Notice, func(r rune) bool { return r == '\n' }) {
		m.hear(event{m.s.At, kindNotice, line})
	}
	lines := m.lines
	for {
		if lines == nil && len(m.answers) == 0 {
			m.look()
			m.done = true
		}
		if err := m.flush(); err != nil || m.done {
			return err
		}
		var oldest <-chan struct{} // of the answers that are awaited; nil for none
		if len(m.answers) > 0 {
			oldest = m.answers[0]
		}
		select {
		case <-m.ctx.Done():
			m.look() // what has happened last
			return m.flush()
		case <-oldest:
			m.answers = m.answers[1:]
			m.look()
		case <-m.core.Changed():
			m.rest()
			m.look()
		case line, ok := <-lines:
			if !ok {
				lines = nil // what was asked is still answered
				m.finish()
				continue
			}
			m.look() // first what has happened, then the answer
			m.take(line)
		}
	}
}

// rest waits for what belongs together.
func (m *session) rest() {
	select {
	case <-time.After(gap):
	case <-m.ctx.Done():
	}
}

func (m *session) snapshot() core.Snapshot {
	s := m.core.Snapshot()
	s.TwelveHours = m.twelve
	return s
}

// look says what has happened since the last look.
func (m *session) look() {
	m.s = m.snapshot()
	for _, e := range m.diff.hear(&m.s) {
		m.hear(e)
	}
	m.lookAtTail()
}

// hear says what has happened.
func (m *session) hear(e event) {
	m.say(e.at, e.kind, e.words)
	m.remember(e)
}

// remember keeps words of the program for "notices".
func (m *session) remember(e event) {
	if e.notice() {
		e.at = cmp.Or(e.at, m.s.At)
		m.told = append(m.told, e)
		m.told = m.told[max(0, len(m.told)-maxTold):]
	}
}

// say adds a line: the time, the kind, the words.
func (m *session) say(at time.Time, kind, words string) {
	m.write(at, kind, clean.Cut(clean.Line(words), maxWords))
}

// write is say for a clean line that is given as it is.
func (m *session) write(at time.Time, kind, line string) {
	fmt.Fprintf(&m.out, "%s %s: %s\n", m.s.Clock(cmp.Or(at, time.Now()), time.TimeOnly), kind, line)
}

// answer says what came of a command, a line for each line of it.
func (m *session) answer(kind, text string) {
	now := time.Now()
	for line := range bytes.Lines([]byte(clean.Text(text))) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m.say(now, kind, string(line))
		}
	}
}

func (m *session) flush() error {
	if m.out.Len() == 0 {
		return nil
	}
	defer m.out.Reset()
	if _, err := m.o.Output.Write(m.out.Bytes()); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// do carries out a command and says what came of it.
func (m *session) do(c command.Value) { m.doThen(c, "") }

// doThen is do with words that go on after what came of it.
func (m *session) doThen(c command.Value, more string) {
	o, ok := m.carryOut(c)
	if !ok {
		return
	}
	if o.Done != nil {
		m.answers = append(m.answers, o.Done)
	}
	if o.Body != "" && command.Reads(c) {
		m.answer(m.named.Name, o.Body)
		return
	}
	text := spoken(cmp.Or(o.Body, o.Message, textDone)) + more
	if o.Undo != nil {
		m.undo = append(m.undo, o.Undo)
		m.undo = m.undo[max(0, len(m.undo)-undoDepth):]
		text += textUndoable
	}
	m.answer(kindOK, text)
}

// carryOut does a command; a panic in it is its error. False means that it has
// said what is wrong.
func (m *session) carryOut(c command.Value) (o command.Outcome, ok bool) {
	if m.o.ReadOnly && !command.Reads(c) {
		m.answer(kindError, m.o.readOnly())
		return o, false
	}
	ctx, cancel := context.WithTimeout(m.ctx, commandTime)
	defer cancel()
	err := fault.Guard(fmt.Sprintf("%T", c), func() (err error) {
		o, err = m.core.Do(ctx, c)
		return err
	})()
	if err != nil {
		m.answer(kindError, spoken(err.Error()))
		return o, false
	}
	return o, true
}

// readOnly says why nothing can be changed, and who can change that.
func (o Options) readOnly() string {
	if o.ByKey {
		return textReadOnlyKey
	}
	return textReadOnly
}

// listen hands over the lines of the input until its end, which closes the
// channel, or the end of ctx.
func (m *session) listen(ctx context.Context) error {
	defer close(m.lines)
	if m.o.Input == nil {
		<-ctx.Done()
		return nil
	}
	in, stop := interruptible(ctx, m.o.Input)
	defer stop()
	r := bufio.NewReaderSize(in, 4096)
	for {
		line, err := readLine(r)
		if line != "" { // an empty line still has its end
			select {
			case m.lines <- line:
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

// interruptible makes a Read of the input end with ctx. Closing a terminal does
// not wake who reads from it, so that a file is asked first whether there is
// anything; one that never blocks is read as it is, and what is no file is closed.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func()) {
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return in, func() {}
	}
	stop := context.AfterFunc(ctx, func() {
		if c, ok := in.(io.Closer); !r.Cancel() && ok {
			_ = c.Close() // nothing is left to be done about an input that does not close
		}
	})
	return r, func() { stop(); _ = r.Close() }
}

// take hears a line of input. One that ends in a backslash goes on in the next;
// one that ends in two ends in one.
func (m *session) take(line string) {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, goesOn := strings.CutSuffix(line, `\`)
	goesOn = goesOn && !strings.HasSuffix(line, `\`)
	if len(m.begun) <= maxLine {
		m.begun += strings.TrimRightFunc(line, unicode.IsSpace) + "\n"
	}
	if goesOn {
		m.answer(kindMore, textGoesOn)
		return
	}
	m.finish()
}

// finish obeys what was said on all its lines.
func (m *session) finish() {
	text := m.begun
	m.begun = ""
	if len(text) > maxLine { // a single line may have been cut as it was read
		m.answer(kindError, textTooLong)
	} else if text = strings.TrimSpace(text); text != "" {
		m.obey(text)
	}
}
