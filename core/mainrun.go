package core

import (
	"context"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/post"
	"ollimbot/core/store"
	"ollimbot/core/toolset"
	"ollimbot/routines"
)

// mainRun is the main session as the bot's tools see it. The user started the
// conversation, so nothing here is counted against the ping budget (spec 02.1).
type mainRun struct {
	bot *Bot

	mu sync.Mutex
	// chain is the foreground reminder whose turn runs, or nil.
	chain *toolset.Chain
}

// chainOf sets the reminder that follow_up_chain continues; nil ends it.
func (m *mainRun) chainOf(r *routines.Reminder) {
	c := toolset.NewChain(reminderBook{m.bot}, r)
	m.mu.Lock()
	m.chain = c
	m.mu.Unlock()
}

// Ping is for background runs only.
func (m *mainRun) Ping(context.Context, string, bool) agent.ToolResult {
	return toolset.Refusal(toolset.TextPingOutside)
}

// Embed shows a card in the conversation.
func (m *mainRun) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := post.Post{Nonce: store.NewID() + store.NewID(), Embed: &e, Critical: critical}
	if _, err := m.bot.surface.Post(ctx, p); err != nil {
		return toolset.Refusal("Error: the embed was not sent: " + err.Error())
	}
	return toolset.Said(toolset.TextEmbedSent)
}

// Report is for forks only.
func (m *mainRun) Report(context.Context, string) agent.ToolResult {
	return toolset.Refusal(toolset.TextReportOutside)
}

// FollowUp continues the chain of a foreground reminder.
func (m *mainRun) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	m.mu.Lock()
	c := m.chain
	m.mu.Unlock()
	return c.FollowUp(ctx, minutes)
}

// Reminders is the book that the reminder tools write in.
func (m *mainRun) Reminders() toolset.ReminderBook { return reminderBook{m.bot} }
