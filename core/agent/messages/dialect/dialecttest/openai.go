package dialecttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// completion is a request of OpenAI's interface.
type completion struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Tokens   int    `json:"max_tokens"`
	Effort   string `json:"reasoning_effort"`
	Reported struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools    []definition `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Answers string          `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// turn returns the request in neither interface's form.
func (q completion) turn() (turn, error) {
	t := turn{stream: q.Stream, usage: q.Reported.Usage, tokens: q.Tokens, tools: q.Tools}
	for _, m := range q.Messages {
		one := message{role: m.Role, answers: m.Answers}
		if json.Unmarshal(m.Content, &one.text) != nil {
			var parts []struct {
				Type  string `json:"type"`
				Text  string `json:"text"`
				Image struct {
					URL string `json:"url"`
				} `json:"image_url"`
			}
			if err := strict(m.Content, &parts); err != nil {
				return t, err
			}
			for _, p := range parts {
				one.text += p.Text
				if p.Type == "image_url" && p.Image.URL != "" {
					one.images++
				}
			}
		}
		for _, c := range m.Calls {
			one.calls = append(one.calls, call{c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments)})
		}
		t.messages = append(t.messages, one)
	}
	return t, nil
}

// openAI answers a chat completion.
func (s *Server) openAI(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var q completion
	if err := strict(data, &q); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	t, err := q.turn()
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	t.Request = Request{Path: r.URL.Path, Model: q.Model, Window: s.o.Window, Body: data}
	a, status, problem := s.play(r, &t)
	if status != 0 {
		refuse(w, status, problem)
		return
	}
	s.streamOpenAI(w, t, a)
}

// streamOpenAI sends an answer in pieces.
func (s *Server) streamOpenAI(w http.ResponseWriter, t turn, a answer) {
	w.Header().Set("content-type", "text/event-stream")
	send := func(choices []object, usage any) {
		out, err := json.Marshal(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764000000, "model": t.Model, "choices": choices, "usage": usage,
		})
		if err != nil {
			s.t.Error(err)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", out) // the client may have left
		_ = http.NewResponseController(w).Flush()  // the client may have left
	}
	delta := func(d object, finish any) { send([]object{{"index": 0, "delta": d, "finish_reason": finish}}, nil) }
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, text := range pieces(a.thought, 24) {
		delta(object{"reasoning_content": text}, nil)
	}
	for _, text := range pieces(a.text, 24) {
		delta(object{"content": text}, nil)
	}
	for i, c := range a.calls {
		delta(object{"tool_calls": []object{{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}}, nil)
		for _, text := range pieces(string(c.input), 5) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": text}}}}, nil)
		}
	}
	finish := "stop"
	if len(a.calls) > 0 {
		finish = "tool_calls"
	}
	delta(object{}, finish)
	if t.usage && !s.o.NoUsage {
		send([]object{}, object{"prompt_tokens": a.in, "completion_tokens": a.out, "total_tokens": a.in + a.out})
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// refuse answers with an error of OpenAI's form.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	// The client may have left.
	_ = json.NewEncoder(w).Encode(object{"error": object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
}
