package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// Fact is one line of the status as shown without a screen.
type Fact struct{ Name, Text string }

// Line returns the fact in one line. A fact without a name continues the line above.
func (f Fact) Line() string {
	if f.Name == "" {
		return f.Text
	}
	return f.Name + ": " + f.Text
}

// Facts returns those lines, except the next fire. Empty ones are left out.
func (s *Snapshot) Facts() (facts []Fact) {
	tell := func(name string, parts ...string) {
		if text := words.Joined(parts...); text != "" {
			facts = append(facts, Fact{name, text})
		}
	}
	wrong := 0
	for _, p := range s.Schedule.Problems {
		if p.Severity == routines.Error {
			wrong++
		}
	}
	glance := s.Glance()
	running, waiting := fork.Count(s.Forks)
	pending := len(s.Updates)
	if pending > 0 && s.Updates[0].Dropped > 0 { // it stands in for the ones left out
		pending--
	}
	tell("schedule", words.Some(s.Routines, "routine", ""), words.Some(s.Reminders, "reminder", ""))
	if !s.Started.IsZero() { // a command beside the bot knows nothing of these
		tell("engine", strings.TrimSpace(s.Engine.Name+" "+s.Engine.Model), s.Engine.State)
		tell("messages", "to "+s.Surface.Name, strings.TrimSuffix(strings.TrimPrefix(s.Surface.State, "("), ")"))
	}
	tell("waiting", words.Some(s.Waiting(), "file", textFileWaits))
	tell("problems", words.Some(wrong, "error", " in files"))
	tell("google", s.Google)
	tell("budget", s.BudgetText())
	today := s.Money.Today
	spent := today.Spent.Text()
	if today.Capped() {
		spent += " of " + words.Dollars(today.Cap)
	}
	tell("today", words.Some(glance.Runs, "run", ""), spent)
	if s.Money.Lifted {
		tell("caps", "lifted until midnight")
	}
	for _, e := range s.Schedule.Entries {
		if e.Money {
			tell("held", fmt.Sprintf("%s: %s, would cost about %s", e.Description, e.Tag, words.Dollars(e.Cost)))
		}
	}
	tell("failed", words.Some(len(s.Failures), "run", " that you have not looked at"))
	tell("asks", words.Some(glance.Asks, "question", " for you"))
	tell("updates", words.Some(pending, "pending update", ""))
	tell("runs", words.Some(running, "run", " under way"), words.Some(waiting, "run", " in the queue"))
	if s.Busy {
		tell("now", textAnswering)
	}
	tell("attached", words.Some(len(s.Attached), "file", " for your next message"))
	return facts
}

// Status returns the whole status in lines: the headline, then the facts.
func (s *Snapshot) Status() []string {
	lines := []string{s.Headline().Text()}
	for _, f := range s.Facts() {
		lines = append(lines, f.Line())
	}
	return lines
}

// ServerFacts describes the MCP servers for every view: each one, followed by its last
// calls, newest first.
func (s *Snapshot) ServerFacts() (facts []Fact) {
	for _, one := range s.Servers {
		facts = append(facts, Fact{one.Name, strings.TrimPrefix(one.String(), one.Name+": ")})
		for _, c := range slices.Backward(one.Calls) {
			text := fmt.Sprintf("%s %s, %s", s.Moment(c.At), c.Tool, c.Took.Round(time.Millisecond))
			if c.Text != "" {
				text += ": " + c.Text
			}
			facts = append(facts, Fact{"", text})
		}
	}
	if len(facts) == 0 {
		facts = append(facts, Fact{"", textNoServers})
	}
	return facts
}

// ServersText returns the server facts as text.
func (s *Snapshot) ServersText() string {
	var lines []string
	for _, f := range s.ServerFacts() {
		lines = append(lines, f.Line())
	}
	return strings.Join(lines, "\n")
}

const textNoServers = "No MCP servers. The page about MCP says how to add one."

// BudgetText describes how many pings are left, when more arrive, and whether they last.
func (s *Snapshot) BudgetText() string {
	b, o := s.Budget, s.Outlook()
	if o.Kind == PingsOff {
		return o.Text + o.Tail
	}
	text := b.State.Left() + ", one comes back " + b.State.Rate()
	if !b.NextAt.IsZero() && o.Kind != PingsEmpty {
		text += ", the next at " + s.Moment(b.NextAt)
	}
	if !b.FullAt.IsZero() && !b.FullAt.Equal(b.NextAt) {
		text += ", all by " + s.Moment(b.FullAt)
	}
	if g := s.Glance(); g.Pings+g.Refused > 0 || g.Beside != "" {
		text += "; " + g.PingsText() + " today"
	}
	return text + "; " + o.Text + o.Tail
}

// MutedText describes until when pings are muted.
func (s *Snapshot) MutedText() string {
	if s.Budget.Muted.IsZero() {
		return "pings are not muted any more"
	}
	return "only critical pings come through until " + s.Moment(s.Budget.Muted)
}

// Moment formats a time of day, with its day unless that is today: "14:05", "Friday
// 09:00", "Friday 4 December 09:00".
func (s *Snapshot) Moment(t time.Time) string {
	layouts := cron.Layouts{Today: "15:04", Year: "Monday 2 January 15:04", Else: "Monday 2 January 2006 15:04"}
	if t.After(s.At) {
		layouts.Week = "Monday 15:04"
	}
	return s.When(t, layouts)
}
