package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/clean"
)

// host is the bot's side of one CLI process: it answers the CLI's control
// requests with the tools, hooks and callbacks of the run that the process was
// started for.
//
// Its answers keep to one rule: whatever goes wrong, a call is refused. The CLI
// lets a tool run when a PreToolUse hook answers with an error,
// so a hook here never does.
type host struct {
	log *slog.Logger
	o   agent.SessionOptions
	// servers are the names of the servers that the tools belong to, sorted.
	servers []string

	// run calls what the bot has put into the session.
	run *callback.Host

	mu sync.Mutex
	// refused are the newest calls that were refused here, so that their results
	// can be told from a tool's own errors.
	refused recent
	// ending is the tool whose answer ends the turn, until the CLI tells of it.
	ending string
	// calls are the calls of tools that run, by callKey. Control requests are
	// answered concurrently, so that a cancellation can overtake its call: early
	// remembers those.
	calls map[string]context.CancelFunc
	early recent
}

// keptIDs is how many refused and cancelled calls are remembered: the result of a
// call follows its refusal at once, so that a few would do.
const keptIDs = 256

// newHost returns a host that serves a run. A nil log logs nothing. Use close at
// the end.
func newHost(o agent.SessionOptions, log *slog.Logger) *host {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &host{log: log, o: o, run: callback.New(o, log), servers: []string{server}, calls: map[string]context.CancelFunc{}}
	for _, t := range o.Tools {
		if !slices.Contains(h.servers, serverOf(t)) {
			h.servers = append(h.servers, serverOf(t))
		}
	}
	slices.Sort(h.servers)
	return h
}

// initialize is the initialize request, the first that the CLI gets. The prompt
// travels in it and not on the command line, where every user of the machine
// could read it.
func (h *host) initialize() any {
	r := initializeRequest{Subtype: "initialize", Hooks: registeredHooks(), Servers: h.servers}
	if h.o.Bare {
		r.Whole = h.o.SystemPrompt
	} else {
		r.Append = h.o.SystemPrompt
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
		return map[string]any{"mcp_response": h.serveTools(ctx, request)}, nil
	}
	return nil, fmt.Errorf(textUnsupported, clean.Cut(clean.Line(subtype), 60))
}

// close cancels what runs, and waits until every hook and every tool has
// returned: so none may close its own process. It is idempotent.
func (h *host) close() { h.run.Close() }

// denied reports whether a call was refused by us, so that its tool never ran.
func (h *host) denied(toolUseID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused.has(toolUseID)
}

// refuse remembers a refused call.
func (h *host) refuse(toolUseID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused.add(toolUseID)
}

// isObject reports whether a raw JSON value is an object.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// recent remembers the newest ids that were put in; "" is none.
type recent []string

func (r *recent) add(id string) {
	if id == "" || r.has(id) {
		return
	}
	if len(*r) == keptIDs {
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, id)
}

func (r *recent) has(id string) bool { return slices.Contains(*r, id) }
