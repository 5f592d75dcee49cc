package main

import (
	"errors"
	"fmt"
	"os/exec"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/google"
	claudeproc "ollimbot/core/agent/claude/process"
)

type authCmds struct {
	Login  authLoginCmd    `cmd:""`
	Status authStatusCmd   `cmd:""`
	Logout authLogoutCmd   `cmd:""`
	Google google.LoginCmd `cmd:""`
}

type (
	authLoginCmd  struct{}
	authStatusCmd struct{}
	authLogoutCmd struct{}
)

func (authLoginCmd) Run(p *process) error  { return p.auth("login") }
func (authStatusCmd) Run(p *process) error { return p.auth("status", "--text") }
func (authLogoutCmd) Run(p *process) error { return p.auth("logout") }

// auth hands the terminal to the claude command, with the environment of the bot's
// sessions, so that a login applies to them.
func (p *process) auth(args ...string) error {
	at, err := p.Open()
	if err != nil {
		return err
	}
	path, err := claudeproc.Find(p.EngineEnv(at))
	if err != nil {
		return err
	}
	c := exec.Command(path, append([]string{"auth"}, args...)...)
	c.Env = p.EngineEnviron(at)
	c.Stdin, c.Stdout, c.Stderr = p.In, p.Out, p.Err
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return console.ErrSilent // claude has printed the reason
	}
	if err != nil {
		return fmt.Errorf("run claude auth: %w", err)
	}
	return nil
}
