package core

import (
	"cmp"
	"context"
	"math"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/live"
	"ollimbot/core/storage/logs"
	"ollimbot/core/talk/attention"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/tasks"
)

// host is what the conversation and the background runs share of the program. The tasks
// are set once the schedule exists.
type host struct {
	settings *live.Settings
	manual   *manual
	tasks    *tasks.Editor
}

// SystemPrompt is added to the engine's own prompt in every session.
func (h *host) SystemPrompt() string { return h.manual.systemPrompt() }

// BriefPrompt takes its place for a model that has little room.
func (h *host) BriefPrompt() string { return h.manual.briefPrompt() }

// Profile is the user's part of both.
func (h *host) Profile() prompt.Profile { return guide.Profile(h.manual.dir) }

// Reminders returns the book that a session's reminder tools write to.
func (h *host) Reminders(w policy.Writer) toolset.ReminderBook { return h.tasks.Book(w) }

// chatHost is the program as seen by the conversation.
type chatHost struct {
	*host
	book    *logs.Sink
	changed func()
	propose func(toolset.Promise) agent.ToolResult
}

var _ chat.Host = chatHost{}

// Config returns the current settings.
func (h chatHost) Config() *config.Runtime { return h.settings.Load() }

// Propose asks the user about a promise.
func (h chatHost) Propose(p toolset.Promise) agent.ToolResult { return h.propose(p) }

// Hide removes secrets from a text.
func (h chatHost) Hide(text string) string { return h.book.Redact(text) }

// Changed wakes the viewers.
func (h chatHost) Changed() { h.changed() }

// runHost is the program as seen by background runs.
type runHost struct {
	*host
	chat      *chat.Conversation
	attention *attention.Attention
}

var _ fork.Host = runHost{}

// Post sends a message to the user.
func (h runHost) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	return h.chat.Post(ctx, p)
}

// Busy reports whether a conversation is in progress, and until when pings are refused.
func (h runHost) Busy() (bool, time.Time) { return h.attention.Busy() }

// Muted returns until when the user has muted pings.
func (h runHost) Muted() time.Time { return h.attention.Mute.At(time.Now().In(h.attention.Zone)) }

// Stop pauses or ends a routine for one of its own runs.
func (h runHost) Stop(by policy.Writer, routine string, s toolset.Stop) (toolset.Stopped, error) {
	return h.tasks.Stop(by, routine, s)
}

// Limits returns the current limits. It is called whenever a run starts.
func (h runHost) Limits() fork.Limits {
	r := h.settings.Load()
	return fork.Limits{
		MaxRunning: r.MaxBackgroundForks, Timeout: r.BgForkTimeout, Model: cmp.Or(r.ModelFork, r.ModelMain),
		Thinking: r.ForkThinking(r.ThinkingMain), Alone: r.ThinkingFork, TurnCap: max(r.TurnCap, math.SmallestNonzeroFloat64),
		QuietMessages: r.QuietMessages,
	}
}
