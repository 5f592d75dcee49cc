package claudetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Request is a received request, parsed as far as tests need it.
type Request struct {
	Time   time.Time // when its body had been read
	Method string
	Path   string // without the query
	Header http.Header
	Raw    []byte // the body

	Status int  // the HTTP status of the answer; 0 while it is held, or if the connection was cut first
	Ended  bool // no more data will be sent
	Left   bool // the client left (or Close was called) before the answer was complete

	Model     string
	Stream    bool
	MaxTokens int
	System    string   // the text of all system blocks, joined by line breaks
	Tools     []string // names
	Thinking  Thinking
	Messages  []Message
}

// Thinking is a request's thinking setting.
type Thinking struct {
	Type   string `json:"type"`          // "enabled", "adaptive", "disabled"; empty if missing
	Budget int    `json:"budget_tokens"` // tokens; 0 if missing
}

// Message is one message of the history.
type Message struct {
	Role   string // "user", "assistant" or "system"
	Text   string // its text blocks, joined by line breaks, without results of tools
	Blocks []Block
}

// Block is one content block, of a request or of an answer.
type Block struct {
	Type     string         `json:"type"`               // "text", "thinking", "tool_use", "tool_result", "image", …
	Text     string         `json:"text,omitempty"`     // text; for a tool_result the text of its content
	Thinking string         `json:"thinking,omitempty"` // thinking
	ID       string         `json:"id,omitempty"`       // tool_use: its ID, generated if empty; tool_result: the ID it answers
	Name     string         `json:"name,omitempty"`     // tool_use: the tool
	Input    map[string]any `json:"input,omitempty"`    // tool_use
	IsError  bool           `json:"is_error,omitempty"` // tool_result
	// Signature is the signature of a thought; if it is empty, an answer gets one.
	Signature string `json:"signature,omitempty"`
}

// ForModel reports whether the request asked for an answer of the model. Token counts and the
// greeting at the start do not.
func (r Request) ForModel() bool {
	return r.Method == http.MethodPost && r.Path == pathMessages
}

// Prompt returns the text of the newest user message that has any.
func (r Request) Prompt() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// body is a request in its wire form. A field that may be a string or a list of blocks stays raw
// until blocks parses it.
type body struct {
	Model     string          `json:"model"`
	Stream    bool            `json:"stream"`
	MaxTokens int             `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Thinking Thinking `json:"thinking"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// Read reads the body of a request.
func Read(raw []byte) (Request, error) {
	r := Request{Raw: raw}
	return r, r.read()
}

// read fills r from its body.
func (r *Request) read() error {
	var b body
	if err := json.Unmarshal(r.Raw, &b); err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	r.Model, r.Stream, r.MaxTokens = b.Model, b.Stream, b.MaxTokens
	r.Thinking = b.Thinking
	system, err := blocks(b.System)
	if err != nil {
		return fmt.Errorf("read system: %w", err)
	}
	r.System = texts(system)
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for i, m := range b.Messages {
		list, err := blocks(m.Content)
		if err != nil {
			return fmt.Errorf("read messages.%d.content: %w", i, err)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Text: texts(list), Blocks: list})
	}
	return nil
}

// blocks parses content: nothing, a string, or a list of blocks.
func blocks(content json.RawMessage) ([]Block, error) {
	if len(content) == 0 || string(content) == "null" {
		return nil, nil
	}
	if content[0] == '"' {
		var s string
		if err := json.Unmarshal(content, &s); err != nil {
			return nil, err
		}
		return []Block{{Type: "text", Text: s}}, nil
	}
	var list []struct {
		Block
		ToolUse string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, err
	}
	out := make([]Block, len(list))
	for i, b := range list {
		out[i] = b.Block
		if b.Type != "tool_result" {
			continue
		}
		inner, err := blocks(b.Content)
		if err != nil {
			return nil, err
		}
		out[i].ID, out[i].Text = b.ToolUse, texts(inner)
	}
	return out, nil
}

// texts joins the text blocks of a list.
func texts(list []Block) string {
	var parts []string
	for _, b := range list {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// fault describes why the real API would refuse a history, or returns "". It checks only the
// mistakes that a client can make with forks, resumed sessions and empty texts.
func (r Request) fault() string {
	if len(r.Messages) == 0 {
		return "messages: at least one message is required"
	}
	if r.MaxTokens < 1 {
		return "max_tokens: must be at least 1"
	}
	var asked []string // IDs of the newest tool calls without a result
	known := map[string]bool{}
	for i, m := range r.Messages {
		switch m.Role {
		case "user", "system":
		case "assistant":
			if len(asked) > 0 {
				return missing(i, asked)
			}
		default:
			return fmt.Sprintf("messages.%d.role: %q is not a role", i, m.Role)
		}
		for j, b := range m.Blocks {
			switch {
			case b.Type == "text" && b.Text == "" && m.Role != "system":
				return fmt.Sprintf("messages.%d.content.%d: text content blocks must be non-empty", i, j)
			case b.Type == "tool_use":
				asked = append(asked, b.ID)
				known[b.ID] = true
			case b.Type == "tool_result" && !known[b.ID]:
				return fmt.Sprintf("messages.%d.content.%d: unexpected tool_use_id %s", i, j, b.ID)
			case b.Type == "tool_result":
				asked = slices.DeleteFunc(asked, func(id string) bool { return id == b.ID })
			}
		}
	}
	if len(asked) > 0 {
		return missing(len(r.Messages), asked)
	}
	return ""
}

func missing(before int, ids []string) string {
	return fmt.Sprintf("messages.%d: tool_use ids were found without tool_result blocks: %v", before, ids)
}
