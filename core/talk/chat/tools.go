package chat

import (
	"context"
	"fmt"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// Where the decisions of an agent come from, for the audit log.
const (
	fromMain = "main session"
	fromRun  = "background run"
)

// mainRun is the main session as the bot's tools see it. The user started the
// conversation, so nothing here is counted against the ping budget.
type mainRun struct {
	c *Conversation

	mu sync.Mutex
	// chain is the foreground reminder whose turn runs, or nil.
	chain *toolset.Chain
}

// chainOf sets the reminder that follow_up_chain continues; nil ends it.
func (m *mainRun) chainOf(r *routines.Reminder) {
	c := toolset.NewChain(m.c.o.Reminders(policy.Writer{Kind: fromMain}), r)
	m.mu.Lock()
	m.chain = c
	m.mu.Unlock()
}

// The main session calls the same tools as every run.
var _ toolset.Caller = (*mainRun)(nil)

// Ping is for background runs only.
func (m *mainRun) Ping(context.Context, string, bool) agent.ToolResult {
	return toolset.Refusal(toolset.TextPingOutside)
}

// Embed shows a card in the conversation.
func (m *mainRun) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := post.Post{Nonce: store.NewID() + store.NewID(), Embed: &e, Critical: critical}
	if m.inFork() != nil {
		p.Context, e.Footer = "fork", "fork"
	}
	if _, err := m.c.Post(ctx, p); err != nil {
		return toolset.NotSent(err)
	}
	return toolset.Said(toolset.TextEmbedSent)
}

// FollowUp continues the chain of a foreground reminder.
func (m *mainRun) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	m.mu.Lock()
	c := m.chain
	m.mu.Unlock()
	return c.FollowUp(ctx, minutes)
}

// Reminders is the book that the reminder tools write in.
func (m *mainRun) Reminders() toolset.ReminderBook {
	guard, _ := m.c.Guard(m.c.kind())
	return m.c.o.Reminders(guard.Writer())
}

// record writes a decision of the main session into the audit log.
func (m *mainRun) record(e audit.Entry) {
	e.Actor, e.From = audit.Agent, fromMain
	m.c.o.Audit.Record(m.c.now(), e)
}

// SendFile shows a file in the conversation.
func (m *mainRun) SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult {
	guard, _ := m.c.Guard(m.c.kind())
	found, problem := toolset.File(m.c.o.Dir.Root(), path, func(full string) string { return guard.Send(ctx, full) })
	if problem != "" {
		return toolset.Refusal(problem)
	}
	p := post.Post{Nonce: store.NewID() + store.NewID(), Text: message, Files: []string{found}, Critical: critical}
	if _, err := m.c.surface.Post(ctx, p); err != nil {
		return toolset.NotSent(err)
	}
	m.record(audit.Entry{Action: audit.FileSent, Subject: found, Detail: message})
	return toolset.Said(toolset.FileSent(found))
}

// UpdateNames writes the names into .env, where the next start reads them.
func (m *mainRun) UpdateNames(_ context.Context, user, bot string) agent.ToolResult {
	if err := config.SetNames(m.c.o.Dir, user, bot); err != nil {
		return toolset.Refusal(fmt.Sprintf(toolset.TextNamesFailed, err))
	}
	m.record(audit.Entry{Action: audit.NamesChanged, Detail: "user " + user + ", bot " + bot})
	return toolset.Said(fmt.Sprintf(toolset.TextNamesSet, user, bot))
}

// inFork is the interactive fork that the calls come from, or nil.
func (m *mainRun) inFork() *interactive { return m.c.front() }

// Report ends a fork with a summary for the main session.
func (m *mainRun) Report(_ context.Context, message string) agent.ToolResult {
	f := m.inFork()
	if f == nil {
		return toolset.Refusal(toolset.TextReportOutside)
	}
	if err := m.c.o.Updates.Append(m.c.now(), message); err != nil {
		return toolset.Refusal("Error: the update was not saved: " + err.Error())
	}
	m.c.requestExit(command.ExitReport, message)
	m.c.o.Changed()
	return toolset.Said(textForkReported)
}

// SaveContext asks the user whether the fork becomes the main session: nothing
// happens until they say so.
func (m *mainRun) SaveContext(context.Context) agent.ToolResult {
	f := m.inFork()
	switch {
	case f == nil:
		return toolset.Refusal(toolset.TextNotInFork)
	case f.resumes != "":
		return toolset.Refusal(textNoSaveResumed)
	}
	m.c.mu.Lock()
	f.saveAsked = true
	m.c.mu.Unlock()
	m.c.o.Notices.Add(notice.Info, textSaveQuestion)
	return toolset.Said(textSaveAsked)
}

// ExitFork leaves the fork; nothing of it is kept.
func (m *mainRun) ExitFork(context.Context) agent.ToolResult {
	if !m.c.requestExit(command.ExitDiscard, "") {
		return toolset.Refusal(toolset.TextNotInFork)
	}
	return toolset.Said(textForkDiscarding)
}

// EnterFork branches off when the running turn has ended.
func (m *mainRun) EnterFork(_ context.Context, topic string, idleMinutes int) agent.ToolResult {
	if !m.c.requestFork(cleanTopic(topic), idleMinutes) {
		return toolset.Refusal(textAlreadyIn)
	}
	r := toolset.Said(textEntering)
	r.EndTurn = true
	return r
}
