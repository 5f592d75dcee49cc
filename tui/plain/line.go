package plain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"ollimbot/core/command"
	"ollimbot/tui"
	"ollimbot/tui/undo"
)

// Answer is what a line of plain mode does outside of it.
type Answer struct {
	Text string        // what it prints, in full
	Undo command.Value // undoes what it has changed; nil if there is nothing to undo
}

// MisreadError is a line that is no command as a whole, and why.
type MisreadError struct{ Why string }

func (e *MisreadError) Error() string { return e.Why }

// Line executes a command of plain mode with the words that follow its name, for the command line. Nothing of it goes to
// the agent as words, and a question is an error, because no next line can answer it. config is that of Options.
func Line(ctx context.Context, c tui.Core, row command.Command, rest, config string) (Answer, error) {
	var out strings.Builder
	s := newConsole(ctx, c, &out, "", config)
	s.look, s.piped, s.once = func() {}, true, true
	s.printed = math.MinInt // no "more"
	s.refresh()
	handlers[row.Name](s, request{row, rest})
	if err := s.flush(); err != nil {
		return Answer{}, err
	}
	var a Answer
	if change, ok := s.changes.Next(undo.Back); ok {
		a.Undo = change.Step
	}
	a.Text = out.String()
	switch {
	case s.missed != "":
		return a, &MisreadError{strings.TrimSuffix(s.missed, textChoose)}
	case s.asked != nil:
		return a, fmt.Errorf(textAsksFirst, a.Text)
	case s.failed != "":
		return a, errors.New(strings.TrimSuffix(strings.TrimSuffix(s.failed, textNumbers)+"\n"+a.Text, "\n"))
	}
	return a, nil
}
