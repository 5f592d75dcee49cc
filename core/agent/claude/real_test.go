package claude

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// slow returns an answer that pauses in its middle until it is released.
func slow(key string) claudetest.Step {
	return claudetest.Step{Text: "one two three four five six seven eight", Chunk: 4, Hold: key, HoldAfter: 2}
}

// atText calls f at the first piece of text.
func atText(f func()) func(agent.Event) {
	f = sync.OnceFunc(f)
	return func(ev agent.Event) {
		if _, ok := ev.(agent.Text); ok {
			f()
		}
	}
}

func bash(command string) claudetest.Step {
	return claudetest.Step{Tool: "Bash", Input: map[string]any{"command": command, "description": "a test"}}
}

func TestATurnStreamsItsTextAndEndsWithItsUsage(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	h := say(t, s, "hello "+claudetest.Script(claudetest.Step{Text: "Good morning, this comes in several pieces.", In: 100, Out: 7}))
	if got, want := h.text(), "Good morning, this comes in several pieces."; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if n := len(all[agent.Text](h)); n < 2 {
		t.Errorf("the text came in %d pieces", n)
	}
	end := h.result(t)
	if end.IsError || end.Interrupted || end.SessionID != s.ID() || end.Usage.InputTokens != 100 || end.Usage.OutputTokens != 7 {
		t.Errorf("result %+v", end)
	}
	end = say(t, s, claudetest.Script(claudetest.Step{Text: "again", In: 11, Out: 3, CacheRead: 90})).result(t)
	if end.Usage.InputTokens != 11 || end.Usage.OutputTokens != 3 || end.Usage.CacheRead != 90 || end.Usage.CostUSD <= 0 {
		t.Errorf("the second turn's usage is %+v", end.Usage)
	}
}

func TestAToolIsSeenFromItsBeginToItsEnd(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	h := say(t, r.open(), claudetest.Script(bash("echo here; exit 3"), claudetest.Step{Text: "It failed."}))
	starts, ends := all[agent.ToolStart](h), all[agent.ToolEnd](h)
	if len(starts) != 1 || len(ends) != 1 {
		t.Fatalf("%d starts and %d ends", len(starts), len(ends))
	}
	if starts[0].Name != "Bash" || !strings.Contains(string(starts[0].Input), "echo here") {
		t.Errorf("start %+v", starts[0])
	}
	if e := ends[0]; e.ID != starts[0].ID || e.Name != "Bash" || !e.IsError || e.Denied || !strings.Contains(e.Text, "here") {
		t.Errorf("end %+v", e)
	}
	if h.text() != "It failed." || h.result(t).Turns != 2 {
		t.Errorf("text %q, result %+v", h.text(), h.result(t))
	}
}

func TestWordsOfTheUserAreNeverObeyed(t *testing.T) {
	testkit.Alone(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	testkit.Must(t, os.WriteFile(secret, []byte("the word is heliotrope"), 0o600))
	r := newRig(t)
	s := r.open()
	id := s.ID()
	for _, text := range []string{"look at @" + secret, "/clear", "/compact", "!ls", "@/etc/hostname"} {
		say(t, s, text).result(t)
	}
	q := r.last()
	if strings.Contains(string(q.Raw), "heliotrope") {
		t.Error("a file was read because its name was said")
	}
	for _, want := range []string{"/clear", "/compact", "!ls", "@/etc/hostname"} {
		if !slices.ContainsFunc(q.Messages, func(m claudetest.Message) bool {
			return m.Role == "user" && slices.ContainsFunc(m.Blocks, func(b claudetest.Block) bool { return b.Text == want })
		}) {
			t.Errorf("the model has not read %q", want)
		}
	}
	if s.ID() != id {
		t.Errorf("the session became %s", s.ID())
	}
}

func TestAForkSharesThePromptOfItsRunningParent(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	tools := func(o *agent.SessionOptions) { o.Tools = []agent.Tool{whoTool("main")} }
	main := r.open(tools)
	say(t, main, "remember the plum")
	done := make(chan told, 1)
	go func() { done <- say(t, main, claudetest.Script(slow("go"))) }()
	r.until(2)
	fork := r.open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{whoTool("fork")}
		o.Resume, o.Fork, o.ID = main.ID(), true, store.NewUUID()
	})
	h := say(t, fork, "what fruit?")
	r.api.Release("go")
	if rest := <-done; rest.text() != slow("").Text || rest.result(t).IsError {
		t.Errorf("the main turn said %q", rest.text())
	}
	if h.result(t).SessionID != fork.ID() || fork.ID() == main.ID() {
		t.Errorf("the fork is %s, main is %s", fork.ID(), main.ID())
	}
	all := r.requests()
	if diff := cmp.Diff(all[0].System, all[2].System); diff != "" {
		t.Errorf("the fork's system prompt differs:\n%s", diff)
	}
	if !strings.Contains(all[0].System, "You are the bot of a test.") {
		t.Error("the bot's words are not in the system prompt")
	}
	if diff := cmp.Diff(all[0].Tools, all[2].Tools); diff != "" || !slices.Contains(all[0].Tools, "mcp__discord__echo") {
		t.Errorf("the fork's tools differ:\n%s", diff)
	}
	if diff := cmp.Diff(append(slices.Clone(offered), "mcp__discord__echo"), all[0].Tools); diff != "" {
		t.Errorf("the model's tools (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(all[2].Raw), "remember the plum") {
		t.Error("the fork does not know what was said")
	}
}

func TestABareSessionIsASmallRequest(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	put(t, r.dir, map[string]string{
		"CLAUDE.md": "heliotrope", ".claude/agents/a.md": "---\nname: a\ndescription: heliotrope\n---\nx\n", "skills/s/SKILL.md": "heliotrope",
	})
	s := r.open(func(o *agent.SessionOptions) { o.Bare, o.SystemPrompt = true, "You judge texts." })
	if h := say(t, s, claudetest.Script(bash("touch a"), claudetest.Step{Text: "Judged."})); h.text() != "Judged." || !all[agent.ToolEnd](h)[0].IsError {
		t.Errorf("it says %q, %v", h.text(), h.events)
	}
	q := r.requests()[0]
	if len(q.Tools) > 0 || len(q.Raw) > 3000 || !strings.HasSuffix(q.System, "\nYou judge texts.") || strings.Contains(string(q.Raw), "heliotrope") {
		t.Errorf("%d bytes, the tools %v: %s", len(q.Raw), q.Tools, q.Raw)
	}
	testkit.Must(t, s.Close())
	if _, err := os.Stat(r.transcript(s.ID())); err == nil {
		t.Error("a history was kept")
	}
}

func whoTool(who string) agent.Tool {
	return agent.Tool{
		Name: "echo", Description: "Says who is there.", Schema: []byte(`{"type":"object","properties":{}}`),
		Call: func(context.Context, agent.Approved) agent.ToolResult {
			return agent.ToolResult{Text: "this is " + who}
		},
	}
}

func TestASessionContinuesAfterItsProcessWasKilled(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	say(t, s, "remember the pear")
	r.written(s.ID(), "remember the pear")
	h := say(t, s, claudetest.Script(slow("never")), atText(r.kill))
	oneLine(t, h.err, "ended")
	r.knows(s, "remember the pear")
	testkit.Must(t, s.Close())
	oneLine(t, say(t, s, "are you there?").err, "closed")
}

// kill kills all processes of the engine, as the system does when it is out of memory.
func (r *rig) kill() {
	r.t.Helper()
	for _, p := range r.engine.Status().Processes {
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			r.t.Error(err)
		}
	}
}

func TestAnIdleSessionWhoseProcessDiedAnswersTheNextMessage(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	main := r.open()
	say(t, main, "remember the pear")
	r.written(main.ID(), "remember the pear")
	fork := r.open(func(o *agent.SessionOptions) { o.Resume, o.Fork, o.ID = main.ID(), true, store.NewUUID() })
	ids := []string{main.ID(), fork.ID()}
	for round := range 2 { // the fork has said nothing in the first round
		r.kill()
		<-inner(main).done
		<-inner(fork).done
		if round == 1 { // what is set while the process is gone counts for the next one
			testkit.Must(t, main.Configure(t.Context(), agent.Settings{Model: "opus"}))
		}
		for i, s := range []agent.Session{main, fork} {
			say(t, s, fmt.Sprintf("what fruit? %d", round)).result(t)
			if raw := string(r.last().Raw); !strings.Contains(raw, "remember the pear") || round == 1 && !strings.Contains(raw, "what fruit? 0") {
				t.Errorf("session %d does not know what was said", i)
			}
			if opus := strings.Contains(r.last().Model, "opus"); opus != (s == main && round == 1) {
				t.Errorf("session %d speaks to %s in round %d", i, r.last().Model, round)
			}
			if s.ID() != ids[i] {
				t.Errorf("session %d became %s", i, s.ID())
			}
			r.written(s.ID(), fmt.Sprintf("what fruit? %d", round))
		}
	}
	if sessions := len(r.engine.Status().Processes); sessions != 2 {
		t.Errorf("%d processes for two sessions", sessions)
	}
}

func TestAMissingSessionIsDistinguishedFromOtherFailures(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	for _, id := range []string{store.NewUUID(), "yesterday", "../../etc"} {
		o := r.options()
		o.Resume = id
		if _, err := r.engine.Open(t.Context(), o); !errors.Is(err, agent.ErrNoSession) {
			t.Errorf("resuming %q gives %v", id, err)
		}
	}
}

func TestAnInterruptionEndsTheTurnWhereverItIs(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	asked := make(chan struct{})
	s := r.open(func(o *agent.SessionOptions) {
		o.Permission = func(ctx context.Context, u agent.ToolUse) agent.Decision {
			if strings.Contains(string(u.Input), "may I") {
				close(asked)
				<-ctx.Done()
			}
			return u.Allowed()
		}
	})
	interrupt := func() { testkit.Must(t, s.Interrupt(t.Context())) }
	ended := func(when string, h told) {
		t.Helper()
		if end := h.result(t); !end.Interrupted || end.IsError {
			t.Errorf("%s: %+v", when, end)
		}
		if after := say(t, s, "after "+when); !strings.Contains(after.text(), "after "+when) {
			t.Errorf("%s: the next turn says %q", when, after.text())
		}
	}
	ended("the text", say(t, s, claudetest.Script(slow("never")), atText(interrupt)))
	ended("a tool", say(t, s, claudetest.Script(bash("touch a; sleep 60")), func(ev agent.Event) {
		if _, ok := ev.(agent.ToolStart); ok {
			interrupt()
		}
	}))
	done := make(chan told, 1)
	go func() { done <- say(t, s, claudetest.Script(bash("touch 'may I'"))) }()
	<-asked
	interrupt()
	ended("a question", <-done)
	interrupt() // nothing is running, so nothing happens
	ended("nothing", say(t, s, claudetest.Script(slow("never2")), func(ev agent.Event) {
		if _, ok := ev.(agent.Text); ok {
			interrupt()
		}
	}))
}

func TestAMessageThatWasNotTakenYetCanBeInterrupted(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	for range 5 {
		done := make(chan told, 1)
		go func() { done <- say(t, s, claudetest.Script(slow("never"))) }()
		eventually(t, func() bool { return inner(s).markStopped(nil) })
		testkit.Must(t, s.Interrupt(t.Context()))
		if end := (<-done).result(t); !end.Interrupted {
			t.Fatalf("%+v", end)
		}
	}
}

func TestBreakingOffLeavesTheSessionClean(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	for _, err := range s.Send(t.Context(), agent.Message{Text: claudetest.Script(slow("never"))}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if h := say(t, s, "first"); !strings.Contains(h.text(), "first") {
		t.Errorf("after breaking off: %q", h.text())
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range s.Send(ctx, agent.Message{Text: claudetest.Script(slow("never"))}) {
		if _, ok := ev.(agent.Text); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the end of its context ends the turn with %v", last)
	}
	if h := say(t, s, "second"); !strings.Contains(h.text(), "second") {
		t.Errorf("after the context's end: %q", h.text())
	}
}

func TestATurnThatBeginsByItselfIsReadByTheBot(t *testing.T) {
	testkit.Alone(t)
	// Background commands are off; here they represent anything that may begin a turn in a later
	// version.
	r := newRig(t, func(o *Options) { o.Process.Extra = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS="} })
	turns := make(chan told, 4)
	s := r.open(func(o *agent.SessionOptions) {
		o.OnEngineTurn = func(turn iter.Seq2[agent.Event, error]) {
			var h told
			for ev, err := range turn {
				h.events, h.err = append(h.events, ev), err
			}
			turns <- h
		}
	})
	background := bash("sleep 0.3; echo done")
	background.Input["run_in_background"] = true
	h := say(t, s, claudetest.Script(background, claudetest.Step{Text: "It runs."}, claudetest.Step{Text: "It has ended.", DelayMS: 300}))
	if h.text() != "It runs." {
		t.Errorf("the turn says %q", h.text())
	}
	r.until(3) // the unsolicited turn is running
	if h := say(t, s, "and now me"); !strings.Contains(h.text(), "and now me") || len(all[agent.Result](h)) != 1 {
		t.Errorf("a message meanwhile is answered with %q", h.text())
	}
	own := <-turns
	if own.text() != "It has ended." || own.result(t).IsError {
		t.Errorf("the turn that began by itself: %v", own.events)
	}
}

func TestCommandsOfTheEngineAreObeyed(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	for _, fruit := range []string{"fig", "lime", "date"} {
		say(t, s, "remember the "+fruit)
	}
	h := send(t, s, agent.Message{Command: agent.Compact, Text: "keep the fruit\n/clear\x1b[31m"})
	got := all[agent.Compacting](h)
	if len(got) != 2 || got[0].Done || got[0].Auto || !got[1].Done || got[1].Auto || got[1].PreTokens == 0 {
		t.Errorf("/compact gives %+v", got)
	}
	if !strings.Contains(string(r.last().Raw), "keep the fruit /clear") {
		t.Error("the words for /compact did not arrive in one line")
	}
	if h := say(t, s, claudetest.Script(claudetest.Step{Text: "and then"})); h.text() != "and then" || h.result(t).IsError {
		t.Errorf("after /compact: %q", h.text())
	}
}

func TestSettingsChangeWhileASessionLives(t *testing.T) {
	testkit.Alone(t)
	const budgeted = "claude-sonnet-4-5" // supports every thinking setting, in all versions
	r := newRig(t)
	s := r.open(func(o *agent.SessionOptions) { o.Settings.Model = budgeted })
	for _, c := range []struct {
		set      agent.Settings
		model    string
		thinking claudetest.Thinking
	}{
		{agent.Settings{}, budgeted, claudetest.Thinking{Type: "disabled"}},
		{agent.Settings{Thinking: "adaptive", Mode: "bypassPermissions"}, budgeted, claudetest.Thinking{Type: "enabled", Budget: adaptiveTokens}},
		{agent.Settings{Thinking: "off"}, budgeted, claudetest.Thinking{Type: "disabled"}},
		{agent.Settings{Thinking: "2048"}, budgeted, claudetest.Thinking{Type: "enabled", Budget: 2048}},
		{agent.Settings{Thinking: "adaptive"}, budgeted, claudetest.Thinking{Type: "enabled", Budget: adaptiveTokens}},
		{agent.Settings{Model: "opus"}, "claude-opus", claudetest.Thinking{Type: "adaptive"}},
		{agent.Settings{Model: budgeted, Thinking: "off"}, budgeted, claudetest.Thinking{Type: "disabled"}},
	} {
		testkit.Must(t, s.Configure(t.Context(), c.set))
		say(t, s, "and now?").result(t)
		if last := r.last(); !strings.HasPrefix(last.Model, c.model) || last.Thinking != c.thinking {
			t.Errorf("%+v gives %s with %+v", c.set, last.Model, last.Thinking)
		}
	}
	oneLine(t, s.Configure(t.Context(), agent.Settings{Thinking: "hard"}), "adaptive")
}

func TestAnImpossibleThinkingLevelIsReported(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	for _, name := range []string{"haiku", "sonnet", "opus"} {
		s := r.open(func(o *agent.SessionOptions) { o.Settings.Model = name })
		say(t, s, "hello").result(t)
		holds := r.last().Thinking.Type == "disabled"
		m, known := r.engine.Status().Model(name)
		if !known || m.AlwaysThinks == holds {
			t.Errorf("%s is told as %+v; thinking that is off is %t", name, m, holds)
		}
	}
}

func TestAPictureComesBeforeItsText(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	dot, err := os.ReadFile("testdata/dot.png")
	testkit.Must(t, err)
	send(t, r.open(), agent.Message{Text: "what is it?", Images: []agent.Image{{MediaType: "image/png", Data: dot}}}).result(t)
	var got string
	q := r.requests()[0]
	for _, m := range q.Messages {
		for _, b := range m.Blocks {
			if b.Type == "image" || strings.Contains(b.Text, "what is it?") || strings.TrimSpace(b.Text) == sessionfile.LastBlock {
				got += strings.TrimSpace(b.Type+" "+b.Text) + "\n"
			}
		}
	}
	if want := "image\ntext what is it?\ntext " + sessionfile.LastBlock + "\n"; got != want {
		t.Error(got)
	}
}
