package core

import (
	"context"
	"log/slog"
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
	// Suggest lists what could be chosen for a field of a command, given what is typed so
	// far, the best first. It waits for nothing.
	Suggest(command, option, typed string) []string
	// Snapshot describes the bot now.
	Snapshot() Snapshot
}

// surface is the remote surface, or the chat pane where there is none.
type surface struct {
	remote Remote // nil without one
	none   string // why there is none, and how to get one
	log    *slog.Logger
}

// status says where the bot's messages go.
func (s surface) status() SurfaceStatus {
	if s.remote == nil {
		return SurfaceStatus{Name: ChatHere, State: s.none, OK: true}
	}
	return s.remote.Status()
}

// run keeps the remote surface connected. The bot works without it; the dashboard says why.
func (s surface) run(ctx context.Context, bot Intake) error {
	if s.remote == nil {
		return nil
	}
	ctx = audit.With(ctx, audit.User, s.remote.Status().Name)
	if err := s.remote.Run(ctx, bot); err != nil && ctx.Err() == nil {
		s.log.Error("the connection to the user has stopped; the dashboard keeps running", "surface", s.remote.Status().Name, "error", err)
	}
	return nil
}

// small says something where the user is away from the dashboard.
func (s surface) small(text string) {
	if s.remote != nil {
		s.remote.Small(text)
	}
}

// approval shows a tool call that waits, or how it was answered.
func (s surface) approval(a policy.Approval) {
	if s.remote != nil {
		s.remote.Approval(a)
	}
}

// farewell says goodbye where the user is.
func (s surface) farewell(ctx context.Context) {
	if s.remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	s.remote.Farewell(ctx)
}
