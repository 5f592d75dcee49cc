package claude

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// benchStage returns a stage for benchmarks.
func benchStage(b *testing.B, n int) []agent.Session {
	b.Helper()
	st := newStage(b, Options{Env: []string{"HOME=" + b.TempDir()}})
	var list []agent.Session
	for range n {
		s, err := st.engine.Open(b.Context(), agent.SessionOptions{Dir: "/", ID: store.NewUUID(), Tools: []agent.Tool{whoTool("x")}})
		testkit.Must(b, err)
		list = append(list, s)
	}
	return list
}

// BenchmarkFromLineToEvent measures the time of a piece of text from the command's pipe to the
// reader of the turn.
func BenchmarkFromLineToEvent(b *testing.B) {
	st := newStage(b, Options{Env: []string{"HOME=" + b.TempDir()}})
	s, err := st.engine.Open(b.Context(), agent.SessionOptions{Dir: "/"})
	testkit.Must(b, err)
	p := <-st.players
	arrived := make(chan time.Time, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range s.Send(context.Background(), agent.Message{Text: "hello"}) {
			if err != nil {
				b.Error(err)
			}
			if _, ok := ev.(agent.Text); ok {
				arrived <- time.Now()
			}
		}
	}()
	<-p.messages
	p.say(running, begin, start("a"))
	var took []time.Duration
	line := delta("a few words ")
	for b.Loop() {
		at := time.Now()
		p.say(line)
		took = append(took, (<-arrived).Sub(at))
	}
	p.say(resultLine(""), idle)
	<-done
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/p99")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "µs/max")
}

// BenchmarkTwentySessions measures the memory of twenty open sessions in the bot.
func BenchmarkTwentySessions(b *testing.B) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	for b.Loop() {
		before := heap()
		list := benchStage(b, 20)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
		if len(list) != 20 {
			b.Fatal(fmt.Sprint(len(list)))
		}
	}
}

// A morning with the command: turns of the main session, one with tools, and forks in between as
// routines open them. Hardly any request rewrites an earlier one, because everything after the
// change would be paid in full. Commands before 2.1.330 do so once in each fork, near the end of
// its history.
func TestMostOfTheInputIsReadFromThePromptCache(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	prompt := func(o *agent.SessionOptions) {
		o.SystemPrompt = "You are the bot of a test. " + strings.Repeat("It has many rules. ", 500)
		o.Tools = []agent.Tool{whoTool("main")}
	}
	main := r.open(prompt)
	say(t, main, "good morning").result(t)
	const forks = 3
	for hour := range forks {
		fork := r.open(prompt, func(o *agent.SessionOptions) { o.Resume, o.Fork, o.ID = main.ID(), true, store.NewUUID() })
		say(t, fork, fmt.Sprint("the routine of hour ", hour, " ", claudetest.Script(bash("echo mail"), claudetest.Step{Text: "Nothing new."}))).result(t)
		testkit.Must(t, fork.Close())
		say(t, main, fmt.Sprint("hour ", hour, " ", claudetest.Script(bash("echo weather"), claudetest.Step{Text: "It rains."}))).result(t)
	}
	cached := r.api.Cached()
	t.Logf("%.1f %% of the input was read from the cache: %+v", 100*cached.Share(), cached)
	if cached.Rewritten > forks || cached.Share() < 0.8 {
		t.Errorf("%d requests rewrote an earlier one, and %.0f %% of the input was read from the cache", cached.Rewritten, 100*cached.Share())
	}
}

// till collects what a session is charged.
type till struct {
	mu   sync.Mutex
	list []agent.Charge
}

func (b *till) of(o *agent.SessionOptions) {
	o.Hooks.Charge = func(c agent.Charge) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.list = append(b.list, c)
	}
}

// sum returns the tokens and dollars of a part, or of all parts.
func (b *till) sum(parts ...agent.Part) (u agent.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.list {
		if len(parts) == 0 || c.Part == parts[0] {
			u = u.Add(c.Used)
		}
	}
	return u
}

// B1: 2.1.300 and newer start a resumed or forked process with the past total of its session, which
// was booked again at each restart, fork and background run.
func TestAResumedSessionBooksOnlyWhatItUsesItself(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	step := claudetest.Step{Text: "x", In: 100_000, Out: 20_000}
	turns, one := 0, 0.0
	var b till
	turn := func(what string, s agent.Session) {
		t.Helper()
		end := say(t, s, claudetest.Script(step)).result(t)
		turns++
		got := b.sum()
		if one == 0 {
			one = got.CostUSD
		}
		if got.InputTokens != turns*100_000 || got.OutputTokens != turns*20_000 || math.Abs(got.CostUSD-float64(turns)*one) > 1e-9 || one <= 0 {
			t.Errorf("%s: %d turns are booked as %+v, one cost %v", what, turns, got, one)
		}
		if end.Usage.InputTokens != 100_000 || math.Abs(end.Usage.CostUSD-one) > 1e-9 {
			t.Errorf("%s: the turn's own usage is %+v", what, end.Usage)
		}
	}
	s := r.open(b.of)
	turn("a new session", s)
	turn("its second turn", s)
	f := r.open(func(o *agent.SessionOptions) { b.of(o); o.Resume, o.Fork = s.ID(), true })
	turn("a fork of an open session", f)
	testkit.Must(t, f.Close())
	id := s.ID()
	testkit.Must(t, s.Close())
	resume := func(o *agent.SessionOptions) { b.of(o); o.Resume = id }
	s = r.open(resume)
	turn("resumed", s)
	turn("resumed, its second turn", s)
	inner(s).kill(agent.ErrClosed)
	<-inner(s).done
	turn("after its process was killed", s)
	testkit.Must(t, s.Close())
	f = r.open(func(o *agent.SessionOptions) { resume(o); o.Fork = true })
	turn("a fork of a closed session", f)
	testkit.Must(t, f.Close())
	turn("the fork, resumed", r.open(func(o *agent.SessionOptions) { b.of(o); o.Resume = f.ID() }))
}

// B3: a compaction and subagents have no lines of their own, and were in no figure, or in another's.
func TestEachPartOfATurnIsBooked(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t, func(o *Options) { o.Process.Extra = []string{"CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS="} })
	var b till
	s := r.open(b.of)
	errand := claudetest.Script(claudetest.Step{Text: "Found it.", In: 7000, Out: 300})
	say(t, s, claudetest.Script(
		claudetest.Step{Tool: "Agent", Input: map[string]any{"description": "look", "prompt": errand, "subagent_type": "general-purpose"}, In: 1000, Out: 50},
		claudetest.Step{Text: "Done.", In: 2000, Out: 60},
	)).result(t)
	if got := b.sum(agent.Main); got.InputTokens != 3000 || got.OutputTokens != 110 {
		t.Errorf("the conversation: %+v", got)
	}
	if got := b.sum(agent.Subagent); got.InputTokens != 7000 || got.OutputTokens != 300 || got.CostUSD <= 0 {
		t.Errorf("the subagent: %+v", got)
	}
	end := send(t, s, agent.Message{Command: agent.Compact}).result(t)
	if got := b.sum(agent.Compaction); got.Tokens() == 0 || got != end.Usage {
		t.Errorf("the compaction: %+v, its turn used %+v", got, end.Usage)
	}
}

// B3: what a turn had finished was lost with its process.
func TestATurnWhoseProcessDiesKeepsWhatItHadFinished(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	var b till
	s := r.open(func(o *agent.SessionOptions) {
		b.of(o)
		o.Tools = []agent.Tool{whoTool("x")}
	})
	call := claudetest.Step{Tool: "mcp__discord__echo", Input: map[string]any{}, In: 1000, Out: 50}
	done := make(chan told, 1)
	go func() { done <- say(t, s, claudetest.Script(call, call, claudetest.Step{Text: "never", Hold: "end"})) }()
	r.until(3)
	inner(s).kill(fmt.Errorf("killed"))
	if h := <-done; h.err == nil {
		t.Error("the turn ended well")
	}
	if got := b.sum(); got.InputTokens != 2000 || got.OutputTokens != 100 || got.CostUSD <= 0 {
		t.Errorf("booked %+v", got)
	}
}

// turn_cap had no effect here, because the command reports the cost only at the end of a turn.
func TestATurnOfTheCommandAsksBeforeItCostsMore(t *testing.T) {
	testkit.Alone(t)
	for name, call := range map[string]claudetest.Step{
		"a command":           bash("echo one"),
		"a tool of the bot":   {Tool: "mcp__discord__echo", Input: map[string]any{}},
		"a file of its own":   {Tool: "Read", Input: map[string]any{"file_path": "CLAUDE.md"}},
		"two calls at a time": {Blocks: []claudetest.Block{{Type: "tool_use", Name: "Bash", Input: bash("echo one").Input}, {Type: "tool_use", Name: "Bash", Input: bash("echo two").Input}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var asked []agent.Spending
			s := r.open(func(o *agent.SessionOptions) {
				o.Tools = []agent.Tool{whoTool("x")}
				o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
					asked = append(asked, x)
					if x.Used.InputTokens > 1500 {
						return x.Allowed, "too much"
					}
					return 7, ""
				}
			})
			call.In, call.Out, call.CacheRead = 1000, 50, 20
			h := say(t, s, claudetest.Script(call, call, call, claudetest.Step{Text: "Done."}))
			end := h.result(t)
			if end.Stopped != "too much" || end.IsError || end.Interrupted || len(r.requests()) != 2 || end.Usage.InputTokens < 2000 {
				t.Errorf("%d requests, %+v", len(r.requests()), end)
			}
			first, last := asked[0], asked[len(asked)-1]
			if last.Used.CostUSD <= 0 { // the bot has no prices here, and the command has its own
				t.Errorf("asked about %+v", last.Used)
			}
			if first.Used.InputTokens != 1000 || first.Used.CacheRead != 20 || first.Used.OutputTokens == 0 || first.Allowed != 0 || !strings.Contains(first.Model, "haiku") {
				t.Errorf("asked first %+v", first)
			}
			if last.Used.InputTokens != 2000 || last.Allowed != 7 || last.Used.OutputTokens < 51 {
				t.Errorf("asked last %+v", last)
			}
			if h := say(t, s, claudetest.Script(claudetest.Step{Text: "Next."})); h.text() != "Next." || h.result(t).Stopped != "" {
				t.Errorf("the next turn: %q, %+v", h.text(), h.result(t))
			}
			if !strings.Contains(string(r.last().Raw), "Next.") {
				t.Error("the history is lost")
			}
		})
	}
}
