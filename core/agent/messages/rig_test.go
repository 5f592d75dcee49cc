package messages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// rig is an engine with its data directory.
type rig struct {
	t      testing.TB
	engine *Engine
	dir    *store.Dir
	wire   *wire    // in place of the network, of newBench
	called []string // the arguments of the calls of the tool note
}

// newRig makes an engine for a server, or for the wire instead of a network.
func newRig(t testing.TB, root, address string, w *wire) *rig {
	t.Helper()
	dir := storetest.At(t, root)
	testkit.Must(t, os.MkdirAll(dir.Path(store.StateDir), 0o700))
	env := map[string]string{"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k"}
	o := Options{
		Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: []string{"PATH=/usr/bin:/bin"},
		Providers: provider.New(provider.Options{Dir: dir, Getenv: func(n string) string { return env[n] }}),
	}
	if w != nil {
		o.Transport = w
	}
	return &rig{t: t, engine: New(o), dir: dir, wire: w}
}

// newRigFor runs an engine for a server until the test ends.
func newRigFor(t testing.TB, address string) *rig {
	t.Helper()
	r := newRig(t, t.TempDir(), address, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := r.engine.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); g.Wait() })
	return r
}

// newBench makes an engine whose requests get these answers; the last one is repeated.
func newBench(t testing.TB, answers ...served) *rig {
	t.Helper()
	return newRig(t, t.TempDir(), "", &wire{answers: answers})
}

// open opens a session that allows everything.
func (r *rig) open(change ...func(*agent.SessionOptions)) agent.Session {
	r.t.Helper()
	o := agent.SessionOptions{
		Dir: r.dir.Root(), SystemPrompt: "You are the bot of a test.", Settings: agent.Settings{Model: "haiku", Thinking: "off"},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() },
	}
	for _, f := range change {
		f(&o)
	}
	s, err := r.engine.Open(context.Background(), o)
	testkit.Must(r.t, err)
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

// notes gives a session the tool note.
func (r *rig) notes(o *agent.SessionOptions) {
	o.Tools = append(o.Tools, bot("note", func(args string) agent.ToolResult {
		r.called = append(r.called, args)
		return agent.ToolResult{Text: "note did it"}
	}))
}

// fork opens a fork of a session.
func (r *rig) fork(of agent.Session) agent.Session {
	r.t.Helper()
	return r.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = of.ID(), true })
}

// again closes a session and resumes it in another engine.
func (r *rig) again(s agent.Session, answers ...served) (*rig, agent.Session) {
	r.t.Helper()
	testkit.Must(r.t, s.Close())
	next := newRig(r.t, r.dir.Root(), "", &wire{answers: answers})
	return next, next.open(func(o *agent.SessionOptions) { o.Resume = s.ID() })
}

// file is a session's history.
func (r *rig) file(s agent.Session) string {
	return r.dir.Path(history.Folder + "/" + s.ID() + ".jsonl")
}

// took reports whether a message counts as received.
func (r *rig) took(s agent.Session, text string) bool {
	r.t.Helper()
	taken, err := r.engine.HasMessage(r.t.Context(), s.ID(), sha256.Sum256([]byte(text)))
	testkit.Must(r.t, err)
	return taken
}

// next are the answers of the coming requests.
func (r *rig) next(answers ...served) {
	r.wire.mu.Lock()
	defer r.wire.mu.Unlock()
	r.wire.before, r.wire.answers = len(r.wire.bodies), answers
}

// bot returns a bot tool.
func bot(name string, call func(args string) agent.ToolResult) agent.Tool {
	return agent.Tool{
		Name: name, Description: "A tool of a test.", Schema: json.RawMessage(`{"type":"object"}`),
		Call: func(_ context.Context, a agent.Approved) agent.ToolResult { return call(string(a.Input())) },
	}
}

// turnOf is the result of a turn.
type turnOf struct {
	text   string
	events []agent.Event
	result agent.Result
	err    error
}

// say runs a turn.
func say(s agent.Session, text string) turnOf { return send(s, agent.Message{Text: text}) }

func send(s agent.Session, m agent.Message) (out turnOf) {
	for ev, err := range s.Send(context.Background(), m) {
		if err != nil {
			out.err = err
			return out
		}
		out.events = append(out.events, ev)
		switch ev := ev.(type) {
		case agent.Text:
			out.text += ev.Delta
		case agent.Rewind:
			out.text = out.text[:len(out.text)-ev.Bytes]
		case agent.Result:
			out.result = ev
		}
	}
	return out
}

// says runs a turn that must end with these words.
func (r *rig) says(s agent.Session, text, want string) turnOf {
	r.t.Helper()
	got := say(s, text)
	if got.err != nil || got.text != want {
		r.t.Fatalf("%.40q gets %q, not %q: %v, %+v", text, got.text, want, got.err, got.result)
	}
	return got
}

// fate is how a turn ended for its user, if without an answer.
func (o turnOf) fate() string { return fmt.Sprint(o.err, o.result.Text) }

// find returns the events of a kind.
func find[T agent.Event](o turnOf) []T {
	var list []T
	for _, e := range o.events {
		if x, ok := e.(T); ok {
			list = append(list, x)
		}
	}
	return list
}

func holds(t testing.TB, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s is %.300q, want %q in it", what, text, part)
	}
}

func script(steps ...claudetest.Step) string { return claudetest.Script(steps...) }

// wire replaces the network.
type wire struct {
	mu      sync.Mutex
	answers []served
	before  int // requests before the first of the answers
	bodies  []string
	headers []http.Header
}

// served is what a request gets.
type served = func(*http.Request) canned

// canned is an answer of the wire, or an error instead.
type canned struct {
	status int
	header http.Header
	body   io.Reader
	err    error
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
	next := w.answers[min(len(w.bodies)-w.before, len(w.answers)-1)]
	w.bodies, w.headers = append(w.bodies, string(body)), append(w.headers, r.Header)
	w.mu.Unlock()
	c := next(r)
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(c.body), Request: r}, nil
}

// with answers with a status and a body.
func with(status int, kind, body string, headers ...string) served {
	return func(*http.Request) canned {
		h := http.Header{"Content-Type": {kind}}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return canned{status: status, header: h, body: strings.NewReader(body)}
	}
}

// streams answers with server-sent events.
func streams(body string) served { return with(http.StatusOK, "text/event-stream", body) }

// hangs sends some bytes and then nothing until the request ends.
func hangs(body string) served {
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

func event(data object) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", data["type"], b)
}

type object = map[string]any

// reply returns a whole answer as a stream.
func reply(stop string, blocks ...object) string {
	var b strings.Builder
	b.WriteString(event(object{"type": "message_start", "message": object{"type": "message", "usage": object{"input_tokens": 100, "output_tokens": 1}}}))
	for i, block := range blocks {
		name, text, delta, start := "text", "", "text_delta", maps.Clone(block)
		switch block["type"] {
		case "text":
			text, start["text"] = block["text"].(string), ""
		case "thinking":
			name, delta, text = "thinking", "thinking_delta", block["thinking"].(string)
			start["thinking"], start["signature"] = "", ""
		case "tool_use":
			name, delta, start["input"] = "partial_json", "input_json_delta", object{}
			if raw, is := block["input"].(string); is {
				text = raw
				break
			}
			raw, _ := json.Marshal(block["input"])
			text = string(raw)
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

// ends answers with words, calls with calls.
func ends(text string) served       { return streams(reply("end_turn", saying(text))) }
func calls(blocks ...object) served { return streams(reply("tool_use", blocks...)) }
func saying(text string) object     { return object{"type": "text", "text": text} }
func thought(text string) object    { return object{"type": "thinking", "thinking": text} }
func note(input any) object         { return use("a", "mcp__discord__note", input) }
func use(id, name string, in any) object {
	return object{"type": "tool_use", "id": id, "name": name, "input": in}
}

// used returns an answer with this many input tokens.
func used(tokens int, stop string, blocks ...object) served {
	return streams(strings.Replace(reply(stop, blocks...), `"input_tokens":100`, fmt.Sprintf(`"input_tokens":%d`, tokens), 1))
}

// counts answers with calls of the tool note, each with another number.
func counts() served {
	n := 0
	return func(r *http.Request) canned {
		n++
		return calls(note(object{"n": n}))(r)
	}
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

func (r *rig) sent(n int) sent {
	r.t.Helper()
	r.wire.mu.Lock()
	defer r.wire.mu.Unlock()
	if n >= len(r.wire.bodies) {
		r.t.Fatalf("there are %d requests, not %d", len(r.wire.bodies), n+1)
	}
	var q sent
	if err := json.NewDecoder(bytes.NewReader([]byte(r.wire.bodies[n]))).Decode(&q); err != nil {
		r.t.Fatalf("request %d is no JSON: %v\n%.2000s", n, err, r.wire.bodies[n])
	}
	return q
}

func (r *rig) count() int {
	r.wire.mu.Lock()
	defer r.wire.mu.Unlock()
	return len(r.wire.bodies)
}

func (r *rig) last() sent {
	r.t.Helper()
	return r.sent(r.count() - 1)
}

// roles returns the roles of a request's messages, one letter each.
func (q sent) roles() string {
	var s strings.Builder
	for _, m := range q.Messages {
		s.WriteString(m.Role[:1])
	}
	return s.String()
}

// told is the content of a message.
func (q sent) told(message int) string { return fmt.Sprint(q.Messages[message].Content) }

// valid checks the API's requirements on a history.
func (q sent) valid(t testing.TB) {
	t.Helper()
	asked := map[any]bool{}
	for i, m := range q.Messages {
		if len(m.Content) == 0 || !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
			t.Errorf("message %d is empty or of %q", i, m.Role)
		}
		if m.Role == "assistant" && len(asked) > 0 {
			t.Errorf("message %d stands before the results of %v", i, asked)
		}
		for _, c := range m.Content {
			switch {
			case c["type"] == "text" && c["text"] == "", c["type"] == "thinking" && c["signature"] == "":
				t.Errorf("message %d has %v without a text or a signature", i, c)
			case c["type"] == "tool_use":
				asked[c["id"]] = true
			case c["type"] == "tool_result":
				if !asked[c["tool_use_id"]] {
					t.Errorf("message %d answers %v, which nobody has asked", i, c["tool_use_id"])
				}
				delete(asked, c["tool_use_id"])
			}
		}
	}
	if n := len(q.Messages); n == 0 || q.Messages[n-1].Role == "assistant" || len(asked) > 0 {
		t.Errorf("the request ends with %+v, asked %v", q.Messages[max(0, n-1):], asked)
	} else if q.Messages[0].Role != "user" {
		t.Errorf("it begins with %s", q.Messages[0].Role)
	}
}

// write puts a file into the data directory.
func (r *rig) write(name, text string) {
	r.t.Helper()
	path := r.dir.Path(name)
	testkit.Must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(r.t, os.WriteFile(path, []byte(text), 0o600))
}
