package chat

import (
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// Words for people.
const (
	textNotRegular      = "it is not an ordinary file"
	textTooLarge        = "it is larger than 25 MB"
	textTooManyMessages = "too many messages wait already: let the bot answer first, or interrupt it with ctrl+c"
	textRetry           = "waiting %[2]s to try again: %[1]s"
	textNearLimit       = "the account's limit is near; it resets at %s"
	textFromDashboard   = "you, in the dashboard: %s"
	textRateLimit       = "the account's limit is reached until %s"
	textFreshSession    = "the engine no longer knows the main session: a new one was started; routines and updates are untouched"
	textTurnFailed      = "the answer did not come; your message is above, send it again when you like"
	textNoWords         = "the bot returned an empty reply"
	textCutShort        = " *(interrupted)*"
	textEmptyMessage    = "there is nothing to send: write a message first"
	textLongMessage     = "the message has %d characters, the most is %d: send it in parts, or attach it as a file"
	textBehindFork      = "%s is due: it runs in the main session, behind the fork; what you write still goes to the fork"
	textRanBehind       = "While this conversation was a fork, the task \"%s\" ran in the main session that it has replaced. " +
		"The user has seen the answer; you have not."
	textForkPlain      = "branched conversation — changes stay separate from main."
	textForkResumed    = "resumed from %s — it cannot be saved, but reported."
	textNoSummary      = "the agent gave none, so nothing was queued for the main conversation."
	textUnknownButton  = "this button does nothing that this version knows"
	textButtonExpired  = "this button has expired or was used already: ask again in words"
	textReplyInFork    = "already in a fork: the message you answer is quoted instead"
	textReplyExpired   = "the run behind that message is more than seven days old: the message is quoted instead"
	textEarlierRun     = "an earlier run"
	textResumeWaiting  = "a message from before the restart is answered now"
	textSaveQuestion   = "the agent would like to save this fork as the main conversation: save, report or leave it in the chat pane"
	textForkReported   = "Reported: the fork is discarded after this response. Say goodbye briefly; further tool calls only delay it."
	textSaveAsked      = "The user was asked whether this fork is promoted to the main session. Nothing happens until they answer; go on as usual."
	textNoSaveResumed  = "Error: this fork continues a background run and cannot be saved. Use report_updates to pass on what matters."
	textForkDiscarding = "The fork is discarded after this response. Say goodbye briefly."
	textAlreadyIn      = "Error: already in an interactive fork. Forks are never nested; leave this one first."
	textEntering       = "Entering fork: it begins when this turn ends, which is now."
	textSaveResumed    = "this fork continues a background run and cannot be saved: report or leave it"
	textDeliverInFork  = "updates go to the main session: leave the fork first, with save, report or exit"
	textLargeImage     = "\n[the image %s has %.1f MB and was not shown to you: %d MB is the most; it was saved]"
	textForkCard       = "Forked Session"
	textForkIdle       = "the fork has been quiet for a while: asking whether to leave it"
	textForkExpired    = "the fork was left alone and did not end by itself: it was discarded"
	textExitFirst      = "exit fork first"
	textNoFork         = "no active fork"
	textAlreadyForked  = "already in a fork: leave it first, with save, report or exit"
	textGoOn           = "I would like to go on from here. Say in a line or two where things stand, then wait for me."
)

func catchingUp(n int) string {
	if n == 1 {
		return "catching up on one background update"
	}
	return fmt.Sprintf("catching up on %d background updates", n)
}

func compactingText(ev agent.Compacting) string {
	if ev.PreTokens > 0 {
		return "compacting " + words.Thousand(ev.PreTokens) + " tokens"
	}
	return "compacting"
}

func compactedText(ev agent.Compacting) string {
	if ev.PreTokens > 0 {
		return "auto-compacted · " + words.Thousand(ev.PreTokens) + " tokens"
	}
	return "auto-compacted"
}

func cleanTopic(s string) string { return clean.Cut(clean.Line(s), 200) }
