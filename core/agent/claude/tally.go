package claude

import (
	"cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// tally counts the usage of a turn's requests so far, including subagents and answers that broke
// off. The CLI reports the cost only at the end of the turn.
type tally struct {
	model    string // of the first request
	requests map[string]counted
	allowed  float64 // dollars
}

// counted is the usage of one request and its model: a subagent's model may differ from the turn's.
type counted struct {
	model string
	used  agent.Usage
}

// note counts a request. The CLI repeats its usage with every block, and at the end of the answer
// reports all of its tokens.
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

// sum returns the usage of all requests, each at the price of its model.
func (y *tally) sum(price Price) agent.Usage {
	var all agent.Usage
	for _, r := range y.requests {
		r.used.CostUSD = price(cmp.Or(r.model, y.model), r.used)
		all = all.Add(r.used)
	}
	return all
}

// spending returns the running turn's usage and, if it must not use more, the reason.
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

// settle records how much the running turn may cost, or why it must end.
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
