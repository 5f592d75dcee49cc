package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// host is the bot's side of one CLI process: it answers the CLI's control
// requests with the callbacks of the run that the process belongs to. A process
// that was started ahead has no run yet: tools are listed, calls are refused,
// until bind.
//
// Its answers keep to one rule: whatever goes wrong, a call is refused. The CLI
// lets a tool run when a PreToolUse hook answers with an error,
// so a hook here never does.
type host struct {
	log    *slog.Logger
	listed []agent.Tool
	// servers serve the tools, in order of their names.
	servers []*toolServer

	// life ends with close. callbacks are the hooks that run; close waits for them.
	life      context.Context
	end       context.CancelFunc
	callbacks sync.WaitGroup

	mu     sync.Mutex
	run    *binding // nil until bind
	closed bool
	// refused are the newest calls that were refused here, so that their results
	// can be told from a tool's own errors.
	refused recent[string]
	// ending is the tool whose answer ends the turn, until the CLI tells of it.
	ending string
}

// binding is what a process is bound to.
type binding struct {
	hooks      agent.Hooks
	permission func(context.Context, agent.ToolUse) agent.Decision
	tools      map[string]agent.Tool
}

// keptRefusals is how many refused calls are remembered: the result of a call
// follows its refusal at once, so that a few would do.
const keptRefusals = 256

var (
	errBound     = errors.New("the claude process already belongs to a run")
	errSlow      = errors.New("the callback took too long")
	errEnded     = errors.New("the claude process has ended")
	errCancelled = errors.New("the request was cancelled")
)

// newHost returns a host that lists tools: their names, descriptions and schemas
// are the same for every run, their functions come with bind. A nil log logs
// nothing. Use close at the end.
func newHost(tools []agent.Tool, log *slog.Logger) *host {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &host{log: log, listed: tools, refused: recent[string]{limit: keptRefusals}}
	h.life, h.end = context.WithCancel(context.Background())
	byName := map[string][]agent.Tool{server: nil}
	for _, t := range tools {
		byName[serverOf(t)] = append(byName[serverOf(t)], t)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		h.servers = append(h.servers, newToolServer(name, byName[name], h.callTool))
	}
	return h
}

// serverOf is the name of the server that a tool belongs to.
func serverOf(t agent.Tool) string {
	if t.Server == "" {
		return server
	}
	return t.Server
}

// toolKey tells tools of several servers apart.
func toolKey(server, name string) string { return server + "/" + name }

// serverNamed is the server of a name, or nil.
func (h *host) serverNamed(name string) *toolServer {
	for _, s := range h.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// bind gives the process to a run. It happens exactly once: a second bind is an
// error, and so are tools other than those that the process lists.
func (h *host) bind(o agent.SessionOptions) error {
	r := &binding{hooks: o.Hooks, permission: o.Permission, tools: make(map[string]agent.Tool, len(o.Tools))}
	for _, t := range o.Tools {
		r.tools[toolKey(serverOf(t), t.Name)] = t
	}
	if err := h.fits(r); err != nil {
		return fmt.Errorf("bind a claude process: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return fmt.Errorf("bind a claude process: %w", errEnded)
	case h.run != nil:
		return fmt.Errorf("bind a claude process: %w", errBound)
	}
	h.run = r
	return nil
}

// fits compares a run's tools with those that are listed: the model must not be
// told of tools that the run does not have, nor of other ones.
func (h *host) fits(r *binding) error {
	for _, s := range h.servers {
		if s.fault != nil {
			return s.fault
		}
	}
	if len(r.tools) != len(h.listed) {
		return fmt.Errorf("the run has %d tools and the process lists %d", len(r.tools), len(h.listed))
	}
	for _, t := range h.listed {
		own, ok := r.tools[toolKey(serverOf(t), t.Name)]
		switch {
		case !ok || own.Call == nil:
			return fmt.Errorf("the run lacks the tool %s", t.Name)
		case own.Description != t.Description || !bytes.Equal(own.Schema, t.Schema):
			return fmt.Errorf("the run describes the tool %s in another way", t.Name)
		}
	}
	return nil
}

// initialize is the initialize request, the first that the CLI gets. The prompt
// travels in it and not on the command line, where every user of the machine
// could read it.
func (h *host) initialize(o agent.SessionOptions) any {
	r := initializeRequest{Subtype: "initialize", Hooks: registeredHooks(), Servers: []string{}}
	if o.Bare {
		r.Whole = o.SystemPrompt
	} else {
		r.Append = o.SystemPrompt
	}
	for _, s := range h.servers {
		r.Servers = append(r.Servers, s.name)
	}
	return r
}

type initializeRequest struct {
	Subtype string                   `json:"subtype"`
	Hooks   map[string][]hookMatcher `json:"hooks"`
	Servers []string                 `json:"sdkMcpServers"`
	Append  string                   `json:"appendSystemPrompt,omitempty"`
	Whole   string                   `json:"systemPrompt,omitempty"`
}

// handle answers a control request of the CLI; it is a wire.Handler. It may be
// called concurrently, blocks for as long as the callback does, and returns an
// error only for requests that it does not know.
func (h *host) handle(ctx context.Context, subtype string, request json.RawMessage) (any, error) {
	switch subtype {
	case "hook_callback":
		return h.hook(ctx, request), nil
	case "can_use_tool":
		return h.permit(ctx, request), nil
	case "mcp_message":
		return h.answer(ctx, request), nil
	}
	return nil, fmt.Errorf(textUnsupported, clean.Cut(clean.Line(subtype), 60))
}

// close ends the tool servers, cancels what runs, and waits until every callback
// and every tool has returned: so no callback may close its own process. It is
// idempotent.
func (h *host) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	for _, s := range h.servers {
		s.close()
	}
	h.callbacks.Wait()
}

// denied reports whether a call was refused by us, so that its tool never ran.
func (h *host) denied(toolUseID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused.has(toolUseID)
}

// refuse remembers a refused call.
func (h *host) refuse(toolUseID string) {
	if toolUseID == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused.add(toolUseID)
}

// noteEnding remembers a tool whose answer ends the turn.
func (h *host) noteEnding(tool string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = tool
}

// takeEnding reports whether a call of this tool ends the turn, and forgets it.
func (h *host) takeEnding(tool string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends := h.ending != "" && h.ending == tool
	if ends {
		h.ending = ""
	}
	return ends
}

// bound is the run that the process belongs to, or nil.
func (h *host) bound() *binding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run
}

// within runs a callback in a goroutine of its own, for an answer is due even
// if it hangs. The error says why there is no answer: it took longer than limit,
// panicked, was cancelled, or the process has ended. close waits for the
// goroutine.
func within[T any](ctx context.Context, h *host, limit time.Duration, call func(context.Context) T) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	done := make(chan outcome, 1)
	started := h.start(func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("the callback panicked: %v", p)
			}
			done <- o
		}()
		o.value = call(ctx)
	})
	var none T
	if !started {
		return none, errEnded
	}
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

// start runs f in a goroutine that close waits for; false after close.
func (h *host) start(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.callbacks.Go(f)
	return true
}

// isObject reports whether a raw JSON value is an object.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// recent is a set that remembers the newest of what was put in. Its zero value
// remembers nothing: limit is how many.
type recent[K comparable] struct {
	limit int
	known map[K]struct{}
	order []K
}

func (r *recent[K]) add(k K) {
	if r.has(k) || r.limit <= 0 {
		return
	}
	if r.known == nil {
		r.known = make(map[K]struct{})
	}
	if len(r.order) == r.limit {
		delete(r.known, r.order[0])
		r.order = append(r.order[:0], r.order[1:]...)
	}
	r.known[k] = struct{}{}
	r.order = append(r.order, k)
}

func (r *recent[K]) has(k K) bool {
	_, ok := r.known[k]
	return ok
}
