package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// lookAgain is how long a reminder that comes back waits for the end of a conversation.
const lookAgain = 5 * time.Minute

// stopped has the last word on a reminder that was never done, and whose last message
// was not answered either. A crash before its file goes says it again.
func (b *Bot) stopped(r *routines.Reminder) {
	came := budget.CameOf(b.journal.Recent(), r.ID)
	times := textNever
	if came.Times > 0 {
		times = fmt.Sprintf(textSinceFirst, came.Times, cron.DayClock(came.Since.In(b.zone), b.now()))
	}
	b.notes.Add(fmt.Sprintf(textStopped, r.Title(), r.ID, times))
	b.chat.Retire(context.Background(), post.MessageID(came.Message), textLastTime)
}

// notNow puts off a reminder that comes back while no ping of it could go: until quiet
// hours or a mute end, until a token is there, or for a moment while a conversation is
// under way. That is no round of it, and no run. The first time it fires as any reminder.
func (b *Bot) notNow(r *routines.Reminder) (until time.Time) {
	if !r.UntilDone || r.FirstAt.IsZero() {
		return until
	}
	now := b.now()
	busy, quiet := b.attention.Busy()
	state, _ := b.budget.State(now)
	switch {
	case !quiet.IsZero():
		return quiet
	case busy, state.Capacity == 0:
		return now.Add(lookAgain)
	case state.Whole() < 1:
		return state.NextAt(now).Add(time.Second)
	}
	return until
}

// putOff moves a reminder without a run.
func (b *Bot) putOff(due *routines.Reminder, until time.Time) error {
	b.log.Info("a reminder waits until it may ping", "id", due.ID, "until", until)
	_, err := b.schedule.MoveReminder(due.ID, func(r routines.Reminder) (routines.Move, error) {
		at := until.Truncate(time.Second)
		if !r.RunAt.Equal(due.RunAt) {
			at = r.RunAt // it was moved meanwhile
		}
		return routines.Move{At: at, Depth: r.ChainDepth}, nil
	})
	if err == nil || errors.Is(err, routines.ErrNoReminder) {
		return nil
	}
	return fmt.Errorf("%w: %w", routines.ErrUnrecorded, err) // so that it is tried again
}

// chainOf is the place of a firing reminder in its chain; nil outside of chains.
func (b *Bot) chainOf(r *routines.Reminder) *prompt.Chain {
	if r == nil || r.MaxChain == 0 && !r.UntilDone {
		return nil
	}
	c := &prompt.Chain{Depth: r.ChainDepth, Max: r.MaxChain}
	if r.UntilDone {
		came := budget.CameOf(b.journal.Recent(), r.ID)
		c.UntilDone = &prompt.UntilDone{ID: r.ID, Again: r.Again, Came: came.Times, Since: came.Since.In(b.zone)}
	}
	return c
}
