package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// maxBody and maxDescribed bound what a tool may write into a reminder file,
// in characters.
const (
	maxBody      = 20_000
	maxDescribed = 200
	// farthest is ten years: beyond it a date is a mistake.
	farthest = 10 * 366 * 24 * time.Hour
)

// ReminderBook keeps the pending reminders. Methods may be called concurrently
// and block on files.
type ReminderBook interface {
	// Add writes a reminder and returns it with its id and path.
	Add(ctx context.Context, r routines.Reminder) (routines.Reminder, error)
	// Continue is Add for the next check of a chain: it may do what the one before it
	// may, whoever asks for it.
	Continue(ctx context.Context, from, next routines.Reminder) (routines.Reminder, error)
	// List is all pending reminders, in any order.
	List() []routines.Reminder
	// Cancel removes one; false means that there is none of that id.
	Cancel(id string) (bool, error)
	// Now is the present in the configured zone.
	Now() time.Time
}

type newReminder struct {
	Prompt      string       `json:"prompt"`
	Delay       *json.Number `json:"delay_minutes"`
	RunAt       *string      `json:"run_at"`
	Description string       `json:"description"`
	Foreground  bool         `json:"foreground"`
	MaxChain    json.Number  `json:"max_chain"`
}

func addReminder(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a newReminder
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, AddReminder, err))
	}
	body := clean.Cut(strings.TrimSpace(clean.Text(a.Prompt)), maxBody)
	if body == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "prompt"))
	}
	book := c.Reminders()
	at, problem := a.time(book.Now())
	if problem != "" {
		return Refusal(problem)
	}
	chain := 0
	if a.MaxChain != "" {
		var err error
		if chain, err = whole(a.MaxChain); err != nil {
			return Refusal(fmt.Sprintf(textUnreadable, AddReminder, err))
		}
	}
	made, err := book.Add(ctx, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Body: body, Description: clean.Cut(clean.Line(a.Description), maxDescribed),
			Background: !a.Foreground, Thinking: true, Mode: routines.OnPing, AllowPing: true,
		},
		RunAt: at, MaxChain: chain,
	})
	if err != nil {
		return Refusal(fmt.Sprintf(textNotSaved, err))
	}
	return Said(fmt.Sprintf(textReminderSet, made.ID, clock(at)))
}

// time is when the reminder runs: so many minutes from now, or at a whole minute to
// come.
func (a newReminder) time(now time.Time) (time.Time, string) {
	switch {
	case a.Delay != nil && a.RunAt != nil:
		return time.Time{}, textBoth
	case a.Delay != nil:
		n, err := whole(*a.Delay)
		if err != nil {
			return time.Time{}, fmt.Sprintf(textUnreadable, AddReminder, err)
		}
		return now.Add(time.Duration(n) * time.Minute), ""
	case a.RunAt == nil:
		return time.Time{}, textNeither
	}
	at, err := routines.ParseTime(*a.RunAt, now.Location())
	if err != nil {
		return time.Time{}, fmt.Sprintf(textBadTime, clean.Cut(clean.Line(*a.RunAt), 60))
	}
	if at.Before(now) {
		return time.Time{}, fmt.Sprintf(textPast, cron.Format(at.In(now.Location()), "2006-01-02 03:04 PM"), cron.Format(now, "2006-01-02 03:04 PM"))
	}
	if at.Sub(now) > farthest {
		return time.Time{}, fmt.Sprintf(textTooFar, at.In(now.Location()).Format("2006-01-02"))
	}
	if at = at.In(now.Location()).Truncate(time.Minute); !at.After(now) {
		at = now.Add(time.Minute)
	}
	return at, ""
}

func listReminders(_ context.Context, c Caller, _ json.RawMessage) agent.ToolResult {
	book := c.Reminders()
	list := slices.Clone(book.List())
	if len(list) == 0 {
		return Said(textNone)
	}
	slices.SortStableFunc(list, func(a, b routines.Reminder) int { return a.RunAt.Compare(b.RunAt) })
	zone := book.Now().Location()
	lines := make([]string, 0, len(list))
	for _, m := range list {
		where, label := "fg", clean.Line(m.Description)
		if m.Background {
			where = "bg"
		}
		if label == "" {
			label = textNoLabel
		}
		lines = append(lines, fmt.Sprintf(textLine, m.ID, where, cron.Format(m.RunAt.In(zone), "2006-01-02 03:04 PM"), label, clean.Line(m.Path)))
	}
	return Said(strings.Join(lines, "\n"))
}

func cancelReminder(_ context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		ID string `json:"reminder_id"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, CancelReminder, err))
	}
	id := clean.Cut(clean.Line(a.ID), routines.MaxID)
	found, err := c.Reminders().Cancel(id)
	switch {
	case err != nil:
		return Refusal(fmt.Sprintf(textNotRemoved, id, err))
	case !found:
		return Refusal(fmt.Sprintf(textNoReminder, id))
	}
	return Said(fmt.Sprintf(textCancelled, id))
}
