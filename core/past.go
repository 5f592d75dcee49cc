package core

import (
	"fmt"
	"strings"

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

// noteMove writes down which pings the user answers by what they do. It comes before
// the deed: should the program end between the two, the deed comes again, and an answer
// that is known stays as it is.
func (b *Bot) noteMove(c command.Value) {
	m := budget.Move{At: b.now()}
	switch c.(type) {
	case command.Say, command.Receive, command.Click:
		b.present.Here(m.At)
	}
	switch c := c.(type) {
	case command.Say:
		if strings.HasPrefix(strings.TrimSpace(c.Text), "/") {
			return
		}
		m.To = string(c.ReplyTo)
	case command.Receive:
		if m.To = string(c.ReplyTo); !c.At.IsZero() {
			m.At = c.At
		}
	case command.Click:
		m.To, m.Pressed = string(c.Message), true
	default:
		return
	}
	if err := b.journal.Answer(m); err != nil {
		b.log.Warn("the answer to a ping was not written down", "error", err)
	}
}

// past is how a task has gone, and what the forecast says of its next fires.
func (b *Bot) past(c command.Past) (command.Outcome, error) {
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
	out := command.TaskPast{File: b.taskFile(c.ID), Runs: runs, Rate: b.forks.Rate(c.ID), Answers: budget.AnswersTo(view.Pings, c.ID)}
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
	case !b.quietUntil(e.FireTime).IsZero():
		return command.VerdictQuiet
	case budget.LeftAt(curve.Worst, e.FireTime) >= aToken:
		return command.VerdictSure
	case budget.LeftAt(curve.Expected, e.FireTime) >= aToken:
		return command.VerdictShort
	}
	return command.VerdictDry
}
