package dialect

import (
	"encoding/json"
	"strings"
)

// request is what is used of a request of the Messages API.
type request struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	Thinking  json.RawMessage `json:"thinking"`
	Output    struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	System   blocks `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content blocks `json:"content"`
	} `json:"messages"`
}

// block is a block of a message.
type block struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   blocks          `json:"content"`
}

// blocks are the contents of a message: a list, or a text alone.
type blocks []block

// UnmarshalJSON implements json.Unmarshaler.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// text joins the texts.
func (b blocks) text() string {
	var list []string
	for _, one := range b {
		if one.Type == "text" && one.Text != "" {
			list = append(list, one.Text)
		}
	}
	return strings.Join(list, "\n\n")
}

func (b blocks) images() (list blocks) {
	for _, one := range b {
		if one.Type == "image" && one.Source.Data != "" {
			list = append(list, one)
		}
	}
	return list
}

// message is a message of a chat: a text, with the pictures, calls or the call that belong to it. A result of a call is a
// message of its own.
type message struct {
	role   string // "system", "user", "assistant", "tool"
	text   string
	images blocks
	calls  blocks
	// answers and tool are the ID and the name of the call whose result this is.
	answers, tool string
}

// chat returns the messages in the order of a chat: the results of calls follow the calls at once, and pictures in them
// come after, because a result is text only.
func (q request) chat() []message {
	var list []message
	if text := q.System.text(); text != "" {
		list = append(list, message{role: "system", text: text})
	}
	names := map[string]string{}
	for _, m := range q.Messages {
		own := message{role: m.Role, text: m.Content.text(), images: m.Content.images()}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				names[b.ID] = b.Name
				own.calls = append(own.calls, b)
			case "tool_result":
				list = append(list, message{role: "tool", text: b.Content.text(), answers: b.ToolUseID, tool: names[b.ToolUseID]})
				own.images = append(own.images, b.Content.images()...)
			}
		}
		if own.text != "" || own.images != nil || own.calls != nil {
			list = append(list, own)
		}
	}
	return list
}

// write returns the body of the request for another API. host is the server's.
func (q request) write(o Options, host string) ([]byte, error) {
	out := event{"model": q.Model, "stream": true}
	if o.API == Ollama {
		q.forOllama(out, o)
	} else {
		q.forOpenAI(out, host)
	}
	if len(q.Tools) > 0 {
		tools := make([]event, len(q.Tools))
		for i, t := range q.Tools {
			tools[i] = event{"type": "function", "function": event{"name": t.Name, "description": t.Description, "parameters": t.Schema}}
		}
		out["tools"] = tools
	}
	return json.Marshal(out)
}
