package claude

import (
	"net/http"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// ending is who wanted a turn to end.
type ending int

const (
	endOwn     ending = iota // it has come to its end
	endAsked                 // it was interrupted
	endStalled               // it was interrupted because nothing came any more
)

// notLoggedIn is the class of a failure that a login or another key cures.
const notLoggedIn = "authentication_failed"

// result makes the event that ends a turn, without session and usage. What went
// wrong is told by is_error alone: the subtype says "success" for most failures,
// and is an error for interruptions, which are none.
func (t *translator) result(r wire.Result, why ending) agent.Result {
	// A command of the CLI that was interrupted says nothing about it.
	interrupted := r.Interrupted() || why == endAsked && r.TerminalReason == "" && t.command != ""
	end := agent.Result{Text: r.Text, Turns: r.NumTurns}
	switch {
	case why == endStalled && (interrupted || r.IsError):
		end.IsError, end.Text = true, stalledText()
	case interrupted:
		end.Interrupted = true
	case r.IsError:
		end.IsError, end.Text = true, failureText(r, t.failure)
		end.Unavailable = unavailable(r, t.failure)
	}
	return end
}

// unavailable reports whether the failure would meet every turn.
func unavailable(r wire.Result, class string) bool {
	switch class {
	case notLoggedIn, "billing_error", "rate_limit", "overloaded", "server_error":
		return true
	}
	return r.APIErrorStatus == http.StatusUnauthorized || r.APIErrorStatus == http.StatusPaymentRequired ||
		r.APIErrorStatus == http.StatusTooManyRequests || r.APIErrorStatus >= http.StatusInternalServerError
}

// failureText says in one line what went wrong and, where that is known, what
// to do about it.
func failureText(r wire.Result, class string) string {
	said := short(r.Text)
	if said == "" {
		said = short(strings.Join(r.Errors, " | "))
	}
	switch {
	case class == notLoggedIn && r.APIErrorStatus == 0:
		return textLoggedOut
	case class == notLoggedIn, r.APIErrorStatus == http.StatusUnauthorized:
		return joined(textBadKey, said)
	case r.TerminalReason == "prompt_too_long":
		return textLongPrompt
	case said == "":
		return textNoWords
	}
	return said
}

func joined(cure, said string) string {
	if said == "" {
		return cure
	}
	return cure + " (" + said + ")"
}

// meter turns the sums that a process keeps into what each turn has used. The sums begin at zero with every process, and they hold what
// subagents, retries and interrupted streams have used, which the usage of a
// result does not.
type meter struct{ seen agent.Usage }

// sinceLast is what was used since the last result.
func (m *meter) sinceLast(r wire.Result) agent.Usage {
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
