package claude

import (
	"cmp"
	"context"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// tally counts the usage of a turn's requests as their lines arrive, including subagents and
// answers that broke off. The meter knows what they cost.
type tally struct {
	model    string // of the first request
	requests map[string]counted
	allowed  float64 // dollars
	// booked is what the meter has booked in this turn by model, own the part of the main thread.
	booked, own map[string]agent.Usage
}

// counted is the usage of one request and its model: a subagent's model may differ from the turn's.
type counted struct {
	model string
	used  agent.Usage
	over  bool // its last usage has arrived
	lent  bool // it belongs to a subagent, whose answers are not streamed
}

func newTally() *tally {
	return &tally{requests: map[string]counted{}, booked: map[string]agent.Usage{}, own: map[string]agent.Usage{}}
}

// note counts a request. The CLI repeats its usage with every block, and at the end of the answer
// reports all of its tokens.
func (y *tally) note(id, model string, u wire.Usage) {
	if id == "" {
		return
	}
	y.model = cmp.Or(y.model, model)
	was := y.requests[id]
	was.model = cmp.Or(was.model, model)
	was.used = agent.Usage{
		InputTokens: max(was.used.InputTokens, u.Input), OutputTokens: max(was.used.OutputTokens, u.Output),
		CacheRead: max(was.used.CacheRead, u.CacheRead), CacheWrite: max(was.used.CacheWrite, u.CacheWrite),
	}
	y.requests[id] = was
}

// end marks a request as answered, lend as a subagent's.
func (y *tally) end(id string)  { y.mark(id, func(r *counted) { r.over = true }) }
func (y *tally) lend(id string) { y.mark(id, func(r *counted) { r.lent = true }) }

func (y *tally) mark(id string, as func(*counted)) {
	if r, ok := y.requests[id]; ok {
		as(&r)
		y.requests[id] = r
	}
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

// ofModel returns the usage of a model's requests that are wanted, without a price.
func (y *tally) ofModel(model string, wanted func(counted) bool) agent.Usage {
	var all agent.Usage
	for _, r := range y.requests {
		if r.model == model && wanted(r) {
			all = all.Add(r.used)
		}
	}
	return all
}

// share takes the main thread's part out of what a model has newly used. The rest are subagents,
// or a compaction, which have no lines of their own.
func (y *tally) share(model string, used agent.Usage) (own agent.Usage) {
	answered := y.ofModel(model, func(r counted) bool { return r.over && !r.lent })
	own = atMost(used, without(answered, y.own[model]))
	y.own[model] = y.own[model].Add(own)
	y.booked[model] = y.booked[model].Add(used)
	return own
}

// left returns, by model, what the lines say was used and no total has shown: when the process is
// gone, they are all that is known. open means that an answer was under way.
func (y *tally) left() (used map[string]agent.Usage, open bool) {
	used = map[string]agent.Usage{}
	for _, r := range y.requests {
		open = open || !r.over && !r.lent
		used[r.model] = without(y.ofModel(r.model, func(counted) bool { return true }), y.booked[r.model])
	}
	return used, open
}

// without subtracts token by token; less than nothing is nothing.
func without(u, v agent.Usage) agent.Usage {
	return agent.Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CacheRead: max(0, u.CacheRead-v.CacheRead), CacheWrite: max(0, u.CacheWrite-v.CacheWrite),
		CacheHour: max(0, u.CacheHour-v.CacheHour), CostUSD: max(0, u.CostUSD-v.CostUSD),
	}
}

// atMost returns the tokens that are in both.
func atMost(u, v agent.Usage) agent.Usage {
	return agent.Usage{
		InputTokens: min(u.InputTokens, v.InputTokens), OutputTokens: min(u.OutputTokens, v.OutputTokens),
		CacheRead: min(u.CacheRead, v.CacheRead), CacheWrite: min(u.CacheWrite, v.CacheWrite),
	}
}

// spending books what the running turn has used until now, and returns that usage and, if it must
// not use more, the reason.
func (s *session) spending() (spent agent.Spending, stop string) {
	s.read(context.Background())
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
	used := y.sum(s.e.o.Price)
	used.CostUSD = cmp.Or(used.CostUSD, s.meter.turn.CostUSD) // what the CLI says of a model without a price
	return agent.Spending{Model: y.model, Used: used, Allowed: y.allowed}, stop
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
