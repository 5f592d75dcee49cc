// Package dialecttest is a server of local models with the interfaces of Ollama and of OpenAI, for tests: /api/tags, /api/show,
// /api/ps and /api/chat as in the API's page of the Ollama project, /v1/models and /v1/chat/completions as in OpenAI's
// reference. It refuses every field and order of messages that those documents do not have. Only tests import it.
//
// A server of the Messages API plays the model, so that one script of a test works with all interfaces.
package dialecttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Model is a model of the server.
type Model struct {
	Name string
	Can  []string // "completion", "tools", "vision", "thinking", "embedding"
	// Window is the largest context that it can have, in tokens.
	Window int
	Size   int64 // bytes
}

// Options of a server.
type Options struct {
	Models []Model
	// Backend is the address of a server of the Messages API, which plays the model.
	Backend string
	// Window is the context with which models run unless a request sets num_ctx, in tokens: 4096 if it is 0.
	Window int
	// Cut leaves out the oldest part of a prompt that does not fit, and says nothing, as Ollama does. Otherwise the prompt is
	// refused.
	Cut bool
	// NoUsage reports no numbers of tokens.
	NoUsage bool
}

// Request is a request for an answer.
type Request struct {
	Path   string
	Model  string
	Window int // of num_ctx, or the server's
	Tools  []string
	System string
	Bytes  int // of the texts and definitions in it
	Body   []byte
}

// Server is a running server.
type Server struct {
	URL string
	o   Options
	t   testing.TB

	mu   sync.Mutex
	seen []Request
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	o.Window = cmp.Or(o.Window, 4_096)
	s := &Server{o: o, t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("GET /api/ps", s.running)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /api/chat", s.ollama)
	mux.HandleFunc("POST /v1/chat/completions", s.openAI)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Requests returns the requests for an answer so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

type object = map[string]any

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("content-type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	list := []object{}
	for _, m := range s.o.Models {
		list = append(list, object{
			"name": m.Name, "model": m.Name, "modified_at": "2026-11-01T10:00:00Z", "size": m.Size, "digest": "a2af6cc3eb7f",
			"details": object{"format": "gguf", "family": "qwen3", "families": []string{"qwen3"}, "parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
		})
	}
	reply(w, object{"models": list})
}

func (s *Server) find(name string) (Model, bool) {
	i := slices.IndexFunc(s.o.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return s.o.Models[i], true
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string `json:"model"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m, ok := s.find(q.Model)
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		reply(w, object{"error": "model '" + q.Model + "' not found"})
		return
	}
	reply(w, object{
		"modelfile": "FROM x", "parameters": "temperature 0.6", "template": "{{ .Prompt }}", "details": object{"family": "qwen3"}, "capabilities": m.Can,
		"model_info": object{
			"general.architecture": "qwen3", "qwen3.context_length": m.Window, "qwen3.block_count": 36, "qwen3.attention.head_count": 32,
			"qwen3.attention.head_count_kv": 8, "qwen3.attention.key_length": 128, "qwen3.embedding_length": 4096,
		},
	})
}

func (s *Server) running(w http.ResponseWriter, _ *http.Request) {
	list := []object{}
	for _, m := range s.o.Models[:min(1, len(s.o.Models))] {
		list = append(list, object{"name": m.Name, "model": m.Name, "size": m.Size, "size_vram": m.Size, "context_length": s.o.Window})
	}
	reply(w, object{"models": list})
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	list := []object{}
	for _, m := range s.o.Models {
		list = append(list, object{"id": m.Name, "object": "model", "created": 1764000000, "owned_by": "library"})
	}
	reply(w, object{"object": "list", "data": list})
}

// strict decodes a body that has only known fields.
func strict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

type definition struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// turn is a request in neither interface's form.
type turn struct {
	Request
	stream   bool
	usage    bool
	tokens   int // most of the answer
	messages []message
	tools    []definition
}

type message struct {
	role, text, answers string
	images              int
	calls               []call
}

type call struct {
	id, name string
	input    json.RawMessage
}

// check returns what a model's template would refuse.
func (q turn) check() error {
	open := map[string]bool{}
	for i, m := range q.messages {
		switch m.role {
		case "system", "user", "assistant":
			if len(open) > 0 {
				return fmt.Errorf("messages.%d: calls %v have no results", i, open)
			}
		case "tool":
			if !open[m.answers] {
				return fmt.Errorf("messages.%d: there is no call %q", i, m.answers)
			}
			delete(open, m.answers)
		default:
			return fmt.Errorf("messages.%d: role %q", i, m.role)
		}
		if m.role != "assistant" && len(m.calls) > 0 || m.text == "" && m.images == 0 && len(m.calls) == 0 && m.role != "tool" {
			return fmt.Errorf("messages.%d: an empty message, or calls of a %s", i, m.role)
		}
		for _, c := range m.calls {
			var fields map[string]any
			if c.id == "" || json.Unmarshal(c.input, &fields) != nil {
				return fmt.Errorf("messages.%d: call %+v", i, c)
			}
			open[c.id] = true
		}
	}
	for _, t := range q.tools {
		if t.Type != "function" || t.Function.Name == "" || !json.Valid(t.Function.Parameters) {
			return fmt.Errorf("tool %+v", t)
		}
	}
	if !q.stream || q.tokens < 1 {
		return fmt.Errorf("stream %v, %d tokens", q.stream, q.tokens)
	}
	return nil
}

// answer is the model's.
type answer struct {
	text, thought string
	calls         []call
	in, out       int
	stop          string
}

// play asks the model. status is not 0 if it fails.
func (s *Server) play(r *http.Request, q *turn) (a answer, status int, problem string) {
	for _, t := range q.tools {
		q.Tools = append(q.Tools, t.Function.Name)
		q.Bytes += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	for _, m := range q.messages {
		q.Bytes += len(m.text)
		if m.role == "system" {
			q.System = m.text
		}
	}
	s.mu.Lock()
	s.seen = append(s.seen, q.Request)
	s.mu.Unlock()
	if err := q.check(); err != nil {
		return a, http.StatusBadRequest, err.Error()
	}
	m, known := s.find(q.Model)
	switch {
	case !known:
		return a, http.StatusNotFound, "model '" + q.Model + "' not found"
	case len(q.tools) > 0 && !slices.Contains(m.Can, "tools"):
		return a, http.StatusBadRequest, "registry.ollama.ai/library/" + q.Model + " does not support tools"
	}
	in := q.Bytes / 4
	if in > q.Window && !s.o.Cut {
		return a, http.StatusBadRequest, fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", in, q.Window)
	}
	a, status, problem = s.ask(r, q)
	a.in = min(in, q.Window)
	if s.o.NoUsage {
		a.in, a.out = 0, 0
	}
	return a, status, problem
}

// ask passes the request on to the server that plays the model.
func (s *Server) ask(r *http.Request, q *turn) (a answer, status int, problem string) {
	body, err := json.Marshal(q.asMessages())
	if err != nil {
		return a, http.StatusInternalServerError, err.Error()
	}
	post, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.o.Backend+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return a, http.StatusInternalServerError, err.Error()
	}
	resp, err := http.DefaultClient.Do(post)
	if err != nil {
		return a, http.StatusBadGateway, err.Error()
	}
	defer resp.Body.Close()
	var said struct {
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type, Text, Thinking, ID, Name string
			Input                          json.RawMessage
		} `json:"content"`
		Error struct{ Message string } `json:"error"`
	}
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	if err != nil {
		return a, http.StatusBadGateway, err.Error()
	}
	if resp.StatusCode != http.StatusOK {
		return a, resp.StatusCode, said.Error.Message
	}
	a.stop = said.Stop
	for _, b := range said.Content {
		switch b.Type {
		case "text":
			a.text += b.Text
		case "thinking":
			a.thought += b.Thinking
		case "tool_use":
			a.calls = append(a.calls, call{b.ID, b.Name, b.Input})
		}
		a.out += len(b.Text)/4 + len(b.Input)/4 + 1
	}
	return a, 0, ""
}

// asMessages returns the request in the form of the Messages API.
func (q turn) asMessages() object {
	var list []object
	for _, m := range q.messages {
		var blocks []object
		if m.role == "tool" {
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": m.answers, "content": m.text})
		} else if m.text != "" {
			blocks = append(blocks, object{"type": "text", "text": m.text})
		}
		for range m.images {
			blocks = append(blocks, object{"type": "text", "text": "(a picture)"})
		}
		for _, c := range m.calls {
			blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input})
		}
		role := m.role
		if role == "tool" {
			role = "user"
		}
		if role != "system" {
			list = append(list, object{"role": role, "content": blocks})
		}
	}
	var tools []object
	for _, t := range q.tools {
		tools = append(tools, object{"name": t.Function.Name, "description": t.Function.Description, "input_schema": t.Function.Parameters})
	}
	return object{"model": q.Model, "max_tokens": q.tokens, "system": q.System, "tools": tools, "messages": list}
}

// pieces cuts a text into parts of n bytes, between characters.
func pieces(text string, n int) (list []string) {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
		if b.Len() >= n {
			list = append(list, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}
