package claude

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
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
