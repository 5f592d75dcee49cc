package command

// TextNoTask is said where no task has an id.
const TextNoTask = "no routine or reminder has the id %q: ollim-bot schedule and ollim-bot routine list show the ids"

const (
	textNoRuns       = "no run has ended in the last %s"
	textCosts        = "last %s: %s, %s tokens, %s"
	textSayAgain     = ". Say it again with sure behind it to set it."
	textBlocks       = "%s tokens of prompts%s, %s of answers"
	textCached       = " (%.0f %% from the cache)"
	textCostsSince   = "; the runs that are known begin on %s"
	textDone         = "%s is done"
	textComesBack    = "%s comes back at %s"
	textNotPending   = "the reminder %s is not pending any more: it was done, cancelled, or came for the last time"
	textNoWord       = "%q is no answer to a reminder: say done, later or not-today"
	textLaterPassed  = "%s has passed: name a time to come"
	textLaterFar     = "%s is more than a year away: name a nearer time"
	textNotTold      = "%s, but it could not be written down for the agent: %w"
	textCutHere      = "(the rest of the file is not shown)"
	textWaits        = "waits for you: %s"
	textNoSetup      = "the setup skill is missing: skills/setup/SKILL.md is made when the bot starts"
	textNoUpdate     = "/upgrade takes check, rollback or nothing, not %q"
	textStillRuns    = " %s runs until /restart."
	textAlwaysThinks = " The model %s thinks all the same: with this version of claude it cannot be switched off."
	textOwnMeasure   = " The model %s thinks as much as it needs, whatever the number."
	textAsItWas      = "%s is %s, as it was"
	textChanged      = "%s: %s → %s"
)

// What the agent is told of an answer to a reminder. %s is who answered.
const (
	updateDone    = "%s marked the reminder %q (%s) as done at %s."
	updatePutOff  = "%s put the reminder %q (%s) off at %s: it comes back at %s. If another time would suit better, propose it."
	updateReached = " It had reached the user %s since %s."
)
