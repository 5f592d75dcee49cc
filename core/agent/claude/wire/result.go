package wire

import (
	"encoding/json"
	"time"
)

// Usage is what requests to the model have used, in tokens.
type Usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
}

// ModelUsage is what one model has used since the process began.
type ModelUsage struct {
	InputTokens              int     `json:"inputTokens"`
	OutputTokens             int     `json:"outputTokens"`
	CacheReadInputTokens     int     `json:"cacheReadInputTokens"`
	CacheCreationInputTokens int     `json:"cacheCreationInputTokens"`
	WebSearchRequests        int     `json:"webSearchRequests"`
	CostUSD                  float64 `json:"costUSD"`
	ContextWindow            int     `json:"contextWindow"`
	MaxOutputTokens          int     `json:"maxOutputTokens"`
}

// PermissionDenial is a tool call of the turn that was refused.
type PermissionDenial struct {
	ToolName  string          `json:"tool_name"`
	ToolUseID string          `json:"tool_use_id"`
	ToolInput json.RawMessage `json:"tool_input"`
}

// Result ends a turn.
type Result struct {
	// Subtype is "success", "error_during_execution", "error_max_turns",
	// "error_max_budget_usd". It says nothing about success: IsError does.
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	// APIErrorStatus is the HTTP status behind an error, 0 for none.
	APIErrorStatus int           `json:"api_error_status"`
	Duration       time.Duration `json:"-"`
	APIDuration    time.Duration `json:"-"` // since the process began
	TTFT           time.Duration `json:"-"` // until the first token
	// NumTurns counts requests to the model, and interruptions.
	NumTurns   int    `json:"num_turns"`
	Text       string `json:"result"` // the last text; may be empty
	StopReason string `json:"stop_reason"`
	SessionID  string `json:"session_id"`
	UUID       string `json:"uuid"`
	// TotalCostUSD and ModelUsage are sums since the process began; Usage is of
	// this turn, and zero when it was interrupted.
	TotalCostUSD      float64               `json:"total_cost_usd"`
	Usage             Usage                 `json:"usage"`
	ModelUsage        map[string]ModelUsage `json:"modelUsage"`
	PermissionDenials []PermissionDenial    `json:"permission_denials"`
	// TerminalReason is "completed", "aborted_streaming", "aborted_tools",
	// "max_turns", "prompt_too_long" and others; empty for local commands.
	TerminalReason string `json:"terminal_reason"`
	// OriginKind is why a turn began that nobody sent a message for, such as
	// "task-notification"; otherwise empty.
	OriginKind       string          `json:"-"`
	StructuredOutput json.RawMessage `json:"structured_output"`
	Errors           []string        `json:"errors"`
}

// Interrupted reports whether the turn was ended by an interruption, which is
// no failure although IsError may be set.
func (r Result) Interrupted() bool {
	return r.TerminalReason == "aborted_streaming" || r.TerminalReason == "aborted_tools"
}

// Result reads a result line.
func (l Line) Result() (Result, error) {
	var v struct {
		Result
		DurationMS    float64 `json:"duration_ms"`
		DurationAPIMS float64 `json:"duration_api_ms"`
		TTFTMS        float64 `json:"ttft_ms"`
		Origin        struct {
			Kind string `json:"kind"`
		} `json:"origin"`
	}
	err := l.decode(&v, TypeResult)
	r := v.Result
	r.Duration, r.APIDuration, r.TTFT = millis(v.DurationMS), millis(v.DurationAPIMS), millis(v.TTFTMS)
	r.OriginKind = v.Origin.Kind
	return r, err
}
