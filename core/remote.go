package core

import (
	"context"
	"log/slog"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
)

// Remote is a surface that reaches the user away from the dashboard, such as Discord. The
// dashboard shows the same conversation. Its methods must be safe for concurrent use.
type Remote interface {
	chat.Remote
	// Run connects and passes the user's input to the bot until ctx ends, and then returns
	// nil. It returns an error if it cannot continue; the bot continues without it. Posting
	// works before, during and after Run, as far as the network allows.
	Run(ctx context.Context, bot Intake) error
	// Approval shows a pending tool call, or how it was settled. It never blocks.
	Approval(a policy.Approval)
	// Farewell says goodbye. It respects ctx.
	Farewell(ctx context.Context)
	// Status returns the state of the connection. onChange is called after it changes.
	Status() SurfaceStatus
	OnChange(onChange func())
}

// Intake is what a remote surface needs of the bot. *Bot implements it.
type Intake interface {
	// Do carries out the user's command.
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
	// LastReceived returns the key of the newest message received from a surface
	// (Receive.Key), or "". Later messages have not been received.
	LastReceived(from string) string
	// Suggest lists possible values for a field of a command, given the text typed so far,
	// best first. It never blocks.
	Suggest(command, option, typed string) []string
	// Snapshot describes the bot now.
	Snapshot() Snapshot
}

// surface is the remote surface, or the chat pane if there is none.
type surface struct {
	remote Remote // may be nil
	none   string // why there is none, and how to set one up
	log    *slog.Logger
}

// status describes where the bot's messages go.
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

// small sends a short message about what the user has just done, away from the dashboard.
func (s surface) small(text string) {
	if s.remote != nil {
		s.remote.Small(text, post.KindAside.Rings(post.Moment{}))
	}
}

// approval shows a pending tool call, or how it was answered.
func (s surface) approval(a policy.Approval) {
	if s.remote != nil {
		s.remote.Approval(a)
	}
}

// farewell says goodbye on the remote surface.
func (s surface) farewell(ctx context.Context) {
	if s.remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	s.remote.Farewell(ctx)
}
