package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/clean"
)

const (
	authLimit = 10 * time.Second
	authBytes = 64 << 10 // of an answer; the real one has about 100
)

// Auth is how the command is logged in.
type Auth struct {
	LoggedIn  bool   `json:"loggedIn"`
	Method    string `json:"authMethod"`   // "none", "api_key", "oauth_token", …
	Provider  string `json:"apiProvider"`  // "firstParty", "bedrock", "vertex"
	KeySource string `json:"apiKeySource"` // the variable of the key, or empty
}

// AuthStatus asks the command at path for its login status, without asking any
// server. It takes ten seconds at most. Not to be logged in is no error; an
// error is one line that says what to do, or that of ctx.
func AuthStatus(ctx context.Context, path string, env []string) (Auth, error) {
	answer, err := process.Run(ctx, process.Spec{Path: path, Args: []string{"auth", "status", "--json"}, Env: env}, authLimit, authBytes)
	switch {
	case ctx.Err() != nil:
		return Auth{}, fmt.Errorf("ask claude for its login: %w", ctx.Err())
	case errors.Is(err, process.ErrSlow):
		return Auth{}, fmt.Errorf(textAuthSlow, authLimit)
	case err != nil:
		return Auth{}, err
	}
	auth, err := readAuth(answer.Stdout)
	if err != nil && answer.Stderr != "" { // its exit code says logged in or not, so only words count
		err = fmt.Errorf(textAuthSaid, clean.Cut(answer.Stderr, maxWords))
	}
	return auth, err
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
