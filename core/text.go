package core

// Words for people.
const (
	textNoLogin    = "this engine needs no login"
	textLoggedIn   = "claude is logged in"
	textOpenLogin  = "open the address, log in there, and paste the code that it shows"
	textChatHere   = "chat here"
	textReadOnly   = "this viewer is read-only: nothing can be changed here"
	textNotRunning = "the bot does not run here: start it with ollim-bot run"

	textTheUser   = "The user"
	textAnswered  = "%s (%s)"
	textNoLonger  = "no longer pending"
	textOpenAgain = "The reminder %q (%s) is pending again: it was restored."

	// What is done to the schedule and the budget from a dashboard.
	textNothingPending = "no update is pending: there is nothing to deliver"
	textDirBack        = "the data directory is back; the bot goes on"
)

// What the model reads of runs that may wait.
const ()
