package core

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/fork"
	"ollimbot/core/prompt"
	"ollimbot/core/skill"
	"ollimbot/core/store"
	"ollimbot/core/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// fire runs one due task to its end: in the background as a fork, in the
// foreground as a turn of the main session. The loop calls it in a goroutine
// of its own.
func (b *Bot) fire(ctx context.Context, d schedule.Due) error {
	task := d.Task()
	b.log.Info("task fires", "kind", string(d.Kind), "id", task.ID, "title", task.Title(), "late", d.Late)
	if !task.Background {
		return b.fireForeground(ctx, task, d)
	}
	skills := b.loadSkills(task)
	rights := b.guard.Bound(task, skills)
	job := fork.Job{
		Task: task, Reminder: d.Reminder, At: d.At, Late: d.Late,
		Allowed: rights.Allowed, Disallowed: rights.Disallowed, Trusted: b.guard.Trusted(task),
		Prompt: func(ctx context.Context) string { return b.backgroundPrompt(ctx, d, b.moment(), skills) },
	}
	_, err := b.forks.Do(ctx, job)
	return err
}

// fireForeground waits for the agent lock, like any message. The commands of
// its skills run before that: they must not keep the conversation waiting.
func (b *Bot) fireForeground(ctx context.Context, task routines.Task, d schedule.Due) error {
	skills := b.expandSkills(ctx, b.loadSkills(task))
	build := func(now time.Time, u []updates.Update) string {
		p := foreground(task, d, now, u)
		p.Skills = skills
		return prompt.ForegroundPrompt(p)
	}
	if err := b.main.send(ctx, build, d); err != nil {
		if ctx.Err() == nil {
			b.notice(Alert, fmt.Sprintf(textForegroundFailed, task.Title(), err))
		}
		if store.Full(err) {
			err = fmt.Errorf("%w: %w", routines.ErrUnrecorded, err)
		}
		return err
	}
	return nil
}

func foreground(task routines.Task, d schedule.Due, now time.Time, u []updates.Update) prompt.Foreground {
	return prompt.Foreground{Now: now, Task: task, Late: lateSince(d), Chain: chainOf(d.Reminder), Updates: u}
}

// promptMoment is the state that a preamble tells: read when the run starts.
type promptMoment struct {
	now   time.Time
	busy  bool
	quiet time.Time
}

func (b *Bot) moment() promptMoment {
	busy, quiet := b.busy()
	return promptMoment{b.now(), busy, quiet}
}

// backgroundPrompt is the exact text that a background run is sent. It blocks
// while the commands of the skills run.
func (b *Bot) backgroundPrompt(ctx context.Context, d schedule.Due, m promptMoment, skills []skill.Skill) string {
	task := d.Task()
	p := b.background(ctx, task, m, skills)
	p.Late, p.Chain = lateSince(d), chainOf(d.Reminder)
	return prompt.BackgroundPrompt(p)
}

// background is what every background run is told, whatever has started it. It
// blocks while the commands of the skills run.
func (b *Bot) background(ctx context.Context, task routines.Task, m promptMoment, skills []skill.Skill) prompt.Background {
	texts := b.expandSkills(ctx, skills)
	state, _ := b.budget.State(m.now)
	rights := b.guard.Bound(task, skills)
	p := prompt.Background{
		Now: m.now, Task: task, Busy: m.busy, QuietUntil: m.quiet,
		Budget: state, Forward: b.schedule.Forward(m.now, task.ID), Google: b.about().Google,
		Allowed: rights.Allowed, Disallowed: rights.Disallowed, Skills: texts,
	}
	if !task.Isolated {
		p.Updates = b.updates.Peek()
	}
	return p
}

func lateSince(d schedule.Due) time.Time {
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

// previewMoment is the moment that a preview is for.
func (b *Bot) previewMoment(at time.Time) time.Time {
	if at.IsZero() {
		return b.now()
	}
	return at.In(b.zone)
}

// Preview is the exact prompt that a task would be sent at a moment; it spends
// and changes nothing itself, but runs the commands in the texts of the task's
// skills, as a fire would, for as long as ctx allows. A zero time means now.
func (b *Bot) Preview(ctx context.Context, id string, at time.Time, busy bool) (string, error) {
	now := b.previewMoment(at)
	d, ok := b.schedule.DueAt(id, now)
	if !ok {
		return "", fmt.Errorf(textNoTask, id)
	}
	task := d.Task()
	skills := b.loadSkills(task)
	if task.Background {
		return b.backgroundPrompt(ctx, d, promptMoment{now, busy, b.quietUntil(now)}, skills), nil
	}
	p := foreground(task, d, now, b.updates.Peek())
	p.Skills = b.expandSkills(ctx, skills)
	return prompt.ForegroundPrompt(p), nil
}
