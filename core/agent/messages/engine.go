package messages

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/store"
)

// Options of the engine.
type Options struct {
	// Dir is the data directory; sessions are kept in its state/sessions.
	Dir *store.Dir
	// Providers are who can be asked, and their models.
	Providers *provider.Registry
	// Env is what the model's shell gets of the environment; nil is os.Environ.
	Env []string
	// Control is the socket on which the commands of ours that a session's shell
	// calls reach the bot. Nil: those commands are on their own.
	Control *control.Server
	// Sandbox puts a command of the model into its fence; see tools.Options. Nil is none.
	Sandbox func(tmp string, cmd *exec.Cmd) (done func())
	// Sight tells tools for files what that fence shows; see tools.Options. Nil shows
	// everything.
	Sight func() (sees func(path string, write bool) bool)
	// Others reports whether somebody else answers where a server cannot be reached: then
	// it is given up after seconds, not minutes. Nil is nobody.
	Others func() bool
	// Transport sends requests; nil is one of the engine's own.
	Transport http.RoundTripper
	// Log may be nil.
	Log *slog.Logger
}

// Engine opens sessions with the models of its providers. Use New.
type Engine struct {
	o      Options
	client *http.Client

	mu sync.Mutex
	// sessions are all that are open, by id. One that is being opened holds its id
	// with nil.
	sessions map[string]*session
	ended    bool
	problem  string // why the newest request failed, where a cure is needed
	changed  func()
}

var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
	_ agent.Keeper         = (*Engine)(nil)
)

var errEnded = errors.New(textEnded)

// New returns an engine. It reads and starts nothing.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Others == nil {
		o.Others = func() bool { return false }
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 5 * time.Minute, TLSHandshakeTimeout: 15 * time.Second,
		}
	}
	client := &http.Client{Transport: o.Transport, CheckRedirect: provider.CheckRedirect}
	return &Engine{o: o, client: client, sessions: map[string]*session{}}
}

func (e *Engine) forget(id string) {
	e.mu.Lock()
	delete(e.sessions, id)
	e.mu.Unlock()
}

// history opens what a session was told so far.
func (e *Engine) history(id string, o agent.SessionOptions) (h *history.History, err error) {
	dir := e.o.Dir.Path(history.Folder)
	switch {
	case o.Bare:
		return history.New("", id)
	case o.Resume == "":
		return history.New(dir, id)
	case o.Fork:
		h, err = history.Fork(dir, strings.ToLower(o.Resume), id)
	default:
		h, err = history.Open(dir, id)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", agent.ErrNoSession, o.Resume)
	}
	return h, err
}

// HasMessage reports whether a session has taken a message whose text has this
// digest (agent.HistoryChecker).
func (e *Engine) HasMessage(_ context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	if session == "" || session != filepath.Base(session) {
		return false, nil
	}
	took, err := history.Took(e.o.Dir.Path(history.Folder), strings.ToLower(session), func(text string) bool { return sha256.Sum256([]byte(text)) == digest })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return took, err
}

// HasSession reports whether there is a file of the session (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	if id == "" || id != filepath.Base(id) {
		return false
	}
	info, err := os.Stat(e.o.Dir.Path(history.Folder + "/" + strings.ToLower(id) + history.Ext))
	return err == nil && info.Mode().IsRegular()
}

// Status is how the engine stands.
func (e *Engine) Status() agent.Status {
	e.mu.Lock()
	st := agent.Status{Problem: e.problem, Models: e.models}
	e.mu.Unlock()
	if err := e.o.Providers.Ready(); err != nil {
		st.Problem = err.Error()
	}
	return st
}

// models are what can be told of those that can be asked.
func (e *Engine) models() (list []agent.Model) {
	for i, p := range e.o.Providers.Providers() {
		for j, m := range p.Models {
			of := agent.Model{
				Names:        append([]string{m.Name, m.FullName()}, m.Aliases...),
				OwnMeasure:   m.Thinking.Style == provider.AdaptiveThinking,
				AlwaysThinks: m.Thinking.Style == provider.AdaptiveThinking && m.Thinking.Off == "",
			}
			if i == 0 && j == 0 {
				of.Names = append(of.Names, "")
			}
			list = append(list, of)
		}
	}
	return list
}

// OnChange sets what is called after the status has changed.
func (e *Engine) OnChange(changed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = changed
}

// setProblem notes what keeps sessions from working; empty is nothing.
func (e *Engine) setProblem(text string) {
	e.mu.Lock()
	news, changed := e.problem != text, e.changed
	e.problem = text
	e.mu.Unlock()
	if news && changed != nil {
		changed()
	}
}
