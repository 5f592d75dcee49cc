// Package choice is an engine that delegates to other engines. It picks the engine of a new
// session, knows which engine a session belongs to, and picks a fallback while one is unreachable.
// It moves the main session to another engine by means of a summary. It must not know what an
// engine does with a message, nor the bot around it.
package choice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/storage/store"
)

// The names of the engines.
const (
	Claude   = "claude"
	Messages = "messages"
	Script   = "script"
)

// Member is an engine with its name.
type Member struct {
	Name   string
	Engine agent.Engine
}

// Options configure an Engine. The functions are called for each message; none may block for long.
type Options struct {
	Dir     *store.Dir
	Log     *slog.Logger
	Members []Member // at least one
	// Chosen is the member for sessions whose model does not select one, and the main
	// conversation's model.
	Chosen func() (member, model string)
	// Fallback returns the replacements for an unavailable member: names of members, or models with
	// their provider, such as "local/qwen3". The first available one is used.
	Fallback func() []string
	// Server returns the server of a Messages model. Models on one server fail together.
	Server func(model string) string
	// Main returns the ID of the main session, or empty.
	Main func() string
	// Recent returns the end of the conversation, for use when the previous engine cannot summarize
	// it.
	Recent func() string
	// Tell notifies the user that the chosen engine is available again. While a fallback answers,
	// the status shows a warning instead.
	Tell func(text string)
}

// Engine delegates to one of its members. Use New.
type Engine struct {
	o Options

	mu      sync.Mutex // guards the fields below
	outages map[string]*outage
	changed func()

	// moving guards the file of moves.
	moving sync.Mutex
}

var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.Account        = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
)

// New returns an engine and starts nothing.
func New(o Options) *Engine { return &Engine{o: o, outages: map[string]*outage{}, changed: func() {}} }

// place is a member, and a model if it differs from the session's.
type place struct{ member, model string }

// settings returns a session's settings for a place.
func (p place) settings(s agent.Settings) agent.Settings {
	s.Model = cmp.Or(p.model, s.Model)
	if p.member != Messages && strings.Contains(s.Model, "/") {
		s.Model = "" // another provider's model
	}
	return s
}

// key identifies the places that fail together.
func (e *Engine) key(p place, s agent.Settings) string {
	if p.member != Messages {
		return p.member
	}
	return p.member + "/" + e.o.Server(cmp.Or(p.model, s.Model))
}

// places returns the candidates for a session with these settings, the preferred one first. The
// script engine has no replacement.
func (e *Engine) places(s agent.Settings) []place {
	chosen, _ := e.o.Chosen()
	first := place{member: chosen}
	if strings.Contains(s.Model, "/") && chosen != Script {
		first.member = Messages
	}
	list := []place{first}
	if chosen == Script {
		return list
	}
	for _, name := range e.o.Fallback() {
		p := place{member: name}
		if strings.Contains(name, "/") {
			p = place{Messages, name}
		}
		if e.member(p.member) != nil {
			list = append(list, p)
		}
	}
	return list
}

// pick returns the first available place, or the preferred one if none is available.
func (e *Engine) pick(s agent.Settings) place {
	list := e.places(s)
	for _, p := range list {
		if !e.down(e.key(p, s)) {
			return p
		}
	}
	return list[0]
}

// member returns the engine with a name, or nil.
func (e *Engine) member(name string) agent.Engine {
	for _, m := range e.o.Members {
		if m.Name == name {
			return m.Engine
		}
	}
	return nil
}

// owner returns the member of a session; empty if unknown.
func (e *Engine) owner(session string) string {
	for _, m := range e.o.Members {
		if k, ok := m.Engine.(agent.Keeper); ok && session != "" && k.HasSession(session) {
			return m.Name
		}
	}
	return ""
}

// Status returns the status of the engine in use, with the processes of all engines.
func (e *Engine) Status() agent.Status {
	_, model := e.o.Chosen()
	settings := agent.Settings{Model: model}
	wanted, now := e.places(settings)[0], e.pick(settings)
	var st agent.Status
	var processes []agent.Process
	for _, m := range e.o.Members {
		r, ok := m.Engine.(agent.Reporter)
		if !ok {
			continue
		}
		one := r.Status()
		processes = append(processes, one.Processes...)
		switch m.Name {
		case now.member:
			one.LoginNeeded, one.LoginURL = one.LoginNeeded || st.LoginNeeded, cmp.Or(one.LoginURL, st.LoginURL)
			st = one
		case wanted.member: // a login makes it available again
			st.LoginNeeded, st.LoginURL = st.LoginNeeded || one.LoginNeeded, cmp.Or(st.LoginURL, one.LoginURL)
		}
	}
	st.Name, st.Processes = now.member, processes
	if why := e.why(e.key(wanted, settings)); why != "" && now != wanted {
		st.Warning = fmt.Sprintf(textInstead, e.name(now, settings), e.name(wanted, settings), why)
	}
	return st
}

// name returns the user-visible name of a place: its model if that identifies it.
func (e *Engine) name(p place, s agent.Settings) string {
	if model := p.settings(s).Model; strings.Contains(model, "/") {
		return model
	}
	return p.member
}

// OnChange sets the function to call after the status of any engine has changed.
func (e *Engine) OnChange(changed func()) {
	e.mu.Lock()
	e.changed = changed
	e.mu.Unlock()
	for _, m := range e.o.Members {
		if r, ok := m.Engine.(agent.Reporter); ok {
			r.OnChange(changed)
		}
	}
}

// Run runs the background work of all engines.
func (e *Engine) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, m := range e.o.Members {
		if r, ok := m.Engine.(agent.Runner); ok {
			g.Go(fault.Guard("the engine "+m.Name, func() error { return r.Run(ctx) }))
		}
	}
	g.Go(func() error { <-ctx.Done(); return nil })
	return g.Wait()
}

// account returns the engine with a login.
func (e *Engine) account() (agent.Account, error) {
	for _, m := range e.o.Members {
		if a, ok := m.Engine.(agent.Account); ok {
			return a, nil
		}
	}
	return nil, errors.New(textNoLogin)
}

// Login starts a login at the engine that has one.
func (e *Engine) Login(ctx context.Context) (string, error) {
	a, err := e.account()
	if err != nil {
		return "", err
	}
	return a.Login(ctx)
}

// Finish completes a login.
func (e *Engine) Finish(ctx context.Context, code string) error {
	a, err := e.account()
	if err != nil {
		return err
	}
	return a.Finish(ctx, code)
}

// An unavailable engine is tried again after firstWait, which doubles up to mostWait.
const (
	firstWait = 5 * time.Minute
	mostWait  = time.Hour
)

// outage records why a server is unavailable and when to try it again.
type outage struct {
	why   string
	until time.Time
	wait  time.Duration
}

// down reports whether it is too early to try again.
func (e *Engine) down(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.outages[key]
	return o != nil && time.Now().Before(o.until)
}

// why returns the reason of an outage, or empty.
func (e *Engine) why(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.outages[key]; o != nil {
		return o.why
	}
	return ""
}

// lose records that a place is unavailable. It returns false if there is no alternative.
func (e *Engine) lose(p place, s agent.Settings, why string) bool {
	key := e.key(p, s)
	why = clean.Cut(clean.Line(why), 200)
	e.mu.Lock()
	before := e.outages[key]
	now := &outage{why: why, wait: firstWait}
	if before != nil {
		now.wait = min(2*before.wait, mostWait)
	}
	now.until = time.Now().Add(now.wait)
	e.outages[key] = now
	changed := e.changed
	e.mu.Unlock()
	next := e.pick(s)
	if e.down(e.key(next, s)) { // there is no other
		e.mu.Lock()
		delete(e.outages, key)
		e.mu.Unlock()
		return false
	}
	changed() // the status now has a warning
	return true
}

// answered records that a place has answered, and notifies the user if it was unavailable.
func (e *Engine) answered(p place, s agent.Settings) {
	key := e.key(p, s)
	e.mu.Lock()
	o := e.outages[key]
	delete(e.outages, key)
	changed := e.changed
	e.mu.Unlock()
	if o != nil {
		e.o.Tell(fmt.Sprintf(textBack, e.name(p, s)))
		changed()
	}
}
