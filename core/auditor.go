package core

import (
	"cmp"
	"context"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
)

// auditor writes the bot's entries in the audit log.
type auditor struct {
	audit *audit.Log
	zone  *time.Location
}

func (a auditor) now() time.Time { return time.Now().In(a.zone) }

// audited records the agent's runs of the program's own commands.
func (a auditor) audited(run policy.Runner) policy.Runner {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, by *policy.Session, args []string) agent.CommandResult {
		a.audit.Record(a.now(), audit.Entry{
			Actor: audit.Agent, From: by.Scope().Session, Action: audit.CommandRun, Detail: strings.Join(args, " "),
		})
		return run(ctx, by, args)
	}
}

// command records a command that changed something. Slash commands record their changes
// themselves.
func (a auditor) command(ctx context.Context, o command.Outcome) {
	if o.Decision.Action != "" {
		o.Decision.Detail = cmp.Or(o.Decision.Detail, o.Message)
		a.audit.RecordBy(ctx, a.now(), o.Decision)
	}
}

// ended records that the approval of a file has ended.
func (a auditor) ended(file string) {
	a.audit.Record(a.now(), audit.Entry{Actor: audit.Bot, Action: audit.ApprovalEnded, Subject: file})
}

// approval records that a tool call is pending, or how it was answered. It is called
// before the tool may run.
func (a auditor) approval(call policy.Approval) {
	label := call.Question
	if call.Text != "" {
		label += "\n" + call.Text
	}
	if call.Verdict == "" {
		a.audit.Record(a.now(), audit.Entry{
			Actor: audit.Agent, From: call.Session, Action: audit.ApprovalAsked, Subject: call.Tool, Detail: label, Digest: call.Digest,
		})
		return
	}
	e := audit.Entry{
		Actor: call.By.Actor, From: call.By.From, Action: audit.ApprovalAnswered,
		Subject: call.Tool, Detail: string(call.Verdict) + ": " + label, Digest: call.Digest,
	}
	a.audit.Record(a.now(), e)
	if call.Verdict == policy.Always {
		e.Action, e.Detail = audit.ToolAlways, call.Grant()+" until the bot ends: "+label
		a.audit.Record(a.now(), e)
	}
}
