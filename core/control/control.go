// Package control owns the control socket: the way on which the bot's own
// commands, called in the model's shell, reach the bot that runs. Such a command
// needs neither state/ nor .env nor a token of the user's in its sight, and what
// it may do is decided by the session that called it.
//
// A token stands for one session. Whoever starts the session's process gives it
// the token in its environment, binds it to the session's callback, and revokes
// it at the end. The package owns the socket, the wire format and the limits. It
// must not know what a command means, nor who may run which.
//
// A request is one line of JSON, and so is its answer. What is no request gets
// an answer with a sentence and does no harm.
package control

import (
	"time"

	"ollimbot/core/agent"
)

// The variables of a session's environment.
const (
	SocketVar  = "OLLIM_SOCKET"  // the path of the socket
	SessionVar = "OLLIM_SESSION" // the token of the session
)

const (
	// maxRequest is more than a command line holds that a model writes.
	maxRequest = 1 << 20
	// maxAnswer is what the client reads of an answer: a long session's history,
	// as JSON in JSON.
	maxAnswer = 64 << 20
	// atOnce is how many connections are served at the same time; more wait.
	atOnce = 16
	// patience is how long the other end may take for a line.
	patience = 5 * time.Second
	// callLimit is how long a call may take: a minute until the user has answered,
	// and a minute for the command.
	callLimit = 2 * time.Minute
)

// request is what the client sends.
type request struct {
	Token string   `json:"token"`
	Args  []string `json:"args"`
}

// answer is what it gets: what the command printed and its exit status.
type answer struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// refusal is an answer that says why nothing was done.
func refusal(text string) agent.CommandResult {
	return agent.CommandResult{Stderr: "ollim-bot: " + text + "\n", Exit: 1}
}
