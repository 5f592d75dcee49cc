package core

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ollimbot/core/budget"
)

// Do carries out a command. It may block on a file; commands that start a run
// return once it is queued. Errors are sentences for people.
func (b *Bot) Do(ctx context.Context, c Command) (Outcome, error) {
	defer b.notify()
	switch c := c.(type) {
	case SetBudget:
		return b.setBudget(c)
	case RestoreBudget:
		return b.restoreBudget(c)
	case DiscardUpdate:
		return b.discardUpdate(c)
	case RestoreUpdate:
		if err := b.updates.Restore(c.Update); err != nil {
			return Outcome{}, err
		}
		return Outcome{Message: "update restored"}, nil
	case Preview:
		body, err := b.Preview(ctx, c.ID, c.At, c.Busy)
		return Outcome{Body: body}, err
	}
	if b.started.Load() == nil {
		return Outcome{}, errors.New(textNotRunning)
	}
	switch c := c.(type) {
	case FireNow:
		return b.fireNow(c)
	case StopFork:
		if err := b.forks.Stop(c.Run); err != nil {
			return Outcome{}, err
		}
		return Outcome{Message: "stopping"}, nil
	case Say:
		if strings.TrimSpace(c.Text) == "" {
			return Outcome{}, errors.New(textEmptyMessage)
		}
		return Outcome{}, b.main.say(ctx, c.Text)
	case Interrupt:
		return Outcome{}, b.main.interrupt(ctx)
	}
	return Outcome{}, fmt.Errorf("unknown command %T", c)
}

func (b *Bot) fireNow(c FireNow) (Outcome, error) {
	task, ok := b.index.Set().Find(c.ID)
	if !ok {
		return Outcome{}, fmt.Errorf(textNoTask, c.ID)
	}
	if err := b.loop.FireNow(c.ID); err != nil {
		return Outcome{}, err
	}
	return Outcome{Message: fmt.Sprintf("%s starts now", task.Title())}, nil
}

func (b *Bot) setBudget(c SetBudget) (Outcome, error) {
	now := b.now()
	before, after, err := b.budget.Set(now, c.Capacity, c.RefillMinutes)
	if err != nil {
		return Outcome{}, err
	}
	undo := RestoreBudget{Capacity: before.Capacity, RefillMinutes: before.RefillRateMinutes, Available: before.Available}
	return Outcome{Message: budgetChange(before, after), Undo: undo}, nil
}

func (b *Bot) restoreBudget(c RestoreBudget) (Outcome, error) {
	now := b.now()
	before, _ := b.budget.State(now)
	after, err := b.budget.Restore(now, budget.Settings{
		Capacity: c.Capacity, RefillMinutes: c.RefillMinutes, Available: c.Available,
	})
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Message: budgetChange(before, after)}, nil
}

// budgetChange says what is different now: "capacity 5 → 6, refill 90 → 60 min".
func budgetChange(before, after budget.State) string {
	var parts []string
	if before.Capacity != after.Capacity {
		parts = append(parts, fmt.Sprintf("capacity %d → %d", before.Capacity, after.Capacity))
	}
	if before.RefillRateMinutes != after.RefillRateMinutes {
		parts = append(parts, fmt.Sprintf("refill %d → %d min", before.RefillRateMinutes, after.RefillRateMinutes))
	}
	if len(parts) == 0 {
		return "the ping budget is as it was"
	}
	if after.Capacity == 0 {
		parts = append(parts, "pings are muted")
	}
	return strings.Join(parts, ", ")
}

func (b *Bot) discardUpdate(c DiscardUpdate) (Outcome, error) {
	u, err := b.updates.Discard(c.Key)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Message: "update discarded", Undo: RestoreUpdate{Update: u}}, nil
}
