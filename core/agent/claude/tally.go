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
	requests map[string]counted
	allowed  float64 // dollars
}

// counted is what one request has used, and the model that it asked: a subagent may have
// another one than the turn.
type counted struct {
	model string
	used  agent.Usage
}

// note counts a request. The CLI says its usage again with every block, and at its end with
// all tokens of the answer.
func (y *tally) note(id, model string, u wire.Usage) {
	if id == "" {
		return
	}
	y.model = cmp.Or(y.model, model)
	was := y.requests[id]
	y.requests[id] = counted{cmp.Or(was.model, model), agent.Usage{
		InputTokens: max(was.used.InputTokens, u.Input), OutputTokens: max(was.used.OutputTokens, u.Output),
		CacheRead: max(was.used.CacheRead, u.CacheRead), CacheWrite: max(was.used.CacheWrite, u.CacheWrite),
	}}
}

// sum is what all requests have used, each at the price of its model.
func (y *tally) sum(price Price) agent.Usage {
	var all agent.Usage
	for _, r := range y.requests {
		r.used.CostUSD = price(cmp.Or(r.model, y.model), r.used)
		all = all.Add(r.used)
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
	return agent.Spending{Model: y.model, Used: y.sum(s.e.o.Price), Allowed: y.allowed}, stop
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
