package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

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
