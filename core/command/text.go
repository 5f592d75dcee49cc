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
	textNoSetup      = "the setup skill is missing: skills/setup/SKILL.md is made when the bot starts"
	textNoUpdate     = "/upgrade takes check, rollback or nothing, not %q"
	textStillRuns    = " %s runs until /restart."
	textAlwaysThinks = " The model %s thinks all the same: with this version of claude it cannot be switched off."
	textOwnMeasure   = " The model %s thinks as much as it needs, whatever the number."
	textAsItWas      = "%s is %s, as it was"
	textChanged      = "%s: %s → %s"
)
