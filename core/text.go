package core

// Words for people.
const (
	textNoLogin    = "this engine needs no login"
	textLoggedIn   = "claude is logged in"
	textOpenLogin  = "open the address, log in there, and paste the code that it shows"
	textChatHere   = "chat here"
	textReadOnly   = "this viewer is read-only: nothing can be changed here"
	textNotRunning = "the bot does not run here: start it with ollim-bot run"
)
