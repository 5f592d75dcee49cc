package wire

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// Types of lines, and subtypes of system lines, that mean something to a host.
const (
	TypeAssistant = "assistant"
	TypeRateLimit = "rate_limit_event"
	TypeResult    = "result"
	TypeStream    = "stream_event"
	TypeSystem    = "system"
	TypeUser      = "user"

	SubtypeCompactBoundary  = "compact_boundary"
	SubtypeInformational    = "informational"
	SubtypeInit             = "init" // begins every turn, not only the first
	SubtypeModelFallback    = "model_fallback"
	SubtypePermissionDenied = "permission_denied" // without asking the host
	SubtypeRefusal          = "model_refusal_no_fallback"
	SubtypeRetry            = "api_retry"
	SubtypeState            = "session_state_changed" // comes only when it was asked for in the CLI's environment
	SubtypeStatus           = "status"
	SubtypeTaskNotification = "task_notification" // a subagent or a command in the background has ended
)

// Line is one line of the CLI that is not control traffic. Its decoders are for
// lines of their type and tolerant: a field that is missing or of a wrong type is
// zero, what they do not know they pass over.
type Line struct {
	Type, Subtype string
	Raw           []byte    // the whole JSON object; nothing may write to it
	At            time.Time // when it was read
}

// decode fills v from JSON that has been checked: fields of a wrong type stay zero.
func decode[T any](raw []byte) (v T) {
	_ = tolerant(raw, &v)
	return v
}

// tolerant is json.Unmarshal that leaves fields of a wrong type zero.
func tolerant(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // all other fields were filled
		return nil
	}
	return err
}

// System is a system line. Only what its subtype has is set.
type System struct {
	SessionID string `json:"session_id"`
	State     string `json:"state"` // of SubtypeState: "running", "requires_action", "idle": the end of a turn

	// Of SubtypeStatus: what the CLI does now, "requesting", "compacting" or nothing,
	// and how a compaction has ended: "success" or "failed", for a reason such as
	// "too_few_groups".
	Status        string `json:"status"`
	CompactResult string `json:"compact_result"`
	CompactError  string `json:"compact_error"`

	Compact struct { // of SubtypeCompactBoundary
		Trigger   string `json:"trigger"` // "manual", "auto"
		PreTokens int    `json:"pre_tokens"`
	} `json:"compact_metadata"`

	Retry // of SubtypeRetry

	// ToolUseID is the call that was refused, or that began the task; Summary says
	// how that has ended.
	ToolUseID string `json:"tool_use_id"`
	Summary   string `json:"summary"`

	// Content is what a model that was switched, a refusal and an informational line
	// say; FallbackModel and Explanation stand in for it where it is empty.
	Content       string `json:"content"`
	FallbackModel string `json:"fallback_model"`
	Explanation   string `json:"api_refusal_explanation"`
}

// Retry says that a request to the model has failed and is made again after a
// delay.
type Retry struct {
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	DelayMS     float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"` // HTTP; 0 without a connection
	Error       string  `json:"error"`        // the classes of Assistant.Error
}

// Delay is how long the CLI waits, never negative.
func (r Retry) Delay() time.Duration {
	d := r.DelayMS * float64(time.Millisecond)
	switch {
	case d <= 0:
		return 0
	case d >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(d)
}

// System reads a system line.
func (l Line) System() System { return decode[System](l.Raw) }

// RateLimit is where the limit of a subscription stands.
type RateLimit struct {
	Status   string  `json:"status"`   // "allowed", "allowed_warning", "rejected"
	ResetsAt float64 `json:"resetsAt"` // seconds since 1970; 0 where unknown
}

// Resets is when the limit begins anew; zero where unknown.
func (r RateLimit) Resets() time.Time {
	if r.ResetsAt <= 0 || r.ResetsAt > 253402300799 { // beyond the year 9999
		return time.Time{}
	}
	whole, part := math.Modf(r.ResetsAt)
	return time.Unix(int64(whole), int64(part*1e9))
}

// RateLimit reads a rate_limit_event line.
func (l Line) RateLimit() RateLimit {
	return decode[struct {
		Info RateLimit `json:"rate_limit_info"`
	}](l.Raw).Info
}

// Types of content blocks.
const (
	BlockText       = "text"
	BlockToolUse    = "tool_use"
	BlockToolResult = "tool_result"
)

// Content is one block of a message that the CLI has written.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// ID, Name and Input are those of a tool_use.
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// ToolUseID, IsError and Output are those of a tool_result. Output is a
	// string or a list of blocks; OutputText reads either.
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Output    json.RawMessage `json:"content"`
}

// OutputText is the text of a tool_result, its blocks on lines of their own.
// Blocks of other types, such as images, leave nothing.
func (c Content) OutputText() string {
	var texts []string
	for _, b := range contents(c.Output) {
		if b.Type == BlockText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// contents reads a message's content: a list of blocks, or a string, which is
// the same as one text block. What is no block is passed over.
func contents(raw json.RawMessage) []Content {
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		return []Content{{Type: BlockText, Text: s}}
	}
	return slices.DeleteFunc(decode[[]Content](raw), func(b Content) bool { return b.Type == "" })
}

// Origin is whose line an assistant line is: the call that runs a subagent, with
// its type and the description of its task; empty for the main thread.
type Origin struct {
	ParentToolUseID string `json:"parent_tool_use_id"`
	SubagentType    string `json:"subagent_type"`
	TaskDescription string `json:"task_description"`
}

// Assistant is one finished content block of the model; the blocks of a message
// come in lines of their own with the same MessageID. It is the truth where a
// stream has said something else.
type Assistant struct {
	Origin
	MessageID string
	Content   []Content
	// Error is the class of a failure whose words are the text:
	// "authentication_failed", "billing_error", "rate_limit", "overloaded",
	// "invalid_request", "model_not_found", "server_error", "max_output_tokens",
	// "unknown".
	Error string
}

// message is the inner "message" of assistant and user lines.
type message struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
}

// Assistant reads an assistant line.
func (l Line) Assistant() Assistant {
	v := decode[struct {
		Origin
		Message message `json:"message"`
		Error   string  `json:"error"`
	}](l.Raw)
	return Assistant{Origin: v.Origin, MessageID: v.Message.ID, Content: contents(v.Message.Content), Error: v.Error}
}

// User is a message of the user's side: results of tools, text that the CLI has
// made, and echoes of what the host has sent, which have its UUID.
type User struct {
	UUID    string
	Content []Content
}

// User reads a user line.
func (l Line) User() User {
	v := decode[struct {
		UUID    string  `json:"uuid"`
		Message message `json:"message"`
	}](l.Raw)
	return User{UUID: v.UUID, Content: contents(v.Message.Content)}
}

// Kinds of stream events, and of the deltas of content blocks.
const (
	MessageStart = "message_start"
	BlockStart   = "content_block_start"
	BlockDelta   = "content_block_delta"

	DeltaText     = "text_delta"
	DeltaThinking = "thinking_delta"
)

// Stream is one event of the model's answer while it comes in. Only the fields
// of its Kind are set.
type Stream struct {
	Kind            string
	ParentToolUseID string
	MessageID       string // of MessageStart, the only event that names its message
	Delta           string // the kind of a BlockDelta; one of these is its piece
	Text, Thinking  string
}

// Stream reads a stream_event line.
func (l Line) Stream() Stream {
	v := decode[struct {
		ParentToolUseID string `json:"parent_tool_use_id"`
		Event           struct {
			Type    string `json:"type"`
			Message struct {
				ID string `json:"id"`
			} `json:"message"`
			Delta struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				Thinking string `json:"thinking"`
			} `json:"delta"`
		} `json:"event"`
	}](l.Raw)
	e := v.Event
	return Stream{
		Kind: e.Type, ParentToolUseID: v.ParentToolUseID, MessageID: e.Message.ID,
		Delta: e.Delta.Type, Text: e.Delta.Text, Thinking: e.Delta.Thinking,
	}
}

// ModelUsage is what one model has used since the process began.
type ModelUsage struct {
	InputTokens              int `json:"inputTokens"`
	OutputTokens             int `json:"outputTokens"`
	CacheReadInputTokens     int `json:"cacheReadInputTokens"`
	CacheCreationInputTokens int `json:"cacheCreationInputTokens"`
}

// Result ends a turn.
type Result struct {
	IsError bool `json:"is_error"` // the subtype says nothing about success
	// APIErrorStatus is the HTTP status behind an error, 0 for none.
	APIErrorStatus int `json:"api_error_status"`
	// NumTurns counts requests to the model, and interruptions.
	NumTurns  int    `json:"num_turns"`
	Text      string `json:"result"` // the last text; may be empty
	SessionID string `json:"session_id"`
	// TotalCostUSD and ModelUsage are sums since the process began.
	TotalCostUSD float64               `json:"total_cost_usd"`
	ModelUsage   map[string]ModelUsage `json:"modelUsage"`
	// TerminalReason is "completed", "aborted_streaming", "aborted_tools",
	// "max_turns", "prompt_too_long" and others; empty for local commands.
	TerminalReason string `json:"terminal_reason"`
	// Origin is why a turn began that nobody sent a message for, such as
	// "task-notification"; otherwise empty.
	Origin struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Errors []string `json:"errors"`
}

// Interrupted reports whether the turn was ended by an interruption, which is
// no failure although IsError may be set.
func (r Result) Interrupted() bool {
	return r.TerminalReason == "aborted_streaming" || r.TerminalReason == "aborted_tools"
}

// Result reads a result line.
func (l Line) Result() Result { return decode[Result](l.Raw) }
