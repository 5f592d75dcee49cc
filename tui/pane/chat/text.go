package chat

import (
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/action"
)

const (
	textName    = "Chat     "
	textSilence = "no messages yet"

	textEarlier = "Earlier messages: ollim-bot history finds them."

	textQuiet       = "quiet"   // a message without a sound
	textUntrusted   = "from %s" // the origin of untrusted text that went into a message
	textNoButtons   = "no card here has a button to press"
	textNoReply     = "there is no message from the bot to reply to"
	textReplyNotice = "the program's own notes cannot be replied to"
	textPasteCut    = "the pasted text was cut: at most 256 kB are sent"

	textLocked   = "read-only"
	textAttached = "attached: "

	textOpen = "chat"   // replaces the pane's key
	textThen = ", then" // between the key that must come first and the others

	textReadFirst = "a tool call just arrived: read, press again"

	textFork         = "fork"
	textAsksLead     = "The agent asks: "
	textSaving       = "saving the fork as the main conversation"
	textReporting    = "asking the agent for a report, then leaving the fork"
	textAfterAnswer  = ", after the current answer"
	textExitQuestion = "Leave %s (%s)? Nothing is kept: the main conversation gets no report of it."
	textExitYes      = "leave and keep nothing"
)

// toolsText names the tools of a message by what became of them; the last one may still wait
// for the user.
func toolsText(tools []string, asks bool) string {
	var used, denied, interrupted, asked []string
	for i, tool := range tools {
		if label, was := strings.CutSuffix(tool, transcript.DeniedMark); was {
			denied = append(denied, label)
		} else if label, was := strings.CutSuffix(tool, transcript.InterruptedMark); was {
			interrupted = append(interrupted, label)
		} else if asks && i == len(tools)-1 {
			asked = append(asked, tool)
		} else {
			used = append(used, tool)
		}
	}
	var parts []string
	for _, group := range []struct {
		lead  string
		tools []string
	}{{"used ", used}, {"denied: ", denied}, {"interrupted: ", interrupted}, {"asks for ", asked}} {
		if len(group.tools) > 0 {
			parts = append(parts, group.lead+strings.Join(group.tools, ", "))
		}
	}
	return strings.Join(parts, " · ")
}

// textTeach first names the key to write: outside the input line, "/" searches.
func textTeach(n action.Names) string {
	way := n.Name(action.ChatWrite)
	if n.Key(action.ChatWrite) != "" {
		way = "press " + way
	}
	return "Write to the bot here. Messages from background runs appear too. Lines that start with / are commands: " +
		way + ", then /help lists them."
}

// textAnswers returns the keys that answer the pending call.
func textAnswers(a policy.Approval, n action.Names) string {
	ids := []action.ID{action.ApprovalAllow, action.ApprovalDeny, action.ApprovalAlways}
	if a.Scope() == "" {
		ids = ids[:2]
	}
	return strings.Join(n.Badges(ids...), " ")
}

// textAsks returns the keys to leave the fork, or where to find these actions if they have no key.
func textAsks(n action.Names) string {
	ways := slices.Concat(n.Say(action.ForkSave, "%s yes"), n.Say(action.ForkReport, "%s report"), n.Say(action.ForkExit, "%s exit"))
	if len(ways) == 0 {
		ways = append(ways, n.Name(action.ForkSave))
	}
	return "save it? " + strings.Join(ways, ", ")
}

// textCall returns a question in full.
func textCall(a policy.Approval, n action.Names, locked bool) string {
	out := "The " + core.Asker(a) + " asks: " + a.Question + "\n\n"
	if text := strings.TrimRight(a.Text, "\n"); text != "" {
		out += text + "\n"
	}
	if locked {
		return out
	}
	return out + "\nesc goes back to the question; there " + n.Name(action.ApprovalAllow) + " allows it and " +
		n.Name(action.ApprovalDeny) + " denies it.\n"
}
