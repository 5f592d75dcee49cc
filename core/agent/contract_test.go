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

// overAll runs a test with each engine.
func overAll(t *testing.T, test func(t *testing.T, k kind)) {
	t.Run("script", func(t *testing.T) {
		dir := dataDir(t)
		test(t, kind{script.New(script.Options{Dir: dir}), inScript, dir.Root()})
	})
	t.Run("messages", func(t *testing.T) {
		dir, api := dataDir(t), serve(t)
		env := map[string]string{"ANTHROPIC_BASE_URL": api.URL(), "ANTHROPIC_API_KEY": "test"}
		e := messages.New(messages.Options{
			Dir: dir, Log: testLog(t), Env: []string{"PATH=/usr/bin:/bin"},
			Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string { return env[name] }}),
		})
		running(t, e)
		test(t, kind{e, inSteps, dir.Root()})
	})
	for _, wire := range []dialect.API{dialect.OpenAI, dialect.Ollama} {
		t.Run("messages over "+string(wire), func(t *testing.T) {
			dir := dataDir(t)
			server := dialecttest.Start(t, dialecttest.Options{
				Backend: serve(t).URL(), Window: 32_768, Models: []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960}},
			})
			storetest.Put(t, dir, provider.File, fmt.Sprintf("local:\n  base-url: %s\n  api: %s\n  models:\n    - {name: 'qwen3:8b', aliases: [haiku, sonnet]}\n", server.URL, wire))
			e := messages.New(messages.Options{
				Dir: dir, Log: testLog(t), Env: []string{"PATH=/usr/bin:/bin"},
				Providers: provider.New(provider.Options{Dir: dir, Getenv: func(string) string { return "" }}),
			})
			running(t, e)
			test(t, kind{e, inSteps, dir.Root()})
		})
	}
	t.Run("claude", func(t *testing.T) {
		path := claudetest.RequireCLI(t)
		t.Parallel()
		api := serve(t)
		e := claude.New(claude.Options{Path: path, Env: claudetest.CLIEnv(t, api), Log: testLog(t)})
		running(t, e)
		test(t, kind{e, inSteps, t.TempDir()})
	})
}

func dataDir(t *testing.T) *store.Dir {
	t.Helper()
	dir := storetest.Prepared(t)
	return dir
}

func serve(t *testing.T) *claudetest.Server {
	t.Helper()
	api := claudetest.Start(t, claudetest.Options{})
	return api
}

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func running(t *testing.T, e agent.Runner) {
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); g.Wait() })
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
	if err != nil {
		t.Fatal(err)
	}
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

func answering(text string) func(context.Context) agent.ToolResult {
	return func(context.Context) agent.ToolResult { return agent.ToolResult{Text: text} }
}

func TestATurnSaysItsTextAndEndsWithItsSession(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		id := store.NewUUID()
		s := k.open(t, func(o *agent.SessionOptions) { o.ID = id })
		got := send(t, s, agent.Message{Text: k.prompt(step{say: "Good morning."})})
		if got.err != nil || strings.TrimSpace(got.text) != "Good morning." || got.result.SessionID != id || s.ID() != id {
			t.Errorf("%q, %+v, %v", got.text, got.result, got.err)
		}
		if got.result.IsError || got.result.Interrupted || got.result.Turns < 1 || got.result.Usage.Tokens() == 0 {
			t.Errorf("%+v", got.result)
		}
	})
}

func TestACallGoesThroughItsHooks(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
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
		got := send(t, s, agent.Message{Text: k.prompt(step{call: "good"}, step{call: "bad"}, step{call: "failing"}, step{say: "Done."})})
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
	})
}

func TestAToolCanEndTheTurn(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Tools = []agent.Tool{tool("leave", func(context.Context) agent.ToolResult { return agent.ToolResult{Text: "bye", EndTurn: true} })}
		})
		got := send(t, s, agent.Message{Text: k.prompt(step{call: "leave"}, step{say: "More."})})
		if got.err != nil || strings.Contains(got.text, "More.") || got.result.IsError || got.result.Interrupted {
			t.Errorf("%q, %+v, %v", got.text, got.result, got.err)
		}
		if got := send(t, s, agent.Message{Text: k.prompt(step{say: "Here again."})}); got.err != nil || !strings.Contains(got.text, "Here again.") {
			t.Errorf("the next turn: %q, %v", got.text, got.err)
		}
	})
}

func TestTheStopHookIsAskedAndHoldsOnce(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		var asked []bool
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Hooks.Stop = func(_ context.Context, again bool) string {
				asked = append(asked, again)
				return "one more thing"
			}
		})
		got := send(t, s, agent.Message{Text: k.prompt(step{say: "Done."})})
		if got.err != nil || fmt.Sprint(asked) != "[false true]" {
			t.Errorf("asked %v, %v", asked, got.err)
		}
	})
}

func TestAnInterruptedTurnSaysSoAndTheNextOneWorks(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		begun := make(chan struct{}, 1)
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Tools = []agent.Tool{tool("slow", func(ctx context.Context) agent.ToolResult {
				begun <- struct{}{}
				<-ctx.Done()
				return agent.ToolResult{Text: "cancelled", IsError: true}
			})}
		})
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
		got := send(t, s, agent.Message{Text: k.prompt(step{call: "slow"}, step{say: "Done."})})
		g.Wait()
		if got.err != nil || !got.result.Interrupted || got.result.IsError {
			t.Errorf("%+v, %v", got.result, got.err)
		}
		if got := send(t, s, agent.Message{Text: k.prompt(step{say: "Here."})}); got.err != nil || !strings.Contains(got.text, "Here.") {
			t.Errorf("the next turn: %q, %v", got.text, got.err)
		}
	})
}

func TestASessionTakesOneTurnAtATimeAndNoneWhenClosed(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		var s agent.Session
		var inside error
		s = k.open(t, func(o *agent.SessionOptions) {
			o.Tools = []agent.Tool{tool("again", func(ctx context.Context) agent.ToolResult {
				for _, err := range s.Send(ctx, agent.Message{Text: "second"}) {
					inside = errors.Join(inside, err)
				}
				return agent.ToolResult{Text: "tried"}
			})}
		})
		send(t, s, agent.Message{Text: k.prompt(step{call: "again"}, step{say: "Done."})})
		if inside == nil {
			t.Error("a second turn began inside of the first")
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := send(t, s, agent.Message{Text: "hello"}); got.err == nil {
			t.Error("a closed session has taken a message")
		}
	})
}

func TestAForkGoesItsOwnWay(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		main := k.open(t)
		send(t, main, agent.Message{Text: k.prompt(step{say: "Noted."})})
		id := store.NewUUID()
		fork := k.open(t, func(o *agent.SessionOptions) { o.Resume, o.Fork, o.ID = main.ID(), true, id })
		got := send(t, fork, agent.Message{Text: k.prompt(step{say: "As a fork."})})
		if got.err != nil || got.result.SessionID != id || !strings.Contains(got.text, "As a fork.") {
			t.Errorf("%q, %+v, %v", got.text, got.result, got.err)
		}
		if got := send(t, main, agent.Message{Text: k.prompt(step{say: "Still here."})}); got.err != nil || got.result.SessionID != main.ID() {
			t.Errorf("the parent: %+v, %v", got.result, got.err)
		}
	})
}

func TestASessionIdThatIsNoneIsRefused(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		_, err := k.engine.Open(t.Context(), agent.SessionOptions{Dir: k.dir, Resume: "../elsewhere"})
		if !errors.Is(err, agent.ErrNoSession) {
			t.Errorf("it opens with %v", err)
		}
	})
}

func TestWhatASessionHasTakenIsKnown(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		s := k.open(t)
		text := k.prompt(step{say: "Taken."}) + " ü <&>"
		send(t, s, agent.Message{Text: text})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		h := k.engine.(agent.HistoryChecker)
		for said, want := range map[string]bool{text: true, "never said": false} {
			if got, err := h.HasMessage(t.Context(), s.ID(), sha256.Sum256([]byte(said))); err != nil || got != want {
				t.Errorf("%q: %v, %v", said, got, err)
			}
		}
		if got, err := h.HasMessage(t.Context(), store.NewUUID(), sha256.Sum256([]byte(text))); err != nil || got {
			t.Errorf("an unknown session: %v, %v", got, err)
		}
	})
}

func TestABareSessionHasItsPromptAndItsToolsOnly(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		s := k.open(t, func(o *agent.SessionOptions) {
			o.Bare, o.Tools = true, []agent.Tool{tool("look", answering("seen"))}
		})
		got := send(t, s, agent.Message{Text: k.prompt(step{call: "look"}, step{say: "Safe."})})
		if _, offline := k.engine.(*script.Engine); offline { // in bare sessions it only screens
			if got.err != nil || !strings.Contains(got.text, `"safe":true`) || len(got.ends) != 0 {
				t.Errorf("%q, %+v, %v", got.text, got.ends, got.err)
			}
			return
		}
		if got.err != nil || !strings.Contains(got.text, "Safe.") || len(got.ends) != 1 || got.ends[0].IsError {
			t.Errorf("%q, %+v, %v", got.text, got.ends, got.err)
		}
	})
}

func TestSettingsChangeWhileASessionLives(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		s := k.open(t)
		for _, n := range []agent.Settings{{Model: "sonnet"}, {Thinking: "adaptive"}, {Thinking: "4000"}, {Mode: "acceptEdits"}, {}} {
			if err := s.Configure(t.Context(), n); err != nil {
				t.Errorf("%+v: %v", n, err)
			}
		}
		if got := send(t, s, agent.Message{Text: k.prompt(step{say: "Changed."})}); got.err != nil || !strings.Contains(got.text, "Changed.") {
			t.Errorf("%q, %v", got.text, got.err)
		}
	})
}

func TestTheEnginesCommandWorks(t *testing.T) {
	testkit.Alone(t)
	overAll(t, func(t *testing.T, k kind) {
		s := k.open(t)
		send(t, s, agent.Message{Text: k.prompt(step{say: "One."})})
		if got := send(t, s, agent.Message{Command: agent.Compact}); got.err != nil || got.result.IsError {
			t.Errorf("%+v, %v", got.result, got.err)
		}
		if got := send(t, s, agent.Message{Text: k.prompt(step{say: "Two."})}); got.err != nil || !strings.Contains(got.text, "Two.") {
			t.Errorf("%q, %v", got.text, got.err)
		}
	})
}
