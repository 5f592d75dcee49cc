package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

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
		return permission{Behavior: "deny", Message: orNoReason(d.Reason)}
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
	run := h.bound()
	switch {
	case run == nil:
		return agent.Decision{Reason: answerNoRun}
	case run.permission == nil:
		return agent.Decision{Reason: answerNobody}
	}
	return h.asked(ctx, run, u)
}

// asked calls the run's callback; a panic and an end of ctx are denials,
// whatever the callback says.
func (h *host) asked(ctx context.Context, r *binding, u agent.ToolUse) (d agent.Decision) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("permission callback failed", "tool", clean.Cut(clean.Line(u.Name), 80), "fault", fmt.Sprint(p))
			d = agent.Decision{Reason: answerFault}
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	d = r.permission(ctx, u)
	if ctx.Err() != nil || h.life.Err() != nil {
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

func orNoReason(reason string) string {
	if reason == "" {
		return answerNoReason
	}
	return reason
}
