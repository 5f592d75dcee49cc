// Package callback calls a session's callbacks: the bot's hooks, its permission callback and its
// tools. Engines use it. A call is refused if anything goes wrong. It must not know how a model is
// reached.
package callback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

const (
	// Patience is the time limit of the Stop and PreTool hooks.
	Patience = 55 * time.Second
	// PostPatience is the time limit of the PostTool hook.
	PostPatience = 25 * time.Second
)

// Reasons why a callback gave no answer. A cancelled callback is not logged.
var (
	errSlow      = errors.New("the callback took too long")
	errEnded     = errors.New("the session has ended")
	errCancelled = errors.New("the request was cancelled")
)

// Texts for the model when a call was refused.
const (
	AnswerGarbled   = "This call was refused: its input could not be read."
	answerCancelled = "This call was refused: the turn was interrupted."
	AnswerFault     = "This call was refused: the check before it failed."
	AnswerSlow      = "This call was refused: the check before it took too long. Continue without it."
	AnswerOther     = "This call was refused: it is not the one that was approved. Make it again."
	AnswerNobody    = "This call was refused: no one is here to give permission."
	answerNoReason  = "This call was refused."
	textNotChecked  = "the turn's cost could not be checked, so it was ended"
	answerToolFault = "Error: %s failed inside the bot; its effects are unknown."
)

// Host makes the callbacks of one session. Use New.
type Host struct {
	log *slog.Logger
	o   agent.SessionOptions

	// life is cancelled by Close, which then waits for running.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// New returns a session's host. Call Close at the end.
func New(o agent.SessionOptions, log *slog.Logger) *Host {
	h := &Host{log: log, o: o}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// Close cancels running callbacks and waits until every hook and tool has returned, so they must
// not close their own session. It is idempotent.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.running.Wait()
}

// Ended reports whether Close was called.
func (h *Host) Ended() bool { return h.life.Err() != nil }

// enter registers a call that Close waits for. It returns false after Close.
func (h *Host) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.running.Add(1)
	}
	return !h.closed
}

// Stop lets the run object to the end of its turn, once: a turn that continues because of
// an objection (again) may end.
func (h *Host) Stop(ctx context.Context, again bool) (objection string) {
	if h.o.Hooks.Stop == nil {
		return ""
	}
	reason, err := within(ctx, h, Patience, func(ctx context.Context) string { return h.o.Hooks.Stop(ctx, again) })
	if err != nil {
		h.failed("stop hook did not answer", err)
		return ""
	}
	if again {
		return ""
	}
	return reason
}

// PreTool asks the run's guard. Any error is a denial.
func (h *Host) PreTool(ctx context.Context, u agent.ToolUse) agent.Decision {
	if h.o.Hooks.PreTool == nil {
		return u.Allowed()
	}
	d, err := within(ctx, h, Patience, func(ctx context.Context) agent.Decision { return h.o.Hooks.PreTool(ctx, u) })
	switch {
	case errors.Is(err, errSlow):
		h.failed("hook before a call did not answer", err)
		return refusal(AnswerSlow)
	case errors.Is(err, errCancelled), errors.Is(err, errEnded):
		return refusal(answerCancelled)
	case err != nil:
		h.failed("hook before a call did not answer", err)
		return refusal(AnswerFault)
	case d.Allow:
		return h.exactly(u, d)
	}
	return refusal(cmp.Or(d.Reason, answerNoReason))
}

// exactly returns the decision that allows a call, or a refusal if another call was judged.
func (h *Host) exactly(u agent.ToolUse, d agent.Decision) agent.Decision {
	if _, ok := agent.Approve(u, d); !ok {
		h.log.Error("another call was approved than the one that would run", "tool", clean.Cut(clean.Line(u.Name), 80))
		return refusal(AnswerOther)
	}
	return d
}

// PostTool reports a successful call to the run.
func (h *Host) PostTool(ctx context.Context, u agent.ToolUse) {
	if h.o.Hooks.PostTool == nil {
		return
	}
	_, err := within(ctx, h, PostPatience, func(ctx context.Context) struct{} {
		h.o.Hooks.PostTool(ctx, u)
		return struct{}{}
	})
	if err != nil {
		h.failed("hook after a call did not answer", err)
	}
}

// Permission asks the run whether a call may be made. It blocks while the user decides.
func (h *Host) Permission(ctx context.Context, u agent.ToolUse) agent.Decision {
	if h.o.Permission == nil {
		return refusal(AnswerNobody)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	var d agent.Decision
	if err := fault.Guard("a permission", func() error { d = h.o.Permission(ctx, u); return nil })(); err != nil {
		h.log.Error("permission callback failed", "tool", clean.Cut(clean.Line(u.Name), 80), "fault", err, "stack", fault.Stack(err))
		return refusal(AnswerFault)
	}
	switch {
	case ctx.Err() != nil || h.Ended(): // whatever the decision
		return refusal(answerCancelled)
	case d.Allow:
		return h.exactly(u, d)
	}
	return refusal(cmp.Or(d.Reason, answerNoReason))
}

// Afford asks the run whether a turn may continue. It blocks while the user decides; an internal
// error ends the turn.
func (h *Host) Afford(ctx context.Context, s agent.Spending) (allowed float64, stop string) {
	if h.o.Hooks.Afford == nil || s.Used.Tokens() == 0 {
		return s.Allowed, ""
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	err := fault.Guard("the check of a turn's cost", func() error { allowed, stop = h.o.Hooks.Afford(ctx, s); return nil })()
	if err != nil {
		h.log.Error("a turn's cost could not be checked", "fault", err, "stack", fault.Stack(err))
		return s.Allowed, textNotChecked
	}
	return allowed, stop
}

// Charge books what a request has used, also while the session ends. A panic is logged.
func (h *Host) Charge(c agent.Charge) {
	if h.o.Hooks.Charge == nil || !c.Unknown && c.Used.Tokens() == 0 && c.Used.CostUSD == 0 {
		return
	}
	if err := fault.Guard("the booking of a request", func() error { h.o.Hooks.Charge(c); return nil })(); err != nil {
		h.log.Error("a request could not be booked", "fault", err, "stack", fault.Stack(err))
	}
}

// Call runs one of the bot's tools. A panic becomes an error result, because it must not
// end the program with its other sessions. ok is false once the session has ended.
func (h *Host) Call(ctx context.Context, t agent.Tool, a agent.Approved) (r agent.ToolResult, ok bool) {
	if !h.enter() {
		return r, false
	}
	defer h.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	err := fault.Guard("the tool "+t.Name, func() error { r = t.Call(ctx, a); return nil })()
	if err != nil {
		h.log.Error("tool failed", "tool", t.Name, "fault", err, "stack", fault.Stack(err))
		r = agent.ToolResult{Text: fmt.Sprintf(answerToolFault, t.Name), IsError: true}
	}
	return r, true
}

// maxOutput is the maximum number of bytes of a tool's output in an event. Consumers show only a
// few lines; the model gets all of it.
const maxOutput = 16 << 10

// Output returns a tool's output for an event. If it was cut, it ends with the number of missing
// bytes.
func Output(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	kept := strings.ToValidUTF8(s[:maxOutput], "")
	return kept + fmt.Sprintf("… (%d more bytes)", len(s)-len(kept))
}

func refusal(reason string) agent.Decision { return agent.Decision{Reason: reason} }

// failed logs a callback that gave no answer, unless it was only cancelled.
func (h *Host) failed(message string, err error) {
	if errors.Is(err, errCancelled) || errors.Is(err, errEnded) {
		return
	}
	h.log.Error("callback failed", "what", message, "error", clean.Line(err.Error()))
}

// within runs a callback in its own goroutine, so that it returns even if the callback hangs. The
// error says why there is no answer: the callback exceeded limit, panicked or was cancelled, or the
// session has ended. Close waits for the goroutine.
func within[T any](ctx context.Context, h *Host, limit time.Duration, call func(context.Context) T) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	var none T
	if !h.enter() {
		return none, errEnded
	}
	done := make(chan outcome, 1)
	go func() {
		defer h.running.Done()
		var o outcome
		o.err = fault.Guard("a callback of a session", func() error { o.value = call(ctx); return nil })()
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errSlow) {
			return none, errSlow
		}
		return none, errCancelled
	}
}
