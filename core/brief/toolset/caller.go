package toolset

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/talk/post"
)

// Caller is what the tools act on: one background run, an interactive fork, or the
// main session. Methods may be called concurrently, block while they write or send,
// and answer with a text that the agent can act on.
type Caller interface {
	// Ping sends a plain text, Embed a card. Both are cleaned and within limits.
	Ping(ctx context.Context, message string, critical bool) agent.ToolResult
	Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult
	// SendFile sends a file. The path is as the agent wrote it: see File.
	SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult
	// Report passes an update to the main session.
	Report(ctx context.Context, message string) agent.ToolResult
	// FollowUp schedules the next check of the running chain.
	FollowUp(ctx context.Context, minutes int) agent.ToolResult
	// SaveContext asks to make the interactive fork the main session.
	SaveContext(ctx context.Context) agent.ToolResult
	// EnterFork asks for an interactive fork; idleMinutes 0 means as configured.
	EnterFork(ctx context.Context, topic string, idleMinutes int) agent.ToolResult
	// ExitFork asks to discard the interactive fork.
	ExitFork(ctx context.Context) agent.ToolResult
	// UpdateNames stores how the user and the bot are called.
	UpdateNames(ctx context.Context, user, bot string) agent.ToolResult
	// Reminders is the book that the reminder tools write in.
	Reminders() ReminderBook
}

// Said is the answer of a call that worked.
func Said(text string) agent.ToolResult { return agent.ToolResult{Text: text} }

// Refusal is the answer of a call that did not: its text says what to do instead.
func Refusal(text string) agent.ToolResult { return agent.ToolResult{Text: text, IsError: true} }

// NotSent is the answer where a surface did not take a message.
func NotSent(err error) agent.ToolResult {
	switch {
	case errors.Is(err, post.ErrNoChannel):
		return Refusal(TextNoChannel)
	case errors.Is(err, post.ErrUnknown):
		return Refusal(fmt.Sprintf(textPerhaps, err))
	}
	return Refusal(fmt.Sprintf(textNotSent, err))
}
