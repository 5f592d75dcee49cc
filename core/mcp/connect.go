package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/clean"
	"ollimbot/core/mcp/login"
)

const (
	// olderProtocol is for servers that do not know server/discover, with which the newest
	// protocol starts: some ignore it, and some exit.
	olderProtocol = "2025-11-25"
	listPatience  = 30 * time.Second
	// againPatience is how long a server may take to answer after a start that failed.
	againPatience = 15 * time.Second
)

// connection is an open session with a server.
type connection struct {
	session *sdk.ClientSession
	process *process      // nil for HTTP
	holder  *login.Holder // nil without a login
	ended   chan struct{}
}

// close ends the session, and the server's process.
func (c *connection) close() {
	if c.process != nil {
		c.process.end() // Close would wait for a server that does not read
	}
	_ = c.session.Close() // a server that has already ended is not an error
	<-c.ended
}

// fate describes why the connection ended.
func (c *connection) fate() string {
	if c.process != nil {
		if text := c.process.fate(); text != "" {
			return text
		}
	}
	return textClosed
}

// fetchers are programs that download a server before they start it.
var fetchers = []string{"npx", "uv", "uvx", "bunx", "pnpm", "yarn", "pipx", "deno", "docker", "podman"}

// connect starts or reaches a server. version is the protocol that worked last time; ""
// tries the newest first. It returns the version that works.
func (s *server) connect(ctx context.Context, config Server, version string) (*connection, string, error) {
	// A download must not be ended after seconds, because npx would leave half a package that it never completes.
	fetches := slices.Contains(fetchers, filepath.Base(config.Command))
	if version == "" && !fetches {
		c, err := s.attempt(ctx, config, "", s.host.o.limits.newest)
		if err == nil {
			return c, c.session.InitializeResult().ProtocolVersion, nil
		}
		if ctx.Err() != nil || errors.As(err, new(*startError)) || errors.As(err, new(*login.AsksError)) {
			return nil, "", err
		}
	}
	patience := s.host.o.limits.older
	s.mu.Lock()
	if s.failures > 0 && !fetches { // it has had the time for a download
		patience = min(patience, againPatience)
	}
	s.mu.Unlock()
	c, err := s.attempt(ctx, config, olderProtocol, patience)
	if err != nil {
		return nil, "", err
	}
	return c, olderProtocol, nil
}

// startError means that a server's program could not be started at all.
type startError struct{ error }

// attempt tries one protocol.
func (s *server) attempt(ctx context.Context, config Server, version string, patience time.Duration) (*connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf(textNoAnswer, patience))
	defer cancel()
	c := &connection{ended: make(chan struct{})}
	transport, err := s.transport(config, c)
	if err != nil {
		return nil, &startError{err}
	}
	client := s.client(c)
	session, err := client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		if c.holder != nil && c.holder.Asks() {
			return nil, &login.AsksError{Server: config.Name}
		}
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if c.process != nil {
			if ctx.Err() == nil {
				c.process.settle() // its output has ended, and it may be about to
			}
			if text := c.process.fate(); text != "" {
				err = errors.New(text)
			}
			c.process.end()
		}
		return nil, fmt.Errorf(textNoConnection, clean.Cut(clean.Line(err.Error()), 400))
	}
	c.session = session
	s.host.group.Go(func() error {
		defer close(c.ended)
		_ = session.Wait() // fate knows why it ended
		s.lost(c)
		return nil
	})
	return c, nil
}

func (s *server) transport(config Server, c *connection) (sdk.Transport, error) {
	if config.URL == "" {
		p, t, err := s.host.start(config, s.log, func(line string) { s.remark(fmt.Sprintf(textStray, line)) })
		c.process = p
		return t, err
	}
	t := &sdk.StreamableClientTransport{Endpoint: config.URL, HTTPClient: httpClient(config), MaxEventSize: maxFrame, MaxRetries: 2}
	if c.holder = s.host.holder(config); c.holder != nil {
		t.OAuthHandler = c.holder
	}
	return t, nil
}

// client is the bot's side of one session. It offers nothing: no files (roots), no model
// (sampling) and no questions to the user (elicitation).
func (s *server) client(c *connection) *sdk.Client {
	client := sdk.NewClient(&sdk.Implementation{Name: "ollim-bot", Version: s.host.o.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.listAgain(c) },
	})
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			switch method {
			case "sampling/createMessage", "elicitation/create", "roots/list":
				s.remark(fmt.Sprintf(textRefused, method))
			}
			return next(ctx, method, r)
		}
	})
	return client
}

// listed lists the tools of a session.
func listed(ctx context.Context, c *connection) (list []*sdk.Tool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listPatience, fmt.Errorf(textNoAnswer, listPatience))
	defer cancel()
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			if asks, is := errors.AsType[*login.AsksError](err); is {
				return nil, asks
			}
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, fmt.Errorf(textNoList, clean.Cut(clean.Line(err.Error()), 400))
		}
		if list = append(list, t); len(list) > maxListed {
			return nil, fmt.Errorf(textEndlessList, maxListed)
		}
	}
	return list, nil
}

// idleFor is how long a connection waits for the next request. Servers in JavaScript and Python close theirs after five seconds, and a
// call that they get at that moment fails, because it must not be sent twice.
const idleFor = 3 * time.Second

// httpClient sends a server's headers only to its own address, and limits answers.
func httpClient(config Server) *http.Client {
	home, _ := url.Parse(config.URL)                             // already validated by the parser
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.IdleConnTimeout = idleFor
	return &http.Client{
		Transport: &limited{next: transport, headers: config.Headers},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != home.Host || r.URL.Scheme != home.Scheme || len(via) > 5 {
				return fmt.Errorf(textRedirect, shown(r.URL.Host))
			}
			return nil
		},
	}
}

// limited adds headers to requests and limits answers.
type limited struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements http.RoundTripper.
func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range l.headers {
		r.Header.Set(name, value)
	}
	resp, err := l.next.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // the transport limits them per event
		resp.Body = &readableEvents{Closer: resp.Body, from: bufio.NewReader(resp.Body)}
		return resp, nil
	}
	resp.Body = &readableBody{ReadCloser: &limitedBody{ReadCloser: resp.Body, left: maxFrame}}
	resp.ContentLength = -1
	return resp, nil
}

// limitedBody fails if an answer is too long.
type limitedBody struct {
	io.ReadCloser
	mu   sync.Mutex
	left int
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf(textLongFrame, maxFrame>>20)
	}
	return n, err
}
