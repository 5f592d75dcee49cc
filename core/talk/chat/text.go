package chat

import (
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// nameFork is the interactive fork as a step of a label and in the audit log.
const nameFork = "fork"

const (
	textNotRegular      = "it is not a regular file"
	textTooLarge        = "it is larger than 25 MB"
	textTooManyMessages = "too many messages are waiting: let the bot answer first, or end its answer with /interrupt"
	textStillBusy       = "nothing was done, because a session is still being opened or an answer written: try again, or end it with /interrupt first"
	textStopping        = "nothing was done, because the bot is stopping"
	textRetry           = "retrying in %[2]s: %[1]s"
	textNearLimit       = "the account is close to its limit, which resets at %s"
	textFromDashboard   = "you, in the dashboard: %s"
	textRateLimit       = "the account's limit is reached; it resets at %s"
	textLostSession     = "it is not known which session was open, so the next message starts a new one; the file was kept as %s; the history has what was said"
	textFreshSession    = "the engine no longer has the main session, so a new one was started; routines and updates are unchanged"
	textTurnFailed      = "the bot could not answer; send your message again to retry"
	textEarlier         = "[%s are in %s]"
	textTryAgain        = "Try again"
	textLogIn           = "Log in"
	textNoWords         = "the bot returned an empty reply"
	textCutShort        = " *(interrupted)*"
	textInterrupted     = "(interrupted)"
	textEmptyMessage    = "the message is empty: write something first"
	textLongMessage     = "the message has %d characters, but the limit is %d: send it in parts, or attach it as a file"
	textBehindFork      = "%s is due and runs in the main session; your messages still go to the fork"
	textRanBehind       = "While this conversation was a fork, the task \"%s\" ran in the main session that it has replaced. " +
		"The user has seen the answer; you have not."
	textForkPlain      = "branched conversation — changes stay separate from main."
	textForkResumed    = "resumed from %s — it can be reported, but not saved."
	textNoSummary      = "the agent gave none, so nothing was queued for the main conversation."
	textUnknownButton  = "this version does not know this button"
	textButtonExpired  = "this button has expired or was already used: ask again in a message"
	textReplyInFork    = "a fork is open: the message you replied to is quoted instead"
	textReplyExpired   = "that message is more than seven days old and its run is no longer available: the message is quoted instead"
	textEarlierRun     = "an earlier run"
	textResumeWaiting  = "answering a message from before the restart"
	textSaveQuestion   = "the agent would like to save this fork as the main conversation: save, report or leave it in the chat pane"
	textForkReported   = "Reported: the fork is discarded after this response. Say goodbye briefly; further tool calls only delay it."
	textSaveAsked      = "The user was asked whether this fork is promoted to the main session. Nothing happens until they answer; go on as usual."
	textNoSaveResumed  = "Error: this fork continues a background run and cannot be saved. Use report_updates to pass on what matters."
	textForkDiscarding = "The fork is discarded after this response. Say goodbye briefly."
	textAlreadyIn      = "Error: already in an interactive fork. Forks are never nested; leave this one first."
	textEntering       = "Entering fork: it begins when this turn ends, which is now."
	textSaveResumed    = "this fork continues a background run and cannot be saved: report or leave it"
	textDeliverInFork  = "updates go to the main session: leave the fork first, with save, report or exit"
	textHidden         = "%s was saved, but I cannot see it: it %s."
	textNotShown       = "\n[the file %s was saved, but not shown to you: it %s]"
	textForkCard       = "Forked Session"
	textForkIdle       = "the fork has been idle for a while: asking the agent whether to leave it"
	textForkExpired    = "the fork was idle for too long and was discarded"
	// textForkLost is followed by textForkWords if something was said in the fork.
	textForkLost      = "the fork%s ended with the program and was not saved"
	textForkWords     = ". The history has its words, and a reply to one of its answers continues it for seven days"
	textAnswerOver    = "that answer has ended already"
	textExitFirst     = "exit fork first"
	textNoFork        = "no active fork"
	textAlreadyForked = "already in a fork: leave it first, with save, report or exit"
	textGoOn          = "I would like to continue from here. Summarize in a line or two, then wait for me."
)

// openBlock returns what closes the code block that a text leaves open, or "".
func openBlock(text string) string {
	mark, quote := "", ""
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " >")
		for _, fence := range []string{"```", "~~~"} {
			switch {
			case !strings.HasPrefix(bare, fence):
			case mark == "" && !strings.Contains(bare[len(fence):], fence):
				mark, quote = fence, strings.TrimLeft(line[:len(line)-len(bare)], " ")
			case mark == fence:
				mark = ""
			}
		}
	}
	if mark == "" {
		return ""
	}
	return "\n" + quote + mark + "\n"
}

func catchingUp(n int) string {
	if n == 1 {
		return "catching up on one background update"
	}
	return fmt.Sprintf("catching up on %d background updates", n)
}

func compactingText(ev agent.Compacting) string {
	if ev.PreTokens > 0 {
		return "compacting " + words.Big(ev.PreTokens) + " tokens"
	}
	return "compacting"
}

func compactedText(ev agent.Compacting) string {
	if ev.PreTokens > 0 {
		return "auto-compacted · " + words.Big(ev.PreTokens) + " tokens"
	}
	return "auto-compacted"
}

func cleanTopic(s string) string { return clean.Cut(clean.Line(s), 200) }
