// Package google speaks to Google Tasks, Google Calendar and Gmail for the user:
// it logs in, keeps the tokens fresh in the files that the original program knows,
// and repeats what failed without making a thing twice. What it answers is as
// strangers wrote it: whoever shows it cleans it. It knows no command, no model and
// no screen.
package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"ollimbot/core/base/web"
	"ollimbot/core/storage/store"
)

// Scope is one permission that the user gives, as Google names it.
type Scope string

const scopePrefix = "https://www.googleapis.com/auth/"

// The permissions that there is a use for.
const (
	Tasks    Scope = scopePrefix + "tasks"
	Calendar Scope = scopePrefix + "calendar.events"
	Mail     Scope = scopePrefix + "gmail.readonly"
)

// broader are permissions that hold another one.
var broader = map[Scope][]string{
	Calendar: {scopePrefix + "calendar"},
	Mail:     {"https://mail.google.com/", scopePrefix + "gmail.modify"},
}

// Name is what people call it.
func (s Scope) Name() string {
	switch s {
	case Tasks:
		return "tasks"
	case Calendar:
		return "calendar"
	case Mail:
		return "mail"
	}
	return strings.TrimPrefix(string(s), scopePrefix)
}

// Options are what a Client is made of. Now may be nil.
type Options struct {
	Dir *store.Dir
	// API is another place than Google's own, for tests: an address of this machine.
	API string
	Now func() time.Time
}

// Client speaks for the user of one data directory. It keeps nothing in memory: all
// processes of a directory share its files. It is safe for concurrent use.
type Client struct {
	dir  *store.Dir
	now  func() time.Time
	base string // of everything, in tests
	http *http.Client
}

// New makes a client. Nothing is read and nobody is asked; an error says that
// o.API leads out of this machine.
func New(o Options) (*Client, error) {
	c := &Client{dir: o.Dir, now: o.Now, base: strings.TrimRight(o.API, "/"), http: &http.Client{
		Timeout:       attemptTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.now == nil {
		c.now = time.Now
	}
	if c.base != "" && !loopback(c.base) {
		return nil, fmt.Errorf(textNotLoopback, o.API)
	}
	return c, nil
}

// loopback reports whether an address is on this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && web.Loopback(u.Hostname())
}

// The services, by the first element of their paths.
var hosts = map[string]string{
	"tasks":    "https://tasks.googleapis.com",
	"calendar": "https://www.googleapis.com",
	"gmail":    "https://gmail.googleapis.com",
}

// address is where a path of a service is.
func (c *Client) address(path []string, query url.Values) string {
	base := c.base
	if base == "" {
		base = hosts[path[0]]
	}
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = url.PathEscape(p)
	}
	address := base + "/" + strings.Join(escaped, "/")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// endpoint is where tokens come from. What a file says of it counts in tests only:
// nobody who writes one may have tokens sent elsewhere.
func (c *Client) endpoint(authURI, tokenURI string) oauth2.Endpoint {
	e := oauth2.Endpoint{
		AuthURL: "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: "https://oauth2.googleapis.com/token",
		AuthStyle: oauth2.AuthStyleInParams,
	}
	if c.base == "" {
		return e
	}
	e.AuthURL, e.TokenURL = c.base+"/o/oauth2/v2/auth", c.base+"/token"
	if loopback(authURI) {
		e.AuthURL = authURI
	}
	if loopback(tokenURI) {
		e.TokenURL = tokenURI
	}
	return e
}

// Kind is how things stand with Google.
type Kind string

// The kinds of states. Lapsed: Google takes the login no more. Unreachable: the login is
// good, and the last call found nobody.
const (
	NotSetUp    Kind = "not set up"
	Connected   Kind = "connected"
	Lapsed      Kind = "log in again"
	Unreachable Kind = "unreachable"
)

// State is how things stand, as far as the files of the directory tell.
type State struct {
	Kind    Kind
	Account string   // whose, "" where it is not known
	Scopes  []string // what is allowed, as Google names it
	Why     string   // for people: what is wrong, and the cure
}

// On reports whether the commands can be used.
func (s State) On() bool { return s.Kind == Connected || s.Kind == Unreachable }

// May reports whether a permission was given.
func (s State) May(scope Scope) bool {
	return s.On() && (len(s.Scopes) == 0 || slices.ContainsFunc(append(broader[scope], string(scope)), func(have string) bool {
		return slices.Contains(s.Scopes, have)
	}))
}

// String says it in a line.
func (s State) String() string {
	text := string(s.Kind)
	if s.Account != "" {
		text += " as " + s.Account
	}
	var names []string
	for _, scope := range []Scope{Tasks, Calendar, Mail} {
		if s.May(scope) {
			names = append(names, scope.Name())
		}
	}
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

// State reads how things stand; nobody is asked.
func (c *Client) State() State {
	t, err := c.load()
	n := c.notes()
	switch {
	case err == nil && n.Failure != "":
		return State{Kind: Unreachable, Account: t.Account, Scopes: t.Scopes, Why: n.Failure}
	case err == nil:
		return State{Kind: Connected, Account: t.Account, Scopes: t.Scopes}
	case n.Lapsed != "":
		return State{Kind: Lapsed, Account: n.Account, Why: n.Lapsed}
	case errors.Is(err, errDamaged):
		return State{Kind: Lapsed, Why: err.Error()}
	}
	if _, err := c.app(); err != nil {
		return State{Kind: NotSetUp, Why: err.Error()}
	}
	return State{Kind: NotSetUp, Why: textLogIn}
}

// Probe asks Google one small thing, so that the state is true now.
func (c *Client) Probe(ctx context.Context) State {
	if s := c.State(); s.On() {
		if err := c.hello(ctx, s); err != nil && c.State().Kind == Connected {
			return State{Kind: Unreachable, Account: s.Account, Scopes: s.Scopes, Why: err.Error()}
		}
	}
	return c.State()
}

// hello makes the smallest call that the permissions allow.
func (c *Client) hello(ctx context.Context, s State) error {
	if s.May(Tasks) {
		for _, err := range c.Tasks(ctx, "@default", false) {
			return err
		}
		return nil
	}
	_, err := c.whose(ctx, s)
	return err
}
