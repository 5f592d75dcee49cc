// Package rest speaks to Discord's REST API: it owns the policy of every
// request (who waits, what is repeated, when to stop) and the words in which a
// refusal is told. It must not know the gateway, the bot, or what messages mean.
//
// One client serves the whole process, so that what one call learns about
// limits, a ban or a refused token holds for all others. Nothing is locked
// while a request is on its way: a slow one never holds up another.
package rest

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// DefaultBase is where Discord's API lives.
const DefaultBase = "https://discord.com/api/v10"

// Options of a client. Token is the bot's; the rest has defaults.
type Options struct {
	Token string
	// Base replaces DefaultBase. It must have passed CheckBase.
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
		c.base = DefaultBase
	}
	if c.base != DefaultBase {
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
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New(textOpenBase)
	}
	return fmt.Errorf(textBaseScheme, u.Scheme)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
