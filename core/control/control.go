// Package control owns the control socket: the way on which the bot's own
// commands, called in the model's shell, reach the bot that runs. Such a command
// needs neither state/ nor .env nor a token of the user's in its sight, and what
// it may do is decided by the session that called it.
//
// A token stands for one session. Whoever starts the session's process gives it
// the token in its environment, and revokes it at the end. The package owns the socket, the wire format and the limits. It
// must not know what a command means, nor who may run which.
//
// A request is one line of JSON, and so is its answer. What is no request gets
// an answer with a sentence and does no harm.
package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
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

// Call asks the bot behind the socket to run a command line, and waits for its
// end. The error says what to do.
func Call(path, token string, args []string) (agent.CommandResult, error) {
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf(textGone, err)
	}
	defer conn.Close()
	limit := callLimit + patience
	_ = conn.SetDeadline(time.Now().Add(limit)) // a connection that is gone tells with Write
	line, err := json.Marshal(request{Token: token, Args: args})
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf("write the request: %w", err)
	}
	// The answer may come before all was read: a request that is too long.
	_, sent := conn.Write(append(line, '\n'))
	data, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	if len(data) == 0 {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		if sent != nil {
			err = sent
		}
		return agent.CommandResult{}, fmt.Errorf(textNoAnswer, limit, err)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return agent.CommandResult{}, fmt.Errorf(textBadWords, err)
	}
	return agent.CommandResult(a), nil
}

// What a caller is told. Each says what to do.
const (
	textGarbage  = "this is no request: the socket is for the ollim-bot command"
	textTooLarge = "the command line is longer than %d KiB: shorten it"
	textSlow     = "no request came within %s"
	textUnknown  = "this session has ended, or never was one: commands work while the session that they were started in is open"
	textNoWay    = "this session takes no commands"
	textFault    = "the command failed with an internal fault: the bot's log says more"

	textGone     = "the bot that started this session has ended, so its commands cannot be run: start the bot again (%w)"
	textNoAnswer = "the bot did not answer: it has ended in the meantime, or the command took longer than %s (%w)"
	textBadWords = "the bot's answer could not be read: is the command as new as the bot? (%w)"

	textNoPlace = "no folder has a path that is short enough for a socket: set TMPDIR to a short one"
)
