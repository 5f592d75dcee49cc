package core

import (
	"context"
	"fmt"

	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines/schedule"
)

const (
	pastRuns  = 20 // of a task
	nextFires = 3
	// aToken is a whole token, but for what the arithmetic of a curve may have rounded.
	aToken = 1 - 1e-6
)

// past is how a task has gone, and what the forecast says of its next fires.
func (b *Bot) past(_ context.Context, c command.Past) (command.Outcome, error) {
	task, ok := b.index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	runs, err := b.forks.Past(c.ID, pastRuns)
	if err != nil {
		return command.Outcome{}, err
	}
	now := b.now()
	view := b.budgetView(now, b.schedule.View(now))
	out := command.TaskPast{File: b.tasks.File(c.ID), Runs: runs, Rate: b.forks.Rate(c.ID), Answers: budget.AnswersTo(view.Pings, c.ID)}
	curve := view.Curve(view.State.Capacity, view.State.RefillRateMinutes)
	for _, e := range b.schedule.NextOf(c.ID, now, nextFires) {
		out.Next = append(out.Next, command.NextFire{At: e.FireTime, Verdict: b.verdict(e, view, curve)})
	}
	return command.Outcome{Message: task.Title(), Past: &out}, nil
}

// verdict is what the forecast says of one fire.
func (b *Bot) verdict(e schedule.Entry, view BudgetView, curve budget.Curve) command.Verdict {
	switch {
	case e.Silent || e.Foreground || e.Held || e.FireTime.After(view.FiresUntil):
		return command.VerdictNone
	case !b.attention.QuietUntil(e.FireTime).IsZero():
		return command.VerdictQuiet
	case budget.LeftAt(curve.Worst, e.FireTime) >= aToken:
		return command.VerdictSure
	case budget.LeftAt(curve.Expected, e.FireTime) >= aToken:
		return command.VerdictShort
	}
	return command.VerdictDry
}
