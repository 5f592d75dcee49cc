package main

import (
	"errors"
	"fmt"
	"os/exec"

	claudeproc "ollimbot/core/agent/claude/process"
)

type authCmds struct {
	Login  authLoginCmd  `cmd:""`
	Status authStatusCmd `cmd:""`
	Logout authLogoutCmd `cmd:""`
}

type (
	authLoginCmd  struct{}
	authStatusCmd struct{}
	authLogoutCmd struct{}
)

func (authLoginCmd) Run(p *process) error  { return p.auth("login") }
func (authStatusCmd) Run(p *process) error { return p.auth("status", "--text") }
func (authLogoutCmd) Run(p *process) error { return p.auth("logout") }

// auth hands the terminal to the claude command, with the environment that the
// bot's own sessions have, so that a login here is a login there.
func (p *process) auth(args ...string) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	path, err := claudeproc.Find(p.engineEnv(at))
	if err != nil {
		return err
	}
	c := exec.Command(path, append([]string{"auth"}, args...)...)
	c.Env = claudeproc.Environment(p.environment(at), p.claudeEnv(at))
	c.Stdin, c.Stdout, c.Stderr = p.in, p.out, p.err
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return errSilent // it has said why itself
	}
	if err != nil {
		return fmt.Errorf("run claude auth: %w", err)
	}
	return nil
}
