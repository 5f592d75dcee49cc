package chat

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// The sources of an agent's decisions, for the audit log.
const (
	fromMain = "main session"
	fromRun  = "background run"
)

// tools implements the sessions' tools. The user started the conversation, so nothing
// here counts against the ping budget. Its methods are safe for concurrent use.
type tools struct {
	dir     *store.Dir
	host    Host
	rights  *rights
	fork    *forkState
	running *running
	poster  *poster
	updates *updates.Queue
	audit   *audit.Log
	notices *notice.Board
	now     func() time.Time

	mu sync.Mutex
	// chain is the foreground reminder whose turn is running, or nil.
	chain *toolset.Chain
}

// front returns the fork that the running turn belongs to, or nil. A turn behind the fork
// belongs to the main session.
func (t *tools) front() *interactive {
	if t.running.isBehind() {
		return nil
	}
	return t.fork.current()
}

// guard returns the judge for calls of the session whose turn is running.
func (t *tools) guard() *policy.Session {
	kind := policy.Main
	if t.front() != nil {
		kind = policy.Interactive
	}
	guard, _ := t.rights.guardOf(kind, t.read())
	return guard
}

// read returns what the session whose turn is running has read.
func (t *tools) read() *policy.Taint {
	if f := t.front(); f != nil {
		return f.read
	}
	return t.rights.reading.ofMain()
}

// chainOf sets the reminder that follow_up_chain continues; nil ends it.
func (t *tools) chainOf(r *routines.Reminder) {
	c := toolset.NewChain(t.host.Reminders(policy.Writer{Kind: fromMain}), r)
	t.mu.Lock()
	t.chain = c
	t.mu.Unlock()
}

// The main session calls the same tools as every run.
var _ toolset.Caller = (*tools)(nil)

// Ping is for background runs only.
func (t *tools) Ping(context.Context, string, bool, bool) agent.ToolResult {
	return toolset.Refusal(toolset.TextPingOutside)
}

// Embed shows a card in the conversation.
func (t *tools) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := post.Post{Nonce: newNonce(), Embed: &e, Critical: critical, Label: t.read().Label()}
	if t.front() != nil {
		p.Context, e.Footer = "fork", "fork"
	}
	err := t.poster.inAnswer(func(k post.Kind) error {
		p.Kind = k
		_, err := t.poster.Post(ctx, p)
		return err
	})
	if err != nil {
		return toolset.NotSent(err)
	}
	return toolset.Said(toolset.TextEmbedSent)
}

// FollowUp continues the chain of a foreground reminder.
func (t *tools) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	t.mu.Lock()
	c := t.chain
	t.mu.Unlock()
	return c.FollowUp(ctx, minutes)
}

// Reminders returns the book for the reminder tools.
func (t *tools) Reminders() toolset.ReminderBook {
	w := t.guard().Writer()
	w.Label = t.read().LabelOf(toolset.AddReminder)
	return t.host.Reminders(w)
}

// Propose asks the user about a promise. A session that has read untrusted text must not
// propose anything, because the text could have talked it into it.
func (t *tools) Propose(_ context.Context, p toolset.Promise) agent.ToolResult {
	if t.read().Label() != "" {
		return toolset.Refusal(toolset.TextProposeLabel)
	}
	return t.host.Propose(p)
}

// Stop is refused: a conversation is no run of a routine.
func (t *tools) Stop(context.Context, toolset.Stop) agent.ToolResult {
	return toolset.Refusal(toolset.TextStopOutside)
}

// record adds a decision of the main session to the audit log.
func (t *tools) record(e audit.Entry) {
	e.Actor, e.From = audit.Agent, fromMain
	t.audit.Record(t.now(), e)
}

// SendFile shows a file in the conversation.
func (t *tools) SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult {
	guard := t.guard()
	found, problem := toolset.File(t.dir.Root(), path, func(full string) string { return guard.Send(ctx, full) })
	if problem != "" {
		return toolset.Refusal(problem)
	}
	p := post.Post{Nonce: newNonce(), Text: message, Files: []string{found}, Critical: critical, Label: t.read().Label()}
	err := t.poster.inAnswer(func(k post.Kind) error {
		p.Quiet = !t.poster.rings(k, "")
		_, err := t.poster.surface.Post(ctx, p)
		return err
	})
	if err != nil {
		return toolset.NotSent(err)
	}
	t.record(audit.Entry{Action: audit.FileSent, Subject: found, Detail: message})
	return toolset.Said(toolset.FileSent(found))
}

// UpdateNames writes the names into .env, where the next start reads them.
func (t *tools) UpdateNames(_ context.Context, user, bot string) agent.ToolResult {
	if err := config.SetNames(t.dir, user, bot); err != nil {
		return toolset.Refusal(fmt.Sprintf(toolset.TextNamesFailed, err))
	}
	t.record(audit.Entry{Action: audit.NamesChanged, Detail: "user " + user + ", bot " + bot})
	return toolset.Said(fmt.Sprintf(toolset.TextNamesSet, user, bot))
}

// Report ends a fork with a summary for the main session.
func (t *tools) Report(_ context.Context, message string) agent.ToolResult {
	f := t.front()
	if f == nil {
		return toolset.Refusal(toolset.TextReportOutside)
	}
	if err := t.updates.AppendFrom(t.now(), message, updates.Source{From: f.named}, f.read.Label().Via(nameFork)); err != nil {
		return toolset.Refusal("Error: the update was not saved: " + err.Error())
	}
	f.requestExit(command.ExitReport, message)
	t.host.Changed()
	return toolset.Said(textForkReported)
}

// SaveContext asks the user whether the fork becomes the main session. Nothing happens
// until they agree.
func (t *tools) SaveContext(context.Context) agent.ToolResult {
	f := t.front()
	switch {
	case f == nil:
		return toolset.Refusal(toolset.TextNotInFork)
	case f.resumes != "":
		return toolset.Refusal(textNoSaveResumed)
	}
	f.askToSave()
	t.notices.Add(notice.Info, textSaveQuestion)
	return toolset.Said(textSaveAsked)
}

// ExitFork leaves and discards the fork.
func (t *tools) ExitFork(context.Context) agent.ToolResult {
	f := t.front()
	if f == nil {
		return toolset.Refusal(toolset.TextNotInFork)
	}
	f.requestExit(command.ExitDiscard, "")
	return toolset.Said(textForkDiscarding)
}

// EnterFork branches off after the running turn.
func (t *tools) EnterFork(_ context.Context, topic string, idleMinutes int) agent.ToolResult {
	if !t.fork.request(cleanTopic(topic), idleMinutes) {
		return toolset.Refusal(textAlreadyIn)
	}
	r := toolset.Said(textEntering)
	r.EndTurn = true
	return r
}
