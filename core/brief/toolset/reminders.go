package toolset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
	"ollimbot/routines/when"
)

// maxBody and maxDescribed limit the texts that a tool may write into a reminder file, in
// characters.
const (
	maxBody      = 20_000
	maxDescribed = 200
	// farthest is ten years: a later date is a mistake.
	farthest = 10 * 366 * 24 * time.Hour
)

// ReminderBook manages the pending reminders. Methods must be safe for concurrent use and
// may block on files.
type ReminderBook interface {
	// Add writes a reminder and returns it with its id and path.
	Add(ctx context.Context, r routines.Reminder) (routines.Reminder, error)
	// Continue is Add for the next check of a chain. It gets the rights of the previous
	// check, whoever asks for it.
	Continue(ctx context.Context, from, next routines.Reminder) (routines.Reminder, error)
	// List returns all pending reminders, in any order.
	List() []routines.Reminder
	// Cancel removes a reminder. It returns false if none has that id.
	Cancel(id string) (bool, error)
	// Times reads times as the user says them, from now on, in the configured zone.
	Times() when.Reader
}

func addReminder(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	body := clean.Cut(strings.TrimSpace(clean.Text(a.Text("prompt"))), maxBody)
	if body == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "prompt"))
	}
	book := c.Reminders()
	read := book.Times()
	now := read.Now
	at, window, problem := reminderMoment(a, read)
	if problem != "" {
		return Refusal(problem)
	}
	if a.Flag("until_done") && a.Flag("foreground") {
		return Refusal(textUntilForeground)
	}
	var ahead []when.Ahead
	if said := a.Text("ahead"); said != "" {
		var err error
		if ahead, err = when.ReadAhead(said); err != nil {
			return Refusal(fmt.Sprintf(textBadAhead, clean.Cut(clean.Line(said), 60), err))
		}
	}
	made, err := book.Add(ctx, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Body: body, Description: clean.Cut(clean.Line(a.Text("description")), maxDescribed),
			Background: !a.Flag("foreground"), Thinking: true, Mode: routines.OnPing, AllowPing: true, Leeway: leeway.Rule{Window: window},
		},
		RunAt: at, MaxChain: a.Number("max_chain"), UntilDone: a.Flag("until_done"), Ahead: ahead,
	})
	if err != nil {
		return Refusal(fmt.Sprintf(textNotSaved, err))
	}
	if !window.IsZero() {
		return Said(fmt.Sprintf(textReminderWithin, made.ID, cron.ClockOn(at, now), cron.ClockOn(made.Leeway.End(at), now)))
	}
	return Said(fmt.Sprintf(textReminderSet, made.ID, cron.ClockOn(at, now)))
}

// reminderMoment returns when the reminder runs or, if it has a window, when the window
// opens: on the named day, or else the next one.
func reminderMoment(a arguments, read when.Reader) (at time.Time, window leeway.Window, problem string) {
	now := read.Now
	written, has := a["window"]
	if !has {
		at, problem = reminderTime(a, read)
		return at, window, problem
	}
	window, err := leeway.ParseWindow(a.Text("window"))
	if err != nil {
		return at, window, fmt.Sprintf(textBadWindow, written, err)
	}
	_, delayed := a["delay_minutes"]
	_, timed := a["run_at"]
	if !delayed && !timed {
		if at = window.Start(now); !at.After(now) {
			at = window.Start(now.AddDate(0, 0, 1))
		}
		return at, window, ""
	}
	if at, problem = reminderTime(a, read); problem == "" {
		if at = window.Start(at); !at.After(now) {
			problem = fmt.Sprintf(textWindowOpened, window, cron.ClockOn(at, now))
		}
	}
	return at, window, problem
}

// reminderTime returns when it runs: a number of minutes from now, or a whole minute in
// the future.
func reminderTime(a arguments, read when.Reader) (at time.Time, problem string) {
	now := read.Now
	written := a.Text("run_at")
	_, delayed := a["delay_minutes"]
	_, timed := a["run_at"]
	switch {
	case delayed && timed:
		return at, textBoth
	case delayed:
		return now.Add(time.Duration(a.Number("delay_minutes")) * time.Minute), ""
	case !timed:
		return at, textNeither
	}
	at, err := read.Moment(written)
	if err != nil {
		return at, fmt.Sprintf(textBadTime, clean.Cut(clean.Line(written), 60), err)
	}
	if at.Sub(now) > farthest {
		return at, fmt.Sprintf(textTooFar, at.In(now.Location()).Format("2006-01-02"))
	}
	if at = at.In(now.Location()).Truncate(time.Minute); !at.After(now) {
		at = now.Add(time.Minute)
	}
	return at, ""
}

func listReminders(_ context.Context, c Caller, _ arguments) agent.ToolResult {
	book := c.Reminders()
	list := slices.Clone(book.List())
	if len(list) == 0 {
		return Said(textNone)
	}
	slices.SortStableFunc(list, func(a, b routines.Reminder) int { return a.RunAt.Compare(b.RunAt) })
	zone := book.Times().Now.Location()
	lines := make([]string, 0, len(list))
	for _, m := range list {
		where, label := "fg", clean.Line(m.Description)
		if m.Background {
			where = "bg"
		}
		if label == "" {
			label = textNoLabel
		}
		if m.UntilDone {
			label += textUntilDone
		}
		lines = append(lines, fmt.Sprintf(textLine, m.ID, where, cron.Format(m.RunAt.In(zone), "2006-01-02 03:04 PM"), label, clean.Line(m.Path)))
	}
	return Said(strings.Join(lines, "\n"))
}

func cancelReminder(_ context.Context, c Caller, a arguments) agent.ToolResult {
	id := clean.Cut(clean.Line(a.Text("reminder_id")), routines.MaxID)
	found, err := c.Reminders().Cancel(id)
	switch {
	case err != nil:
		return Refusal(fmt.Sprintf(textNotRemoved, id, err))
	case !found:
		return Refusal(fmt.Sprintf(textNoReminder, id))
	}
	return Said(fmt.Sprintf(textCancelled, id))
}

// maxFollowUp is the longest time to the next check, in minutes: a week.
const maxFollowUp = 7 * 24 * 60

// Chain is the running reminder, which follow_up_chain continues at most once. A nil
// Chain reports that there is none.
type Chain struct {
	book     ReminderBook
	reminder routines.Reminder

	mu sync.Mutex
	// next is the follow-up's time once it is scheduled. The lock is held while the reminder
	// is written, to order two calls of one run.
	next time.Time
}

// NewChain returns the chain of a firing reminder, or nil if it is nil or a one-shot.
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
		return Refusal(fmt.Sprintf(textChainTwice, cron.ClockOn(c.next, c.book.Times().Now)))
	}
	next, err := c.book.Continue(ctx, r, follower(r, c.book.Times().Now.Add(time.Duration(minutes)*time.Minute)))
	if err != nil {
		return Refusal(fmt.Sprintf(textChainFailed, err))
	}
	c.next = next.RunAt
	unit := "minutes"
	if minutes == 1 {
		unit = "minute"
	}
	return Said(fmt.Sprintf(textChainSet, minutes, unit, cron.ClockOn(next.RunAt, c.book.Times().Now), r.ChainDepth+2, r.MaxChain+1))
}

// follower returns the next check. It inherits everything except the id, the file and the
// description.
func follower(r routines.Reminder, at time.Time) routines.Reminder {
	n := r
	n.Kind, n.ID, n.Path, n.Description = routines.KindReminder, "", "", ""
	n.RunAt, n.Ahead = at, nil
	n.ChainDepth++
	if n.ChainParent == "" {
		n.ChainParent = r.ID
	}
	n.Allowed, n.Disallowed, n.Skills = slices.Clone(r.Allowed), slices.Clone(r.Disallowed), slices.Clone(r.Skills)
	return n
}
