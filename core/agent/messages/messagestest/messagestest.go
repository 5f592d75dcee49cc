// Package messagestest is a Messages API in which the offline engine plays the model: for tests of
// the whole bot over the engine that speaks that API. It replaces the network (http.RoundTripper),
// or serves a port (http.Handler). It must not know that engine, and only tests import it.
//
// A play is one turn of the offline engine, in its own goroutine. When it calls a tool, the
// streaming answer ends with that call, and the play waits for the request with the result. The
// signature of the newest thought, which the client returns unchanged, identifies the play of a
// request.
package messagestest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/script"
	"ollimbot/core/storage/store"
)

// Model is the fake model.
type Model struct {
	engine *script.Engine
	ctx    context.Context
	end    context.CancelFunc
	plays  sync.WaitGroup

	mu    sync.Mutex
	count int
	open  map[string]*play // by signature

	cache claudetest.Cache
}

// Cached returns the prompt cache usage of all requests.
func (m *Model) Cached() claudetest.Cached { return m.cache.Total() }

// New returns a model. Call Close at the end.
func New(o script.Options) *Model {
	m := &Model{engine: script.New(o), open: map[string]*play{}}
	m.ctx, m.end = context.WithCancel(context.Background())
	return m
}

// Close ends all plays and waits for them.
func (m *Model) Close() {
	m.end()
	m.plays.Wait()
}

// answer is a play's output up to a call or its end.
type answer struct {
	text, thought string
	call          *agent.ToolUse
	fault         string
}

// word is the bot's answer to a waiting play.
type word struct {
	text    string
	isError bool
}

// play is one turn.
type play struct {
	sign    string
	cancel  context.CancelFunc
	said    answer
	answers chan answer
	words   chan word
	call    string // the ID of the call that it waits for
	stops   bool   // it waits for an objection to its end
}

// RoundTrip implements http.RoundTripper.
func (m *Model) RoundTrip(r *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	status, kind, body := m.respond(r.Context(), data)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	status, kind, body := m.respond(r.Context(), data)
	w.Header().Set("content-type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// respond answers a request.
func (m *Model) respond(ctx context.Context, data []byte) (status int, kind string, body []byte) {
	q, err := claudetest.Read(data)
	if err != nil {
		return refuse(err.Error())
	}
	if len(q.Messages) == 0 {
		return refuse("messages: at least one message is required")
	}
	used, err := m.cache.Take(data, time.Now())
	if err != nil {
		return refuse(err.Error())
	}
	text, result, images := newest(q)
	p := m.find(q)
	switch {
	case strings.HasPrefix(text, "Sum this conversation up"):
		return http.StatusOK, "text/event-stream", stream("summed-up", q, used, answer{text: "They talked with the offline engine."})
	case strings.HasPrefix(text, "This conversation is about to be summed up"):
		return http.StatusOK, "text/event-stream", stream("saved", q, used, answer{text: "done"})
	case result != nil && p != nil && p.call == result.ID:
		p.tell(ctx, word{text: result.Text, isError: result.IsError})
	case result == nil && p != nil && p.stops && !stamped.MatchString(text):
		p.tell(ctx, word{text: text})
	default:
		if p != nil {
			p.cancel() // its turn has ended
		}
		p = m.begin(q, text, images)
	}
	select {
	case a := <-p.answers:
		if a.fault != "" {
			return refuse(a.fault)
		}
		if a.call != nil {
			p.call = a.call.ID
		}
		return http.StatusOK, "text/event-stream", stream(p.sign, q, used, a)
	case <-ctx.Done():
	case <-m.ctx.Done():
	}
	return refuse("the play was ended")
}

// stamped matches messages of the bot rather than a hook: they begin with the time.
var stamped = regexp.MustCompile(`^\[\d{4}-\d\d-\d\d `)

// newest returns the content of the user's newest message: text, or the result of a call.
func newest(q claudetest.Request) (text string, result *claudetest.Block, images int) {
	for _, b := range newestOf(q, "user") {
		switch b.Type {
		case "text":
			text = b.Text
		case "image":
			images++
		case "tool_result":
			result = &b
		}
	}
	return text, result, images
}

// newestOf returns the blocks of the newest message with a role.
func newestOf(q claudetest.Request, role string) []claudetest.Block {
	for _, m := range slices.Backward(q.Messages) {
		if m.Role == role {
			return m.Blocks
		}
	}
	return nil
}

// find returns the play of the newest answer in a history, or nil.
func (m *Model) find(q claudetest.Request) *play {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range newestOf(q, "assistant") {
		if b.Signature != "" {
			return m.open[b.Signature]
		}
	}
	return nil
}

// begin begins a play.
func (m *Model) begin(q claudetest.Request, text string, images int) *play {
	ctx, cancel := context.WithCancel(m.ctx)
	m.mu.Lock()
	m.count++
	p := &play{sign: fmt.Sprintf("play-%d", m.count), cancel: cancel, answers: make(chan answer), words: make(chan word)}
	m.open[p.sign] = p
	m.mu.Unlock()
	m.plays.Go(func() {
		defer cancel()
		m.perform(ctx, p, q, agent.Message{Text: text, Images: make([]agent.Image, images)})
		m.mu.Lock()
		delete(m.open, p.sign)
		m.mu.Unlock()
	})
	return p
}

// perform makes the offline engine play a turn.
func (m *Model) perform(ctx context.Context, p *play, q claudetest.Request, msg agent.Message) {
	o := agent.SessionOptions{
		ID: store.NewUUID(), Settings: agent.Settings{Model: q.Model}, SystemPrompt: q.System,
		Hooks: agent.Hooks{Stop: func(ctx context.Context, again bool) string { return p.stop(ctx, again) }},
		Permission: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			w := p.ask(ctx, u)
			return agent.Decision{Digest: u.Digest(), Allow: !w.isError, Reason: w.text}
		},
	}
	for _, tool := range q.Tools {
		if name, ours := strings.CutPrefix(tool, "mcp__discord__"); ours {
			o.Tools = append(o.Tools, agent.Tool{Name: name, Call: func(ctx context.Context, a agent.Approved) agent.ToolResult {
				w := p.ask(ctx, agent.ToolUse{ID: "toolu_" + store.NewUUID(), Name: tool, Input: a.Input()})
				return agent.ToolResult{Text: w.text, IsError: w.isError}
			}})
		}
	}
	s, err := m.engine.Open(ctx, o)
	if err != nil {
		p.give(ctx, answer{fault: err.Error()})
		return
	}
	for ev, err := range s.Send(ctx, msg) {
		switch ev := ev.(type) {
		case agent.Text:
			p.said.text += ev.Delta
		case agent.Thinking:
			p.said.thought += ev.Delta
		case agent.Result:
			if ev.IsError {
				p.said.fault = ev.Text
			}
		}
		if err != nil {
			p.said.fault = err.Error()
		}
	}
	if !p.stops || p.said != (answer{}) {
		p.give(ctx, p.said)
	}
}

// give passes on the output since the last time.
func (p *play) give(ctx context.Context, a answer) {
	p.said = answer{}
	select {
	case p.answers <- a:
	case <-ctx.Done():
	}
}

// tell answers a waiting play.
func (p *play) tell(ctx context.Context, w word) {
	p.call, p.stops = "", false
	select {
	case p.words <- w:
	case <-ctx.Done():
	}
}

// ask ends the answer with a call and waits for its result.
func (p *play) ask(ctx context.Context, u agent.ToolUse) word {
	a := p.said
	a.call = &u
	p.give(ctx, a)
	return p.wait(ctx)
}

// stop ends the answer and waits for an objection.
func (p *play) stop(ctx context.Context, again bool) string {
	if again {
		return ""
	}
	p.stops = true
	p.give(ctx, p.said)
	return p.wait(ctx).text
}

func (p *play) wait(ctx context.Context) word {
	select {
	case w := <-p.words:
		return w
	case <-ctx.Done():
		return word{isError: true, text: "the play was ended"}
	}
}

func refuse(why string) (status int, kind string, body []byte) {
	data, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": why}})
	if err != nil {
		return http.StatusInternalServerError, "text/plain", nil
	}
	return http.StatusBadRequest, "application/json", data
}

// stream returns an answer in its wire form.
func stream(sign string, q claudetest.Request, used claudetest.Cached, a answer) []byte {
	step := claudetest.Step{Cached: &used, Blocks: []claudetest.Block{{Type: "thinking", Thinking: a.thought, Signature: sign}}}
	if a.text != "" {
		step.Blocks = append(step.Blocks, claudetest.Block{Type: "text", Text: a.text})
	}
	if a.call != nil {
		var input map[string]any
		_ = json.Unmarshal(a.call.Input, &input) // the engine only calls with objects
		step.Blocks = append(step.Blocks, claudetest.Block{Type: "tool_use", ID: a.call.ID, Name: a.call.Name, Input: input})
	}
	return claudetest.Stream(q, step)
}
