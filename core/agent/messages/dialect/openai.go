package dialect

import (
	"bytes"
	"encoding/json"
)

// openAIHost is where max_tokens is refused for newer models in favour of max_completion_tokens.
const openAIHost = "api.openai.com"

// forOpenAI sets the fields of a chat completion.
func (q request) forOpenAI(out event, host string) {
	out["stream_options"] = event{"include_usage": true}
	limit := "max_tokens"
	if host == openAIHost {
		limit = "max_completion_tokens"
	}
	out[limit] = q.MaxTokens
	if q.Output.Effort != "" {
		out["reasoning_effort"] = q.Output.Effort
	}
	chat := q.chat()
	messages := make([]event, len(chat))
	for i, m := range chat {
		e := event{"role": m.role, "content": m.text}
		if m.answers != "" {
			e["tool_call_id"] = m.answers
		}
		if m.images != nil {
			parts := []event{{"type": "text", "text": m.text}}
			if m.text == "" {
				parts = nil
			}
			for _, b := range m.images {
				parts = append(parts, event{"type": "image_url", "image_url": event{"url": "data:" + b.Source.MediaType + ";base64," + b.Source.Data}})
			}
			e["content"] = parts
		}
		if m.calls != nil {
			calls := make([]event, len(m.calls))
			for i, c := range m.calls {
				calls[i] = event{"id": c.ID, "type": "function", "function": event{"name": c.Name, "arguments": string(c.Input)}}
			}
			e["tool_calls"] = calls
		}
		messages[i] = e
	}
	out["messages"] = messages
}

// chunk is a piece of a streamed chat completion, or a whole one.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta   delta  `json:"delta"`
		Message delta  `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// delta is what a piece adds. Servers have two names for thoughts.
type delta struct {
	Content   blocks `json:"content"`
	Reasoning string `json:"reasoning"`
	Thoughts  string `json:"reasoning_content"`
	Refusal   string `json:"refusal"`
	Calls     []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// finishes are the reasons to stop.
var finishes = map[string]string{
	"stop": stopEnd, "length": stopTokens, "tool_calls": stopTool, "function_call": stopTool, "content_filter": stopRefusal,
}

// openAI takes a line of a chat completion.
func (t *translator) openAI(line []byte) {
	data := line
	if !t.whole {
		var ok bool
		if data, ok = bytes.CutPrefix(line, []byte("data:")); !ok {
			t.ping() // a comment, with which some servers say that they are at work
			return
		}
		data = bytes.TrimSpace(data)
	}
	if string(data) == "[DONE]" {
		t.ended = t.stop != ""
		return
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		t.garble()
		return
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		t.fail(data)
		return
	}
	if u := c.Usage; u != nil {
		t.used = usage{Input: max(0, u.Prompt-u.Details.Cached), Output: u.Completion, Read: u.Details.Cached}
	}
	for _, choice := range c.Choices {
		d := choice.Delta
		if t.whole {
			d = choice.Message
		}
		t.add(d)
		if choice.Finish == "" {
			continue
		}
		if t.stop = finishes[choice.Finish]; t.stop == "" {
			t.stop = stopEnd
		}
	}
	if t.out.Len() == 0 {
		t.ping()
	}
}

func (t *translator) add(d delta) {
	t.say("thinking", d.Thoughts)
	if d.Thoughts == "" {
		t.say("thinking", d.Reasoning)
	}
	t.say("text", d.Content.text())
	t.say("text", d.Refusal)
	for i, c := range d.Calls {
		key := i
		if c.Index != nil {
			key = *c.Index
		}
		t.call(key, c.ID, c.Function.Name, arguments(c.Function.Arguments))
	}
}

// arguments returns the text of a call's arguments: a text of JSON, or with some servers the JSON itself.
func arguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
