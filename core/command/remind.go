package command

import (
	"errors"
	"fmt"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

const (
	// laterBy is how far Later puts a reminder off where nobody says.
	laterBy = time.Hour
	// nightEnds is when a new day begins for NotToday: who is up at one in the morning
	// means the day before.
	nightEnds = 4 * time.Hour
	// latest is how far ahead a reminder may be put off.
	latest = 366 * 24 * time.Hour
)

// Reminders is what an answer to a reminder works with.
type Reminders struct {
	// Move changes a pending reminder; see routines.Mover.
	Move    func(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error)
	Journal *budget.Journal
	// Updates take the word for the agent, nil takes none; Who begins it.
	Updates *updates.Queue
	Who     string
}

// CarryOut moves the reminder or removes it, and tells the agent. The file is changed
// first: what the user has said counts, even if the program ends before anybody is told.
func (c Remind) CarryOut(k Reminders, now time.Time) (Outcome, error) {
	came := budget.CameOf(k.Journal.Recent(), c.ID)
	var at time.Time
	r, err := k.Move(c.ID, func(r routines.Reminder) (m routines.Move, err error) {
		m, err = c.next(r, now)
		at = m.At
		return m, err
	})
	switch {
	case errors.Is(err, routines.ErrNoReminder):
		return Outcome{}, fmt.Errorf(textNotPending, clean.Cut(clean.Line(c.ID), 60))
	case err != nil:
		return Outcome{}, err
	}
	if came.Message != "" {
		err = k.Journal.Answer(budget.Move{At: now, To: came.Message, Pressed: true})
	}
	out := c.said(r, at, now)
	if k.Updates != nil {
		told := fmt.Sprintf(updateDone, k.Who, r.Title(), r.ID, cron.Clock(now))
		if c.Word != Done {
			told = fmt.Sprintf(updatePutOff, k.Who, r.Title(), r.ID, cron.Clock(now), cron.DayClock(at, now))
		}
		told += reached(came, now)
		err = errors.Join(err, k.Updates.Replace(now, AboutReminder(r.ID), func(bool) string { return told }))
	}
	if err != nil {
		return out, fmt.Errorf(textNotTold, out.Message, err)
	}
	return out, nil
}

// AboutReminder is what the update on an answer is about: the newest one counts.
func AboutReminder(id string) string { return "reminder " + id }

// next is what becomes of the reminder.
func (c Remind) next(r routines.Reminder, now time.Time) (routines.Move, error) {
	m := routines.Move{At: c.Until, Depth: r.ChainDepth}
	if r.UntilDone {
		m.Depth = 0 // whoever answers is not pestered: the rounds begin anew
	}
	switch c.Word {
	case Done:
		m.Gone = true
	case Later:
		if m.At.IsZero() {
			m.At = now.Add(laterBy)
		}
	case NotToday:
		m.At = tomorrow(r.First().In(now.Location()), now)
	default:
		return m, fmt.Errorf(textNoWord, clean.Line(string(c.Word)))
	}
	m.At = m.At.In(now.Location()).Truncate(time.Second)
	switch {
	case m.Gone:
	case !m.At.After(now):
		return m, fmt.Errorf(textLaterPassed, cron.DayClock(m.At, now))
	case m.At.After(now.Add(latest)):
		return m, fmt.Errorf(textLaterFar, cron.DayClock(m.At, now))
	}
	return m, nil
}

// tomorrow is the time of day of first on the day after now's, but never in the same night.
func tomorrow(first, now time.Time) time.Time {
	today, zone := now.Add(-nightEnds), now.Location()
	at := cron.Wall(today, 1, first.Hour(), first.Minute(), zone)
	if at.Before(cron.Wall(today, 1, 0, 0, zone).Add(nightEnds)) && at.Sub(now) < nightEnds {
		at = cron.Wall(today, 2, first.Hour(), first.Minute(), zone)
	}
	return at
}

// said is what the user reads, and how it is taken back.
func (c Remind) said(r routines.Reminder, at, now time.Time) Outcome {
	if c.Word == Done {
		return Outcome{Message: fmt.Sprintf(textDone, r.Title()), Undo: RestoreTask{ID: r.ID}}
	}
	out := Outcome{Message: fmt.Sprintf(textComesBack, r.Title(), cron.DayClock(at, now))}
	if r.RunAt.After(now) {
		out.Undo = Remind{ID: r.ID, Word: Later, Until: r.RunAt}
	}
	return out
}

// reached says how often the reminder had come.
func reached(c budget.Came, now time.Time) string {
	if c.Times == 0 {
		return ""
	}
	return fmt.Sprintf(updateReached, words.Count(c.Times, "time"), cron.DayClock(c.Since.In(now.Location()), now))
}
