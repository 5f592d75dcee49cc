package main

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

type scheduleCmd struct {
	At   string `placeholder:"TIME" help:"The schedule as seen from this moment instead of now."`
	For  string `placeholder:"ID" help:"Mark this task, as its own run would see it."`
	JSON bool   `name:"json" help:"Answer as JSON."`
}

// Run shows what background agents are told of the hours ahead, and of
// the last minutes also what did not happen.
func (c *scheduleCmd) Run(p *process) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	now, err := at.moment("--at", c.At)
	if err != nil {
		return err
	}
	bot, err := p.bot(at)
	if err != nil {
		return err
	}
	forward := bot.Schedule().Forward(now, c.For)
	if c.JSON {
		return p.json(append([]schedule.Entry{}, forward.Told()...))
	}
	rate := bot.SnapshotAt(now).Budget.State.RefillRateMinutes
	lines := []string{nothingAhead(bot.Schedule(), now)}
	if len(forward.Told()) > 0 {
		lines = scheduleLines(forward, now, rate)
	}
	if waiting := waitingLines(bot); len(waiting) > 0 {
		lines = append(append(lines, textWaiting), waiting...)
	}
	return p.lines(lines...)
}

// nothingAhead says what comes after the hours ahead, if anything does.
func nothingAhead(x *schedule.Schedule, now time.Time) string {
	set, next := x.NextFires(now)
	var first time.Time
	title := ""
	for i, at := range next {
		if at.IsZero() || !first.IsZero() && !at.Before(first) {
			continue
		}
		if first = at; i < len(set.Routines) {
			title = set.Routines[i].Title()
		} else {
			title = set.Reminders[i-len(set.Routines)].Title()
		}
	}
	if first.IsZero() {
		return textNothingAhead + ": add a routine with ollim-bot routine add"
	}
	return fmt.Sprintf(textNothingAhead+"; next: %s at %s", title, first.Format(momentLayout))
}

func scheduleLines(f schedule.Forward, now time.Time, rate int) []string {
	lines := []string{f.Window(now) + ":"}
	for _, e := range f.Told() {
		lines = append(lines, entryLine(e, now))
	}
	if refills := f.RefillLine(now, rate); refills != "" {
		lines = append(lines, refills)
	}
	return lines
}

// entryLine is one task of the schedule.
func entryLine(e schedule.Entry, now time.Time) string {
	what := e.Label
	if e.Description != "" && e.Description != e.Label {
		what += fmt.Sprintf(" %q", e.Description)
	}
	var marks []string
	if e.Silent && !strings.Contains(e.Label, "silent") {
		marks = append(marks, "silent")
	}
	if e.Foreground {
		marks = append(marks, "foreground")
	}
	if e.Tag != "" {
		marks = append(marks, e.Tag)
	}
	line := fmt.Sprintf("  %s  %-10s  %s  %s", cron.Format(e.FireTime, "Mon 15:04"), words.Distance(e.FireTime.Sub(now)), e.ID, what)
	if len(marks) > 0 {
		line += " [" + strings.Join(marks, ", ") + "]"
	}
	return line
}
