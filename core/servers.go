package core

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/google"
)

// newServers reads the user's MCP servers. o has the bot's additions to them.
func newServers(o mcp.Options, from Options) *mcp.Host {
	o.Dir, o.Version, o.Redact = from.Dir, from.Version, from.Book.Redact
	o.Lookup = lookup(from)
	if from.Book != nil {
		o.Hide = from.Book.Hide
	}
	if from.Sandbox != nil {
		o.Fence = from.Sandbox
	}
	return mcp.New(o)
}

// lookup finds variables of the environment and of .env.
func lookup(o Options) mcp.Lookup {
	return func(name string) (string, bool) {
		if o.Lookup != nil {
			if v := o.Lookup(name); v != "" {
				return v, true
			}
		}
		v := o.Env.Variable(name).Reveal()
		return v, v != ""
	}
}

// variable is lookup for a secret.
func variable(o Options) func(name string) config.Secret {
	return func(name string) config.Secret {
		value, _ := lookup(o)(name)
		return config.Secret(strings.TrimSpace(value))
	}
}

// allTools returns the tools of all sessions, without those bound to one session.
func allTools(servers *mcp.Host) func() []agent.Tool {
	manual := library()
	return func() []agent.Tool { return append(manual[:len(manual):len(manual)], servers.Tools()...) }
}

// logins are the logins that end with an address the user may paste.
type logins struct {
	*google.Account
	servers *mcp.Host
}

// Redirected reports whether a message is the address that completes a login, and
// completes it.
func (l logins) Redirected(ctx context.Context, text string) bool {
	return l.servers.Redirected(text) || l.Account.Redirected(ctx, text)
}

// serverDesk carries out /mcp: it describes the servers, and logs in.
type serverDesk struct {
	servers *mcp.Host
	record  func(context.Context, audit.Entry)
	known   func() string
}

func (d serverDesk) do(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return d.known(), nil
	}
	if len(args) != 2 || args[0] != "login" && args[0] != "logout" {
		return "", errors.New(textServerUsage)
	}
	text := fmt.Sprintf(textServerLogout, args[1])
	if args[0] == "logout" {
		if err := d.servers.Logout(args[1]); err != nil {
			return "", err
		}
	} else {
		l, err := d.servers.Login(ctx, args[1])
		if err != nil {
			return "", err
		}
		page, err := l.URL(ctx)
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf(textServerLogin, hostOf(page), page)
	}
	d.record(ctx, audit.Entry{Action: audit.LoginChanged, Detail: "MCP server " + args[1]})
	return text, nil
}

// hostOf returns the host of a page, so that the user sees where they log in.
func hostOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return u.Host
}

const (
	textServerUsage = "write /mcp, /mcp login NAME or /mcp logout NAME"
	textServerLogin = "Open this page at %s and say yes, within five minutes: %s\n\n" +
		"If the browser ends on a page that it cannot open, send me the address of that page."
	textServerLogout = "You are logged out of %s here. What it has allowed the bot can be withdrawn at the server itself."
)
