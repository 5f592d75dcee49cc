package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// lookAgain is how long a repeating reminder is put off during a conversation.
const lookAgain = 5 * time.Minute

// early sends what a reminder says before it is due, as a ping under the usual rules.
func (d *Dispatcher) early(ctx context.Context, due schedule.Due) error {
	r := due.Reminder
	now := d.now()
	at := cron.DayClock(r.RunAt.In(d.o.Zone), now)
	text := due.Early.Text
	switch {
	case text == "":
		text = fmt.Sprintf(textEarly, r.Title(), at, words.Ahead(r.RunAt.Sub(now)))
	case due.Late:
		text += "\n\n" + fmt.Sprintf(textEarlyLate, at)
	}
	_, err := d.o.Runs.Do(ctx, fork.Job{Task: r.Task, At: due.At, Late: due.Late, Fire: due.Fire(), Said: &fork.Said{Text: text, Early: true}})
	return err
}

// stopped reports that a reminder was never done and no longer repeats. A crash before
// its file is removed causes a second report.
func (d *Dispatcher) stopped(r *routines.Reminder) {
	came := budget.CameOf(d.o.Prompts.Journal.Recent(), r.ID)
	times := textNever
	if came.Times > 0 {
		times = fmt.Sprintf(textSinceFirst, came.Times, cron.DayClock(came.Since.In(d.o.Zone), d.now()))
	}
	d.o.Notes.Add(fmt.Sprintf(textStopped, r.Title(), r.ID, times))
	d.o.Chat.Retire(context.Background(), post.MessageID(came.Message), textLastTime)
}

// notNow returns until when a repeating reminder is put off because its ping could not be
// sent: until quiet hours or a mute end, until there is a token, or briefly during a
// conversation. An essential one needs no token. Being put off does not count as a
// repetition. The time is zero for the first firing, which is like that of any reminder.
func (d *Dispatcher) notNow(r *routines.Reminder) (why string, until time.Time) {
	if !r.UntilDone || r.FirstAt.IsZero() {
		return "", until
	}
	now := d.now()
	busy, quiet := d.o.Prompts.Attention.Busy()
	state, _ := d.o.Prompts.Budget.State(now)
	switch {
	case !quiet.IsZero():
		return textQuiet, quiet
	case busy:
		return textTalking, now.Add(lookAgain)
	case r.Essential: // the budget cannot refuse it
	case state.Capacity == 0:
		return textNoPings, now.Add(lookAgain)
	case state.Whole() < 1:
		return textNoPings, state.NextAt(now).Add(time.Second)
	}
	return "", until
}

// putOff moves a reminder without running it and returns a *schedule.PutOffError.
func (d *Dispatcher) putOff(due *routines.Reminder, why string, until time.Time) error {
	d.o.Log.Info("a reminder waits until it may ping", "id", due.ID, "until", until)
	_, err := d.o.Schedule.MoveReminder(due.ID, func(r routines.Reminder) (routines.Move, error) {
		at := until.Truncate(time.Second)
		if !r.RunAt.Equal(due.RunAt) {
			at = r.RunAt // it was moved in the meantime
		}
		return routines.Move{At: at, Depth: r.ChainDepth}, nil
	})
	if err == nil || errors.Is(err, routines.ErrNoReminder) {
		return &schedule.PutOffError{Why: why, Until: until}
	}
	return fmt.Errorf("%w: %w", routines.ErrUnrecorded, err) // retried later
}
