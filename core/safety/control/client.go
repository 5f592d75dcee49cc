package control

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"ollimbot/core/agent"
)

const (
	// maxRequest is larger than any command line that a model writes.
	maxRequest = 1 << 20
	// maxAnswer limits what the client reads. The largest answer is a long session's history, as
	// JSON in JSON.
	maxAnswer = 64 << 20
	// atOnce is the number of calls per session that are served at a time; others wait.
	atOnce = 16
	// patience is how long the other side may take for a line.
	patience = 5 * time.Second
	// callLimit is the time limit of a call: a minute for the user to answer and a minute for the
	// command.
	callLimit = 2 * time.Minute
)

// request is sent by the client.
type request struct {
	Token string   `json:"token"`
	Args  []string `json:"args"`
}

// answer is the output of the command and its exit status.
type answer struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// refusal returns an answer that explains why the command was not run.
func refusal(text string) agent.CommandResult {
	return agent.CommandResult{Stderr: "ollim-bot: " + text + "\n", Exit: 1}
}

// conn is the connection of one call.
type conn interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Call asks the bot behind the door to run a command line and waits for its end. Its errors say
// what to do.
func Call(path, token string, args []string) (agent.CommandResult, error) {
	limit := callLimit + patience
	conn, err := dial(path, time.Now().Add(limit))
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf(textGone, err)
	}
	defer conn.Close()
	line, err := json.Marshal(request{Token: token, Args: args})
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf("write the request: %w", err)
	}
	// The answer may arrive before the whole request was read, if the request is too long.
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
