package discord

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// CheckOptions say what to check.
type CheckOptions struct {
	Token config.Secret
	// API and OwnerID as in Options.
	API, OwnerID string
	Version      string
	// Hello decides, once the rest of the report is complete, whether to send the owner a message, the only proof that
	// the bot can. Nil sends none.
	Hello func(Report) bool
	// Quiet checks only the token and the application and does not open the direct messages.
	Quiet bool
}

// Finding is one result of a check, as a sentence. Next says what to do if something is
// wrong or could be better.
type Finding struct {
	OK         bool
	Text, Next string
}

// Report is the result of a check.
type Report struct {
	BotName  string // cleaned; empty if unknown
	OwnerID  string
	Findings []Finding
	// Refused is set if Discord rejects the token, Unasked if Discord could not be reached.
	Refused, Unasked bool
	// InstallLink adds the bot to one of the owner's servers, so that it may write to them;
	// UserLink installs its commands. Empty if the bot is unknown.
	InstallLink, UserLink string
}

// OK reports whether all findings are fine.
func (r Report) OK() bool {
	for _, f := range r.Findings {
		if !f.OK {
			return false
		}
	}
	return true
}

func (r *Report) good(format string, args ...any) {
	r.Findings = append(r.Findings, Finding{OK: true, Text: fmt.Sprintf(format, args...)})
}

func (r *Report) bad(text, next string) {
	r.Findings = append(r.Findings, Finding{Text: text, Next: next})
}

// checkWithin limits the requests of a check, and the message; greetWithin limits the gateway's greeting.
const (
	checkWithin = 30 * time.Second
	greetWithin = 10 * time.Second
	// fewStarts is the number of today's session starts below which a check warns.
	fewStarts = 10
)

// Check checks with Discord whether a bot can work with a token. Its only side effect is opening the direct messages
// with the owner. Problems are in the report; an error means that nothing could be checked: no token, or a wrong
// address.
func Check(ctx context.Context, o CheckOptions) (Report, error) {
	var r Report
	token := BareToken(o.Token.Reveal())
	if token == "" {
		return r, errors.New(textNoToken)
	}
	if err := rest.CheckBase(o.API); err != nil {
		return r, fmt.Errorf("OLLIM_DISCORD_API: %w", err)
	}
	if o.OwnerID != "" && !message.IsID(o.OwnerID) {
		return r, errors.New(textBadOwnerID)
	}
	c := rest.New(rest.Options{Token: token, Base: o.API, Version: o.Version})
	if channel := r.look(ctx, c, o); channel != "" && o.Hello != nil && o.Hello(r) {
		r.hello(ctx, c, channel)
	}
	return r, nil
}

// look runs all checks that send no message, and returns the channel of the direct messages with the owner, if it is
// open.
func (r *Report) look(ctx context.Context, c *rest.Client, o CheckOptions) (channel string) {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	app, ok := r.who(ctx, c)
	if !ok {
		return ""
	}
	r.installs(app)
	if o.Quiet {
		return ""
	}
	r.gateway(ctx, c)
	return r.owner(ctx, c, app, o)
}

// who looks up the bot and its application.
func (r *Report) who(ctx context.Context, c *rest.Client) (rest.App, bool) {
	me, err := c.Me(ctx)
	if err != nil {
		r.failed(err, textCheckToken)
		return rest.App{}, false
	}
	r.BotName = clean.Cut(clean.Line(me.DisplayName()), 80)
	app, err := c.Application(ctx)
	if err != nil {
		r.failed(err, textCheckApp)
		return rest.App{}, false
	}
	r.good(textCheckBot, r.BotName, clean.Cut(clean.Line(app.Name), 80))
	return app, true
}

func (r *Report) failed(err error, what string) {
	next := textTryAgain
	switch {
	case errors.Is(err, rest.ErrAuth):
		// The error's own text is for a running bot.
		r.bad(textCheckRefused, textNewToken)
		r.Refused = true
		return
	case passes(err):
		r.Unasked = true
	default:
		next = ""
	}
	r.bad(fmt.Sprintf(what, reason(err)), next)
}

// installs reports how the application can be installed, with a link for each way.
func (r *Report) installs(app rest.App) {
	if app.UserInstall {
		r.good(textCheckUserInstall)
		r.UserLink = install(app.ID, "applications.commands", "1")
	} else {
		r.bad(textCheckNoUserInstall, textAddUserInstall)
	}
	if app.GuildInstall {
		r.InstallLink = install(app.ID, "bot applications.commands", "0")
	} else {
		r.bad(textCheckNoGuildInstall, textAddGuildInstall)
	}
	if app.BotPublic {
		r.Findings = append(r.Findings, Finding{OK: true, Text: textCheckPublic, Next: textMakePrivate})
	}
}

// gateway checks whether events would arrive.
func (r *Report) gateway(ctx context.Context, c *rest.Client) {
	g, err := c.GatewayBot(ctx)
	if err == nil {
		err = greeted(ctx, g.URL)
	}
	left := g.SessionStartLimit
	switch {
	case err != nil:
		r.failed(err, textCheckGateway)
	case left.Remaining < fewStarts:
		wait := time.Duration(left.ResetAfter) * time.Millisecond
		r.bad(fmt.Sprintf(textCheckFewStarts, left.Remaining), fmt.Sprintf(textWaitFor, wait.Round(time.Minute)))
	default:
		r.good(textCheckGatewayFine, left.Remaining)
	}
}

// greeted connects to the gateway and waits for its greeting.
func greeted(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	err := gateway.Greets(ctx, address)
	if err != nil && !errors.Is(err, gateway.ErrNoGreeting) {
		err = fmt.Errorf("%w: %w", rest.ErrTransient, err)
	}
	return err
}

// owner looks up the owner and opens the direct messages with them.
func (r *Report) owner(ctx context.Context, c *rest.Client, app rest.App, o CheckOptions) (channel string) {
	owner, err := ownerOf(app, o.OwnerID)
	if err != nil {
		r.bad(textCheckNoOwner, textNoOwner)
		return ""
	}
	r.OwnerID = owner
	switch {
	case o.OwnerID != "":
		r.good(textCheckChosenOwner, owner)
	case app.Team:
		r.good(textCheckTeamOwner, owner)
	default:
		r.good(textCheckOwner, owner)
	}
	channel, err = c.OpenDM(ctx, owner)
	switch {
	case err != nil:
		r.unreached(err)
	case o.Hello == nil:
		r.good(textCheckOpened)
	}
	return channel
}

// hello writes to the owner.
func (r *Report) hello(ctx context.Context, c *rest.Client, channel string) {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	if _, err := c.Send(ctx, channel, render.Notice(fmt.Sprintf(textHello, r.BotName), true)); err != nil {
		r.unreached(err)
		return
	}
	r.good(textCheckWrote)
}

// unreached returns why the bot cannot message the owner.
func (r *Report) unreached(err error) {
	switch {
	case errors.Is(err, rest.ErrCannotDM):
		r.bad(textCheckShutOut, textShareServer)
	case errors.Is(err, rest.ErrInvalid), errors.Is(err, rest.ErrGone), errors.Is(err, rest.ErrNoChannel):
		r.bad(textCheckNobody, textBadOwnerID)
	default:
		r.failed(err, textCheckDM)
	}
}

// install returns the address where the owner adds the bot.
func install(app, scope, kind string) string {
	q := url.Values{"client_id": {app}, "scope": {scope}, "integration_type": {kind}}
	if kind == "0" {
		q.Set("permissions", "0")
	}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}
