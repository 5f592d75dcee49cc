package claude

import (
	"bytes"
	"cmp"
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

// host is the bot's side of one CLI process: it answers the CLI's control requests with the tools,
// hooks and callbacks of the run.
//
// If anything goes wrong, a call is refused. The CLI runs a tool if a PreToolUse hook answers with
// an error, so hooks here never do.
type host struct {
	log *slog.Logger
	o   agent.SessionOptions
	// servers are the names of the tools' servers, sorted.
	servers []string

	// run calls the session's callbacks.
	run *callback.Host
	// spending returns the running turn's usage and, if the turn must end, the reason; settle
	// records the outcome of asking. The session provides both.
	spending func() (s agent.Spending, stop string)
	settle   func(allowed float64, stop string)
	// asking is held while the user is asked, so that there is one question at a time.
	asking chan struct{}

	// granted are the newest calls that were allowed.
	granted grants

	mu sync.Mutex
	// refused are the newest calls that were refused here, to distinguish them from a
	// tool's own errors.
	refused recent
	// ending is the tool whose result ends the turn, until the CLI reports the result.
	ending string
	// calls are the running tool calls, by server and request ID. Control requests are answered
	// concurrently, so a cancellation may overtake its call: early holds those.
	calls map[string]context.CancelFunc
	early recent
}

// newHost returns a host for a run. Call close at the end.
func newHost(o agent.SessionOptions, log *slog.Logger) *host {
	h := &host{log: log, o: o, run: callback.New(o, log), asking: make(chan struct{}, 1), servers: []string{server}, calls: map[string]context.CancelFunc{}}
	for _, t := range o.Tools {
		if !slices.Contains(h.servers, serverOf(t)) {
			h.servers = append(h.servers, serverOf(t))
		}
	}
	slices.Sort(h.servers)
	return h
}

// initialize returns the first request to the CLI. It carries the prompt, which on the command line
// every user of the machine could read.
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

// handle answers a control request of the CLI; it is a wire.Handler. It may be called concurrently,
// blocks as long as the callback does, and returns an error only for unknown requests.
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

// close cancels all callbacks and waits until they have returned, so they must not close their own
// process. It is idempotent.
func (h *host) close() { h.run.Close() }

// denied reports whether a call was refused here, so that its tool never ran.
func (h *host) denied(toolUseID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused.has(toolUseID)
}

// refuse records a refused call.
func (h *host) refuse(toolUseID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused.add(toolUseID)
}

// IDs of the registered hooks. SessionStart never arrives and SessionEnd arrives after the
// connection has ended, so both are left out.
const (
	hookStop     = "ollim_stop"
	hookPreTool  = "ollim_pre_tool"
	hookPostTool = "ollim_post_tool"
)

const (
	// margin is how much longer the CLI waits for a hook than the bot does, because the bot's own
	// answer includes a reason.
	margin = 5 * time.Second
	// patience is how long the CLI waits for the Stop and PreToolUse hooks, postPatience
	// for PostToolUse.
	patience     = callback.Patience + margin
	postPatience = callback.PostPatience + margin
	// moneyPatience is the CLI's limit while the bot asks the user whether a turn may cost more.
	// The bot itself gives up after a minute.
	moneyPatience = 10 * time.Minute
)

// hookMatcher registers callbacks for all calls of an event.
type hookMatcher struct {
	IDs     []string `json:"hookCallbackIds"`
	Timeout int      `json:"timeout"` // in seconds
}

func registeredHooks() map[string][]hookMatcher {
	register := func(id string, timeout time.Duration) []hookMatcher {
		return []hookMatcher{{IDs: []string{id}, Timeout: int(timeout.Seconds())}}
	}
	return map[string][]hookMatcher{
		"Stop":        register(hookStop, patience+moneyPatience),
		"PreToolUse":  register(hookPreTool, patience+moneyPatience),
		"PostToolUse": register(hookPostTool, postPatience),
	}
}

// hookAnswer is a hook's answer; the zero value has no objection. It never says "allow", which
// would skip the permission request. "ask" forces one where the CLI would not send it.
type hookAnswer struct {
	// Continue is false if the turn ends with this call. The model later reads Why.
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

// hook answers a hook callback. An unreadable one is answered as a refused call, which has no
// effect on other events.
func (h *host) hook(ctx context.Context, request json.RawMessage) (answer hookAnswer) {
	var r struct {
		Callback string          `json:"callback_id"`
		Input    json.RawMessage `json:"input"`
		ToolUse  string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		h.log.Error("hook request could not be read", "error", err)
		return objection(callback.AnswerGarbled)
	}
	switch r.Callback {
	case hookStop:
		return h.stopHook(ctx, r.Input)
	case hookPostTool:
		return h.postTool(ctx, r.Input)
	case hookPreTool:
		if stop := h.afford(ctx); stop != "" {
			// Newer versions end the turn at once, older ones (2.1.197) only when permit
			// says so.
			return hookAnswer{
				Continue: new(bool), Why: stop,
				Specific: &hookDecision{Event: "PreToolUse", Decision: "ask", Reason: stop},
			}
		}
		d := h.preTool(ctx, r.ToolUse, r.Input)
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
	h.log.Warn("unknown hook was called", "hook", clean.Cut(clean.Line(r.Callback), 60))
	return objection(callback.AnswerGarbled)
}

// afford asks whether the turn may make another request, and returns the reason if not.
func (h *host) afford(ctx context.Context) (stop string) {
	if h.spending == nil {
		return ""
	}
	select {
	case h.asking <- struct{}{}:
	case <-ctx.Done():
		return ""
	}
	defer func() { <-h.asking }()
	s, stop := h.spending()
	if stop == "" {
		s.Allowed, stop = h.run.Afford(ctx, s)
		h.settle(s.Allowed, stop)
	}
	return stop
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
		h.log.Error("input of the stop hook could not be read", "error", err)
		return hookAnswer{}
	}
	reason := h.run.Stop(ctx, in.Again)
	if reason == "" || h.afford(ctx) != "" { // another request costs more
		return hookAnswer{}
	}
	return hookAnswer{Decision: "block", Reason: reason}
}

// preTool asks the run's guard. Any error is a denial.
func (h *host) preTool(ctx context.Context, id string, input json.RawMessage) agent.Decision {
	u, err := readHookUse(input)
	if err != nil {
		h.log.Error("input of a call could not be read", "error", err)
		return agent.Decision{Reason: callback.AnswerGarbled}
	}
	u.ID = cmp.Or(u.ID, id)
	d := h.run.PreTool(ctx, u)
	if a, ok := agent.Approve(u, d); ok && !d.Ask {
		h.granted.add(a)
	}
	return d
}

// postTool reports a successful call to the run, and ends the turn if the tool asked for that. An
// interruption would remain in the history.
func (h *host) postTool(ctx context.Context, input json.RawMessage) (answer hookAnswer) {
	u, err := readHookUse(input)
	if err != nil {
		h.log.Error("input of a finished call could not be read", "error", err)
		return answer
	}
	if !h.granted.ran(u) {
		h.log.Error("claude has run another call than the one that was approved", "tool", clean.Cut(clean.Line(u.Name), 80))
	}
	if h.takeEnding(u.Name) {
		answer.Continue, answer.Why = new(bool), answerTurnEnds
	}
	h.run.PostTool(ctx, u)
	return answer
}

// readHookUse reads a hook's call.
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

// asking is a tool with a terminal dialog, which does not work here.
const asking = "AskUserQuestion"

var errNoCall = errors.New("it names no tool or its input is not an object")

// permission is the answer to can_use_tool. An allowed call must repeat its input; without it the
// CLI treats the answer as a refusal.
type permission struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
	// Interrupt ends the turn with a denial.
	Interrupt bool `json:"interrupt,omitempty"`
}

// permit asks the run whether a call may be made. It blocks while the user decides: the CLI has no
// time limit here, and an interruption ends ctx.
func (h *host) permit(ctx context.Context, request json.RawMessage) permission {
	var r struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		ID    string          `json:"tool_use_id"`
	}
	err := json.Unmarshal(request, &r)
	if err != nil {
		h.log.Error("permission request could not be read", "error", err)
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: callback.AnswerGarbled}
	}
	if stop := h.afford(ctx); stop != "" {
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: stop, Interrupt: true}
	}
	a, refused := h.decide(ctx, r.ID, r.Tool, r.Input)
	if refused != "" {
		h.granted.remove(r.ID)
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: refused}
	}
	h.granted.add(a)
	return permission{Behavior: "allow", Input: a.Input()} // what was approved is what runs
}

// decide returns the approved call, or why it is refused.
func (h *host) decide(ctx context.Context, id, tool string, input json.RawMessage) (a agent.Approved, refused string) {
	if tool == asking {
		return a, answerNoAsking
	}
	u, err := toolUse(id, tool, input)
	if err != nil {
		h.log.Error("permission request could not be read", "error", err)
		return a, callback.AnswerGarbled
	}
	d := h.run.Permission(ctx, u)
	a, ok := agent.Approve(u, d)
	if !ok {
		return a, cmp.Or(d.Reason, callback.AnswerOther)
	}
	return a, ""
}

// toolUse returns a call in the form for callbacks, with the CLI's input unchanged.
func toolUse(id, tool string, input json.RawMessage) (agent.ToolUse, error) {
	if tool == "" || !bytes.HasPrefix(bytes.TrimLeft(input, " \t\r\n"), []byte("{")) {
		return agent.ToolUse{}, errNoCall
	}
	return agent.ToolUse{ID: id, Name: tool, Input: input}, nil
}
