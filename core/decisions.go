package core

import (
	"cmp"
	"context"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
)

// audited writes down the commands that the agent has the bot run.
func (b *Bot) audited(run policy.Runner) policy.Runner {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, by *policy.Session, args []string) agent.CommandResult {
		b.audit.Record(b.now(), audit.Entry{
			Actor: audit.Agent, From: by.Scope().Session, Action: audit.CommandRun, Detail: strings.Join(args, " "),
		})
		return run(ctx, by, args)
	}
}

// recordCommand writes down a command that was carried out, where it has changed
// what the bot does. Slash commands record what they change themselves.
func (b *Bot) recordCommand(ctx context.Context, o command.Outcome) {
	if o.Decision.Action != "" {
		o.Decision.Detail = cmp.Or(o.Decision.Detail, o.Message)
		b.audit.RecordBy(ctx, b.now(), o.Decision)
	}
}

// recordApproval writes down that a tool call waits, or how it was settled. The
// desk calls it before the tool may run.
func (b *Bot) recordApproval(a policy.Approval) {
	label := a.Label
	if a.Text != "" && a.Text != a.Label {
		label += "\n" + a.Text
	}
	if a.Verdict == "" {
		b.audit.Record(b.now(), audit.Entry{
			Actor: audit.Agent, From: a.Session, Action: audit.ApprovalAsked, Subject: a.Tool, Detail: label,
		})
		return
	}
	e := audit.Entry{
		Actor: a.By.Actor, From: a.By.From, Action: audit.ApprovalAnswered, Subject: a.Tool, Detail: string(a.Verdict) + ": " + label,
	}
	b.audit.Record(b.now(), e)
	if a.Verdict == policy.Always {
		e.Action, e.Detail = audit.ToolAlways, "until the bot ends"
		b.audit.Record(b.now(), e)
	}
}
