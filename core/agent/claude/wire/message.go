package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// Types of content blocks.
const (
	BlockText       = "text"
	BlockThinking   = "thinking"
	BlockToolUse    = "tool_use"
	BlockToolResult = "tool_result"
	BlockImage      = "image"
)

// Content is one block of a message that the CLI has written.
type Content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	// ID, Name and Input are those of a tool_use. When a stream starts such a
	// block its input is still empty.
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
func (c Content) OutputText() string { return Text(contents(c.Output)) }

// Text joins the text blocks of a message, each on lines of its own.
func Text(blocks []Content) string {
	var texts []string
	for _, b := range blocks {
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
	var blocks []Content
	if tolerant(raw, &blocks) != nil {
		return nil
	}
	return slices.DeleteFunc(blocks, func(b Content) bool { return b.Type == "" })
}

// Origin is what assistant and user lines say about where they belong.
type Origin struct {
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
	// ParentToolUseID is the call that runs the subagent whose line this is, with
	// its type and the description of its task; empty for the main thread.
	ParentToolUseID string `json:"parent_tool_use_id"`
	SubagentType    string `json:"subagent_type"`
	TaskDescription string `json:"task_description"`
}

// syntheticModel is the model of messages that the CLI has made up itself.
const syntheticModel = "<synthetic>"

// Assistant is one finished content block of the model; the blocks of a message
// come in lines of their own with the same MessageID. It is the truth where a
// stream has said something else.
type Assistant struct {
	Origin
	MessageID  string
	Model      string
	StopReason string // empty while the message streams
	Content    []Content
	Usage      Usage
	// Error is the class of a failure whose words are the text:
	// "authentication_failed", "billing_error", "rate_limit", "overloaded",
	// "invalid_request", "model_not_found", "server_error", "max_output_tokens",
	// "unknown".
	Error     string
	RequestID string // of the API
}

// Synthetic reports whether the CLI has made the message up: an error, or the
// answer to a command.
func (a Assistant) Synthetic() bool { return a.Model == syntheticModel }

// message is the inner "message" of assistant and user lines and of
// message_start.
type message struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	StopReason string          `json:"stop_reason"`
	Content    json.RawMessage `json:"content"`
	Usage      Usage           `json:"usage"`
}

// Assistant reads an assistant line.
func (l Line) Assistant() (Assistant, error) {
	var v struct {
		Origin
		Message   message `json:"message"`
		Error     string  `json:"error"`
		RequestID string  `json:"request_id"`
	}
	err := l.decode(&v, TypeAssistant)
	m := v.Message
	return Assistant{
		Origin: v.Origin, MessageID: m.ID, Model: m.Model, StopReason: m.StopReason,
		Content: contents(m.Content), Usage: m.Usage, Error: v.Error, RequestID: v.RequestID,
	}, err
}

// User is a message of the user's side: results of tools, text that the CLI has
// made, and echoes of what the host has sent.
type User struct {
	Origin
	Content       []Content
	IsReplay      bool            // an echo of the host's line with this UUID, or a command's output
	IsSynthetic   bool            // the CLI's own words: a Stop hook's feedback, a summary
	ToolUseResult json.RawMessage // the output as the tool made it: an object, a list or a string
}

// User reads a user line.
func (l Line) User() (User, error) {
	var v struct {
		Origin
		Message       message         `json:"message"`
		IsReplay      bool            `json:"isReplay"`
		IsSynthetic   bool            `json:"isSynthetic"`
		ToolUseResult json.RawMessage `json:"tool_use_result"`
	}
	err := l.decode(&v, TypeUser)
	return User{
		Origin: v.Origin, Content: contents(v.Message.Content),
		IsReplay: v.IsReplay, IsSynthetic: v.IsSynthetic, ToolUseResult: v.ToolUseResult,
	}, err
}
