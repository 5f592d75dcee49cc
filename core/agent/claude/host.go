package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/base/clean"
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

// The hooks that are registered, by the ids that the CLI calls them with.
// SessionStart and SessionEnd are left out: the one never arrives, the other
// fires when nobody listens any more.
const (
	hookStop     = "ollim_stop"
	hookPreTool  = "ollim_pre_tool"
	hookPostTool = "ollim_post_tool"
)

const (
	// margin is how much longer the CLI waits for a hook than we do: an answer of
	// ours says why, and is one that the CLI obeys.
	margin = 5 * time.Second
	// patience is how long the CLI waits for the Stop and PreToolUse hooks,
	// postPatience for PostToolUse.
	patience     = callback.Patience + margin
	postPatience = callback.PostPatience + margin
)

// hookMatcher registers callbacks for an event; without a matcher they see all.
type hookMatcher struct {
	IDs     []string `json:"hookCallbackIds"`
	Timeout int      `json:"timeout"` // in seconds
}

func registeredHooks() map[string][]hookMatcher {
	register := func(id string, timeout time.Duration) []hookMatcher {
		return []hookMatcher{{IDs: []string{id}, Timeout: int(timeout.Seconds())}}
	}
	return map[string][]hookMatcher{
		"Stop":        register(hookStop, patience),
		"PreToolUse":  register(hookPreTool, patience),
		"PostToolUse": register(hookPostTool, postPatience),
	}
}

// hookAnswer is what a hook answers with; the zero value has no objection.
// It never permits: "allow" would skip the question for permission; "ask" lets
// it be asked where the CLI would not.
type hookAnswer struct {
	// Continue is false where the turn ends with the call, Why what the model
	// reads of that later.
	Continue *bool         `json:"continue,omitempty"`
	Why      string        `json:"stopReason,omitempty"`
	Decision string        `json:"decision,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Specific *hookDecision `json:"hookSpecificOutput,omitempty"`
}

type hookDecision struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
}

// hook answers a hook callback. What cannot be read is answered like a call
// that must not be made; for the other events that answer means nothing.
func (h *host) hook(ctx context.Context, request json.RawMessage) (answer hookAnswer) {
	var r struct {
		Callback string          `json:"callback_id"`
		Input    json.RawMessage `json:"input"`
		ToolUse  string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		h.log.Error("a hook request could not be read", "error", err)
		return objection(callback.AnswerGarbled)
	}
	switch r.Callback {
	case hookStop:
		return h.stopHook(ctx, r.Input)
	case hookPostTool:
		return h.postTool(ctx, r.Input)
	case hookPreTool:
		d := h.preTool(ctx, r.Input)
		switch {
		case d.Allow && d.Ask:
			return hookAnswer{Specific: &hookDecision{Event: "PreToolUse", Decision: "ask", Reason: answerAsk}}
		case d.Allow:
			return hookAnswer{}
		}
		id := r.ToolUse
		if u, err := readHookUse(r.Input); err == nil && u.ID != "" {
			id = u.ID
		}
		h.refuse(id)
		return objection(d.Reason)
	}
	h.log.Warn("an unknown hook was called", "hook", clean.Cut(clean.Line(r.Callback), 60))
	return objection(callback.AnswerGarbled)
}

// objection denies a call.
func objection(reason string) hookAnswer {
	return hookAnswer{Specific: &hookDecision{Event: "PreToolUse", Decision: "deny", Reason: reason}}
}

// stopHook lets the run object to the end of its turn.
func (h *host) stopHook(ctx context.Context, input json.RawMessage) hookAnswer {
	var in struct {
		Again bool `json:"stop_hook_active"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		h.log.Error("a stop hook's input could not be read", "error", err)
		return hookAnswer{}
	}
	if reason := h.run.Stop(ctx, in.Again); reason != "" {
		return hookAnswer{Decision: "block", Reason: reason}
	}
	return hookAnswer{}
}

// preTool asks the run's guard; whatever goes wrong is a denial.
func (h *host) preTool(ctx context.Context, input json.RawMessage) agent.Decision {
	u, err := readHookUse(input)
	if err != nil {
		h.log.Error("a call's input could not be read", "error", err)
		return agent.Decision{Reason: callback.AnswerGarbled}
	}
	return h.run.PreTool(ctx, u)
}

// postTool tells the run that a call has succeeded, and ends the turn where the
// tool has said so. An interruption would stand in the history for good.
func (h *host) postTool(ctx context.Context, input json.RawMessage) (answer hookAnswer) {
	u, err := readHookUse(input)
	if err != nil {
		h.log.Error("a finished call's input could not be read", "error", err)
		return answer
	}
	if h.takeEnding(u.Name) {
		answer.Continue, answer.Why = new(bool), answerTurnEnds
	}
	h.run.PostTool(ctx, u)
	return answer
}

// readHookUse reads the call that a hook is about.
func readHookUse(input json.RawMessage) (agent.ToolUse, error) {
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
		ID    string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return agent.ToolUse{}, err
	}
	return toolUse(in.ID, in.Tool, in.Input)
}

// asking is a tool of the terminal: its dialog has nobody before it here.
const asking = "AskUserQuestion"

var errNoCall = errors.New("it names no tool or its input is not an object")

// permission is the answer to can_use_tool. The CLI wants the input back when a
// call is allowed, and takes the answer for a refusal without it.
type permission struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// permit asks the run whether a call may be made. It blocks for as long as a
// person thinks: the CLI has no limit here, and an interrupt ends ctx.
func (h *host) permit(ctx context.Context, request json.RawMessage) permission {
	var r struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		ID    string          `json:"tool_use_id"`
	}
	err := json.Unmarshal(request, &r)
	if err != nil {
		h.log.Error("a permission request could not be read", "error", err)
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: callback.AnswerGarbled}
	}
	d := h.decide(ctx, r.ID, r.Tool, r.Input)
	if !d.Allow {
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: d.Reason}
	}
	return permission{Behavior: "allow", Input: r.Input}
}

func (h *host) decide(ctx context.Context, id, tool string, input json.RawMessage) agent.Decision {
	if tool == asking {
		return agent.Decision{Reason: answerNoAsking}
	}
	u, err := toolUse(id, tool, input)
	if err != nil {
		h.log.Error("a permission request could not be read", "error", err)
		return agent.Decision{Reason: callback.AnswerGarbled}
	}
	return h.run.Permission(ctx, u)
}

// toolUse is a call as callbacks see it; its input is the CLI's, byte for byte.
func toolUse(id, tool string, input json.RawMessage) (agent.ToolUse, error) {
	if tool == "" || !bytes.HasPrefix(bytes.TrimLeft(input, " \t\r\n"), []byte("{")) {
		return agent.ToolUse{}, errNoCall
	}
	return agent.ToolUse{ID: id, Name: tool, Input: input}, nil
}
