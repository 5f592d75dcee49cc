// Package google is the user's Google Tasks, Calendar and Gmail: it logs in, refreshes
// the tokens in the original program's files, and retries without creating anything
// twice. It returns untrusted text, which the caller must clean before showing it. It
// must not know commands, models or screens.
package google

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/web"
	"ollimbot/core/storage/store"
)

// Scope is one permission, as Google names it.
type Scope string

const scopePrefix = "https://www.googleapis.com/auth/"

// The permissions that the program uses.
const (
	Tasks    Scope = scopePrefix + "tasks"
	Calendar Scope = scopePrefix + "calendar.events"
	Mail     Scope = scopePrefix + "gmail.readonly"
)

// broader are the permissions that include another one.
var broader = map[Scope][]string{
	Calendar: {scopePrefix + "calendar"},
	Mail:     {"https://mail.google.com/", scopePrefix + "gmail.modify"},
}

// Commands are the permissions that the program's commands need.
var Commands = map[string]Scope{"tasks": Tasks, "cal": Calendar, "gmail": Mail}

// Name is the scope's name for people.
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

// Options configure a Client. Now may be nil.
type Options struct {
	Dir *store.Dir
	// API replaces Google's addresses in tests. It must be on this machine.
	API string
	Now func() time.Time
}

// Client is the user's Google: the login, and a field for each service. It keeps nothing
// in memory, since all processes of a directory share its files. It is safe for
// concurrent use.
type Client struct {
	*credentials
	api *api

	Tasks    TasksAPI
	Calendar CalendarAPI
	Mail     MailAPI
}

// New makes a client without reading a file or calling Google. An error means that
// o.API is not on this machine.
func New(o Options) (*Client, error) {
	a := &api{base: strings.TrimRight(o.API, "/"), creds: &credentials{dir: o.Dir, now: o.Now}, http: &http.Client{
		Timeout:       attemptTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if a.creds.now == nil {
		a.creds.now = time.Now
	}
	if a.base != "" && !loopback(a.base) {
		return nil, fmt.Errorf(textNotLoopback, o.API)
	}
	return &Client{credentials: a.creds, api: a, Tasks: TasksAPI{a}, Calendar: CalendarAPI{a}, Mail: MailAPI{a}}, nil
}

// loopback reports whether an address is on this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && web.Loopback(u.Hostname())
}

// Kind is the state of the connection to Google.
type Kind string

// The kinds. Lapsed: Google no longer accepts the login. Unreachable: the login is valid,
// but the last call did not reach Google.
const (
	NotSetUp    Kind = "not set up"
	Connected   Kind = "connected"
	Lapsed      Kind = "log in again"
	Unreachable Kind = "unreachable"
)

// State is the state of the login, according to the files of the directory.
type State struct {
	Kind    Kind     `json:"state"`
	Account string   `json:"account"` // its address, "" if unknown
	Scopes  []string `json:"scopes"`  // what is allowed, as Google names it
	Why     string   `json:"why"`     // for people: the problem and its cure
}

// On reports whether the commands can be used.
func (s State) On() bool { return s.Kind == Connected || s.Kind == Unreachable }

// May reports whether a permission was given.
func (s State) May(scope Scope) bool {
	return s.On() && (len(s.Scopes) == 0 || slices.ContainsFunc(append(broader[scope], string(scope)), func(have string) bool {
		return slices.Contains(s.Scopes, have)
	}))
}

// Lacks is why a permission is not there, with the cure; "" if it is.
func (s State) Lacks(scope Scope) string {
	switch {
	case s.May(scope):
		return ""
	case s.On():
		return notAllowed(scope).Error()
	}
	return s.Why
}

// String is the state in one line.
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

// Probe makes a small call to Google and returns the state after it.
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
		for _, err := range c.Tasks.List(ctx, "@default", false) {
			return err
		}
		return nil
	}
	_, err := c.whose(ctx, s)
	return err
}

// whose is the account's address, if the permissions allow reading it.
func (c *Client) whose(ctx context.Context, s State) (string, error) {
	if s.May(Mail) {
		var profile struct {
			Address string `json:"emailAddress"`
		}
		err := c.api.do(ctx, onMail(nil, "profile"), &profile)
		return profile.Address, err
	}
	return c.Calendar.title(ctx, "primary") // the address
}
