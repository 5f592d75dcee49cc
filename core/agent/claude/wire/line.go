package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Types and subtypes of the lines that have a decoder.
const (
	TypeAssistant = "assistant"
	TypeRateLimit = "rate_limit_event"
	TypeResult    = "result"
	TypeStream    = "stream_event"
	TypeSystem    = "system"
	TypeUser      = "user"

	SubtypeCompactBoundary  = "compact_boundary"
	SubtypeInformational    = "informational"
	SubtypeInit             = "init"
	SubtypeModelFallback    = "model_fallback"
	SubtypeNotification     = "notification"
	SubtypePermissionDenied = "permission_denied"
	SubtypeRefusal          = "model_refusal_no_fallback"
	SubtypeRetry            = "api_retry"
	SubtypeState            = "session_state_changed"
	SubtypeStatus           = "status"
	SubtypeTaskNotification = "task_notification"
	SubtypeTaskProgress     = "task_progress"
	SubtypeTaskStarted      = "task_started"
	SubtypeTaskUpdated      = "task_updated"
	SubtypeThinkingTokens   = "thinking_tokens"
)

var (
	// ErrOtherKind says that a line is not of the kind that a decoder reads.
	ErrOtherKind = errors.New("the line is of another kind")

	errNoLine = errors.New("it is no JSON object")
)

// Line is one line of the CLI that is not control traffic. Its decoders are
// tolerant: a field that is missing or of a wrong type is zero, what they do
// not know they pass over. They fail for a line of another kind only.
type Line struct {
	Type, Subtype string
	Raw           []byte    // the whole JSON object; nothing may write to it
	At            time.Time // when it was read
}

// Parse makes a line of what the CLI has written, without its line break.
func Parse(raw []byte, at time.Time) (Line, error) {
	raw = bytes.Trim(raw, space)
	h, ok := peek(raw)
	if !ok {
		return Line{}, fmt.Errorf("read a line: %w", errNoLine)
	}
	return Line{Type: h.text("type"), Subtype: h.text("subtype"), Raw: raw, At: at}, nil
}

// decode fills v from a line of this type and one of these subtypes, if any
// are given.
func (l Line) decode(v any, kind string, subtypes ...string) error {
	if l.Type != kind || len(subtypes) > 0 && !slices.Contains(subtypes, l.Subtype) {
		return fmt.Errorf("read a line as %s %q: %w", kind, subtypes, ErrOtherKind)
	}
	if err := tolerant(l.Raw, v); err != nil {
		return fmt.Errorf("read a line as %s %q: %w", kind, subtypes, err)
	}
	return nil
}

// read decodes a line whose fields are those of T.
func read[T any](l Line, kind string, subtypes ...string) (T, error) {
	var v T
	err := l.decode(&v, kind, subtypes...)
	return v, err
}

// tolerant is json.Unmarshal that leaves fields of a wrong type zero.
func tolerant(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) { // all other fields were filled
		return nil
	}
	return err
}

// millis is a number of milliseconds as a duration, never negative.
func millis(ms float64) time.Duration {
	d := ms * float64(time.Millisecond)
	switch {
	case d <= 0:
		return 0
	case d >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(d)
}

// unix is a number of seconds since 1970 as a time; zero for none, and for
// what is beyond the year 9999.
func unix(seconds float64) time.Time {
	if seconds <= 0 || seconds > 253402300799 {
		return time.Time{}
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9))
}
