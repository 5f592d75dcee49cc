package command

// TextNoTask is said where no task has an id.
const TextNoTask = "no routine or reminder has the id %q: ollim-bot schedule and ollim-bot routine list show the ids"

const (
	textNoRuns       = "no run has ended in the last %s"
	textCosts        = "last %s: %s, %s tokens, %s"
	textCostsSince   = "; the runs that are known begin on %s"
	textCutHere      = "(the rest of the file is not shown)"
	textWaits        = "waits for you: %s"
	textNoSetup      = "the setup skill is missing: skills/setup/SKILL.md is made when the bot starts"
	textUpdate       = "To update it, install the new version over it, and /restart."
	textAlwaysThinks = " The model %s thinks all the same: with this version of claude it cannot be switched off."
	textOwnMeasure   = " The model %s thinks as much as it needs, whatever the number."
	textAsItWas      = "%s is %s, as it was"
	textChanged      = "%s: %s → %s"
)
