package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines/cron"
	"ollimbot/routines/daysoff"
	"ollimbot/routines/recur"
	"ollimbot/routines/schedule"
)

type scheduleCmd struct {
	At  string `placeholder:"TIME" help:"The schedule as seen from this moment instead of now."`
	For string `placeholder:"ID" complete:"task" help:"Mark this task, as its own run would see it."`
	console.AsJSON
}

// Run shows the schedule as background runs see it: the next hours, and what did not
// happen in the last minutes.
func (c *scheduleCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	now, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	forward := bot.Schedule().Forward(now, c.For)
	seen := bot.SnapshotAt(now)
	lines := []string{nothingAhead(seen.Schedule.Tasks, now)}
	if len(forward.Told()) > 0 {
		lines = scheduleLines(forward, now)
		if refills := forward.RefillLine(now, seen.Budget.State.RefillRateMinutes); refills != "" && p.Served != nil { // words for an agent
			lines = append(lines, refills)
		}
	}
	if held := heldLines(seen.Schedule.Tasks); p.Served == nil && len(held) > 0 { // no agent plans around them
		lines = append(append(lines, textHeld), held...)
	}
	if waiting := waitingLines(bot); len(waiting) > 0 {
		lines = append(append(lines, textWaiting), waiting...)
	}
	return p.Answer(c.JSON, append([]schedule.Entry{}, forward.Told()...), lines)
}

// nothingAhead names the next fire after an empty window, if there is one, and how many reminders are late.
func nothingAhead(tasks []schedule.TaskView, now time.Time) string {
	overdue, text := 0, textNothingAhead
	for _, t := range tasks {
		switch {
		case t.Next.IsZero() || t.Held != "":
		case !t.Next.After(now):
			overdue++
		default:
			text += fmt.Sprintf("; next: %s at %s", t.Title, t.Next.Format(console.MomentLayout))
			if overdue > 0 {
				text += "; " + overdueText(overdue)
			}
			return text
		}
	}
	switch {
	case overdue > 0:
		return text + "; " + overdueText(overdue)
	case len(tasks) == 0:
		return text + ": add a routine with ollim-bot routine add"
	}
	return text
}

func overdueText(n int) string {
	return words.Count(n, "reminder") + " overdue: late ones fire as soon as the bot runs"
}

// heldLines lists the tasks that do not fire now, and why.
func heldLines(tasks []schedule.TaskView) (lines []string) {
	for _, t := range tasks {
		if t.Held != "" && t.Waits == "" {
			lines = append(lines, fmt.Sprintf("  %s  %s [%s]", t.ID, t.Title, t.Held))
		}
	}
	return lines
}

func scheduleLines(f schedule.Forward, now time.Time) []string {
	lines := []string{f.Window(now) + ":"}
	for _, e := range f.Told() {
		lines = append(lines, entryLine(e, now))
	}
	return lines
}

// entryLine is one task of the schedule.
func entryLine(e schedule.Entry, now time.Time) string {
	var marks []string
	if e.Silent {
		marks = append(marks, "silent")
	}
	if e.Foreground {
		marks = append(marks, "foreground")
	}
	if e.Tag != "" {
		marks = append(marks, e.Tag)
	}
	if e.Reason != "" {
		marks = append(marks, e.Reason)
	}
	when := cron.Format(e.FireTime, "Mon 15:04")
	if !e.Until.IsZero() {
		when += "–" + cron.Format(e.Until, "15:04")
	}
	line := fmt.Sprintf("  %s  %-14s  %s  %s", when, words.In(e.FireTime, now), e.ID, core.TitleOf(e))
	if len(marks) > 0 {
		line += " [" + strings.Join(marks, ", ") + "]"
	}
	return line
}

type previewCmd struct {
	Task    []string `arg:"" optional:"" complete:"task" help:"A routine or reminder: its id, or words of its title; with --payload, a webhook."`
	System  bool     `help:"What every session gets besides its first message: profile, skills and how to work here."`
	Payload string   `placeholder:"FILE" help:"The payload, for a webhook; - is standard input."`
	At      string   `placeholder:"TIME" help:"As if it fired at this moment instead of now."`
	Busy    bool     `help:"As if you were in a conversation."`
}

// Run prints the prompt to the byte, with one line break at its end.
func (c *previewCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if c.System == (len(c.Task) > 0) || c.System && (c.At != "" || c.Busy || c.Payload != "") {
		return console.Usagef(textPreviewWhat)
	}
	now, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	if c.System {
		return p.Lines(bot.SystemPrompt())
	}
	ctx, cancel := p.Context()
	defer cancel()
	var text string
	id := strings.Join(c.Task, " ")
	if c.Payload == "" {
		if id, err = p.find(bot, command.Task, id); err == nil {
			text, err = bot.Prompts().Preview(ctx, id, now, c.Busy)
		}
	} else {
		var payload []byte
		if payload, err = p.payload(c.Payload); err == nil {
			text, err = bot.Prompts().PreviewWebhook(ctx, id, payload, now, c.Busy)
		}
	}
	if err != nil {
		return err
	}
	return p.Lines(text)
}

const textPreviewWhat = "preview takes the id of a routine or reminder, or --system alone"

// cronFires is how many times --n may ask for: enough for any year's plan.
const cronFires = 1000

type cronCmd struct {
	Expr []string `arg:"" name:"expr" help:"Words such as weekdays at 9, or five fields: minute hour day month weekday, in quotes if the shell expands *."`
	At   string   `aliases:"from" placeholder:"TIME" help:"Count from this moment instead of now."`
	Old  *int     `name:"n" hidden:"" now:"cron --number 5"`
	N    int      `name:"number" short:"n" default:"5" placeholder:"N" help:"How many times to show (${default})."`
	console.AsJSON
}

// explained is an expression in words, with its next times.
type explained struct {
	Expression string      `json:"expression"`
	Words      string      `json:"words"`
	Notes      []string    `json:"notes"`
	Never      bool        `json:"never"`
	Next       []time.Time `json:"next"`
	// Skipped are the first candidates of the expression up to the last of those times that do not fire.
	Skipped []recur.Skipped `json:"skipped,omitempty"`
}

// Run explains an expression.
func (c *cronCmd) Run(p *process, at console.DataDir) error {
	if c.Old != nil {
		c.N = *c.Old
	}
	if c.N < 0 || c.N > cronFires {
		return console.Usagef("-n takes a number from 0 to %d", cronFires)
	}
	from, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	expr := strings.Join(c.Expr, " ")
	s, err := at.Times().Schedule(expr)
	if err != nil {
		return cronError(expr, err)
	}
	s = s.With(daysoff.NewShelf(at.Dir).Calendar)
	a := explained{
		Expression: s.String(), Words: s.Words(), Never: s.Never(),
		Notes: append([]string{}, s.Notes()...), Next: fires(&s, from, c.N),
	}
	until := from
	if len(a.Next) > 0 {
		until = a.Next[len(a.Next)-1]
	}
	lines := []string{a.Words}
	if !s.Plain() {
		lines = append(lines, "file: "+s.String())
	}
	for _, note := range []string{s.Ours(), s.Trouble()} {
		if note != "" {
			lines = append(lines, "note: "+note)
		}
	}
	if ended := s.EndWords(from); ended != "" {
		lines = append(lines, ended)
	}
	a.Skipped = s.Skipped(from, until, cronSkips)
	return p.Answer(c.JSON, a, slices.Concat(lines,
		console.Each(a.Notes, func(n string) string { return "note: " + n }),
		console.Each(a.Next, func(t time.Time) string { return "  " + t.Format(console.MomentLayout) }),
		console.Each(a.Skipped, func(k recur.Skipped) string { return "  not " + k.At.Format(console.MomentLayout) + ": " + k.Why })))
}

// cronSkips is how many candidates that do not fire are explained.
const cronSkips = 3

// fires returns the next n times, or fewer if there are no more.
func fires(s *recur.Recurrence, from time.Time, n int) []time.Time {
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
		return console.Usagef("%v", err)
	}
	return console.Usagef("cron expression, column %d: %s\n  %s\n  %s^",
		at.Column, at.Message, clean.Line(expr), strings.Repeat(" ", at.Column-1))
}
