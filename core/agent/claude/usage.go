package claude

import (
	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// meter turns the sums that a process keeps into what each turn has used. The sums begin at zero with every process, and they hold what
// subagents, retries and interrupted streams have used, which the usage of a
// result does not.
type meter struct{ seen agent.Usage }

// take is what was used since the last result.
func (m *meter) take(r wire.Result) agent.Usage {
	sum := agent.Usage{CostUSD: r.TotalCostUSD}
	for _, u := range r.ModelUsage {
		sum.InputTokens += u.InputTokens
		sum.OutputTokens += u.OutputTokens
		sum.CacheRead += u.CacheReadInputTokens
		sum.CacheWrite += u.CacheCreationInputTokens
	}
	before := m.seen
	m.seen = sum
	return agent.Usage{
		InputTokens: grown(before.InputTokens, sum.InputTokens), OutputTokens: grown(before.OutputTokens, sum.OutputTokens),
		CacheRead: grown(before.CacheRead, sum.CacheRead), CacheWrite: grown(before.CacheWrite, sum.CacheWrite),
		CostUSD: grown(before.CostUSD, sum.CostUSD),
	}
}

// grown is by how much a sum has grown. One that has become smaller has begun
// anew.
func grown[T int | float64](before, now T) T {
	if now < before {
		return now
	}
	return now - before
}
