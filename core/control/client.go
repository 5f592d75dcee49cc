package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"ollimbot/core/agent"
)

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
