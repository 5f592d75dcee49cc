package wire

import (
	"encoding/json"
	"errors"
	"math"
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
