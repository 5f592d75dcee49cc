package google

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/work/google"
)

// loginTime is how long the command waits for the login in the browser.
const loginTime = 5 * time.Minute

const (
	textGoTo = "Open this address in a browser and allow access:\n\n%s\n\n" +
		"If the browser ends on a page that does not load, paste the address of that page here."
	textLoginLate   = "you did not log in within %d minutes: start again, or paste the address with ollim-bot auth google --paste ADDRESS"
	textNoClient    = "--client: %w: use the file that you downloaded from Google's console (ollim-bot help google)"
	textNoMoreAsked = "google is %s; use --mail to add mail, --logout to log out"
)

// LoginCmd is the login to Google.
type LoginCmd struct {
	Client string `placeholder:"FILE" help:"First install this client file, as downloaded from Google."`
	Mail   bool   `help:"Also ask for permission to read mail."`
	Paste  string `placeholder:"ADDRESS" help:"Complete a login with the address that the browser was sent to."`
	Status bool   `help:"Show the login and change nothing."`
	Logout bool   `help:"Log out, here and at Google."`
	JSON   bool   `name:"json" help:"Print --status as JSON."`
}

// Run logs in, shows the login, or ends it.
func (c *LoginCmd) Run(p *console.Process, at *At) error {
	g, ctx := at.Client, at.Context
	if c.Client != "" {
		data, err := os.ReadFile(c.Client)
		if err != nil {
			return fmt.Errorf(textNoClient, err)
		}
		if err := g.SetApp(data); err != nil {
			return err
		}
	}
	switch {
	case c.Status:
		return c.show(p, g.Probe(ctx))
	case c.Logout:
		note, err := g.Logout(ctx)
		if err != nil {
			return err
		}
		if note != "" {
			console.Tell(p.Err, "%s", note)
		}
		return p.Lines("logged out of google")
	case c.Paste != "":
		if err := g.Finish(ctx, c.Paste); err != nil {
			return err
		}
		return c.show(p, g.State())
	}
	return c.login(ctx, p, g)
}

// show prints the state. The command fails unless the state is connected.
func (c *LoginCmd) show(p *console.Process, s google.State) error {
	s.Scopes = append([]string{}, s.Scopes...)
	return p.Verdict(s.Kind != google.Connected, c.JSON, s, []string{"google: " + s.String()})
}

// login shows the address and waits for the browser or a pasted address.
func (c *LoginCmd) login(ctx context.Context, p *console.Process, g *google.Client) error {
	scopes := []google.Scope{google.Tasks, google.Calendar}
	if c.Mail {
		scopes = append(scopes, google.Mail)
	}
	s := g.State()
	if !slices.ContainsFunc(scopes, func(scope google.Scope) bool { return !s.May(scope) }) {
		return p.Lines(fmt.Sprintf(textNoMoreAsked, s))
	}
	l, err := g.Begin(scopes...)
	if err != nil {
		return err
	}
	if err := p.Lines(fmt.Sprintf(textGoTo, l.URL)); err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, stop := context.WithTimeout(ctx, loginTime)
	defer stop()
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	go pasted(ctx, p, g, done) // it ends with the program: a read of a terminal cannot be cancelled
	switch err := l.Wait(ctx); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf(textLoginLate, int(loginTime.Minutes()))
	case errors.Is(err, context.Canceled) && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	return c.show(p, g.State())
}

// pasted reads addresses from the terminal until one is accepted or Google refuses it.
func pasted(ctx context.Context, p *console.Process, g *google.Client, failed context.CancelCauseFunc) {
	lines := bufio.NewScanner(p.In)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		err := g.Finish(ctx, text)
		if err == nil || ctx.Err() != nil {
			return // Wait notices it
		}
		if g.Waits() {
			console.Tell(p.Err, "%v", err)
			continue
		}
		failed(err)
		return
	}
}
