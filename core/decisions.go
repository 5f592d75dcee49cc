package core

import (
	"cmp"
	"context"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/routines"
)

// record writes a decision into the audit log, with who asked for it as the
// context knows.
func (b *Bot) record(ctx context.Context, e audit.Entry) {
	from := audit.OriginOf(ctx)
	e.Actor, e.From = from.Actor, from.From
	b.audit.Record(b.now(), e)
}

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
		b.record(ctx, o.Decision)
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

// note is what the schedule has to tell: a pending update for the main session
// and a notice for the user (missed routines, invalid files, skipped fires).
func (b *Bot) note(text string) {
	b.audit.Record(b.now(), audit.Entry{Actor: audit.Bot, Action: audit.Noted, Detail: text})
	if err := b.leaveNote(text, nil); err != nil {
		b.log.Error("a pending update could not be saved", "error", err)
	}
}

// noteTroubles keeps the update about files that are not in force up to date: one
// that has been mended before anybody was told is no longer told of.
func (b *Bot) noteTroubles(kind routines.Kind, words func(unread bool) string) {
	if text := words(false); text != "" {
		b.notices.Add(notice.Warn, text)
	}
	if err := b.updates.Replace(b.now(), string(kind)+" files", words); err != nil {
		b.log.Error("a pending update about files could not be saved", "error", err)
	}
	b.notify()
}

// leaveNote is note for whoever tries again after an error or a crash. What was said
// before and is not delivered yet is not said twice; kept, which may be nil, is
// called when it is on the disk and before a turn can take it.
func (b *Bot) leaveNote(text string, kept func()) error {
	b.notices.Add(notice.Warn, text)
	defer b.notify()
	return b.updates.AppendOnce(b.now(), text, kept)
}
