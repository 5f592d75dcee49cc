package dialect

import (
	"bytes"
	"encoding/json"
)

// forOllama sets the fields of a chat with Ollama. The server is asked to refuse a prompt that does not fit: without
// that, it leaves the oldest part out and says nothing.
func (q request) forOllama(out event, o Options) {
	options := event{"num_predict": q.MaxTokens}
	if o.Window > 0 {
		options["num_ctx"] = o.Window
	}
	out["options"], out["truncate"], out["shift"] = options, false, false
	if o.Thinks {
		out["think"] = len(q.Thinking) > 0
	}
	chat := q.chat()
	messages := make([]event, len(chat))
	for i, m := range chat {
		e := event{"role": m.role, "content": m.text}
		if m.answers != "" {
			e["tool_call_id"], e["tool_name"] = m.answers, m.tool
		}
		if m.images != nil {
			images := make([]string, len(m.images))
			for i, b := range m.images {
				images[i] = b.Source.Data
			}
			e["images"] = images
		}
		if m.calls != nil {
			calls := make([]event, len(m.calls))
			for i, c := range m.calls {
				calls[i] = event{"id": c.ID, "function": event{"name": c.Name, "arguments": c.Input}}
			}
			e["tool_calls"] = calls
		}
		messages[i] = e
	}
	out["messages"] = messages
}

// piece is a line of Ollama's answer. The last one has the usage.
type piece struct {
	Error   json.RawMessage `json:"error"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	Prompt int    `json:"prompt_eval_count"`
	Answer int    `json:"eval_count"`
}

// ollama takes a line of Ollama's answer. A call arrives whole.
func (t *translator) ollama(line []byte) {
	line = bytes.TrimPrefix(line, []byte("data: ")) // proxies make events of the lines
	var p piece
	if err := json.Unmarshal(line, &p); err != nil {
		t.garble()
		return
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		t.fail(line)
		return
	}
	t.say("thinking", p.Message.Thinking)
	t.say("text", p.Message.Content)
	for _, c := range p.Message.Calls {
		t.call(len(t.calls), c.ID, c.Function.Name, arguments(c.Function.Arguments))
	}
	if p.Done {
		t.used = usage{Input: p.Prompt, Output: p.Answer}
		if t.stop = finishes[p.Reason]; t.stop == "" {
			t.stop = stopEnd
		}
		t.ended = true
	}
	if t.out.Len() == 0 {
		t.ping()
	}
}
