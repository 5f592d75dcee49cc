package claude

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// totals are what a process says its session has used so far, by model.
type totals map[string]agent.Usage

// totalsOf reads the CLI's totals. A part of the cost that no model accounts for is kept under "".
func totalsOf(dollars float64, models map[string]wire.ModelUsage) totals {
	sum, all := totals{}, 0.0
	for name, u := range models {
		sum[name] = agent.Usage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
			CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, CacheHour: u.CacheHour, CostUSD: u.CostUSD,
		}
		all += u.CostUSD
	}
	if rest := dollars - all; rest > rounding {
		sum[""] = agent.Usage{CostUSD: rest}
	}
	return sum
}

// rounding is more than the error of a sum of costs, in dollars.
const rounding = 1e-9

// meter books what the requests of a process cost, from the running totals of the CLI. They include
// subagents, compactions, retries and interrupted streams, which have no lines of their own. Where
// they start depends on the version: a resumed or forked process of 2.1.300 and newer starts with
// the total that its session had when its last process ended properly, older ones start at 0. So
// the process is asked for its totals before its first turn, and again whenever an answer has
// ended: what is booked is never more than what was added since.
//
// session.mu guards it.
type meter struct {
	// started means that seen is where the process started, or later. If a version does not say,
	// the first turn is what its own lines say.
	started bool
	seen    totals
	turn    agent.Usage // what the running turn has used
	due     []agent.Charge
}

// add moves the meter to newer totals and returns what each model has used since, by name. Answers
// that overtook each other add nothing: totals only grow.
func (m *meter) add(now totals) (used []agent.Charge) {
	if m.seen == nil {
		m.seen = totals{}
	}
	for _, model := range slices.Sorted(maps.Keys(now)) {
		grown := without(now[model], m.seen[model])
		if grown.Tokens() == 0 && grown.CostUSD < rounding {
			continue
		}
		m.seen[model] = m.seen[model].Add(grown)
		m.turn = m.turn.Add(grown)
		used = append(used, agent.Charge{Model: model, Used: grown})
	}
	return used
}

// begin sets where the process started. A fresh session starts at 0 in every version.
func (s *session) begin(ctx context.Context) {
	if s.host.o.Resume == "" {
		s.meter.started = true
		return
	}
	if now, ok := s.askTotals(ctx); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.meter.started, s.meter.seen = true, now
	}
}

// askTotals asks the process for its totals. ok is false if it gives none.
func (s *session) askTotals(ctx context.Context) (now totals, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	// Without these two, newer versions read all transcripts of the week and wait for the turn.
	answer, err := s.conn.Request(ctx, request{"subtype": "get_usage", "skip_behaviors": true, "detached": true})
	if err != nil {
		s.log.Debug("the process did not say what it has used", "error", err)
		return nil, false
	}
	t := wire.ReadTotals(answer).Session
	if t == nil {
		return nil, false
	}
	return totalsOf(t.CostUSD, t.Models), true
}

// read books what has been used until now. It must not be called by the goroutine that reads the
// process.
func (s *session) read(ctx context.Context) {
	s.mu.Lock()
	started := s.meter.started
	s.mu.Unlock()
	if !started { // the totals mean nothing yet: the first result tells where they start
		return
	}
	if now, ok := s.askTotals(ctx); ok {
		s.mu.Lock()
		s.book(now)
		s.mu.Unlock()
		s.flush()
	}
}

// book makes charges of what has been used since the last totals. The lock is held.
func (s *session) book(now totals) {
	t := s.flow.current
	for _, c := range s.meter.add(now) {
		own := c
		if t != nil {
			own.Used = t.tr.tally.share(c.Model, c.Used)
		}
		rest := c
		rest.Used = without(c.Used, own.Used)
		switch part := t.part(); {
		case part == agent.Main || rest.Used.Tokens() == 0:
			s.charge(c)
		default:
			own.Used.CostUSD = s.portion(c, own.Used)
			rest.Used.CostUSD, rest.Part = c.Used.CostUSD-own.Used.CostUSD, part
			s.charge(own)
			s.charge(rest)
		}
	}
}

// portion returns how much of a cost is due to a part of its tokens.
func (s *session) portion(c agent.Charge, part agent.Usage) float64 {
	all, one := s.e.o.Price(c.Model, c.Used), s.e.o.Price(c.Model, part)
	if all <= 0 {
		all, one = float64(max(1, c.Used.Tokens())), float64(part.Tokens())
	}
	return c.Used.CostUSD * min(1, one/all)
}

// part is what requests of a turn that have no lines are for.
func (t *turn) part() agent.Part {
	switch {
	case t == nil:
		return agent.Main
	case t.tr.compacted || t.command == agent.Compact:
		return agent.Compaction
	case t.tr.lent:
		return agent.Subagent
	}
	return agent.Main
}

// charge adds a charge to those that flush passes on. The lock is held.
func (s *session) charge(c agent.Charge) {
	c.Plan = s.e.subscribed()
	c.Model = cmp.Or(c.Model, s.settings.Model)
	s.meter.due = append(s.meter.due, c)
}

// flush passes the charges to the run, in order. When it returns, they have arrived. The lock is
// not held.
func (s *session) flush() {
	s.booking.Lock()
	defer s.booking.Unlock()
	s.mu.Lock()
	due := s.meter.due
	s.meter.due = nil
	s.mu.Unlock()
	for _, c := range due {
		s.host.run.Charge(c)
	}
}

// closeTurn books the rest of a turn, whose result has all totals, and returns the turn's usage.
func (s *session) closeTurn(r wire.Result) agent.Usage {
	now := totalsOf(r.TotalCostUSD, r.ModelUsage)
	if m := &s.meter; !m.started {
		m.started, m.seen = true, totals{}
		for model, all := range now { // this turn's own requests come after the start
			own := s.flow.current.tr.tally.ofModel(model, func(counted) bool { return true })
			own.CostUSD = s.portion(agent.Charge{Model: model, Used: all}, own)
			m.seen[model] = without(all, own)
		}
	}
	s.book(now)
	used := s.meter.turn
	s.meter.turn = agent.Usage{}
	return used
}

// loseTurn books what is known of a turn whose process is gone: its finished answers by the price
// of their models, and that the last one is unknown.
func (s *session) loseTurn(t *turn) {
	used, open := t.tr.tally.left()
	for _, model := range slices.Sorted(maps.Keys(used)) {
		s.charge(agent.Charge{Model: model, Used: used[model], About: true})
	}
	if open || len(t.tr.tally.requests) == 0 {
		s.charge(agent.Charge{Model: t.tr.tally.model, Unknown: true})
	}
}
