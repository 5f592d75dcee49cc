package core

import (
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/words"
)

// Words for people.
const (
	textNotRegular = "it is not an ordinary file"
	textTooLarge   = "it is larger than 25 MB"

	textTooManyMessages  = "too many messages wait already: let the bot answer first, or interrupt it with ctrl+c"
	textRetry            = "waiting %[2]s to try again: %[1]s"
	textScreenNoTools    = "no tool is needed here: answer with the JSON object only"
	textNoWebhook        = "no webhook has the id %q: ollim-bot webhook list shows the ids"
	textFileWaits        = "%s waits for you and does nothing until then. %s Allow it in the schedule with y, or with ollim-bot allow"
	textWaitsAgain       = "%s waits for you again"
	textOtherVersion     = "%s has changed since you saw it: look again before you allow it"
	textNotWaiting       = "%s does not wait for you"
	textAllowed          = "%s may do what its file says"
	textNothingWaits     = "no task, skill or webhook %q is known: ollim-bot allow lists what waits for you"
	textWaits            = "waits for you: %s"
	textSkillWaits       = "tasks go without this skill, it waits for you: %s; allow it in the schedule with y, or with ollim-bot allow"
	textWebhookWaits     = "webhook %s waits for its user: %s"
	textNoSetup          = "the setup skill is missing: skills/setup/SKILL.md is made when the bot starts"
	textUpdate           = "To update it, install the new version over it, and /restart."
	textNoLogin          = "this engine needs no login"
	textLoggedIn         = "claude is logged in"
	textOpenLogin        = "open the address, log in there, and paste the code that it shows"
	textAlwaysThinks     = " The model %s thinks all the same: with this version of claude it cannot be switched off."
	textOwnMeasure       = " The model %s thinks as much as it needs, whatever the number."
	textNearLimit        = "the account's limit is near; it resets at %s"
	textFromDashboard    = "you, in the dashboard: %s"
	textRateLimit        = "the account's limit is reached until %s"
	textChatHere         = "chat here"
	textFreshSession     = "the engine no longer knows the main session: a new one was started; routines and updates are untouched"
	textForegroundFailed = "%q could not finish: %v"
	textTurnFailed       = "the answer did not come; your message is above, send it again when you like"
	textNoWords          = "the bot ended its turn without a word"
	textCutShort         = " *(interrupted)*"
	textStalled          = "nothing was heard for five minutes: the turn was interrupted, write again to go on"
	textEmptyMessage     = "there is nothing to send: write a message first"
	textLongMessage      = "the message has %d characters, the most is %d: send it in parts, or attach it as a file"
	textNotRunning       = "the bot does not run here: start it with ollim-bot run"

	textAlreadyForked = "already in a fork: leave it first, with save, report or exit"
	textNoFork        = "no active fork"
	textExitFirst     = "exit fork first"
	// The notice of a foreground task while a fork is open, and what the fork is told
	// of it once it is saved.
	textBehindFork = "%s is due: it runs in the main session, behind the fork; what you write still goes to the fork"
	textRanBehind  = "While this conversation was a fork, the task \"%s\" ran in the main session that it has replaced. " +
		"The user has seen the answer; you have not."

	textForkPlain     = "branched conversation — changes stay separate from main."
	textForkResumed   = "resumed from %s — it cannot be saved, but reported."
	textNoSummary     = "the agent gave none, so nothing was queued for the main conversation."
	textUnknownButton = "this button does nothing that this version knows"
	textNoGoogle      = "tasks and calendar are not connected in this version: do it there by hand"
	textButtonExpired = "this button has expired or was used already: ask again in words"
	textReplyInFork   = "already in a fork: the message you answer is quoted instead"
	textReplyExpired  = "the run behind that message is more than seven days old: the message is quoted instead"
	textEarlierRun    = "an earlier run"
	textGoOn          = "I would like to go on from here. Say in a line or two where things stand, then wait for me."
	textResumeWaiting = "a message from before the restart is answered now"
	textSaveQuestion  = "the agent would like to save this fork as the main conversation: save, report or leave it in the chat pane"

	// Answers of the tools that enter, save, report and leave a fork.
	textForkReported   = "Reported: the fork is discarded after this response. Say goodbye briefly; further tool calls only delay it."
	textSaveAsked      = "The user was asked whether this fork is promoted to the main session. Nothing happens until they answer; go on as usual."
	textNoSaveResumed  = "Error: this fork continues a background run and cannot be saved. Use report_updates to pass on what matters."
	textForkDiscarding = "The fork is discarded after this response. Say goodbye briefly."
	textAlreadyIn      = "Error: already in an interactive fork. Forks are never nested; leave this one first."
	textEntering       = "Entering fork: it begins when this turn ends, which is now."

	// What is done to the schedule and the budget from a dashboard.
	textPaused         = "%s is paused until you let it go on"
	textSnoozed        = "%s is snoozed until %s"
	textGoesOn         = "%s goes on"
	textNotHeld        = "%s is neither paused nor snoozed"
	textSnoozeTooLong  = "a snooze ends within a year, not on %s: pause the task to hold it for longer"
	textMuted          = "pings are muted until %s; critical ones come through"
	textUnmuted        = "pings are no longer muted"
	textNotMuted       = "pings are not muted"
	textMutePassed     = "%s has passed: give a time to come"
	textMuteTooLong    = "a mute ends within a year: set the capacity to 0 to mute for good"
	textNothingPending = "no update is pending: there is nothing to deliver"
	textDeliverInFork  = "updates go to the main session: leave the fork first, with save, report or exit"
	textAddOneTime     = "a task needs either a cron line (a routine) or a time (a reminder): give one of the two"
	textAddNoMessage   = "the task has no message: say what the bot should do"
	textAddPassed      = "%s has passed: a reminder needs a time to come"
	textAddTooFar      = "%s is more than a year away: a reminder fires within a year"
	textAddCron        = "cron line, column %d: %s"
	textAddNever       = "%q never fires: no month has such a day"
	textAdded          = "%s added, next %s"
	textRemoved        = "%s removed"
	textDirBack        = "the data directory is back; the bot goes on"
	textRestored       = "%s is back in the schedule"
	textKept           = "%s stays in the schedule after this run"
	textNotAdded       = "the task %q was not added from here: delete its file, or use ollim-bot routine cancel or reminder cancel"
	textAddedGone      = "%s is gone already: it has run, or its file was removed"
	textAddedEdited    = "%s has been edited since: delete its file %s yourself if you no longer want it"

	textLargeImage = "\n[the image %s has %.1f MB and was not shown to you: %d MB is the most; it was saved]"

	textForkCard    = "Forked Session"
	textForkIdle    = "the fork has been quiet for a while: asking whether to leave it"
	textForkExpired = "the fork was left alone and did not end by itself: it was discarded"
)

// maxMessage is the longest message of the user, in characters.
const maxMessage = 100_000

func catchingUp(n int) string {
	if n == 1 {
		return "catching up on one background update"
	}
	return fmt.Sprintf("catching up on %d background updates", n)
}

func delivering(n int) string {
	if n == 1 {
		return "1 update goes to the main session"
	}
	return fmt.Sprintf("%d updates go to the main session", n)
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
