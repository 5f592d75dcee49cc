package core

import "fmt"

// Words for people.
const (
	textTooManyMessages  = "too many messages wait already: let the bot answer first, or interrupt it with ctrl+c"
	textRetry            = "waiting %[2]s to try again: %[1]s"
	textFreshSession     = "the engine no longer knows the main session: a new one was started; routines and updates are untouched"
	textForegroundFailed = "%q could not finish: %v"
	textNoTask           = "no routine or reminder has the id %q: ollim-bot schedule and ollim-bot routine list show the ids"
	textEmptyMessage     = "there is nothing to send: write a message first"
	textNotRunning       = "the bot does not run here: start it with ollim-bot run"
)

func catchingUp(n int) string {
	if n == 1 {
		return "catching up on one background update"
	}
	return fmt.Sprintf("catching up on %d background updates", n)
}
