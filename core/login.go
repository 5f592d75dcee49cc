package core

import (
	"context"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
)

// account is the engine's account.
type account struct {
	engine agent.Engine
	small  func(text string) // sends a short message away from the dashboard
}

// login starts or ends a login.
func (a account) login(ctx context.Context, c command.Login) (command.Outcome, error) {
	of, ok := a.engine.(agent.Account)
	if !ok {
		return command.Outcome{}, errors.New(textNoLogin)
	}
	if c.Code != "" {
		if err := of.Finish(ctx, c.Code); err != nil {
			return command.Outcome{}, err
		}
		a.small(textLoggedIn)
		return command.Outcome{Message: textLoggedIn, Decision: audit.Entry{Action: audit.LoginChanged}}, nil
	}
	url, err := of.Login(ctx)
	return command.Outcome{Message: textOpenLogin, Body: url, Decision: audit.Entry{Action: audit.LoginChanged}}, err
}
