package core

// ChatHere is the name of the surface where there is no other than the dashboard.
const ChatHere = "chat here"

// Words for people.
const (
	textUnknownCard   = "this version does not know that button: /status gives you a new card"
	textCapacityThere = "the capacity is already %d"
	textCapacityMoved = "the capacity has changed to %d since: /status gives you a new card"

	textNoLogin    = "this engine needs no login"
	textLoggedIn   = "claude is logged in"
	textOpenLogin  = "open the address, log in there, and paste the code that it shows"
	textReadOnly   = "this viewer is read-only"
	textNotRunning = "the bot is not running here: start it with ollim-bot run"
)
