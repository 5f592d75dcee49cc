// Package claudetest is a Messages API on 127.0.0.1 that the real claude command talks to in tests
// and demos. It owns the HTTP side: the contents of a request, the choice of its answer, the events
// of a streamed answer and the ways in which an answer can fail. It must not know the claude
// command's own protocol, sessions or the bot, and no shipped package imports it.
//
// The prompt itself contains the API's answers, as a script: a list of steps in JSON between "@@"
// and "@@" (see Script). The server stores no conversation: the history in each request determines
// the next step. So tool loops, forks and resumed sessions find their place without help.
package claudetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/base/testkit"
)

// ErrClosed is returned by Wait if the server was closed first.
var ErrClosed = errors.New("the fake API is closed")

// Options configure a server.
type Options struct {
	Key string // the only accepted API key, others get 401; empty accepts all
}

// Server is a running fake API. All methods may be called at any time and from any goroutine.
type Server struct {
	o     Options
	http  *httptest.Server
	cache Cache
	end   context.CancelFunc // ends the context of every request

	mu       sync.Mutex
	closed   bool
	record   []Request
	changed  chan struct{} // closed and replaced whenever record changes
	decide   func(Request) (Step, bool)
	failures map[string]int           // by step: how often it has failed
	holds    map[string]chan struct{} // closed by Release
}

// Start listens on a free port of 127.0.0.1 and serves until Close, which is also called at the end
// of the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	s := &Server{o: o, end: end, changed: make(chan struct{}), failures: map[string]int{}, holds: map[string]chan struct{}{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.http.Start()
	t.Cleanup(s.Close)
	return s
}

// URL returns the base address, for ANTHROPIC_BASE_URL, without a trailing slash.
func (s *Server) URL() string { return s.http.URL }

// Close ends every connection, including held ones, and returns when all handlers have ended. It is
// idempotent.
func (s *Server) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		s.announce()
	}
	s.mu.Unlock()
	s.end()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Cached returns the prompt cache usage of all requests for an answer. The usage that an answer
// reports is up to its Step.
func (s *Server) Cached() Cached { return s.cache.Total() }

// Requests returns all requests so far, oldest first. The slice belongs to the caller, but the
// values that the requests point to are shared and must not be changed.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.record)
}

// ForModel returns the requests that ask the model for an answer.
func ForModel(all []Request) []Request {
	return slices.DeleteFunc(slices.Clone(all), func(r Request) bool { return !r.ForModel() })
}

// Wait blocks until holds returns true for the requests so far. It is called at once and again
// whenever a request arrives, gets an answer or ends. The error is ErrClosed or the context's, with
// a line about the requests so far.
func (s *Server) Wait(ctx context.Context, holds func([]Request) bool) error {
	for {
		s.mu.Lock()
		seen, changed, closed := slices.Clone(s.record), s.changed, s.closed
		s.mu.Unlock()
		if holds(seen) {
			return nil
		}
		if closed {
			return fmt.Errorf("wait for the claude command: %w; %s", ErrClosed, outline(seen))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the claude command: %w; %s", ctx.Err(), outline(seen))
		}
	}
}

// add records a request and returns its index.
func (s *Server) add(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = append(s.record, r)
	s.announce()
	return len(s.record) - 1
}

// update changes the record of the request at an index.
func (s *Server) update(at int, change func(*Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.record[at])
	s.announce()
}

// announce wakes all goroutines that wait for a change. The caller holds mu.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// outline describes the requests on one line.
func outline(seen []Request) string {
	if len(seen) == 0 {
		return "no request came"
	}
	lines := make([]string, len(seen))
	for i, r := range seen {
		lines[i] = fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status)
	}
	return "came: " + strings.Join(lines, ", ")
}

// Answer lets f decide about every request for the model. If f returns false, scripts decide. It is
// called concurrently and must neither block nor end the test (t.Fatal works only on the test's
// goroutine). A nil f removes it.
func (s *Server) Answer(f func(Request) (Step, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = f
}

// Release continues the step that is held under key, and every later one with that key, so an early
// release is not lost. Use another key to hold again.
func (s *Server) Release(key string) {
	held := s.hold(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-held:
	default:
		close(held)
	}
}

func (s *Server) hold(key string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds[key] == nil {
		s.holds[key] = make(chan struct{})
	}
	return s.holds[key]
}

// wait blocks until key is released.
func (s *Server) wait(ctx context.Context, key string) error {
	select {
	case <-s.hold(key):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RequireCLI returns the path of the real claude command: OLLIM_TEST_CLAUDE, or the one on PATH. If
// there is none, it skips the test, or fails it on a machine that should have one. It always fails the
// test if OLLIM_TEST_CLAUDE is set to a path that cannot be run.
func RequireCLI(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("OLLIM_TEST_CLAUDE"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			t.Fatalf("OLLIM_TEST_CLAUDE is not a command that can be run: %v", err)
		}
		return absolute(t, found)
	}
	found, err := exec.LookPath("claude")
	if err == nil {
		return absolute(t, found)
	}
	testkit.Missing(t, "the claude command: set OLLIM_TEST_CLAUDE to its path")
	return ""
}

// absolute makes a path independent of the folder, because tests start the command in their own.
func absolute(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// CLIEnv returns the complete environment for a claude command that talks only to s: private
// folders, and nothing from this machine's environment. The command must end before the test does,
// because its folders are removed.
func CLIEnv(t testing.TB, s *Server) []string {
	t.Helper()
	key := s.o.Key
	if key == "" {
		key = "test"
	}
	root := t.TempDir()
	folder := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return []string{
		"PATH=/usr/bin:/bin",
		"HOME=" + folder("home"),
		"CLAUDE_CONFIG_DIR=" + folder("config"),
		"TMPDIR=" + folder("tmp"),
		"ANTHROPIC_BASE_URL=" + s.URL(),
		"ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_MAX_RETRIES=3", // the default of 10 would take minutes
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"ENABLE_TOOL_SEARCH=false",
	}
}
