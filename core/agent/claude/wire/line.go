package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The types of lines and subtypes of system lines that the bot uses.
const (
	TypeAssistant = "assistant"
	TypeRateLimit = "rate_limit_event"
	TypeResult    = "result"
	TypeStream    = "stream_event"
	TypeSystem    = "system"
	TypeUser      = "user"

	SubtypeCompactBoundary  = "compact_boundary"
	SubtypeInformational    = "informational"
	SubtypeInit             = "init" // begins every turn
	SubtypeModelFallback    = "model_fallback"
	SubtypePermissionDenied = "permission_denied" // denied without asking the host
	SubtypeRefusal          = "model_refusal_no_fallback"
	SubtypeRetry            = "api_retry"
	SubtypeState            = "session_state_changed" // sent only if requested in the CLI's environment
	SubtypeStatus           = "status"
	SubtypeTaskNotification = "task_notification" // a subagent or background command has ended
)

// Line is one line of the CLI that is not control traffic. Its decoders are for lines of their type
// and are tolerant: missing fields and fields of a wrong type are zero, and unknown ones are
// ignored.
type Line struct {
	Type, Subtype string
	Raw           []byte    // the whole JSON object, read-only
	At            time.Time // when it was read
}

// decode decodes valid JSON; fields of a wrong type stay zero.
func decode[T any](raw []byte) (v T) {
	_ = tolerant(raw, &v)
	return v
}

// tolerant is like json.Unmarshal but leaves fields of a wrong type zero.
func tolerant(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // all other fields are set
		return nil
	}
	return err
}

// System is a system line. Only the fields of its subtype are set.
type System struct {
	SessionID string `json:"session_id"`
	State     string `json:"state"` // of SubtypeState: "running", "requires_action", or "idle" at a turn's end

	// Of SubtypeStatus: the CLI's activity, "requesting", "compacting" or none, and the
	// result of a compaction: "success", or "failed" with a reason such as
	// "too_few_groups".
	Status        string `json:"status"`
	CompactResult string `json:"compact_result"`
	CompactError  string `json:"compact_error"`

	Compact struct { // of SubtypeCompactBoundary
		Trigger   string `json:"trigger"` // "manual", "auto"
		PreTokens int    `json:"pre_tokens"`
	} `json:"compact_metadata"`

	Retry // of SubtypeRetry

	// ToolUseID is the refused call, or the one that started the task; Summary is the
	// task's result.
	ToolUseID string `json:"tool_use_id"`
	Summary   string `json:"summary"`

	// Content is the text of a switched model, a refusal or an informational line. If it is
	// empty, FallbackModel and Explanation replace it.
	Content       string `json:"content"`
	FallbackModel string `json:"fallback_model"`
	Explanation   string `json:"api_refusal_explanation"`
}

// Retry means that a request to the model failed and is repeated after a delay.
type Retry struct {
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	DelayMS     float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"` // HTTP; 0 without a connection
	Error       string  `json:"error"`        // the classes of Assistant.Error
}

// Delay returns how long the CLI waits. It is never negative.
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

// RateLimit is the state of a subscription's limit.
type RateLimit struct {
	Status   string  `json:"status"`   // "allowed", "allowed_warning", "rejected"
	ResetsAt float64 `json:"resetsAt"` // Unix time in seconds; 0 if unknown
}

// Resets returns when the limit is reset. It is zero if unknown.
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

// Content is one block of a message written by the CLI.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Of a tool_use:
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Of a tool_result. Output is a string or a list of blocks; OutputText reads either.
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Output    json.RawMessage `json:"content"`
}

// OutputText returns the text of a tool_result, with a line break between blocks. Blocks of other
// types, such as images, are left out.
func (c Content) OutputText() string {
	var texts []string
	for _, b := range contents(c.Output) {
		if b.Type == BlockText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// contents parses a message's content, which is a list of blocks, or a string that means one text
// block. Anything else is ignored.
func contents(raw json.RawMessage) []Content {
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		return []Content{{Type: BlockText, Text: s}}
	}
	return slices.DeleteFunc(decode[[]Content](raw), func(b Content) bool { return b.Type == "" })
}

// Origin is the source of an assistant line: the call that runs a subagent, its type and its
// description. All are empty for the main thread.
type Origin struct {
	ParentToolUseID string `json:"parent_tool_use_id"`
	SubagentType    string `json:"subagent_type"`
	TaskDescription string `json:"task_description"`
}

// Assistant is one finished content block of the model. The blocks of a message arrive in
// separate lines with the same MessageID. They are authoritative where a stream differs.
type Assistant struct {
	Origin
	MessageID string
	Content   []Content
	Model     string
	// Usage is the usage of the request so far; each block of a message repeats it.
	Usage Usage
	// Error is the class of a failure that the text describes: "authentication_failed",
	// "billing_error", "rate_limit", "overloaded", "invalid_request", "model_not_found",
	// "server_error", "max_output_tokens", "unknown".
	Error string
}

// message is the inner "message" of assistant and user lines.
type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Usage   Usage           `json:"usage"`
}

// Usage is the usage of one request, with the API's field names.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// Assistant reads an assistant line.
func (l Line) Assistant() Assistant {
	v := decode[struct {
		Origin
		Message message `json:"message"`
		Error   string  `json:"error"`
	}](l.Raw)
	return Assistant{
		Origin: v.Origin, MessageID: v.Message.ID, Content: contents(v.Message.Content),
		Model: v.Message.Model, Usage: v.Message.Usage, Error: v.Error,
	}
}

// User is a message on the user's side: results of tools, texts made by the CLI, and echoes of the
// host's messages, which carry their UUID.
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
	MessageDelta = "message_delta"
	BlockStart   = "content_block_start"
	BlockDelta   = "content_block_delta"

	DeltaText     = "text_delta"
	DeltaThinking = "thinking_delta"
)

// Stream is one event of the model's answer. Only the fields of its Kind are set.
type Stream struct {
	Kind            string
	ParentToolUseID string
	MessageID       string // of MessageStart, the only event with a message ID
	Model           string // of MessageStart
	Usage           Usage  // of MessageStart, and of the end of a message
	Delta           string // the kind of a BlockDelta, whose piece is in Text or Thinking
	Text, Thinking  string
}

// Stream reads a stream_event line.
func (l Line) Stream() Stream {
	v := decode[struct {
		ParentToolUseID string `json:"parent_tool_use_id"`
		Event           struct {
			Type    string `json:"type"`
			Message struct {
				ID    string `json:"id"`
				Model string `json:"model"`
				Usage Usage  `json:"usage"`
			} `json:"message"`
			Usage Usage `json:"usage"`
			Delta struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				Thinking string `json:"thinking"`
			} `json:"delta"`
		} `json:"event"`
	}](l.Raw)
	e := v.Event
	used := e.Usage
	if e.Type == MessageStart {
		used = e.Message.Usage
	}
	return Stream{
		Model: e.Message.Model, Usage: used,
		Kind: e.Type, ParentToolUseID: v.ParentToolUseID, MessageID: e.Message.ID,
		Delta: e.Delta.Type, Text: e.Delta.Text, Thinking: e.Delta.Thinking,
	}
}

// ModelUsage is a model's usage in a session: since its process started, and in newer versions
// (2.1.300) also before.
type ModelUsage struct {
	InputTokens              int     `json:"inputTokens"`
	OutputTokens             int     `json:"outputTokens"`
	CacheReadInputTokens     int     `json:"cacheReadInputTokens"`
	CacheCreationInputTokens int     `json:"cacheCreationInputTokens"`
	CacheHour                int     `json:"cacheCreationEphemeral1hInputTokens"`
	CostUSD                  float64 `json:"costUSD"`
}

// Totals are the answer to the control request get_usage, which every version answers within
// milliseconds, also during a turn.
type Totals struct {
	Session *struct {
		CostUSD float64               `json:"total_cost_usd"`
		Models  map[string]ModelUsage `json:"model_usage"`
	} `json:"session"`
}

// ReadTotals reads an answer. Session is nil if the version gave none.
func ReadTotals(answer json.RawMessage) Totals { return decode[Totals](answer) }

// Result ends a turn.
type Result struct {
	IsError bool `json:"is_error"` // the subtype does not say whether the turn succeeded
	// APIErrorStatus is the HTTP status behind an error, or 0.
	APIErrorStatus int `json:"api_error_status"`
	// NumTurns counts requests to the model, and interruptions.
	NumTurns  int    `json:"num_turns"`
	Text      string `json:"result"` // the last text; may be empty
	SessionID string `json:"session_id"`
	// TotalCostUSD and ModelUsage are totals, as in Totals.
	TotalCostUSD float64               `json:"total_cost_usd"`
	ModelUsage   map[string]ModelUsage `json:"modelUsage"`
	// TerminalReason is "completed", "aborted_streaming", "aborted_tools",
	// "max_turns", "prompt_too_long" and others; empty for local commands.
	TerminalReason string `json:"terminal_reason"`
	// Origin is why a turn started without a message, such as "task-notification". It is empty
	// otherwise.
	Origin struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Errors []string `json:"errors"`
}

// Interrupted reports whether the turn was interrupted, which is not a failure although IsError may
// be set.
func (r Result) Interrupted() bool {
	return r.TerminalReason == "aborted_streaming" || r.TerminalReason == "aborted_tools"
}

// Result reads a result line.
func (l Line) Result() Result { return decode[Result](l.Raw) }

var errNoObject = errors.New("only JSON objects can be sent")

// Send queues one line: a value that marshals to a JSON object. It never waits for the pipe, so a
// nil error does not mean that the line was read. ErrClosed means that it never will be.
func (c *Conn) Send(line any) error {
	encoded, err := encode(line)
	if err != nil {
		return fmt.Errorf("send a line: %w", err)
	}
	if !c.out.Push(encoded) {
		return ErrClosed
	}
	return nil
}

// encode encodes v as one line with its line break. It accepts only JSON objects, because the CLI
// exits on anything else. The encoder escapes all line breaks within values, including U+2028, and
// removes those between values of raw JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	if line[0] != '{' {
		return nil, errNoObject
	}
	if !utf8.Valid(line) { // raw JSON is copied unchanged
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	return line, nil
}

// Block is one block of a message that the host sends, made by TextBlock or ImageBlock.
type Block struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

// TextBlock returns a block with a non-empty text. The CLI interprets "@path" and "/word" in the
// last text block of a message, so the caller must choose that block.
func TextBlock(text string) Block { return Block{Type: BlockText, Text: text} }

// ImageBlock returns an image in its own format, such as "image/png".
func ImageBlock(mediaType string, data []byte) Block {
	return Block{Type: "image", Source: &source{Type: "base64", MediaType: mediaType, Data: data}}
}

// UserMessage returns a line for Send with a message of the user. The CLI repeats the uuid in its
// echo if echoes are on; it may be empty. It must be new: a message with a known uuid is echoed and
// then ignored, so its turn never starts.
func UserMessage(uuid string, blocks []Block) any {
	if blocks == nil {
		blocks = []Block{} // null would end the CLI
	}
	type message struct {
		Role    string  `json:"role"`
		Content []Block `json:"content"`
	}
	return struct {
		Type            string  `json:"type"`
		Message         message `json:"message"`
		ParentToolUseID *string `json:"parent_tool_use_id"`
		SessionID       string  `json:"session_id"`
		UUID            string  `json:"uuid,omitempty"`
	}{Type: TypeUser, Message: message{"user", blocks}, UUID: uuid}
}
