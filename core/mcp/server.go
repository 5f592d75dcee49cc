package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/mcp/login"
)

const (
	// callPatience bounds a call. Progress messages do not extend it.
	callPatience = 2 * time.Minute
	// firstPause is the pause after a failed start; it doubles up to longestPause.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// maxRemarks and maxCalls are the numbers of remarks and calls kept per server.
	maxRemarks = 5
	maxCalls   = 5
)

// server is one server of the file. The host starts and stops it.
type server struct {
	host *Host

	mu      sync.Mutex // guards the fields below
	config  Server
	removed bool
	conn    *connection
	opening chan struct{} // closed when the attempt to connect ends; nil if there is none
	calls   int           // in progress, or waiting for the connection
	used    time.Time     // the last use
	// problem is why it is not running; remarks are other observations.
	problem string
	remarks []string
	// failures counts consecutive failures; no retry before retryAt.
	failures int
	retryAt  time.Time
	ended    []Call // the last calls, oldest first
	// asked means that the host is listing its tools, asks that it requires a login.
	asked, asks bool
}

// configured returns the server's current configuration.
func (s *server) configured() Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// backOff records a failure and delays the next attempt. The caller holds mu.
func (s *server) backOff(problem string) {
	s.failures++
	s.problem, s.retryAt = problem, time.Now().Add(min(firstPause<<min(s.failures-1, 10), longestPause))
}

// configure applies a new configuration. It returns a connection that must be closed
// because of it, or nil.
func (s *server) configure(config Server) (end *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.equal(config) && !s.removed {
		s.config = config
		return nil
	}
	s.config, s.removed = config, false
	s.failures, s.retryAt, s.problem, s.remarks, s.asks = 0, time.Time{}, "", nil, false
	end, s.conn = s.conn, nil
	return end
}

// remove takes the server out of service.
func (s *server) remove() (end *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = true
	end, s.conn = s.conn, nil
	return end
}

// remark records a remark about the server, once.
func (s *server) remark(text string) {
	s.mu.Lock()
	if slices.Contains(s.remarks, text) {
		s.mu.Unlock()
		return
	}
	if s.remarks = append(s.remarks, text); len(s.remarks) > maxRemarks {
		s.remarks = s.remarks[1:]
	}
	name := s.config.Name
	s.mu.Unlock()
	s.host.o.Log.Warn("MCP server", "server", name, "note", text)
	s.host.changed()
}

// log records a line of the server's standard error.
func (s *server) log(line string) {
	s.host.logs.add(s.configured().Name, line)
}

// acquire returns an open connection, opening it if necessary. Call release afterwards,
// unless it fails.
func (s *server) acquire(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	s.calls++ // from now on, so that it is not stopped between its start and the call
	s.mu.Unlock()
	c, err := s.opened(ctx)
	if err != nil {
		s.release()
	}
	return c, err
}

func (s *server) opened(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		switch {
		case s.removed:
			s.mu.Unlock()
			return nil, errors.New(textRemoved)
		case s.config.Disabled:
			s.mu.Unlock()
			return nil, errors.New(textDisabled)
		case s.conn != nil:
			c := s.conn
			s.used = time.Now()
			s.mu.Unlock()
			return c, nil
		case s.opening == nil && time.Now().Before(s.retryAt):
			err := fmt.Errorf(textRetry, s.problem, words.Long(time.Until(s.retryAt)))
			s.mu.Unlock()
			return nil, err
		}
		first := s.opening == nil
		if first {
			s.opening = make(chan struct{})
		}
		opening := s.opening
		s.mu.Unlock()
		if first && !s.host.begin(s.open) {
			s.mu.Lock()
			s.opening = nil
			s.mu.Unlock()
			close(opening)
			return nil, errStopping
		}
		select {
		case <-opening:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		problem := s.problem
		s.mu.Unlock()
		if problem != "" {
			return nil, errors.New(problem)
		}
	}
}

func (s *server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	s.used = time.Now()
	s.host.signal()
}

// open connects, lists the tools and records them.
func (s *server) open(ctx context.Context) {
	config := s.configured()
	s.host.changed()
	c, version, err := s.connect(ctx, config, s.host.record.protocol(config))
	if err == nil {
		err = s.list(ctx, c, config, version)
		if err != nil {
			c.close()
		}
	}
	s.mu.Lock()
	stale := s.removed || !s.config.equal(config)
	switch {
	case ctx.Err() != nil:
		s.problem = textStopping
	case err != nil:
		s.backOff(err.Error())
	case !stale:
		s.failures, s.problem, s.retryAt, s.asks = 0, "", time.Time{}, false
		s.conn, s.used = c, time.Now()
	}
	opening := s.opening
	s.opening = nil
	s.mu.Unlock()
	close(opening)
	if err == nil && (stale || ctx.Err() != nil) {
		c.close()
	}
	if err != nil && ctx.Err() == nil {
		s.waits(nil, err)
		s.host.o.Log.Warn("MCP server could not be started", "server", config.Name, "error", err)
	}
	s.host.changed()
	s.host.signal()
}

// list records the current tools of a server.
func (s *server) list(ctx context.Context, c *connection, config Server, version string) error {
	list, err := listed(ctx, c)
	if err != nil {
		return err
	}
	tools, remarks := cleanTools(config.Name, list)
	if len(tools) == 0 {
		remarks = append(remarks, textNoTools)
	}
	for _, r := range remarks[:min(len(remarks), maxRemarks)] {
		s.remark(r)
	}
	changed, err := s.host.record.offer(config, version, tools)
	if err != nil {
		s.host.o.Log.Error("the tools of an MCP server were not recorded", "server", config.Name, "error", err)
	}
	if changed {
		s.host.o.Offered()
	}
	return nil
}

// listAgain lists the tools of a server that reported a change.
func (s *server) listAgain(c *connection) {
	s.mu.Lock()
	config, current := s.config, s.conn == c
	s.mu.Unlock()
	if !current {
		return
	}
	s.host.begin(func(ctx context.Context) {
		if err := s.list(ctx, c, config, ""); err != nil && ctx.Err() == nil {
			s.remark(err.Error())
		}
		s.host.changed()
	})
}

// lost is called when a connection has ended.
func (s *server) lost(c *connection) {
	s.mu.Lock()
	ours := s.conn == c
	if ours {
		s.conn = nil
		s.backOff(c.fate())
	}
	name, problem := s.config.Name, s.problem
	s.mu.Unlock()
	if !ours {
		return
	}
	s.host.o.Log.Warn("MCP server has ended", "server", name, "why", problem)
	s.host.begin(func(context.Context) { c.close() })
	s.host.changed()
}

// rest stops a server that has been idle for a while, and returns when to check again.
func (s *server) rest(now time.Time) (end *connection, again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil || s.calls > 0 {
		return nil, time.Time{}
	}
	if due := s.used.Add(s.host.o.limits.idle); now.Before(due) {
		return nil, due
	}
	end, s.conn = s.conn, nil
	return end, time.Time{}
}

// unknown reports whether the host must list the server's tools now, and if not, when to
// retry. A failed attempt is repeated, because the server cannot be called before.
func (s *server) unknown(now time.Time) (config Server, first, ask bool, again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.host.record.of(s.config)
	switch {
	case known || s.asked || s.removed || s.config.Disabled || s.opening != nil || s.conn != nil:
		return s.config, false, false, time.Time{}
	case now.Before(s.retryAt):
		return s.config, false, false, s.retryAt
	}
	s.asked = true
	return s.config, s.failures == 0, true, time.Time{}
}

func (s *server) answered() {
	s.mu.Lock()
	s.asked = false
	s.mu.Unlock()
	s.host.signal()
}

// call calls a tool and records the outcome.
func (s *server) call(ctx context.Context, t Tool, args json.RawMessage) agent.ToolResult {
	began := time.Now()
	r := s.carryOut(ctx, t, args)
	c := Call{At: began, Tool: t.Name, Took: time.Since(began)}
	if r.IsError {
		c.Text = clean.Cut(clean.Line(r.Text), 200)
	}
	s.mu.Lock()
	if s.ended = append(s.ended, c); len(s.ended) > maxCalls {
		s.ended = s.ended[1:]
	}
	s.mu.Unlock()
	s.host.o.Changed()
	return r
}

func (s *server) carryOut(ctx context.Context, t Tool, args json.RawMessage) agent.ToolResult {
	config := s.configured()
	c, err := s.acquire(ctx)
	if err != nil {
		return failed(textUnavailable, config.Name, err)
	}
	defer s.release()
	if !s.host.record.holds(config, t) {
		return failed(textToolWaits, t.Name, config.Name)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callPatience, fmt.Errorf(textNoAnswer, callPatience))
	defer cancel()
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	r, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: t.Given, Arguments: args})
	switch {
	case err == nil:
		s.mu.Lock()
		s.failures = 0
		s.mu.Unlock()
		return result(r)
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	case malformed(err):
		err = errors.New(textMalformed)
	}
	if c.process != nil {
		if why := c.process.fate(); why != "" {
			err = errors.New(why)
		}
	}
	if asks, is := errors.AsType[*login.AsksError](err); is {
		s.waits(c, err)
		return failed(textUnavailable, config.Name, asks)
	}
	return failed(textCallFailed, config.Name, clean.Cut(clean.Line(err.Error()), 1_000))
}

// malformed reports whether a result could not be read.
func malformed(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, form := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || form || strings.Contains(err.Error(), "unmarshal")
}

// state is what is known of it.
func (s *server) state(one Record) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := live{asks: s.asks, calls: slices.Clone(s.ended)}
	if n := len(s.remarks); n > 0 {
		now.text = s.remarks[n-1]
	}
	switch {
	case s.opening != nil:
		now.status = Starting
	case s.problem != "":
		now.status, now.text = Failed, s.problem
	case s.conn != nil:
		now.status = Ready
	}
	return s.config.state(one, now)
}
