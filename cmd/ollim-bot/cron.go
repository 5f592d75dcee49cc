package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/routines/cron"
)

// cronFires is how many times --n may ask for: enough for any year's plan.
const cronFires = 1000

type cronCmd struct {
	Expr []string `arg:"" name:"expr" help:"Five fields: minute hour day month weekday. Quotes are optional where the shell leaves * alone."`
	From string   `placeholder:"TIME" help:"Count from this moment instead of now."`
	N    int      `short:"n" default:"5" help:"How many times to show."`
	JSON bool     `name:"json" help:"Answer as JSON."`
}

// cronAnswer is the JSON answer of the command.
type cronAnswer struct {
	Expression string      `json:"expression"`
	Words      string      `json:"words"`
	Notes      []string    `json:"notes"`
	Never      bool        `json:"never"`
	Next       []time.Time `json:"next"`
}

// Run explains an expression.
func (c *cronCmd) Run(p *process) error {
	if c.N < 0 || c.N > cronFires {
		return usagef("-n takes a number from 0 to %d", cronFires)
	}
	at, err := p.open()
	if err != nil {
		return err
	}
	from, err := at.moment("--from", c.From)
	if err != nil {
		return err
	}
	expr := strings.Join(c.Expr, " ")
	s, err := cron.Parse(expr)
	if err != nil {
		return cronError(expr, err)
	}
	a := cronAnswer{
		Expression: s.String(), Words: s.Words(), Never: s.Never(),
		Notes: append([]string{}, s.Notes()...), Next: fires(s, from, c.N),
	}
	if c.JSON {
		return p.json(a)
	}
	lines := []string{a.Words}
	for _, n := range a.Notes {
		lines = append(lines, "note: "+n)
	}
	for _, t := range a.Next {
		lines = append(lines, "  "+t.Format(momentLayout))
	}
	return p.lines(lines...)
}

// fires gives the next n times from a moment on, fewer when there are no more.
func fires(s cron.Schedule, from time.Time, n int) []time.Time {
	times := make([]time.Time, 0, n)
	for len(times) < n {
		t := s.Next(from)
		if t.IsZero() {
			break
		}
		times = append(times, t)
		from = t.Add(time.Minute)
	}
	return times
}

// cronError points at the place in the expression that is wrong.
func cronError(expr string, err error) error {
	var at *cron.Error
	if !errors.As(err, &at) || at.Column < 1 {
		return fmt.Errorf("read the cron expression: %w", err)
	}
	return fmt.Errorf("cron expression, column %d: %s\n  %s\n  %s^",
		at.Column, at.Message, clean.Line(expr), strings.Repeat(" ", at.Column-1))
}
