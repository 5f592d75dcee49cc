package messages

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// rig is an engine over a scripted API.
type rig struct {
	t      testing.TB
	api    *claudetest.Server
	engine *Engine
	dir    *store.Dir
}

// newRig runs an engine until the test ends.
func newRig(t testing.TB) *rig {
	t.Helper()
	api := claudetest.Start(t, claudetest.Options{Key: "k"})
	r := newRigFor(t, api.URL())
	r.api = api
	return r
}

// newRigFor runs an engine for a server.
func newRigFor(t testing.TB, address string) *rig {
	t.Helper()
	root := t.TempDir()
	dir := storetest.At(t, root)
	testkit.Must(t, os.MkdirAll(filepath.Join(root, store.StateDir), 0o700))
	env := map[string]string{"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k"}
	e := New(Options{
		Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: []string{"PATH=/usr/bin:/bin"},
		Providers: provider.New(provider.Options{Dir: dir, Getenv: func(n string) string { return env[n] }}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); g.Wait() })
	return &rig{t, nil, e, dir}
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

// turnOf is the result of a turn.
type turnOf struct {
	text   string
	events []agent.Event
	result agent.Result
	err    error
}

// say runs a turn.
func say(t testing.TB, s agent.Session, text string) turnOf {
	t.Helper()
	return send(t, s, agent.Message{Text: text})
}

func send(t testing.TB, s agent.Session, m agent.Message) turnOf {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return gather(s.Send(ctx, m))
}

func gather(events func(func(agent.Event, error) bool)) (out turnOf) {
	for ev, err := range events {
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

// requests returns the bodies sent to the model.
func (r *rig) requests() []claudetest.Request {
	return claudetest.ForModel(r.api.Requests())
}

// bot returns a bot tool that records its arguments.
func bot(name string, call func(args string) agent.ToolResult) agent.Tool {
	return agent.Tool{
		Name: name, Description: "A tool of a test.", Schema: json.RawMessage(`{"type":"object"}`),
		Call: func(_ context.Context, a agent.Approved) agent.ToolResult { return call(string(a.Input())) },
	}
}

func holds(t testing.TB, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s is %.300q, want %q in it", what, text, part)
	}
}
