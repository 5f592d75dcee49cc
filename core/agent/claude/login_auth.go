package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"ollimbot/core/agent/claude/process"
	"ollimbot/core/clean"
)

// Auth is how the command is logged in.
type Auth struct {
	LoggedIn  bool   `json:"loggedIn"`
	Method    string `json:"authMethod"`   // "none", "api_key", "oauth_token", …
	Provider  string `json:"apiProvider"`  // "firstParty", "bedrock", "vertex"
	KeySource string `json:"apiKeySource"` // the variable of the key, or empty
}

const (
	authLimit = 10 * time.Second
	authBytes = 64 << 10 // of an answer; the real one has about 100
)

// AuthStatus asks the command at path how it is logged in, without asking any
// server. It takes ten seconds at most. Not to be logged in is no error; an
// error is one line that says what to do, or that of ctx.
func AuthStatus(ctx context.Context, path string, env []string) (Auth, error) {
	child, err := process.Start(process.Spec{Path: path, Args: []string{"auth", "status", "--json"}, Env: env})
	if err != nil {
		return Auth{}, err
	}
	_ = child.Stdin().Close()
	within, cancel := context.WithTimeout(ctx, authLimit)
	defer cancel()
	// The end of the command ends the reading.
	stop := context.AfterFunc(within, func() { _ = child.Stop(within, loginPatience) })
	answer, readErr := io.ReadAll(io.LimitReader(child.Stdout(), authBytes))
	stop()
	late := within.Err() != nil
	if err := child.Stop(within, 0); err != nil {
		return Auth{}, err
	}
	switch {
	case ctx.Err() != nil:
		return Auth{}, fmt.Errorf("ask claude for its login: %w", ctx.Err())
	case late:
		return Auth{}, fmt.Errorf(textAuthSlow, authLimit)
	case readErr != nil:
		return Auth{}, fmt.Errorf("ask claude for its login: %w", readErr)
	}
	auth, err := readAuth(answer)
	if err != nil { // its exit code says logged in or not, so only words count
		if words := child.StderrTail(); words != "" {
			return Auth{}, fmt.Errorf(textAuthSaid, clean.Cut(words, maxWords))
		}
		return Auth{}, err
	}
	return auth, nil
}

// readAuth reads the command's answer. Without the field that matters it is not
// the answer of a claude command.
func readAuth(answer []byte) (Auth, error) {
	var known struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	var a Auth
	if json.Unmarshal(answer, &known) != nil || known.LoggedIn == nil || json.Unmarshal(answer, &a) != nil {
		return Auth{}, errors.New(textAuthNonsense)
	}
	for _, s := range []*string{&a.Method, &a.Provider, &a.KeySource} {
		*s = clean.Cut(clean.Line(*s), 60)
	}
	return a, nil
}
