// Package choice is an engine over engines: it decides which of them a new session gets,
// knows which one a session belongs to, and which one answers while another is
// unreachable. It carries a main session over to another engine with a summary. It must
// not know what an engine does with a message, nor the bot around it.
package choice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

// Options are the parts of an Engine. Functions are asked at each message; none may
// block for long.
type Options struct {
	Dir     *store.Dir
	Log     *slog.Logger
	Members []Member // at least one
	// Chosen is the member that sessions get whose model does not tell, and the model of
	// the main conversation.
	Chosen func() (member, model string)
	// Fallback are who answers when the chosen one cannot: names of members, or models
	// with their provider, such as "local/qwen3". The first that can does.
	Fallback func() []string
	// Server is where a model of Messages is: models of one server are out of reach
	// together.
	Server func(model string) string
	// Main is the id of the main session, or empty.
	Main func() string
	// Recent are the newest words of the conversation, for an engine that takes over
	// from one that cannot be asked.
	Recent func() string
	// Tell is what the user is told: that the chosen one is back. That another answers in
	// its place is a warning of the status.
	Tell func(text string)
}

// Engine chooses. Use New.
type Engine struct {
	o Options

	mu      sync.Mutex // guards the fields below
	outages map[string]*outage
	changed func()

	// moving orders the file of moves.
	moving sync.Mutex
}

var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.Account        = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
)

// New starts nothing.
func New(o Options) *Engine { return &Engine{o: o, outages: map[string]*outage{}, changed: func() {}} }

// place is a member that answers, and the model if it is not the session's own.
type place struct{ member, model string }

// settings are a session's as a place takes them.
func (p place) settings(s agent.Settings) agent.Settings {
	s.Model = cmp.Or(p.model, s.Model)
	if p.member != Messages && strings.Contains(s.Model, "/") {
		s.Model = "" // a model of somebody else
	}
	return s
}

// key is what goes down together.
func (e *Engine) key(p place, s agent.Settings) string {
	if p.member != Messages {
		return p.member
	}
	return p.member + "/" + e.o.Server(cmp.Or(p.model, s.Model))
}

// places are who may answer a session with these settings, the wanted one first. A
// script stands for itself.
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
		if e.member(p.member) == nil || slices.ContainsFunc(list, func(q place) bool { return e.key(q, s) == e.key(p, s) }) {
			continue
		}
		list = append(list, p)
	}
	return list
}

// pick is who answers now: the first of the places that is not out of reach, else
// the wanted one.
func (e *Engine) pick(s agent.Settings) place {
	list := e.places(s)
	for _, p := range list {
		if !e.down(e.key(p, s)) {
			return p
		}
	}
	return list[0]
}

// member is the engine of that name; nil where there is none.
func (e *Engine) member(name string) agent.Engine {
	for _, m := range e.o.Members {
		if m.Name == name {
			return m.Engine
		}
	}
	return nil
}

// owner is the member that a session belongs to; empty where nobody knows it.
func (e *Engine) owner(session string) string {
	for _, m := range e.o.Members {
		if k, ok := m.Engine.(agent.Keeper); ok && session != "" && k.HasSession(session) {
			return m.Name
		}
	}
	return ""
}

// Status is that of who answers now, with the processes of all.
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
		case wanted.member: // its login cures it
			st.LoginNeeded, st.LoginURL = st.LoginNeeded || one.LoginNeeded, cmp.Or(st.LoginURL, one.LoginURL)
		}
	}
	st.Name, st.Processes = now.member, processes
	if why := e.why(e.key(wanted, settings)); why != "" && now != wanted {
		st.Warning = fmt.Sprintf(textInstead, e.name(now, settings), e.name(wanted, settings), why)
	}
	return st
}

// name is a place as people know it: its model, where that says who answers.
func (e *Engine) name(p place, s agent.Settings) string {
	if model := p.settings(s).Model; p.member == Messages && strings.Contains(model, "/") {
		return model
	}
	return p.member
}

// OnChange sets what is called after the status of any engine has changed.
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

// Run does the work in the background of all engines.
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

// account is the engine that needs a login.
func (e *Engine) account() (agent.Account, error) {
	for _, m := range e.o.Members {
		if a, ok := m.Engine.(agent.Account); ok {
			return a, nil
		}
	}
	return nil, errors.New(textNoLogin)
}

// Login begins a login at the engine that has one.
func (e *Engine) Login(ctx context.Context) (string, error) {
	a, err := e.account()
	if err != nil {
		return "", err
	}
	return a.Login(ctx)
}

// Finish ends a login.
func (e *Engine) Finish(ctx context.Context, code string) error {
	a, err := e.account()
	if err != nil {
		return err
	}
	return a.Finish(ctx, code)
}

// An engine that is out of reach is asked again after firstWait, then after twice as
// long each time, up to mostWait.
const (
	firstWait = 5 * time.Minute
	mostWait  = time.Hour
)

// outage is why a server is out of reach, and until when nobody asks it.
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

// why is the reason of an outage; empty where there is none.
func (e *Engine) why(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.outages[key]; o != nil {
		return o.why
	}
	return ""
}

// lose records that a place cannot answer; false if no other can.
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
	if e.key(next, s) == key || e.down(e.key(next, s)) { // nobody is left
		e.mu.Lock()
		delete(e.outages, key)
		e.mu.Unlock()
		return false
	}
	changed() // the status has a warning now
	return true
}

// answered records that a place has answered, and tells the user if it had not before.
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
