package claude

import (
	"cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// tally is what the requests of a turn have used so far, with subagents and answers that
// broke off. The command tells the cost only when the turn has ended.
type tally struct {
	model    string // of the first request
	requests map[string]agent.Usage
	allowed  float64 // dollars
}

// note counts a request. The CLI says its usage again with every block, and at its end with
// all tokens of the answer.
func (y *tally) note(id, model string, u wire.Usage) {
	if id == "" {
		return
	}
	y.model = cmp.Or(y.model, model)
	was := y.requests[id]
	y.requests[id] = agent.Usage{
		InputTokens: max(was.InputTokens, u.Input), OutputTokens: max(was.OutputTokens, u.Output),
		CacheRead: max(was.CacheRead, u.CacheRead), CacheWrite: max(was.CacheWrite, u.CacheWrite),
	}
}

func (y *tally) sum() agent.Usage {
	var all agent.Usage
	for _, u := range y.requests {
		all = all.Add(u)
	}
	return all
}

// spending is what the running turn has used, and why it must not use more.
func (s *session) spending() (spent agent.Spending, stop string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.flow.current
	if t == nil {
		return agent.Spending{}, ""
	}
	if t.forced != nil {
		stop = t.forced.Stopped
	}
	y := t.tr.tally
	return agent.Spending{Model: y.model, Used: y.sum(), Allowed: y.allowed}, stop
}

// settle records what the running turn may cost, or why it must end.
func (s *session) settle(allowed float64, stop string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.flow.current
	if t == nil {
		return
	}
	t.tr.tally.allowed = allowed
	if stop != "" && t.forced == nil && t.stopped.IsZero() {
		t.forced = &agent.Result{Stopped: stop}
	}
}
