// Package rest is the client of Discord's REST API. It owns the policy of every request (waiting, retrying, stopping)
// and the wording of errors. It must not know the gateway, the bot, or what messages mean.
//
// One client serves the whole process, so that limits, a ban or a refused token seen by one call apply to all. No
// lock is held during a request, so a slow one never delays another.
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
	"ollimbot/discord/message"
)

// defaultBase is the address of Discord's API.
const defaultBase = "https://discord.com/api/v10"

// Options of a client. Token is required.
type Options struct {
	Token string
	// Base replaces defaultBase. It must have passed CheckBase.
	Base string
	// Transport sends the requests and must respect their contexts. Nil creates a new one.
	Transport http.RoundTripper
	// Log gets a line for each retry or wait, without message texts; nil logs nothing.
	Log *slog.Logger
	// Unreadable is called for each message of the history that was left out. May be nil.
	Unreadable func(message.Traits)
	// Version is the program's version, for the User-Agent.
	Version string
}

// Client makes requests. Its methods may be called concurrently, and each returns soon
// after its context ends. Use New.
type Client struct {
	base  string
	files string // prefix of a test server's attachments; empty for Discord itself
	agent string
	// token returns the secret; as a function it is not shown when a Client is printed.
	token     func() string
	transport http.RoundTripper
	log       *slog.Logger
	unread    func(message.Traits)
	limits    limits
	nonces    nonces
	standing  standing
}

// New returns a client for one bot and makes no request.
func New(o Options) *Client {
	token := strings.TrimPrefix(strings.TrimSpace(o.Token), "Bot ")
	c := &Client{
		base:      strings.TrimRight(o.Base, "/"),
		agent:     "DiscordBot (ollim-bot, " + version(o.Version) + ")",
		token:     func() string { return token },
		transport: o.Transport,
		log:       o.Log,
		unread:    o.Unreadable,
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
	if c.unread == nil {
		c.unread = func(message.Traits) {}
	}
	if token == "" {
		c.standing.refuse()
	}
	return c
}

// Refused is closed when Discord refuses the token: every call fails from then on.
func (c *Client) Refused() <-chan struct{} { return c.standing.refused }

// version keeps the characters that a header may contain. Discord refuses a client without
// a version (code 40333).
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

// newTransport uses HTTP/1.1: a try without an answer closes its connection, while HTTP/2
// would send the next try over the same dead one.
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

// CheckBase validates an address that replaces Discord's (OLLIM_DISCORD_API): because the
// token is sent there, it must be local or encrypted. Empty means Discord and is valid.
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

// App is the bot's application.
type App struct {
	ID, Name string
	// OwnerID is the user who owns it, or who owns its team. Empty if Discord does not
	// report one.
	OwnerID string
	Team    bool
	// BotPublic means that anyone may add the bot to a server.
	BotPublic bool
	// UserInstall and GuildInstall are the ways to install it.
	UserInstall, GuildInstall bool
}

// Me returns the bot's own account.
func (c *Client) Me(ctx context.Context) (discordgo.User, error) {
	var u discordgo.User
	err := c.get(ctx, "look up the bot's account", "/users/@me", reading(&u, &u.ID))
	return u, err
}

// Application returns the bot's application.
func (c *Client) Application(ctx context.Context) (App, error) {
	var raw struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		BotPublic bool            `json:"bot_public"`
		Owner     discordgo.User  `json:"owner"`
		Team      *discordgo.Team `json:"team"`
		// The library uses another name for this key.
		Install map[string]json.RawMessage `json:"integration_types_config"`
	}
	err := c.get(ctx, "look up the bot's application", "/applications/@me", reading(&raw, &raw.ID))
	if err != nil {
		return App{}, err
	}
	a := App{ID: raw.ID, Name: raw.Name, OwnerID: raw.Owner.ID, BotPublic: raw.BotPublic}
	if raw.Team != nil {
		// The owner of a team's application is an account without direct messages.
		a.Team, a.OwnerID = true, raw.Team.OwnerID
	}
	_, a.GuildInstall = raw.Install["0"]
	_, a.UserInstall = raw.Install["1"]
	return a, nil
}

// GatewayBot returns the gateway's address and how many sessions may still be started:
// after the last one Discord resets the token.
func (c *Client) GatewayBot(ctx context.Context) (discordgo.GatewayBotResponse, error) {
	var g discordgo.GatewayBotResponse
	err := c.get(ctx, "ask for the gateway", "/gateway/bot", reading(&g, &g.URL))
	return g, err
}

// OpenDM returns the channel of the bot's direct messages with a user. The channel never changes.
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

// reading decodes an answer into v, in which part must not be empty.
func reading(v any, part *string) func([]byte) error {
	return func(data []byte) error {
		if json.Unmarshal(data, v) != nil || *part == "" {
			return errors.New(textNotJSON)
		}
		return nil
	}
}

// decodeID reads the ID of an answer, which must have one.
func decodeID(id *string) func([]byte) error {
	return func(data []byte) error {
		var said struct {
			ID string `json:"id"`
		}
		defer func() { *id = said.ID }()
		return reading(&said, &said.ID)(data)
	}
}

// into decodes an answer into v.
func into(v any) func([]byte) error {
	anything := "goes"
	return reading(v, &anything)
}
