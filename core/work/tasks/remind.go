package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

const (
	// laterBy is the default delay of Later.
	laterBy = time.Hour
	// nightEnds is when a new day starts for NotToday: at one in the morning, today still
	// means the previous day.
	nightEnds = 4 * time.Hour
)

// Reminders are the parts that an answer to a reminder changes.
type Reminders struct {
	// Move changes a pending reminder; see routines.Mover.
	Move    func(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error)
	Journal *budget.Journal
	// Updates receives a sentence for the agent that starts with Who; may be nil.
	Updates *updates.Queue
	Who     string
}

// Answer moves or removes the reminder, and leaves an update for the agent. The file is
// changed first, so the answer counts even if the program ends before the update is
// saved.
func (k Reminders) Answer(c command.Remind, now time.Time) (command.Outcome, error) {
	out, _, err := k.answer(c, now)
	return out, err
}

// answer is Answer with the time at which the reminder repeats, zero if it does not.
func (k Reminders) answer(c command.Remind, now time.Time) (out command.Outcome, at time.Time, err error) {
	came := budget.CameOf(k.Journal.Recent(), c.ID)
	r, err := k.Move(c.ID, func(r routines.Reminder) (m routines.Move, err error) {
		m, err = nextOf(c, r, now)
		at = m.At
		return m, err
	})
	switch {
	case errors.Is(err, routines.ErrNoReminder):
		return command.Outcome{}, at, fmt.Errorf(textNotPending, clean.Cut(clean.Line(c.ID), 60))
	case err != nil:
		return command.Outcome{}, at, err
	}
	if came.Message != "" {
		err = k.Journal.Answer(budget.Move{At: now, To: came.Message, Pressed: true})
	}
	out = outcomeOf(c, r, at, now)
	if k.Updates != nil {
		told := fmt.Sprintf(updateDone, k.Who, r.Title(), r.ID, cron.Clock(now))
		if c.Word != command.Done {
			told = fmt.Sprintf(updatePutOff, k.Who, r.Title(), r.ID, cron.Clock(now), cron.DayClock(at, now))
		}
		told += reached(came, now)
		err = errors.Join(err, k.Updates.Replace(now, AboutReminder(r.ID), func(bool) string { return told }))
	}
	if err != nil {
		return out, at, fmt.Errorf(textNotTold, out.Message, err)
	}
	return out, at, nil
}

// AboutReminder is the subject of the update about an answer; a newer one replaces it.
func AboutReminder(id string) string { return "reminder " + id }

// nextOf returns when the reminder is due next, or that it is removed.
func nextOf(c command.Remind, r routines.Reminder, now time.Time) (routines.Move, error) {
	m := routines.Move{At: c.Until, Depth: r.ChainDepth}
	if r.UntilDone {
		m.Depth = 0 // an answer restarts the repetitions
	}
	switch c.Word {
	case command.Done:
		m.Gone = true
	case command.Later:
		if m.At.IsZero() {
			m.At = now.Add(laterBy)
		}
	case command.NotToday:
		m.At = tomorrow(r.First().In(now.Location()), now)
	default:
		return m, fmt.Errorf(textNoWord, clean.Line(string(c.Word)))
	}
	m.At = m.At.In(now.Location()).Truncate(time.Second)
	switch {
	case m.Gone:
	case !m.At.After(now):
		return m, fmt.Errorf(textLaterPassed, cron.DayClock(m.At, now))
	case m.At.After(now.Add(farthest)):
		return m, fmt.Errorf(textLaterFar, cron.DayClock(m.At, now))
	}
	return m, nil
}

// tomorrow returns the time of day of first on the day after now's, but never within the
// same night.
func tomorrow(first, now time.Time) time.Time {
	today, zone := now.Add(-nightEnds), now.Location()
	at := cron.Wall(today, 1, first.Hour(), first.Minute(), zone)
	if at.Before(cron.Wall(today, 1, 0, 0, zone).Add(nightEnds)) && at.Sub(now) < nightEnds {
		at = cron.Wall(today, 2, first.Hour(), first.Minute(), zone)
	}
	return at
}

// outcomeOf returns the message for the user and the undo.
func outcomeOf(c command.Remind, r routines.Reminder, at, now time.Time) command.Outcome {
	if c.Word == command.Done {
		return command.Outcome{Message: fmt.Sprintf(textDone, r.Title()), Undo: command.RestoreTask{ID: r.ID}}
	}
	out := command.Outcome{Message: fmt.Sprintf(textComesBack, r.Title(), cron.DayClock(at, now))}
	if r.RunAt.After(now) {
		out.Undo = command.Remind{ID: r.ID, Word: command.Later, Until: r.RunAt}
	}
	return out
}

// reached describes how often the reminder had pinged the user.
func reached(c budget.Came, now time.Time) string {
	if c.Times == 0 {
		return ""
	}
	return fmt.Sprintf(updateReached, words.Count(c.Times, "time"), cron.DayClock(c.Since.In(now.Location()), now))
}

// Answer answers a reminder, and removes the buttons from its newest message and from the
// pressed one, which may be empty. If the reminder repeats, they keep the Done button.
func (e *Editor) Answer(ctx context.Context, c command.Remind, pressed post.MessageID) (command.Outcome, error) {
	newest := budget.CameOf(e.o.Journal.Recent(), c.ID).Message
	k := Reminders{Move: e.o.Schedule.MoveReminder, Journal: e.o.Journal, Updates: e.o.Updates, Who: textTheUser}
	out, at, err := k.answer(c, e.now())
	if out.Message == "" {
		if _, pending := e.o.Index.Set().ReminderByID(c.ID); !pending {
			e.o.Retire(ctx, pressed, textNoLonger)
		}
		return out, err
	}
	entry := audit.Entry{Action: audit.TaskMoved, Subject: c.ID, Detail: out.Message}
	if c.Word == command.Done {
		entry.Action = audit.TaskRemoved
		e.o.Kept(e.now(), c.ID)
	}
	e.o.Audit.RecordBy(ctx, e.now(), entry)
	settle := func(message post.MessageID) { e.o.PutOff(ctx, message, out.Message, at) }
	if c.Word == command.Done {
		why := fmt.Sprintf(textAnswered, out.Message, e.now().Format("15:04"))
		settle = func(message post.MessageID) { e.o.Retire(ctx, message, why) }
	}
	settle(pressed)
	if newest := post.MessageID(newest); newest != pressed {
		settle(newest)
	}
	return out, err
}

// reopen drops the pending update about the answer to a restored reminder. If the agent
// has already read it, a new update says that the reminder is pending again.
func (e *Editor) reopen(r *routines.Reminder) {
	err := e.o.Updates.Replace(e.now(), AboutReminder(r.ID), func(unread bool) string {
		if unread {
			return ""
		}
		return fmt.Sprintf(textOpenAgain, r.Title(), r.ID)
	})
	if err != nil {
		e.o.Log.Error("a pending update could not be saved", "error", err)
	}
}
