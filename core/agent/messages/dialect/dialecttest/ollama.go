package dialecttest

import (
	"encoding/json"
	"io"
	"net/http"
)

// chat is a request of Ollama's interface.
type chat struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Think    *bool  `json:"think"`
	Truncate *bool  `json:"truncate"`
	Shift    *bool  `json:"shift"`
	Options  struct {
		Window int `json:"num_ctx"`
		Tokens int `json:"num_predict"`
	} `json:"options"`
	Tools    []definition `json:"tools"`
	Messages []struct {
		Role    string   `json:"role"`
		Content string   `json:"content"`
		Images  []string `json:"images"`
		Tool    string   `json:"tool_name"`
		Answers string   `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string                     `json:"name"`
				Arguments map[string]json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// ollama answers a chat of Ollama's interface.
func (s *Server) ollama(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var q chat
	if err := strict(data, &q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		reply(w, object{"error": err.Error()})
		return
	}
	t := turn{Request: Request{Path: r.URL.Path, Model: q.Model, Window: s.o.Window, Body: data}, stream: q.Stream, tokens: q.Options.Tokens, tools: q.Tools}
	if q.Options.Window > 0 {
		t.Window = q.Options.Window
	}
	for _, m := range q.Messages {
		one := message{role: m.Role, text: m.Content, answers: m.Answers, images: len(m.Images)}
		for _, c := range m.Calls {
			input, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				s.t.Error(err)
			}
			one.calls = append(one.calls, call{c.ID, c.Function.Name, input})
		}
		t.messages = append(t.messages, one)
	}
	a, status, problem := s.play(r, &t)
	if status != 0 {
		w.WriteHeader(status)
		reply(w, object{"error": problem})
		return
	}
	s.streamOllama(w, t, a)
}

// streamOllama sends an answer in pieces.
func (s *Server) streamOllama(w http.ResponseWriter, t turn, a answer) {
	w.Header().Set("content-type", "application/x-ndjson")
	out := json.NewEncoder(w)
	send := func(fields object) {
		fields["model"], fields["created_at"] = t.Model, "2026-11-01T10:00:00Z"
		_ = out.Encode(fields)                    // the client may have left
		_ = http.NewResponseController(w).Flush() // so may it here
	}
	say := func(m object) {
		m["role"] = "assistant"
		send(object{"message": m, "done": false})
	}
	for _, text := range pieces(a.thought, 24) {
		say(object{"content": "", "thinking": text})
	}
	for _, text := range pieces(a.text, 24) {
		say(object{"content": text})
	}
	for _, c := range a.calls {
		say(object{"content": "", "tool_calls": []object{{"id": c.id, "function": object{"name": c.name, "arguments": c.input}}}})
	}
	end := object{"message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop", "total_duration": 5191566416}
	if !s.o.NoUsage {
		end["prompt_eval_count"], end["eval_count"] = a.in, a.out
	}
	send(end)
}
