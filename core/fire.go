package core

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/fork"
	"ollimbot/core/policy"
	"ollimbot/core/prompt"
	"ollimbot/core/updates"
	"ollimbot/routines"
)

// fire runs one due task to its end: in the background as a fork, in the
// foreground as a turn of the main session. The loop calls it in a goroutine
// of its own.
func (b *Bot) fire(ctx context.Context, d routines.Due) error {
	task, ok := dueTask(d)
	if !ok {
		return fmt.Errorf("fire %s: neither a routine nor a reminder", d.Kind)
	}
	b.log.Info("task fires", "kind", string(d.Kind), "id", task.ID, "title", task.Title(), "late", d.Late)
	if !task.Background {
		return b.fireForeground(ctx, task, d)
	}
	job := fork.Job{
		Task: task, Reminder: d.Reminder, At: d.At, Late: d.Late,
		Allowed: b.allowedTools(task), Disallowed: task.Disallowed,
		Prompt: func(now time.Time, busy bool, quiet time.Time) (string, error) {
			return b.backgroundPrompt(d, promptMoment{now.In(b.zone), busy, quiet}), nil
		},
	}
	_, err := b.forks.Do(ctx, job)
	return err
}

// fireForeground waits for the agent lock, like any message.
func (b *Bot) fireForeground(ctx context.Context, task routines.Task, d routines.Due) error {
	build := func(now time.Time, u []updates.Update) string {
		return prompt.ForegroundPrompt(foreground(task, d, now, u))
	}
	if err := b.main.send(ctx, build, d.Reminder); err != nil {
		if ctx.Err() == nil {
			b.notice(Alert, fmt.Sprintf(textForegroundFailed, task.Title(), err))
		}
		return err
	}
	return nil
}

func foreground(task routines.Task, d routines.Due, now time.Time, u []updates.Update) prompt.Foreground {
	return prompt.Foreground{Now: now, Task: task, Late: lateSince(d), Chain: chainOf(d.Reminder), Updates: u}
}

// promptMoment is the state that a preamble tells: read when the run starts.
type promptMoment struct {
	now   time.Time
	busy  bool
	quiet time.Time
}

// backgroundPrompt is the exact text that a background run is sent.
func (b *Bot) backgroundPrompt(d routines.Due, m promptMoment) string {
	task, _ := dueTask(d)
	state, _ := b.budget.State(m.now)
	p := prompt.Background{
		Now: m.now, Task: task, Busy: m.busy, QuietUntil: m.quiet,
		Budget: state, Forward: b.index.Forward(m.now, task.ID),
		Allowed: b.allowedTools(task), Disallowed: task.Disallowed,
		Late: lateSince(d), Chain: chainOf(d.Reminder),
	}
	if !task.Isolated {
		p.Updates = b.updates.Peek()
	}
	return prompt.BackgroundPrompt(p)
}

// allowedTools is the merged list that a background run may use (decisions, B3,
// B4): the defaults as tool-policy.yaml has them, and what the task declares.
func (b *Bot) allowedTools(t routines.Task) []string {
	tools, _ := b.policy.Load() // its problems are shown with those of the files
	return policy.Strip(policy.Merge(tools.Background(), t.Allowed))
}

func dueTask(d routines.Due) (routines.Task, bool) {
	switch {
	case d.Routine != nil:
		return d.Routine.Task, true
	case d.Reminder != nil:
		return d.Reminder.Task, true
	}
	return routines.Task{}, false
}

func lateSince(d routines.Due) time.Time {
	if d.Late {
		return d.At
	}
	return time.Time{}
}

func chainOf(r *routines.Reminder) *prompt.Chain {
	if r == nil || r.MaxChain == 0 {
		return nil
	}
	return &prompt.Chain{Depth: r.ChainDepth, Max: r.MaxChain}
}

// Preview is the exact prompt that a task would be sent at a moment; it spends
// and changes nothing. A zero time means now.
func (b *Bot) Preview(_ context.Context, id string, at time.Time, busy bool) (string, error) {
	now := at.In(b.zone)
	if at.IsZero() {
		now = b.now()
	}
	set := b.index.Set()
	d := routines.Due{At: now}
	if r, ok := set.RoutineByID(id); ok {
		d.Kind, d.Routine = routines.KindRoutine, r
	} else if r, ok := set.ReminderByID(id); ok {
		d.Kind, d.Reminder = routines.KindReminder, r
	} else {
		return "", fmt.Errorf(textNoTask, id)
	}
	task, _ := dueTask(d)
	if task.Background {
		return b.backgroundPrompt(d, promptMoment{now, busy, b.runtime.Load().QuietUntil(now)}), nil
	}
	return prompt.ForegroundPrompt(foreground(task, d, now, b.updates.Peek())), nil
}
