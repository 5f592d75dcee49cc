package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/mcp"
	"ollimbot/core/mcp/login"
)

type mcpLoginCmd struct{ ofServer }

// Run logs in to a server: it shows the page, and waits for the browser or a pasted address.
func (c *mcpLoginCmd) Run(p *process, at console.DataDir) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	s, err := c.find(p, at)
	if err != nil {
		return err
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	ctx, stop := p.Context()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := make(chan string, 1)
	host := serverHost(p, at, nil, func(text string) {
		select {
		case said <- text:
		default:
		}
	})
	var g errgroup.Group
	g.Go(func() error { return host.Run(ctx) })
	text, err := c.login(ctx, p, host, s.Name, said)
	cancel()
	if err := errors.Join(err, g.Wait()); err != nil {
		return err
	}
	return p.Answer(c.JSON, map[string]string{"message": text}, []string{text})
}

// login returns the message about the result of a login.
func (c *mcpLoginCmd) login(ctx context.Context, p *process, host *mcp.Host, name string, said <-chan string) (string, error) {
	l, err := host.Login(ctx, name)
	if err != nil {
		return "", err
	}
	page, err := l.URL(ctx)
	if err != nil {
		return "", err
	}
	console.Tell(p.Err, textMCPOpen, page)
	go pasteLogin(p, l) // it ends with the program: a read of a terminal cannot be cancelled
	if err := l.Wait(ctx); err != nil {
		return "", fmt.Errorf(textMCPNoLogin, name, err)
	}
	select {
	case text := <-said: // the server's tools were listed
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// pasteLogin reads addresses from the terminal until one belongs to the login.
func pasteLogin(p *process, l *login.Login) {
	for lines := bufio.NewScanner(p.In); lines.Scan(); {
		if lines.Text() == "" {
			continue
		}
		err := l.Take(lines.Text())
		if err == nil {
			return
		}
		console.Tell(p.Err, "%v", err)
	}
}

type mcpLogoutCmd struct{ ofServer }

// Run deletes the login to a server.
func (c *mcpLogoutCmd) Run(p *process, at console.DataDir) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	s, err := c.find(p, at)
	if err != nil {
		return err
	}
	if err := serverHost(p, at, nil, nil).Logout(s.Name); err != nil {
		return err
	}
	text := fmt.Sprintf(textMCPLoggedOut, s.Name)
	return p.Answer(c.JSON, map[string]string{"message": text}, []string{text})
}

const (
	textMCPOpen = "Open this address in a browser and allow access:\n\n%s\n\n" +
		"If the browser ends on a page that does not load, paste the address of that page here."
	textMCPNoLogin   = "the login at %s has failed: %w"
	textMCPLoggedOut = "logged out of %s here; what it has allowed the bot can be withdrawn at the server itself"
)
