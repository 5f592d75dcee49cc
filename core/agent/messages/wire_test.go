package messages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// wire replaces the network: each request gets the next of its answers, and the last one is
// repeated.
type wire struct {
	mu      sync.Mutex
	answers []func(*http.Request) canned
	bodies  []string
	headers []http.Header
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != r.ContentLength {
		return nil, fmt.Errorf("the body has %d bytes, not %d", len(body), r.ContentLength)
	}
	w.mu.Lock()
	answer := w.answers[min(len(w.bodies), len(w.answers)-1)]
	w.bodies, w.headers = append(w.bodies, string(body)), append(w.headers, r.Header)
	w.mu.Unlock()
	c := answer(r)
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(c.body), Request: r}, nil
}

// canned is an answer of the wire, or an error instead.
type canned struct {
	status int
	header http.Header
	body   io.Reader
	err    error
}

// with answers with a status and a body.
func with(status int, kind, body string, headers ...string) func(*http.Request) canned {
	return func(*http.Request) canned {
		h := http.Header{"Content-Type": {kind}}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return canned{status: status, header: h, body: strings.NewReader(body)}
	}
}

// streams answers with server-sent events.
func streams(body string) func(*http.Request) canned {
	return with(http.StatusOK, "text/event-stream", body)
}

// hangs sends some bytes and then nothing until the request ends.
func hangs(body string) func(*http.Request) canned {
	return func(r *http.Request) canned {
		from := io.MultiReader(strings.NewReader(body), silence{r.Context()})
		return canned{status: http.StatusOK, header: http.Header{"Content-Type": {"text/event-stream"}}, body: from}
	}
}

type silence struct{ ctx context.Context }

// Read implements io.Reader.
func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func event(data any) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	var kind struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(b, &kind)
	return "event: " + kind.Type + "\ndata: " + string(b) + "\n\n"
}

type object = map[string]any

// reply returns a whole answer as a stream.
func reply(stop string, blocks ...object) string {
	var b strings.Builder
	b.WriteString(event(object{"type": "message_start", "message": object{"type": "message", "usage": object{"input_tokens": 100, "output_tokens": 1}}}))
	for i, block := range blocks {
		name, text := "text", ""
		delta := "text_delta"
		start := object{}
		for k, v := range block {
			start[k] = v
		}
		switch block["type"] {
		case "text":
			text, start["text"] = block["text"].(string), ""
		case "thinking":
			name, delta, text = "thinking", "thinking_delta", block["thinking"].(string)
			start["thinking"], start["signature"] = "", ""
		case "tool_use":
			name, delta = "partial_json", "input_json_delta"
			switch in := block["input"].(type) {
			case string:
				text = in
			default:
				raw, _ := json.Marshal(in)
				text = string(raw)
			}
			start["input"] = object{}
		case "compaction":
			name, delta, text = "content", "compaction_delta", block["content"].(string)
			start["content"] = nil
		}
		b.WriteString(event(object{"type": "content_block_start", "index": i, "content_block": start}))
		for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
			b.WriteString(event(object{"type": "content_block_delta", "index": i, "delta": object{"type": delta, name: piece}}))
		}
		if block["type"] == "thinking" {
			b.WriteString(event(object{"type": "content_block_delta", "index": i, "delta": object{"type": "signature_delta", "signature": "c2ln"}}))
		}
		b.WriteString(event(object{"type": "content_block_stop", "index": i}))
	}
	b.WriteString(event(object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 10}}))
	b.WriteString(event(object{"type": "message_stop"}))
	return b.String()
}

func saying(text string) object { return object{"type": "text", "text": text} }

func use(id, name string, input any) object {
	return object{"type": "tool_use", "id": id, "name": name, "input": input}
}

// bench is an engine over a wire.
type bench struct {
	t      testing.TB
	wire   *wire
	engine *Engine
	dir    *store.Dir
}

// newBench returns an engine whose requests get these answers.
func newBench(t testing.TB, answers ...func(*http.Request) canned) *bench {
	return newBenchAt(t, t.TempDir(), answers...)
}

func newBenchAt(t testing.TB, root string, answers ...func(*http.Request) canned) *bench {
	t.Helper()
	dir := storetest.At(t, root)
	testkit.Must(t, os.MkdirAll(dir.Path(store.StateDir), 0o700))
	w := &wire{answers: answers}
	e := New(Options{
		Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: []string{"PATH=/usr/bin:/bin"}, Transport: w,
		Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "secret"}[name]
		}}),
	})
	return &bench{t, w, e, dir}
}

// write puts a file into the data directory.
func (b *bench) write(t testing.TB, name, text string) {
	t.Helper()
	path := b.dir.Path(name)
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// open opens a session that allows everything.
func (b *bench) open(change ...func(*agent.SessionOptions)) agent.Session {
	b.t.Helper()
	o := agent.SessionOptions{
		Dir: b.dir.Root(), SystemPrompt: "You are the bot of a test.", Settings: agent.Settings{Model: "haiku", Thinking: "off"},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() },
	}
	for _, f := range change {
		f(&o)
	}
	s, err := b.engine.Open(context.Background(), o)
	testkit.Must(b.t, err)
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

// sent is a request that was sent.
type sent struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	Thinking  json.RawMessage `json:"thinking"`
	Output    json.RawMessage `json:"output_config"`
	Context   json.RawMessage `json:"context_management"`
	Tools     []object        `json:"tools"`
	System    []object        `json:"system"`
	Messages  []struct {
		Role    string   `json:"role"`
		Content []object `json:"content"`
	} `json:"messages"`
}

func (b *bench) sent(n int) sent {
	b.t.Helper()
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	if n >= len(b.wire.bodies) {
		b.t.Fatalf("there are %d requests, not %d", len(b.wire.bodies), n+1)
	}
	var q sent
	d := json.NewDecoder(bytes.NewReader([]byte(b.wire.bodies[n])))
	if err := d.Decode(&q); err != nil {
		b.t.Fatalf("request %d is no JSON: %v\n%.2000s", n, err, b.wire.bodies[n])
	}
	return q
}

func (b *bench) count() int {
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	return len(b.wire.bodies)
}

// roles returns the roles of a request's messages, one letter each.
func (q sent) roles() string {
	var s strings.Builder
	for _, m := range q.Messages {
		s.WriteString(m.Role[:1])
	}
	return s.String()
}

// valid checks the API's requirements on a history.
func (q sent) valid(t testing.TB) {
	t.Helper()
	asked := map[any]bool{}
	for i, m := range q.Messages {
		if len(m.Content) == 0 {
			t.Errorf("message %d is empty", i)
		}
		if m.Role == "assistant" && len(asked) > 0 {
			t.Errorf("message %d stands before the results of %v", i, asked)
		}
		for _, c := range m.Content {
			switch c["type"] {
			case "text":
				if c["text"] == "" {
					t.Errorf("message %d has an empty text", i)
				}
			case "thinking":
				if c["signature"] == "" {
					t.Errorf("message %d has a thought without a signature", i)
				}
			case "tool_use":
				asked[c["id"]] = true
			case "tool_result":
				if !asked[c["tool_use_id"]] {
					t.Errorf("message %d answers %v, which nobody has asked", i, c["tool_use_id"])
				}
				delete(asked, c["tool_use_id"])
			}
		}
	}
	if n := len(q.Messages); n == 0 || q.Messages[n-1].Role == "assistant" || len(asked) > 0 {
		t.Errorf("the request ends with %+v, asked %v", q.Messages[max(0, n-1):], asked)
	}
	if q.Messages[0].Role != "user" {
		t.Errorf("it begins with %s", q.Messages[0].Role)
	}
}

func sha(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }
