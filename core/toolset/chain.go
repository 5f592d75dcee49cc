package toolset

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// maxFollowUp is the farthest next check, in minutes: a week.
const maxFollowUp = 7 * 24 * 60

// Chain is the reminder that is running, as follow_up_chain continues it: at
// most once. A nil Chain answers that there is none.
type Chain struct {
	book     ReminderBook
	reminder routines.Reminder

	mu sync.Mutex
	// next is the follow-up's time once it is scheduled. The lock is held while
	// the reminder is written: it orders the two calls that a run might make.
	next time.Time
}

// NewChain returns the chain of a firing reminder, or nil where the firing
// task is none or a one-shot.
func NewChain(book ReminderBook, r *routines.Reminder) *Chain {
	if r == nil || r.MaxChain <= 0 || book == nil {
		return nil
	}
	return &Chain{book: book, reminder: *r}
}

// FollowUp schedules the next check in so many minutes.
func (c *Chain) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	if c == nil {
		return Refusal(textNoChain)
	}
	r := c.reminder
	if r.ChainDepth >= r.MaxChain {
		return Refusal(fmt.Sprintf(textChainLimit, r.ChainDepth+1, r.MaxChain+1))
	}
	if minutes < 1 || minutes > maxFollowUp {
		return Refusal(fmt.Sprintf(textChainRange, maxFollowUp, minutes))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.next.IsZero() {
		return Refusal(fmt.Sprintf(textChainTwice, clock(c.next)))
	}
	next, err := c.book.Continue(ctx, r, follower(r, c.book.Now().Add(time.Duration(minutes)*time.Minute)))
	if err != nil {
		return Refusal(fmt.Sprintf(textChainFailed, err))
	}
	c.next = next.RunAt
	unit := "minutes"
	if minutes == 1 {
		unit = "minute"
	}
	return Said(fmt.Sprintf(textChainSet, minutes, unit, clock(next.RunAt), r.ChainDepth+2, r.MaxChain+1))
}

// Scheduled is the time of the follow-up, or zero.
func (c *Chain) Scheduled() time.Time {
	if c == nil {
		return time.Time{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// follower is the next check: it inherits
// everything but the id, the file and the description.
func follower(r routines.Reminder, at time.Time) routines.Reminder {
	n := r
	n.Kind, n.ID, n.Path, n.Description = routines.KindReminder, "", "", ""
	n.RunAt = at
	n.ChainDepth++
	if n.ChainParent == "" {
		n.ChainParent = r.ID
	}
	n.Allowed, n.Disallowed, n.Skills = slices.Clone(r.Allowed), slices.Clone(r.Disallowed), slices.Clone(r.Skills)
	return n
}

// clock is a time of day as people read it: 3:04 PM.
func clock(t time.Time) string { return cron.Format(t, "3:04 PM") }
