package core

import (
	"context"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
)

// Remote is a surface that reaches the user away from the dashboard, such as
// Discord. The dashboard shows the same conversation beside it. Its methods may
// be called concurrently.
type Remote interface {
	chat.Remote
	// Run connects and hands what the user does to the bot until ctx ends. It
	// returns nil then, and an error when it cannot go on at all; the bot goes on
	// without it. Posting works before, while and after Run, as far as the network
	// does.
	Run(ctx context.Context, bot Intake) error
	// Approval shows a tool call that waits for the user, or how it was settled.
	// It never blocks.
	Approval(a policy.Approval)
	// Farewell says goodbye; it respects ctx.
	Farewell(ctx context.Context)
	// Status is how the connection stands; onChange is called after it changed.
	Status() SurfaceStatus
	OnChange(onChange func())
}

// Intake is what a remote surface needs of the bot. *Bot is one.
type Intake interface {
	// Do carries out what the user asked for.
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
	// LastReceived is the key of the newest message that was taken from a surface
	// (Receive.Key), or empty: what came later has not been received.
	LastReceived(from string) string
	// Busy says whether a turn is under way, and until when pings are muted; the
	// zero time is not at all.
	Busy() (busy bool, muted time.Time)
}

// surfaceStatus says where the bot's words go.
func (b *Bot) surfaceStatus() SurfaceStatus {
	if b.o.Remote != nil {
		return b.o.Remote.Status()
	}
	return SurfaceStatus{Name: textChatHere, State: b.o.NoRemote, OK: true}
}

// runRemote keeps the remote surface connected. Where it cannot go on, the bot
// does: the dashboard says why.
func (b *Bot) runRemote(ctx context.Context) error {
	if b.o.Remote == nil {
		return nil
	}
	ctx = audit.With(ctx, audit.User, b.o.Remote.Status().Name)
	if err := b.o.Remote.Run(ctx, b); err != nil && ctx.Err() == nil {
		b.log.Error("the connection to the user has stopped; the dashboard goes on", "surface", b.o.Remote.Status().Name, "error", err)
	}
	return nil
}

// farewell says goodbye where the user is.
func (b *Bot) farewell(ctx context.Context) {
	if b.o.Remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	b.o.Remote.Farewell(ctx)
}
