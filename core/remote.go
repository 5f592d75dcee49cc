package core

import (
	"context"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/core/post"
)

// Remote is a surface that reaches the user away from the dashboard, such as
// Discord. The dashboard shows the same conversation beside it. Its methods may
// be called concurrently.
type Remote interface {
	Surface
	// Run connects and hands what the user does to the bot until ctx ends. It
	// returns nil then, and an error when it cannot go on at all; the bot goes on
	// without it. Posting works before, while and after Run, as far as the network
	// does.
	Run(ctx context.Context, bot Intake) error
	// Answer begins an answer that grows on the screen of the user.
	Answer() RemoteAnswer
	// Small shows a short notice of the program, in order with everything else.
	// It never blocks; a notice that cannot be delivered is dropped.
	Small(text string)
	// Approval shows a tool call that waits for the user, or how it was settled.
	// It never blocks.
	Approval(a policy.Approval)
	// Farewell says goodbye; it respects ctx.
	Farewell(ctx context.Context)
	// Status is how the connection stands; onChange is called after it changed.
	Status() SurfaceStatus
	OnChange(onChange func())
}

// RemoteAnswer is an answer on its way. No method blocks: a network that is slow
// or gone must never hold up a turn.
type RemoteAnswer interface {
	// Append adds text; Rewind takes the last n bytes of it back.
	Append(delta string)
	Rewind(n int)
	// Tool adds the label of a tool that was called, or that was refused.
	Tool(label string, denied bool)
	// Status shows what the bot does while it says nothing: "Thinking".
	Status(label string)
	// Compacting shows that the history is made shorter.
	Compacting(ev agent.Compacting)
	// End finishes the answer: what is not shown yet follows as soon as the network
	// allows. shown is called once, with the ids of the messages, when everything
	// is there or was given up. An answer that is empty leaves nothing behind, or
	// says so where it should not be.
	End(emptyIsFine bool, shown func(ids []post.MessageID))
}

// Intake is what a remote surface needs of the bot. *Bot is one.
type Intake interface {
	// Do carries out what the user asked for.
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
	// LastHeard is the key of the newest message that was taken from a surface
	// (Hear.Key), or empty: what came later has not been heard.
	LastHeard(from string) string
	// Busy says whether a turn is under way, and until when pings are muted; the
	// zero time is not at all.
	Busy() (busy bool, muted time.Time)
}
