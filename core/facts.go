package core

import (
	"fmt"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// Fact is a line of what a look at everything tells where there is no screen.
type Fact struct{ Name, Text string }

// Facts are those lines, but for what comes next. What there is none of is left out.
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
	if pending > 0 && s.Updates[0].Dropped > 0 { // it stands for those that were left out
		pending--
	}
	tell("schedule", words.Some(s.Routines, "routine", ""), words.Some(s.Reminders, "reminder", ""))
	tell("problems", words.Some(wrong, "error", " in files"))
	tell("google", s.Google)
	tell("budget", s.BudgetText())
	if !s.Budget.Muted.IsZero() {
		tell("muted", s.MutedText())
	}
	today := s.Money.Today
	spent := words.Dollars(today.Spent)
	if today.Capped() {
		spent += " of " + words.Dollars(today.Cap)
	}
	tell("today", words.Some(glance.Pings, "ping", ""), words.Some(glance.Runs, "run", ""), spent)
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
	return facts
}

// BudgetText says how many pings are left, and when there are more.
func (s *Snapshot) BudgetText() string {
	b := s.Budget
	if b.State.Capacity == 0 {
		return "no pings but critical ones: the capacity is 0"
	}
	text := fmt.Sprintf("%d of %s left, one comes back every %s",
		b.State.Whole(), words.Some(b.State.Capacity, "ping", ""), words.Every(time.Duration(b.State.RefillRateMinutes)*time.Minute))
	if !b.NextAt.IsZero() {
		text += ", the next at " + s.Moment(b.NextAt)
	}
	if !b.FullAt.IsZero() && !b.FullAt.Equal(b.NextAt) {
		text += ", all by " + s.Moment(b.FullAt)
	}
	if used := words.Joined(words.Some(b.State.DailyUsed, "ping", ""), words.Some(b.State.CriticalUsed, "critical ping", "")); used != "" {
		text += "; " + used + " today"
	}
	if !b.Dry.IsZero() {
		text += "; the one at " + s.Moment(b.Dry) + " may find none left"
	}
	return text
}

// MutedText says until when pings are muted.
func (s *Snapshot) MutedText() string {
	if s.Budget.Muted.IsZero() {
		return "pings are not muted any more"
	}
	return "only critical pings come through until " + s.Moment(s.Budget.Muted)
}

// Moment is a time of day, with its day where that is not now's: "14:05",
// "Friday 09:00", "Friday 4 December 09:00".
func (s *Snapshot) Moment(t time.Time) string {
	layouts := cron.Layouts{Today: "15:04", Year: "Monday 2 January 15:04", Else: "Monday 2 January 2006 15:04"}
	if t.After(s.At) {
		layouts.Week = "Monday 15:04"
	}
	return s.When(t, layouts)
}
