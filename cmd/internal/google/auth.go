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

// loginTime is how long the command waits for the user.
const loginTime = 5 * time.Minute

const (
	textGoTo = "Open this address in a browser and say yes:\n\n%s\n\n" +
		"If the browser ends on a page that it cannot open, paste the address of that page here."
	textLoginLate   = "nobody came back within %d minutes: begin anew, or paste the address with ollim-bot auth google --paste ADDRESS"
	textNoClient    = "--client: %w: give the file that you downloaded from Google's console (ollim-bot help google)"
	textNoMoreAsked = "google is %s; --mail asks for mail too, --logout ends it"
)

// LoginCmd is the login at Google.
type LoginCmd struct {
	Client string `placeholder:"FILE" help:"Take this client file, as downloaded from Google, first."`
	Mail   bool   `help:"Ask for reading mail too; without it tasks and calendar."`
	Paste  string `placeholder:"ADDRESS" help:"End a login that was begun with the address that the browser was sent to."`
	Status bool   `help:"Show how things stand, and change nothing."`
	Logout bool   `help:"End the login, here and at Google."`
	JSON   bool   `name:"json" help:"Answer --status as JSON."`
}

// googleAnswer is the answer of --status as JSON.
type googleAnswer struct {
	State   string   `json:"state"`
	Account string   `json:"account"`
	Scopes  []string `json:"scopes"`
	Why     string   `json:"why"`
}

// Run logs in, shows the login, or ends it.
func (c *LoginCmd) Run(p *console.Process, at *At) error {
	g, ctx := at.Client, at.Context
	if c.Client != "" {
		data, err := os.ReadFile(c.Client)
		if err != nil {
			return fmt.Errorf(textNoClient, err)
		}
		if err := g.SetApp(c.Client, data); err != nil {
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

// show says how things stand; anything but connected is a failure.
func (c *LoginCmd) show(p *console.Process, s google.State) error {
	answer := googleAnswer{string(s.Kind), s.Account, append([]string{}, s.Scopes...), s.Why}
	return p.Verdict(s.Kind != google.Connected, c.JSON, answer, []string{"google: " + s.String()})
}

// login sends the user to Google and waits, for the browser and for a pasted address.
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
	go pasted(ctx, p, g, done) // it ends with the program: a read of a terminal cannot be ended
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

// pasted takes addresses from the terminal until one is the right one, or is refused at Google.
func pasted(ctx context.Context, p *console.Process, g *google.Client, failed context.CancelCauseFunc) {
	lines := bufio.NewScanner(p.In)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		err := g.Finish(ctx, text)
		if err == nil || ctx.Err() != nil {
			return // the waiting sees it
		}
		if g.Waits() {
			console.Tell(p.Err, "%v", err)
			continue
		}
		failed(err)
		return
	}
}
