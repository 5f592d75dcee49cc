package agent_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// The bot must not notice which engine it has: these tests apply to all of them.

// step is one action of a test's model: it says something, or calls a tool.
type step struct{ say, call string }

// kind is an engine, and a way to make its model do something by a prompt.
type kind struct {
	engine agent.Engine
	prompt func(...step) string
	dir    string
}

// kinds are the engines. They run until the test ends.
func kinds(t *testing.T) map[string]kind {
	overMessages := func(env map[string]string, file string) kind {
		dir := storetest.Prepared(t)
		storetest.Put(t, dir, provider.File, file)
		return kind{running(t, messages.New(messages.Options{
			Dir: dir, Log: logs(t), Env: []string{"PATH=/usr/bin:/bin"},
			Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string { return env[name] }}),
		})), inSteps, dir.Root()}
	}
	dir := storetest.Prepared(t)
	all := map[string]kind{
		"script":   {script.New(script.Options{Dir: dir}), inScript, dir.Root()},
		"messages": overMessages(map[string]string{"ANTHROPIC_BASE_URL": claudetest.Start(t, claudetest.Options{}).URL(), "ANTHROPIC_API_KEY": "test"}, ""),
	}
	for _, wire := range []dialect.API{dialect.OpenAI, dialect.Ollama} {
		server := dialecttest.Start(t, dialecttest.Options{
			Backend: claudetest.Start(t, claudetest.Options{}).URL(), Window: 32_768,
			Models: []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960}},
		})
		all["messages over "+string(wire)] = overMessages(nil,
			fmt.Sprintf("local:\n  base-url: %s\n  api: %s\n  models:\n    - {name: 'qwen3:8b', aliases: [haiku, sonnet]}\n", server.URL, wire))
	}
	return all
}

func logs(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// running runs an engine until the test ends.
func running[E interface {
	agent.Engine
	agent.Runner
}](t *testing.T, e E) agent.Engine {
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); g.Wait() })
	return e
}

// inScript returns steps for the offline engine.
func inScript(steps ...step) string {
	var b strings.Builder
	b.WriteString("```script\n")
	for _, s := range steps {
		if s.call != "" {
			fmt.Fprintf(&b, "call %s {\"n\":1}\n", s.call)
		} else {
			b.WriteString("say " + s.say + "\n")
		}
	}
	return b.String() + "```"
}

// inSteps returns steps for a Messages API.
func inSteps(steps ...step) string {
	var list []claudetest.Step
	for _, s := range steps {
		if s.call != "" {
			list = append(list, claudetest.Step{Tool: "mcp__discord__" + s.call, Input: map[string]any{"n": 1}})
		} else {
			list = append(list, claudetest.Step{Text: s.say})
		}
	}
	return claudetest.Script(list...)
}

// turn runs a turn whose model does these steps.
func (k kind) turn(t *testing.T, s agent.Session, steps ...step) told {
	t.Helper()
	return send(t, s, agent.Message{Text: k.prompt(steps...)})
}

// works runs a turn that must say a text.
func (k kind) works(t *testing.T, s agent.Session, text string) told {
	t.Helper()
	got := k.turn(t, s, step{say: text})
	if got.err != nil || strings.TrimSpace(got.text) != text || got.result.IsError || got.result.Interrupted || got.result.SessionID != s.ID() {
		t.Errorf("a turn says %q, want %q, %+v, %v", got.text, text, got.result, got.err)
	}
	return got
}

// open opens a session. change may change the options.
func (k kind) open(t *testing.T, change ...func(*agent.SessionOptions)) agent.Session {
	t.Helper()
	o := agent.SessionOptions{
		Dir: k.dir, SystemPrompt: "You are the bot of a test.", Settings: agent.Settings{Model: "haiku", Thinking: "off", Mode: "default"},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() },
	}
	for _, f := range change {
		f(&o)
	}
	s, err := k.engine.Open(t.Context(), o)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// told is the result of a turn.
type told struct {
	text   string
	starts []agent.ToolStart
	ends   []agent.ToolEnd
	result agent.Result
	err    error
}

func send(t *testing.T, s agent.Session, m agent.Message) (out told) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ev, err := range s.Send(ctx, m) {
		if err != nil {
			out.err = err
			return out
		}
		switch ev := ev.(type) {
		case agent.Text:
			out.text += ev.Delta
		case agent.ToolStart:
			out.starts = append(out.starts, ev)
		case agent.ToolEnd:
			out.ends = append(out.ends, ev)
		case agent.Result:
			out.result = ev
		}
	}
	return out
}

func tool(name string, call func(context.Context) agent.ToolResult) agent.Tool {
	return agent.Tool{
		Name: name, Description: "A tool of a test.", Schema: json.RawMessage(`{"type":"object"}`),
		Call: func(ctx context.Context, a agent.Approved) agent.ToolResult {
			if args := string(a.Input()); args != `{"n":1}` {
				return agent.ToolResult{Text: "called with " + args, IsError: true}
			}
			return call(ctx)
		},
	}
}

// having are options with a tool.
func having(name string, call func(context.Context) agent.ToolResult) func(*agent.SessionOptions) {
	return func(o *agent.SessionOptions) { o.Tools = append(o.Tools, tool(name, call)) }
}

func TestEveryEngineKeepsTheContract(t *testing.T) {
	testkit.Alone(t)
	for name, k := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			for clause, holds := range contract {
				t.Run(clause, func(t *testing.T) { holds(t, k) })
			}
		})
	}
}

func TestTheClaudeCommandKeepsTheContract(t *testing.T) {
	testkit.Alone(t)
	path, env := claudetest.RequireCLI(t), claudetest.CLIEnv(t, claudetest.Start(t, claudetest.Options{}))
	k := kind{running(t, claude.New(claude.Options{Path: path, Env: env, Log: logs(t)})), inSteps, t.TempDir()}
	for clause, holds := range contract {
		t.Run(clause, func(t *testing.T) {
			t.Parallel() // they mostly wait for the command
			holds(t, k)
		})
	}
}

// contract is what the bot may expect.
var contract = map[string]func(t *testing.T, k kind){
	"a turn says its text and ends with its session and its usage": func(t *testing.T, k kind) {
		id := store.NewUUID()
		s := k.open(t, func(o *agent.SessionOptions) { o.ID = id })
		if got := k.works(t, s, "Good morning."); s.ID() != id || got.result.Turns < 1 || got.result.Usage.Tokens() == 0 {
			t.Errorf("%s: %+v", s.ID(), got.result)
		}
	},
	"a call goes through its hooks": func(t *testing.T, k kind) {
		var mu sync.Mutex
		var seen []string
		note := func(what string) { mu.Lock(); defer mu.Unlock(); seen = append(seen, what) }
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Tools = []agent.Tool{
				tool("good", func(context.Context) agent.ToolResult { note("call"); return agent.ToolResult{Text: "it went well"} }),
				tool("bad", func(context.Context) agent.ToolResult { note("bad call"); return agent.ToolResult{} }),
				tool("failing", func(context.Context) agent.ToolResult { return agent.ToolResult{Text: "it failed", IsError: true} }),
			}
			o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision {
				note("pre " + u.Name)
				return agent.Decision{Digest: u.Digest(), Allow: u.Name != "mcp__discord__bad", Reason: "keep off"}
			}
			o.Hooks.PostTool = func(_ context.Context, u agent.ToolUse) { note("post " + u.Name) }
		})
		got := k.turn(t, s, step{call: "good"}, step{call: "bad"}, step{call: "failing"}, step{say: "Done."})
		want := "pre mcp__discord__good, call, post mcp__discord__good, pre mcp__discord__bad, pre mcp__discord__failing"
		if all := strings.Join(seen, ", "); got.err != nil || all != want {
			t.Errorf("seen: %s; %v", all, got.err)
		}
		if len(got.starts) != 3 || len(got.ends) != 3 {
			t.Fatalf("%v, %v", got.starts, got.ends)
		}
		good, bad, failing := got.ends[0], got.ends[1], got.ends[2]
		if good.Text != "it went well" || good.IsError || good.Denied || good.ID != got.starts[0].ID {
			t.Errorf("the good one ends as %+v", good)
		}
		if !bad.Denied || !bad.IsError || !strings.Contains(bad.Text, "keep off") || failing.Denied || !failing.IsError {
			t.Errorf("the others end as %+v, %+v", bad, failing)
		}
	},
	"a tool can end the turn": func(t *testing.T, k kind) {
		s := k.open(t, having("leave", func(context.Context) agent.ToolResult { return agent.ToolResult{Text: "bye", EndTurn: true} }))
		got := k.turn(t, s, step{call: "leave"}, step{say: "More."})
		if got.err != nil || strings.Contains(got.text, "More.") || got.result.IsError || got.result.Interrupted {
			t.Errorf("%q, %+v, %v", got.text, got.result, got.err)
		}
		k.works(t, s, "Here again.")
	},
	"the stop hook is asked and holds once": func(t *testing.T, k kind) {
		var asked []bool
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Hooks.Stop = func(_ context.Context, again bool) string {
				asked = append(asked, again)
				return "one more thing"
			}
		})
		if got := k.turn(t, s, step{say: "Done."}); got.err != nil || fmt.Sprint(asked) != "[false true]" {
			t.Errorf("asked %v, %v", asked, got.err)
		}
	},
	"an interrupted turn says so and the next one works": func(t *testing.T, k kind) {
		begun := make(chan struct{}, 1)
		s := k.open(t, having("slow", func(ctx context.Context) agent.ToolResult {
			begun <- struct{}{}
			<-ctx.Done()
			return agent.ToolResult{Text: "cancelled", IsError: true}
		}))
		if err := s.Interrupt(t.Context()); err != nil {
			t.Errorf("without a turn: %v", err)
		}
		var g sync.WaitGroup
		g.Go(func() {
			<-begun
			if err := s.Interrupt(context.Background()); err != nil {
				t.Error(err)
			}
		})
		got := k.turn(t, s, step{call: "slow"}, step{say: "Done."})
		g.Wait()
		if got.err != nil || !got.result.Interrupted || got.result.IsError {
			t.Errorf("%+v, %v", got.result, got.err)
		}
		k.works(t, s, "Here.")
	},
	"a session takes one turn at a time, and none when it is closed": func(t *testing.T, k kind) {
		var s agent.Session
		var inside error
		s = k.open(t, having("again", func(ctx context.Context) agent.ToolResult {
			for _, err := range s.Send(ctx, agent.Message{Text: "second"}) {
				inside = errors.Join(inside, err)
			}
			return agent.ToolResult{Text: "tried"}
		}))
		if k.turn(t, s, step{call: "again"}, step{say: "Done."}); inside == nil {
			t.Error("a second turn began inside of the first")
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if got := send(t, s, agent.Message{Text: "hello"}); got.err == nil {
			t.Error("a closed session has taken a message")
		}
	},
	"a fork goes its own way": func(t *testing.T, k kind) {
		main := k.open(t)
		k.works(t, main, "Noted.")
		id := store.NewUUID()
		fork := k.open(t, func(o *agent.SessionOptions) { o.Resume, o.Fork, o.ID = main.ID(), true, id })
		if k.works(t, fork, "As a fork."); fork.ID() != id || main.ID() == id {
			t.Errorf("the fork is %s", fork.ID())
		}
		k.works(t, main, "Still here.")
	},
	"the ID of a session that is none is refused": func(t *testing.T, k kind) {
		_, err := k.engine.Open(t.Context(), agent.SessionOptions{Dir: k.dir, Resume: "../elsewhere"})
		if !errors.Is(err, agent.ErrNoSession) {
			t.Errorf("it opens with %v", err)
		}
	},
	"what a session has taken is known": func(t *testing.T, k kind) {
		s := k.open(t)
		text := k.prompt(step{say: "Taken."}) + " ü <&>"
		send(t, s, agent.Message{Text: text})
		testkit.Must(t, s.Close())
		for _, c := range []struct {
			id, said string
			want     bool
		}{{s.ID(), text, true}, {s.ID(), "never said", false}, {store.NewUUID(), text, false}} {
			if got, err := k.engine.(agent.HistoryChecker).HasMessage(t.Context(), c.id, sha256.Sum256([]byte(c.said))); err != nil || got != c.want {
				t.Errorf("%+v: %v, %v", c, got, err)
			}
		}
	},
	"a bare session has its prompt and its tools only": func(t *testing.T, k kind) {
		s := k.open(t, having("look", func(context.Context) agent.ToolResult { return agent.ToolResult{Text: "seen"} }), func(o *agent.SessionOptions) { o.Bare = true })
		got := k.turn(t, s, step{call: "look"}, step{say: "Safe."})
		says, calls := "Safe.", 1
		if _, offline := k.engine.(*script.Engine); offline { // in bare sessions it only screens
			says, calls = `"safe":true`, 0
		}
		if got.err != nil || !strings.Contains(got.text, says) || len(got.ends) != calls || calls > 0 && got.ends[0].IsError {
			t.Errorf("%q, %+v, %v", got.text, got.ends, got.err)
		}
	},
	"settings change while a session lives": func(t *testing.T, k kind) {
		s := k.open(t)
		for _, n := range []agent.Settings{{Model: "sonnet"}, {Thinking: "adaptive"}, {Thinking: "4000"}, {Mode: "acceptEdits"}, {}} {
			if err := s.Configure(t.Context(), n); err != nil {
				t.Errorf("%+v: %v", n, err)
			}
		}
		k.works(t, s, "Changed.")
	},
	"the engine's command works": func(t *testing.T, k kind) {
		s := k.open(t)
		k.works(t, s, "One.")
		if got := send(t, s, agent.Message{Command: agent.Compact}); got.err != nil || got.result.IsError {
			t.Errorf("%+v, %v", got.result, got.err)
		}
		k.works(t, s, "Two.")
	},
}
