package claude

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/testkit"
)

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

// A version that gives no totals before its first result is believed about its own turn only.
func TestWithoutTotalsTheFirstTurnIsWhatItsLinesSay(t *testing.T) {
	r := newStage(t, Options{Price: func(_ string, u agent.Usage) float64 { return float64(u.InputTokens) }})
	var b till
	s, p := played(t, r, func(o *agent.SessionOptions) { b.of(o); o.Resume = "0badcafe-0000-4000-8000-000000000001" })
	turn := func(id string, total int) {
		done := make(chan told, 1)
		go func() { done <- say(t, s, "go") }()
		<-p.messages
		p.say(begin,
			fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_start","message":{"id":%q,"model":"m","usage":{"input_tokens":100,"output_tokens":1}}}}`, id),
			`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":40}}}`,
			fmt.Sprintf(`{"type":"result","subtype":"success","num_turns":1,"total_cost_usd":%d,"modelUsage":{"m":{"inputTokens":%d,"outputTokens":440,"costUSD":%d}}}`, total, total, total), idle)
		(<-done).result(t)
	}
	turn("a", 1000)
	if got := b.sum(); got.InputTokens != 100 || got.OutputTokens != 40 || math.Abs(got.CostUSD-100) > 1e-6 {
		t.Errorf("the first turn: %+v", got)
	}
	turn("b", 1100)
	if got := b.sum(); got.InputTokens != 200 || math.Abs(got.CostUSD-200) > 1e-6 {
		t.Errorf("the second turn: %+v", got)
	}
}

// A subscription pays for a request unless there is a key, which is the user's money.
func TestARequestThatASubscriptionPaysForIsMarked(t *testing.T) {
	for account, plan := range map[string]bool{
		`{"tokenSource":"claude.ai","subscriptionType":"max"}`:                                    true,
		`{"tokenSource":"claude.ai","subscriptionType":"max","apiKeySource":"ANTHROPIC_API_KEY"}`: false,
		`{"tokenSource":"none","apiKeySource":"ANTHROPIC_API_KEY"}`:                               false,
	} {
		r := newStage(t, Options{Price: func(_ string, u agent.Usage) float64 { return float64(u.InputTokens) }})
		var b till
		s, p := played(t, r, b.of)
		inner(s).noteGreeting(json.RawMessage(`{"account":` + account + `}`))
		done := make(chan told, 1)
		go func() { done <- say(t, s, "go") }()
		<-p.messages
		p.say(begin, `{"type":"result","subtype":"success","num_turns":1,"total_cost_usd":3,"modelUsage":{"m":{"inputTokens":3,"costUSD":3}}}`, idle)
		(<-done).result(t)
		if len(b.list) == 0 || b.list[0].Plan != plan {
			t.Errorf("%s: %+v", account, b.list)
		}
	}
}

// Answers to the bot's questions may overtake each other.
func TestTotalsOnlyGrow(t *testing.T) {
	var m meter
	at := func(dollars float64, in int) totals {
		return totalsOf(dollars, map[string]wire.ModelUsage{"m": {InputTokens: in, CostUSD: dollars - 1}})
	}
	sum := agent.Usage{}
	for _, now := range []totals{at(2, 10), at(4, 30), at(3, 20), at(4, 30), at(5, 31)} {
		for _, c := range m.add(now) {
			sum = sum.Add(c.Used)
		}
	}
	if sum.InputTokens != 31 || math.Abs(sum.CostUSD-5) > 1e-9 || m.turn != sum {
		t.Errorf("%+v, the turn %+v", sum, m.turn)
	}
}
