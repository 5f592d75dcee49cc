package command

// TextNoTask is said where no task has an id.
const TextNoTask = "no routine or reminder has the id %q: ollim-bot schedule and ollim-bot routine list show the ids"

const (
	textNoRuns     = "no run has ended in the last %s"
	textCosts      = "last %s: %s, %s tokens, %s"
	textCostsSince = "; the runs that are known begin on %s"
	textCutHere    = "(the rest of the file is not shown)"
	textWaits      = "waits for you: %s"
)
