package dispatch

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/work/webhook"
)

// at returns the time of a preview.
func (d *Dispatcher) at(at time.Time) time.Time {
	if at.IsZero() {
		return d.now()
	}
	return at.In(d.o.Zone)
}

// Preview returns the exact prompt that a task would be sent at a moment. It spends and
// changes nothing itself, but like a fire runs the commands in the texts of the task's
// skills, for as long as ctx allows. A zero time means now.
func (d *Dispatcher) Preview(ctx context.Context, id string, at time.Time, busy bool) (string, error) {
	now := d.at(at)
	due, ok := d.o.Schedule.DueAt(id, now)
	if !ok {
		return "", fmt.Errorf(command.TextNoTask, id)
	}
	task := due.Task()
	if task.Says {
		return fmt.Sprintf(textSaysPreview, task.Title(), task.Check), nil
	}
	skills := d.o.Prompts.Skills.Load(task)
	if task.Background {
		return d.o.Prompts.ofTask(ctx, due, d.o.Prompts.imagined(now, busy), skills, verdict{}), nil
	}
	p := d.o.Prompts.foreground(task, due, now, d.o.Prompts.Updates.Peek())
	p.Skills = d.o.Prompts.Skills.Expand(ctx, skills)
	return prompt.ForegroundPrompt(p), nil
}

// PreviewWebhook returns the exact prompt that a payload would cause at a moment, with or
// without a conversation in progress. A zero time means now.
func (d *Dispatcher) PreviewWebhook(ctx context.Context, id string, payload []byte, at time.Time, busy bool) (string, error) {
	spec, ok := d.o.Hooks.Find(id)
	if !ok {
		return "", fmt.Errorf(textNoWebhook, id)
	}
	p, err := spec.Check(payload)
	if err != nil {
		return "", err
	}
	now := d.at(at)
	j := webhook.Job{Spec: spec, Payload: p}
	return d.o.Prompts.ofDelivery(ctx, j, d.o.Prompts.imagined(now, busy), d.o.Prompts.Skills.Load(spec.Task)), nil
}
