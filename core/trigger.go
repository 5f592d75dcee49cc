package core

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/webhook"
)

const (
	// screenWithin is how long the small model may take over a payload.
	screenWithin = time.Minute
	screenModel  = "haiku"
)

// makeWebhooks builds the server that takes triggers from outside, where a port
// was set for it. Without a secret nobody could be told from anybody: then it
// stays off, and the bot goes on.
func (b *Bot) makeWebhooks() {
	b.hooks = webhook.NewIndex(b.dir)
	b.hooks.JudgeBy(b.guard.TaskWaits)
	b.hooks.Scan()
	env := b.o.Env
	if env.WebhookPort == 0 {
		return
	}
	s, err := webhook.New(webhook.Options{
		Dir: b.dir, Index: b.hooks, Secret: env.WebhookSecret, Zone: b.zone, Log: b.log,
		Addr:   net.JoinHostPort("127.0.0.1", strconv.Itoa(env.WebhookPort)),
		Screen: b.screen, Afford: b.afford, Run: b.fireWebhook, Note: b.notes.Leave, Changed: b.notify,
		Notice: func(text string) { b.notices.Add(notice.Warn, text) },
	})
	if err != nil {
		b.hooksOff = err.Error()
		return
	}
	b.triggers = s
}

// runWebhooks serves triggers until ctx ends. Where it cannot, the bot goes on.
func (b *Bot) runWebhooks(ctx context.Context) error {
	if b.hooksOff != "" {
		b.log.Error("webhooks are off", "error", b.hooksOff)
	}
	if b.triggers == nil {
		return nil
	}
	if err := b.triggers.Run(ctx); err != nil && ctx.Err() == nil {
		b.log.Error("webhooks are off", "error", err)
	}
	return nil
}

// fireWebhook runs a delivery in the background, to its end.
func (b *Bot) fireWebhook(ctx context.Context, j webhook.Job) error {
	task := j.Spec.Task
	defer b.settle(j.Ticket)
	b.log.Info("webhook fires", "id", task.ID, "delivery", j.Delivery.ID)
	if why := b.guard.TaskWaits(&task); why != "" { // it was changed while the delivery waited
		return fmt.Errorf(textWebhookWaits, task.ID, why)
	}
	skills := b.loadSkills(task)
	rights := b.guard.Bound(task, skills)
	_, err := b.forks.Do(ctx, fork.Job{
		Task: task, At: j.Delivery.At, Allowed: rights.Allowed, Disallowed: rights.Disallowed,
		Tainted: policy.TaintWebhook, Trusted: b.guard.Trusted(task), Ticket: money.Ticket(j.Ticket),
		Prompt: func(ctx context.Context) string { return b.webhookPrompt(ctx, j, b.moment(), skills) },
	})
	return err
}

// webhookPrompt is the exact text that a delivery's run is sent.
func (b *Bot) webhookPrompt(ctx context.Context, j webhook.Job, m promptMoment, skills []skill.Skill) string {
	p := b.background(ctx, j.Spec.Task, m, skills)
	if !b.guard.Trusted(j.Spec.Task) {
		p.Allowed, p.Disallowed = policy.Quiet(p.Allowed, p.Disallowed)
	}
	return prompt.WebhookPrompt(p, j.Payload.Data)
}

// screen asks the small model, alone and without a tool, whether texts from
// outside try to instruct whoever reads them. What it does not answer clearly
// is an error, and holds the delivery.
func (b *Bot) screen(ctx context.Context, fields map[string]string) (safe bool, flagged []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, screenWithin)
	defer cancel()
	s, err := b.o.Engine.Open(ctx, agent.SessionOptions{
		Dir: b.dir.Root(), Bare: true, SystemPrompt: webhook.ScreenSystem,
		Settings: agent.Settings{Model: screenModel, Thinking: "off", Mode: "default"},
		Hooks: agent.Hooks{PreTool: func(context.Context, agent.ToolUse) agent.Decision {
			return agent.Decision{Reason: textScreenNoTools}
		}},
	})
	if err != nil {
		return false, nil, fmt.Errorf("screen a payload: %w", err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.log.Warn("session did not close cleanly", "error", err)
		}
	}()
	var text string
	for ev, err := range s.Send(ctx, agent.Message{Text: webhook.ScreenPrompt(fields)}) {
		if err != nil {
			return false, nil, fmt.Errorf("screen a payload: %w", err)
		}
		switch ev := ev.(type) {
		case agent.Text:
			text += ev.Delta
		case agent.Rewind:
			text = text[:max(0, len(text)-ev.Bytes)]
		case agent.Result:
			b.spent(screenModel, ev.Usage)
			if ev.IsError || ev.Interrupted {
				return false, nil, fmt.Errorf("screen a payload: %s", ev.Text)
			}
		}
	}
	return webhook.ParseVerdict(text)
}

// PreviewWebhook is the exact prompt that a payload would cause at a moment, with a
// conversation under way or without. A zero time means now.
func (b *Bot) PreviewWebhook(ctx context.Context, id string, payload []byte, at time.Time, busy bool) (string, error) {
	spec, ok := b.hooks.Find(id)
	if !ok {
		return "", fmt.Errorf(textNoWebhook, id)
	}
	p, err := spec.Check(payload)
	if err != nil {
		return "", err
	}
	now := b.previewMoment(at)
	j := webhook.Job{Spec: spec, Payload: p}
	return b.webhookPrompt(ctx, j, promptMoment{now, busy, b.attention.QuietUntil(now)}, b.loadSkills(spec.Task)), nil
}
