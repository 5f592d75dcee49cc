package messages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
)

const (
	// mostAnswer is how many tokens an answer may have at most, fewAnswer where the
	// model's own limit is not known.
	mostAnswer = 64_000
	fewAnswer  = 8_192
	// someThinking is the budget of models that measure by one, where nobody has set
	// another; leastThinking the smallest that is taken.
	someThinking  = 10_000
	leastThinking = 1_024
	// mildly and deeply are the budgets from which on a model that measures by effort
	// thinks more than a little, and as much as by default.
	mildly = 4_000
	deeply = 16_000
)

// thinking is the field of a request.
type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

// effort is output_config.
type effort struct {
	Effort string `json:"effort"`
}

// params are the fields of a request before what is frozen.
type params struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Output    *effort   `json:"output_config,omitempty"`
	Context   any       `json:"context_management,omitempty"`
}

// paramsFor are those that a model takes, for a setting of thinking.
func paramsFor(m provider.Model, setting string) params {
	p := params{Model: m.Name, MaxTokens: fewAnswer, Stream: true}
	if m.MaxOutput > 0 {
		p.MaxTokens = min(m.MaxOutput, mostAnswer)
	}
	tokens, err := strconv.Atoi(setting)
	measured := err == nil && tokens > 0
	off := setting == "off" || err == nil && tokens <= 0
	switch m.Thinking.Style {
	case provider.BudgetThinking:
		if off || setting == "" {
			break
		}
		if !measured {
			tokens = someThinking
		}
		p.Thinking = &thinking{Type: "enabled", Budget: max(leastThinking, min(tokens, p.MaxTokens/2))}
	case provider.AdaptiveThinking:
		p.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if off && m.Thinking.Off != "" {
			p.Thinking = &thinking{Type: m.Thinking.Off}
		}
		p.Output = effortFor(m.Efforts, tokens, off && m.Thinking.Off == "", measured)
	}
	return p
}

// effortFor is how hard a model thinks that is not given a number; nil is its own
// default.
func effortFor(efforts []string, tokens int, off, measured bool) *effort {
	switch {
	case len(efforts) == 0:
		return nil
	case off, measured && tokens < mildly:
		return &effort{efforts[0]}
	case measured && tokens < deeply:
		return &effort{efforts[min(1, len(efforts)-1)]}
	}
	return nil
}

// checkThinking says what is wrong with a setting.
func checkThinking(setting string) error {
	switch setting {
	case "", "off", "adaptive":
		return nil
	}
	if n, err := strconv.Atoi(setting); err != nil || n < 0 {
		return fmt.Errorf(textThinking, setting)
	}
	return nil
}

// Cache marks: how long what stands before them is kept.
const (
	forMinutes = `,"cache_control":{"type":"ephemeral"}`
	forAnHour  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// markFor are the cache marks of a request: where a fork has left its parent, which
// the next fork finds within the hour, and at the newest messages of the user, which
// the next request of the loop finds. The system prompt carries one of its own.
func marksFor(h *history.History, m provider.Model) []history.Insert {
	if !m.Cache {
		return nil
	}
	var list []history.Insert
	marks := h.Marks()
	if marks.Forked != (history.Mark{}) {
		list = append(list, history.Insert{At: marks.Forked, Text: forAnHour})
	}
	for _, at := range marks.Users {
		if at != marks.Forked {
			list = append(list, history.Insert{At: at, Text: forMinutes})
		}
	}
	return list
}

// frozen are the tools and the system prompt of a session as JSON arrays.
func frozen(tools []tool, o agent.SessionOptions, opening string, m provider.Model) (toolsJSON, system []byte, err error) {
	type listed struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Schema      any    `json:"input_schema"`
	}
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		list = append(list, listed{t.name, t.description, t.schema})
	}
	if toolsJSON, err = encode(list); err != nil {
		return nil, nil, fmt.Errorf("describe the tools: %w", err)
	}
	var blocks []string
	for _, text := range []string{opening, o.SystemPrompt} {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, string(textBlock(text)))
		}
	}
	if n := len(blocks); n > 0 && m.Cache {
		blocks[n-1] = strings.TrimSuffix(blocks[n-1], "}") + forAnHour + "}"
	}
	return toolsJSON, []byte("[" + strings.Join(blocks, ",") + "]"), nil
}

// asked is a request that is about to be made.
type asked struct {
	provider provider.Provider
	model    provider.Model
	params   params
	history  *history.History
	// tail is one more message of the user, which the history does not keep.
	tail []byte
	// betas are features that the request needs.
	betas []string
}

// request makes the request; it can be sent once.
func (q asked) request(ctx context.Context) (*http.Request, error) {
	head, err := encode(q.params)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	body, size := q.history.Body(marksFor(q.history, q.model)...)
	before := string(head[:len(head)-1]) + ","
	after := "}"
	if len(q.tail) > 0 {
		body, size = io.LimitReader(body, size-1), size-1 // without the end of the messages
		after = string(q.tail) + "]}"
		if q.history.Size() > 0 {
			after = "," + after
		}
	}
	whole := io.MultiReader(strings.NewReader(before), body, strings.NewReader(after))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.provider.BaseURL+"/v1/messages", whole)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	r.ContentLength = int64(len(before)) + size + int64(len(after))
	r.Header.Set("content-type", "application/json")
	r.Header.Set("accept", "text/event-stream, application/json")
	r.Header.Set("user-agent", "ollim-bot")
	q.provider.Authorize(r.Header)
	if len(q.betas) > 0 && q.provider.Betas {
		r.Header.Set("anthropic-beta", strings.Join(q.betas, ","))
	}
	return r, nil
}
