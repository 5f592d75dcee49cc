package render

import (
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/policy"
	"ollimbot/discord/rest"
)

// The reactions that answer an approval, in the order in which the bot offers
// them; any other denies (spec 06.4.3).
const (
	ReactAllow  = "\u2705"
	ReactDeny   = "\u274c"
	ReactAlways = "\U0001f513"
)

// Reactions are those that are offered.
func Reactions() []string { return []string{ReactAllow, ReactDeny, ReactAlways} }

// Verdict is what a reaction says.
func Verdict(emoji string) policy.Verdict {
	switch emoji {
	case ReactAllow:
		return policy.Allow
	case ReactAlways:
		return policy.Always
	}
	return policy.Deny
}

// maxCall is how much of a tool call is shown: enough to judge it, on one screen.
const maxCall = 1500

// Approval is the card of a tool call that waits, or how it was settled: the
// label as code, and behind it the verdict. One that nobody answered is struck
// through.
func Approval(a policy.Approval) rest.Message {
	label := code(Cut(clean.Line(a.Label), maxCall))
	switch a.Verdict {
	case "":
	case policy.Expired, policy.Cancelled:
		label = "~~" + label + "~~ — " + string(a.Verdict)
	default:
		label += " — " + string(a.Verdict)
	}
	return rest.Message{Content: label}
}

// code shows a line as code whatever it holds. A single backtick inside needs
// two outside; more of them would make a block of it.
func code(s string) string {
	if s == "" {
		s = dash
	}
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return "`` " + strings.ReplaceAll(s, "``", "''") + " ``"
}
