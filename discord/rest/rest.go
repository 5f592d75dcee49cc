// Package rest speaks to Discord's REST API: it owns the policy of every
// request (who waits, what is repeated, when to stop) and the words in which a
// refusal is told. It must not know the gateway, the bot, or what messages mean.
//
// One client serves the whole process, so that what one call learns about
// limits, a ban or a refused token holds for all others. Nothing is locked
// while a request is on its way: a slow one never holds up another.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/web"
)

// defaultBase is where Discord's API lives.
const defaultBase = "https://discord.com/api/v10"

// Options of a client. Token is the bot's; the rest has defaults.
type Options struct {
	Token string
	// Base replaces defaultBase. It must have passed CheckBase.
	Base string
	// Transport carries the requests; it must respect their contexts. Nil is one
	// of our own.
	Transport http.RoundTripper
	// Log gets a line for what is repeated or waited for, never a word of a
	// message; nil logs nothing.
	Log *slog.Logger
	// Version is the program's, for Discord's statistics.
	Version string
}

// Client makes requests. Its methods may be called concurrently, and each ends
// soon after its context does. Use New.
type Client struct {
	base  string
	files string // what the address of a test's attachment begins with; empty for Discord itself
	agent string
	// token gives the secret; a function, so that printing a Client shows none.
	token     func() string
	transport http.RoundTripper
	log       *slog.Logger
	limits    limits
	standing  standing
}

// New is a client for one bot. It asks nothing.
func New(o Options) *Client {
	token := strings.TrimPrefix(strings.TrimSpace(o.Token), "Bot ")
	c := &Client{
		base:      strings.TrimRight(o.Base, "/"),
		agent:     "DiscordBot (ollim-bot, " + version(o.Version) + ")",
		token:     func() string { return token },
		transport: o.Transport,
		log:       o.Log,
		standing:  standing{refused: make(chan struct{})},
	}
	if c.base == "" {
		c.base = defaultBase
	}
	if c.base != defaultBase {
		if u, err := url.Parse(c.base); err == nil {
			c.files = u.Scheme + "://" + u.Host + "/"
		}
	}
	if c.transport == nil {
		c.transport = newTransport()
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if token == "" {
		c.standing.refuse()
	}
	return c
}

// Refused is closed when Discord has refused the token: nothing works any more.
func (c *Client) Refused() <-chan struct{} { return c.standing.refused }

// version keeps what may stand in a header: without one Discord turns a client
// away (code 40333).
func version(s string) string {
	s = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '(' && r != ')' {
			return r
		}
		return -1
	}, s)
	if s == "" {
		return "dev"
	}
	return s
}

// newTransport stays with HTTP/1.1: there a try that gets no answer takes its
// connection along, while HTTP/2 would send the next try down the same dead one.
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     60 * time.Second,
		MaxIdleConnsPerHost: 4,
		Protocols:           protocols,
	}
}

// CheckBase says what is wrong with an address that is to stand for Discord's
// (OLLIM_DISCORD_API): the token goes there, so it must be on this machine, or
// encrypted. Empty is fine and means Discord.
func CheckBase(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New(textBadBase)
	case u.Scheme == "https", u.Scheme == "http" && web.Loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New(textOpenBase)
	}
	return fmt.Errorf(textBaseScheme, u.Scheme)
}

// App is the application behind the bot.
type App struct {
	ID, Name string
	// OwnerID is the person who owns it; of a team, the team's owner. Empty where
	// Discord does not say.
	OwnerID string
	Team    bool
	// BotPublic: anybody may add the bot to a server.
	BotPublic bool
	// UserInstall and GuildInstall: how it may be installed.
	UserInstall, GuildInstall bool
}

// Me is the bot's own account.
func (c *Client) Me(ctx context.Context) (discordgo.User, error) {
	var u discordgo.User
	err := c.get(ctx, "look up the bot's account", "/users/@me", reading(&u, &u.ID))
	return u, err
}

// Application is the bot's application.
func (c *Client) Application(ctx context.Context) (App, error) {
	var raw struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		BotPublic bool            `json:"bot_public"`
		Owner     discordgo.User  `json:"owner"`
		Team      *discordgo.Team `json:"team"`
		// The library knows this one by another name.
		Install map[string]json.RawMessage `json:"integration_types_config"`
	}
	err := c.get(ctx, "look up the bot's application", "/applications/@me", reading(&raw, &raw.ID))
	if err != nil {
		return App{}, err
	}
	a := App{ID: raw.ID, Name: raw.Name, OwnerID: raw.Owner.ID, BotPublic: raw.BotPublic}
	if raw.Team != nil {
		// The owner of a team's application is an account that nobody can write to.
		a.Team, a.OwnerID = true, raw.Team.OwnerID
	}
	_, a.GuildInstall = raw.Install["0"]
	_, a.UserInstall = raw.Install["1"]
	return a, nil
}

// GatewayBot tells where events come from, and how often one may still begin to
// listen: after the last start Discord resets the token.
func (c *Client) GatewayBot(ctx context.Context) (discordgo.GatewayBotResponse, error) {
	var g discordgo.GatewayBotResponse
	err := c.get(ctx, "ask for the gateway", "/gateway/bot", reading(&g, &g.URL))
	return g, err
}

// OpenDM is the channel of the bot's direct messages with a user. Asking again
// gives the same one.
func (c *Client) OpenDM(ctx context.Context, user string) (channel string, err error) {
	k := newCall("open the direct messages", "POST /users/@me/channels")
	k.fill(map[string]string{"recipient_id": user}, nil)
	k.again, k.decode = true, decodeID(&channel)
	err = c.do(ctx, k)
	return channel, err
}

func (c *Client) get(ctx context.Context, what, path string, decode func([]byte) error) error {
	k := newCall(what, "GET "+path)
	k.again, k.decode = true, decode
	return c.do(ctx, k)
}

// reading reads an answer into v, of which a part has to be there.
func reading(v any, part *string) func([]byte) error {
	return func(data []byte) error {
		if json.Unmarshal(data, v) != nil || *part == "" {
			return errors.New(textNotJSON)
		}
		return nil
	}
}

// decodeID reads the id of an answer; one without is no answer.
func decodeID(id *string) func([]byte) error {
	return func(data []byte) error {
		var said struct {
			ID string `json:"id"`
		}
		defer func() { *id = said.ID }()
		return reading(&said, &said.ID)(data)
	}
}

// into reads an answer into v.
func into(v any) func([]byte) error {
	anything := "goes"
	return reading(v, &anything)
}
