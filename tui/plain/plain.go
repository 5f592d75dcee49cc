// Package plain is the dashboard without a screen: it prints one line for each event,
// with its time and kind, and reads commands from lines of input. It moves no cursor
// and uses no colour, so that screen readers, pipes and simple terminals can use it.
// It must not know how the bot works: it reads snapshots and sends commands.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/tui"
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
	shared.piped = !o.Typed
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
