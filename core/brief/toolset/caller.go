package toolset

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/talk/post"
)

// Caller is the session the tools act for: a background run, an interactive fork, or the
// main session. Its methods must be safe for concurrent use, may block while they write
// or send, and return a text that the agent can act on.
type Caller interface {
	// Ping sends a plain text, Embed a card. Both are cleaned and within the limits. A quiet
	// text is silent and never critical.
	Ping(ctx context.Context, message string, critical, quiet bool) agent.ToolResult
	Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult
	// SendFile sends a file. The path is as given by the agent; see File.
	SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult
	// Report queues an update for the main session.
	Report(ctx context.Context, message string) agent.ToolResult
	// FollowUp schedules the next check of the running chain.
	FollowUp(ctx context.Context, minutes int) agent.ToolResult
	// SaveContext asks to make the interactive fork the main session.
	SaveContext(ctx context.Context) agent.ToolResult
	// EnterFork asks for an interactive fork; idleMinutes 0 means the configured value.
	EnterFork(ctx context.Context, topic string, idleMinutes int) agent.ToolResult
	// ExitFork asks to discard the interactive fork.
	ExitFork(ctx context.Context) agent.ToolResult
	// UpdateNames stores the names of the user and the bot.
	UpdateNames(ctx context.Context, user, bot string) agent.ToolResult
	// Propose asks the user whether they want to be reminded of a promise.
	Propose(ctx context.Context, p Promise) agent.ToolResult
	// Stop pauses or ends the routine that the session is a run of.
	Stop(ctx context.Context, s Stop) agent.ToolResult
	// Reminders returns the pending reminders.
	Reminders() ReminderBook
}

// Said is the result of a successful call.
func Said(text string) agent.ToolResult { return agent.ToolResult{Text: text} }

// Refusal is the result of a failed call; its text says what to do instead.
func Refusal(text string) agent.ToolResult { return agent.ToolResult{Text: text, IsError: true} }

// NotSent is the result if a surface did not accept a message.
func NotSent(err error) agent.ToolResult {
	switch {
	case errors.Is(err, post.ErrNoChannel):
		return Refusal(TextNoChannel)
	case errors.Is(err, post.ErrUnknown):
		return Refusal(fmt.Sprintf(textPerhaps, err))
	}
	return Refusal(fmt.Sprintf(textNotSent, err))
}
