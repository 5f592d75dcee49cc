package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/fault"
)

// The hooks that are registered, by the ids that the CLI calls them with.
// SessionStart and SessionEnd are left out: the one never arrives, the other
// fires when nobody listens any more.
const (
	hookStop     = "ollim_stop"
	hookPreTool  = "ollim_pre_tool"
	hookPostTool = "ollim_post_tool"
)

const (
	// patience is how long the CLI waits for the Stop and PreToolUse hooks,
	// postPatience for PostToolUse.
	patience     = 60 * time.Second
	postPatience = 30 * time.Second
	// margin is how much earlier we give up: an answer of ours says why, and is
	// one that the CLI obeys.
	margin = 5 * time.Second
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
		return objection(answerGarbled)
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
	return objection(answerGarbled)
}

// objection denies a call.
func objection(reason string) hookAnswer {
	return hookAnswer{Specific: &hookDecision{Event: "PreToolUse", Decision: "deny", Reason: reason}}
}

// stopHook lets the run object to the end of its turn, once: a turn that goes on
// because of an objection may end in any case.
func (h *host) stopHook(ctx context.Context, input json.RawMessage) hookAnswer {
	if h.o.Hooks.Stop == nil {
		return hookAnswer{}
	}
	var in struct {
		Again bool `json:"stop_hook_active"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		h.log.Error("a stop hook's input could not be read", "error", err)
		return hookAnswer{}
	}
	reason, err := within(ctx, h, patience-margin, func(ctx context.Context) string { return h.o.Hooks.Stop(ctx, in.Again) })
	if err != nil {
		h.failed("stop hook gave no answer", err)
		return hookAnswer{}
	}
	if reason == "" || in.Again {
		return hookAnswer{}
	}
	return hookAnswer{Decision: "block", Reason: reason}
}

// preTool asks the run's guard; whatever goes wrong is a denial.
func (h *host) preTool(ctx context.Context, input json.RawMessage) agent.Decision {
	denied := func(reason string) agent.Decision { return agent.Decision{Reason: reason} }
	u, err := readHookUse(input)
	if err != nil {
		h.log.Error("a call's input could not be read", "error", err)
		return denied(answerGarbled)
	}
	if h.o.Hooks.PreTool == nil {
		return agent.Decision{Allow: true}
	}
	d, err := within(ctx, h, patience-margin, func(ctx context.Context) agent.Decision { return h.o.Hooks.PreTool(ctx, u) })
	switch {
	case errors.Is(err, errSlow):
		h.failed("hook before a call gave no answer", err)
		return denied(answerSlow)
	case errors.Is(err, errCancelled), errors.Is(err, errEnded):
		return denied(answerCancelled)
	case err != nil:
		h.failed("hook before a call gave no answer", err)
		return denied(answerFault)
	case d.Allow:
		return d
	}
	return denied(cmp.Or(d.Reason, answerNoReason))
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
	if h.o.Hooks.PostTool == nil {
		return answer
	}
	_, err = within(ctx, h, postPatience-margin, func(ctx context.Context) struct{} {
		h.o.Hooks.PostTool(ctx, u)
		return struct{}{}
	})
	if err != nil {
		h.failed("hook after a call gave no answer", err)
	}
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

// failed logs a callback without an answer, unless it was only cancelled.
func (h *host) failed(message string, err error) {
	if errors.Is(err, errCancelled) || errors.Is(err, errEnded) {
		return
	}
	h.log.Error("callback failed", "what", message, "error", clean.Line(err.Error()))
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
		return permission{Behavior: "deny", Message: answerGarbled}
	}
	d := h.decide(ctx, r.ID, r.Tool, r.Input)
	if !d.Allow {
		h.refuse(r.ID)
		return permission{Behavior: "deny", Message: cmp.Or(d.Reason, answerNoReason)}
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
		return agent.Decision{Reason: answerGarbled}
	}
	if h.o.Permission == nil {
		return agent.Decision{Reason: answerNobody}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	var d agent.Decision
	if err := fault.Guard("a permission", func() error { d = h.o.Permission(ctx, u); return nil })(); err != nil {
		h.log.Error("permission callback failed", "tool", clean.Cut(clean.Line(u.Name), 80), "fault", err, "stack", fault.Stack(err))
		return agent.Decision{Reason: answerFault}
	}
	if ctx.Err() != nil || h.life.Err() != nil { // whatever was decided
		return agent.Decision{Reason: answerCancelled}
	}
	return d
}

// toolUse is a call as callbacks see it; its input is the CLI's, byte for byte.
func toolUse(id, tool string, input json.RawMessage) (agent.ToolUse, error) {
	if tool == "" || !isObject(input) {
		return agent.ToolUse{}, errNoCall
	}
	return agent.ToolUse{ID: id, Name: tool, Input: input}, nil
}
