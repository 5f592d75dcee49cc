package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/mcp/login"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Options configure a Host. Dir, Log and Lookup are required.
type Options struct {
	Dir *store.Dir
	Log *slog.Logger
	// Lookup looks up variables for ${NAME}, and PATH.
	Lookup Lookup
	// Fence sandboxes the servers' programs; nil means no sandbox.
	Fence   Fence
	Version string // the bot's version, sent to servers
	// OnDemand delays listing a server's tools until it is called.
	OnDemand bool
	// Hide registers a value to be kept out of logs, and Redact removes such values from a
	// text; either may be nil.
	Hide   func(secret string)
	Redact func(text string) string
	// Notice tells the user something; Changed is called after a state has changed. None of
	// these callbacks may block; all may be nil.
	Notice  func(text string)
	Changed func()
	// Offered is called after the set of tool changes awaiting approval has changed.
	Offered func()
	// Say tells the user the outcome of a login; nil uses Notice.
	Say func(text string)

	limits limits // for tests; zero fields mean the defaults
}

// limits are times that are too long for tests with real programs.
type limits struct {
	// newest is the time limit for answering the newest protocol, older that for the older
	// one: a first start may have to download the server.
	newest, older time.Duration
	// idle is how long a server keeps running without a call.
	idle time.Duration
	// direct is the maximum size of definitions in a prompt, in bytes.
	direct int
}

func (l limits) orUsual() limits {
	return limits{
		newest: cmp.Or(l.newest, 4*time.Second), older: cmp.Or(l.older, 60*time.Second), idle: cmp.Or(l.idle, 10*time.Minute), direct: cmp.Or(l.direct, maxDirect),
	}
}

// Host manages the servers of one data directory. Its methods are safe for concurrent
// use.
type Host struct {
	o      Options
	record *records
	logins *login.Tokens
	splits toolset.Splits
	logs   *logBook
	wake   chan struct{} // capacity 1
	begun  chan struct{} // closed by Run

	ctx   context.Context // from Run
	group *errgroup.Group

	mu       sync.Mutex // guards the fields below
	running  bool
	servers  map[string]*server
	problems []routines.Problem
	tools    []agent.Tool
	waiting  int // conversations in Renew
	// trusted are the names of servers whose results carry no label.
	trusted map[string]bool
	login   *login.Login // the pending login; may be nil
}

// New reads the file and returns a host. Nothing starts before Run.
func New(o Options) *Host {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Hide == nil {
		o.Hide = func(string) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Offered == nil {
		o.Offered = func() {}
	}
	if o.Say == nil {
		o.Say = o.Notice
	}
	o.limits = o.limits.orUsual()
	h := &Host{
		o: o, record: newRecords(o.Dir, o.Log), logins: login.New(o.Dir, o.Hide), logs: &logBook{dir: o.Dir, redact: o.Redact},
		wake: make(chan struct{}, 1), begun: make(chan struct{}), servers: map[string]*server{}, trusted: map[string]bool{},
	}
	h.read()
	h.tools = h.forPrompt(h.current())
	return h
}

// Run starts servers on demand, until ctx ends and all of them have ended. Call it once.
func (h *Host) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	h.mu.Lock()
	h.ctx, h.group, h.running = ctx, group, true
	// The loop joins the group before begin can, because Wait on an empty group forbids
	// later starts.
	group.Go(fault.Guard("the MCP servers", func() error {
		h.keep(ctx)
		h.stop()
		return nil
	}))
	h.mu.Unlock()
	close(h.begun)
	return group.Wait()
}

// keep lists the tools of new servers and stops idle ones.
func (h *Host) keep(ctx context.Context) {
	for {
		var next time.Time
		for _, s := range h.list() {
			end, idle := s.rest(time.Now())
			if end != nil {
				end.close()
				h.changed()
			}
			for _, again := range []time.Time{idle, h.discover(s)} {
				if !again.IsZero() && (next.IsZero() || again.Before(next)) {
					next = again
				}
			}
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-h.wake:
		case <-timer:
		case <-ctx.Done():
			return
		}
	}
}

// discover lists the tools of a server if they are unknown. It returns when to retry.
func (h *Host) discover(s *server) (again time.Time) {
	if h.o.OnDemand {
		return time.Time{}
	}
	config, first, ask, again := s.unknown(time.Now())
	if !ask {
		return again
	}
	h.begin(func(ctx context.Context) {
		defer s.answered()
		_, err := s.acquire(ctx)
		switch {
		case err == nil:
			s.release()
			if h.missing(config.Name) {
				h.o.Notice(fmt.Sprintf(textDiscovered, config.Name))
			}
		case ctx.Err() == nil && first && !s.state(Record{}).Asks:
			h.o.Notice(fmt.Sprintf(textNotDiscovered, config.Name, err))
		}
	})
	return time.Time{}
}

// stop stops all servers.
func (h *Host) stop() {
	h.mu.Lock()
	h.running = false
	h.mu.Unlock()
	var ends errgroup.Group
	for _, s := range h.list() {
		if c := s.remove(); c != nil {
			ends.Go(func() error { c.close(); return nil })
		}
	}
	_ = ends.Wait() // they return no errors
}

// begin runs a function in the background of the host's loop. It returns false if the
// host is not running.
func (h *Host) begin(do func(ctx context.Context)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.running {
		return false
	}
	h.group.Go(fault.Guard("an MCP server", func() error { do(h.ctx); return nil }))
	return true
}

// signal wakes the loop.
func (h *Host) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// changed records the states and notifies the viewers.
func (h *Host) changed() {
	for _, s := range h.list() {
		config := s.configured()
		h.record.note(config, h.stateOf(s))
	}
	h.o.Changed()
}

func (h *Host) list() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*server, 0, len(h.servers))
	for _, s := range h.servers {
		list = append(list, s)
	}
	return list
}

// Reload rereads the files. Unchanged servers keep running.
func (h *Host) Reload() {
	h.record.reload()
	for _, c := range h.read() {
		if !h.begin(func(context.Context) { c.close() }) {
			c.close()
		}
	}
	for _, s := range h.list() {
		if s.loggedInMeanwhile() {
			s.again()
		}
	}
	h.signal()
	h.o.Changed()
}

// read applies the file and returns the connections of servers that were removed or
// changed. A part with an error keeps its last good version.
func (h *Host) read() (ends []*connection) {
	out, ok, err := load(h.o.Dir, h.o.Lookup)
	if err != nil {
		out.problems = []routines.Problem{{File: File, Severity: routines.Error, Message: clean.Line(err.Error())}}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = out.problems
	if !ok && len(out.servers) == 0 {
		return nil
	}
	there := map[string]bool{}
	for _, name := range out.broken {
		there[name] = true
	}
	h.trusted = map[string]bool{}
	for _, config := range out.servers {
		there[config.Name] = true
		for _, secret := range config.secrets() {
			h.o.Hide(secret)
		}
		s := h.servers[config.Name]
		if s == nil {
			s = &server{host: h, config: config}
			h.servers[config.Name] = s
		}
		if c := s.configure(config); c != nil {
			ends = append(ends, c)
		}
	}
	for name, s := range h.servers {
		if !there[name] {
			delete(h.servers, name)
			if c := s.remove(); c != nil {
				ends = append(ends, c)
			}
			continue
		}
		h.trusted[name] = s.configured().Trusted
	}
	return ends
}

// Problems returns the problems of the file.
func (h *Host) Problems() []routines.Problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.problems)
}

// Trusted reports whether the results of a server's tools carry no label.
func (h *Host) Trusted(server string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trusted[server]
}

// Tools returns the tools of all servers for a session, or the search for them. They stay
// the same until Renew, because they are part of the prompt that an engine caches.
func (h *Host) Tools() []agent.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tools)
}

// renewPatience is how long a new conversation waits for servers that were just added.
const renewPatience = 5 * time.Second

// Renew updates the tools for a new conversation. It waits briefly for servers whose
// tools are not known yet, so that the first conversation of all has them.
func (h *Host) Renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, renewPatience)
	defer cancel()
	h.mu.Lock()
	h.waiting++
	h.mu.Unlock()
	var first errgroup.Group
	for _, s := range h.list() {
		config := s.configured()
		if _, known := h.record.of(config); known || config.Disabled || h.o.OnDemand {
			continue
		}
		first.Go(func() error {
			select {
			case <-h.begun:
			case <-ctx.Done():
				return nil
			}
			if _, err := s.acquire(ctx); err == nil {
				s.release()
			}
			return nil
		})
	}
	_ = first.Wait() // none returns an error: the states have them
	tools := h.forPrompt(h.current())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools = tools
	h.waiting--
}

// missing reports whether the conversation has begun without the tools of a server, and none that waits will have them.
func (h *Host) missing(server string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting == 0 && !slices.ContainsFunc(h.tools, func(t agent.Tool) bool { return t.Server == server })
}

// current returns the approved tools of all servers, sorted.
func (h *Host) current() (tools []agent.Tool) {
	for s, t := range h.approved() {
		tools = append(tools, h.tool(s.configured().Name, t))
	}
	slices.SortFunc(tools, func(a, b agent.Tool) int {
		return strings.Compare(a.Server+"\x00"+a.Name, b.Server+"\x00"+b.Name)
	})
	return tools
}

// approved yields the approved tools of the servers in use.
func (h *Host) approved() iter.Seq2[*server, Tool] {
	return func(yield func(*server, Tool) bool) {
		for _, s := range h.list() {
			config := s.configured()
			one, ok := h.record.of(config)
			if !ok || config.Disabled {
				continue
			}
			for _, t := range one.Tools {
				if !yield(s, t) {
					return
				}
			}
		}
	}
}

// tool returns a tool for a session. It looks up its server at each call, because the
// file may have changed.
func (h *Host) tool(name string, t Tool) agent.Tool {
	return agent.Tool{
		Name: t.Name, Server: name, Description: t.Description, Schema: t.Schema,
		Call: func(ctx context.Context, a agent.Approved) agent.ToolResult {
			h.mu.Lock()
			s := h.servers[name]
			h.mu.Unlock()
			if s == nil {
				return failed(textUnavailable, name, errors.New(textRemoved))
			}
			return s.call(ctx, t, a.Input())
		},
	}
}

// States returns the states of all servers, sorted by name.
func (h *Host) States() []State {
	var list []State
	for _, s := range h.list() {
		list = append(list, h.stateOf(s))
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (h *Host) stateOf(s *server) State {
	config := s.configured()
	one, _ := h.record.of(config)
	return s.state(one)
}

// Test starts a server and lists its tools; Run must have started. The server ends with
// Run.
func (h *Host) Test(ctx context.Context, name string) error {
	s, err := h.named(name)
	if err != nil {
		return err
	}
	select {
	case <-h.begun:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, err := s.acquire(ctx); err != nil {
		return err
	}
	s.release()
	return nil
}

// Read reads the file of a data directory, with the last valid version of what has an error.
func Read(dir *store.Dir, lookup Lookup) ([]Server, []routines.Problem, error) {
	out, _, err := load(dir, lookup)
	return out.servers, out.problems, err
}

// load is Read. ok is false if the whole file is invalid, whether or not its last valid version is known.
func load(dir *store.Dir, lookup Lookup) (out parsed, ok bool, err error) {
	data, err := dir.Read(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, false, err
	}
	out, ok = read(data, lookup)
	if old, at, kept := dir.Valid(File); kept && routines.HasErrors(out.problems) {
		before, _ := read(old, lookup)
		for _, s := range before.servers {
			if !ok || slices.Contains(out.broken, s.Name) {
				out.servers = append(out.servers, s)
			}
		}
		first := slices.IndexFunc(out.problems, func(p routines.Problem) bool { return p.Severity == routines.Error })
		out.problems[first] = out.problems[first].Keeping(at)
		slices.SortFunc(out.servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	}
	return out, ok, nil
}

// Check returns the problems of the file's text.
func Check(data []byte, lookup Lookup) []routines.Problem {
	out, _ := read(data, lookup)
	return out.problems
}

// read parses a file. ok is false if the whole file is invalid.
func read(data []byte, lookup Lookup) (out parsed, ok bool) {
	out, err := parse(data, lookup)
	if wrong, is := errors.AsType[*frontmatter.SyntaxError](err); is {
		out.problems = []routines.Problem{{File: File, Line: wrong.Line, Severity: routines.Error, Message: clean.Line(wrong.Message)}}
		return out, false
	}
	return out, true
}
