// Package messages is the engine for the Messages API. It talks HTTP to Anthropic or to any server
// with the same API, and runs the model's tools itself, under the session's hooks and permissions.
// It owns a session on that wire: its history, its requests, the answers, and how a turn continues
// until it ends.
//
// It must not know forks, budgets, Discord or the bot's files: it reaches the bot only through a
// session's callbacks.
//
// # Sent bytes never change
//
// New models check that the text before their thinking has not changed by a byte, and a provider's
// cache matches bytes too. So a session is a file that only grows, a fork is its parent's name, a
// length and its own tail, and a request is made from the bytes of these files, not from decoded
// values. Tools and system prompt are frozen at the start of a conversation and shared by
// everything that branches off: the hook refuses tools that a run may not use, and changes of the
// prompt are sent with the next message. A compacted history is a new beginning in the same file,
// and taking back a turn is one more line. Cache marks are inserted when a request is sent. The
// fork of a long chain is a full copy, so a session is never read from more than 17 files. Copying
// the history for each fork took 365 MB, compared with 38 MB this way.
//
// # A turn
//
// A request streams; the answer is assembled block by block, shown while it arrives, and appended
// as one line when it is complete. Calls pass lists, hook and permission. Those that change nothing
// run concurrently, and all results are one message. An answer that broke off is requested again
// and its text is taken back; one that was interrupted keeps its text. Anything that a turn, a
// crash or a fork of a running turn leaves open is closed before the next message.
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
	// Providers are the servers and their models.
	Providers *provider.Registry
	// Env is the environment of the model's shell; nil means os.Environ.
	Env []string
	// Control is the socket that connects commands in a session's shell to the bot. May be nil.
	Control *control.Server
	// Sandbox sandboxes a command of the model; see tools.Options. May be nil.
	Sandbox func(tmp string, cmd *exec.Cmd) (done func())
	// Sight returns what that sandbox shows; see tools.Options. If nil, everything is visible.
	Sight func() (sees func(path string, write bool) bool)
	// Others reports whether another engine could replace an unreachable server. If so, the engine
	// gives up after seconds rather than minutes. May be nil.
	Others func() bool
	// Transport sends requests; if nil, the engine creates one.
	Transport http.RoundTripper
	// Log may be nil.
	Log *slog.Logger
}

// Engine opens sessions with the models of its providers. Use New.
type Engine struct {
	o      Options
	client *http.Client

	mu sync.Mutex
	// sessions are the open sessions, by ID. An ID that is being opened maps to nil.
	sessions map[string]*session
	ended    bool
	problem  string // why the newest request failed, if the user has to act
	// cuts are the windows of models as they turned out, in tokens: smaller than providers.yaml says.
	cuts    map[string]int
	changed func()
}

var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
	_ agent.Keeper         = (*Engine)(nil)
)

var errEnded = errors.New(textEnded)

// New returns an engine and starts nothing.
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
	return &Engine{o: o, client: client, sessions: map[string]*session{}, cuts: map[string]int{}}
}

// find returns a model by its name, with the window that it turned out to have.
func (e *Engine) find(name string) (provider.Provider, provider.Model, error) {
	p, m, err := e.o.Providers.Find(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	if window := e.cuts[m.FullName()]; window > 0 {
		m.Window = min(m.Window, window)
	}
	return p, m, err
}

// learn records that a model's window is smaller than expected.
func (e *Engine) learn(m provider.Model) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cuts[m.FullName()] = m.Window
}

func (e *Engine) forget(id string) {
	e.mu.Lock()
	delete(e.sessions, id)
	e.mu.Unlock()
}

// history opens a session's history.
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

// HasMessage reports whether a session has received a message whose text has this digest
// (agent.HistoryChecker).
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

// HasSession reports whether the session has a file (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	if id == "" || id != filepath.Base(id) {
		return false
	}
	info, err := os.Stat(e.o.Dir.Path(history.Folder + "/" + strings.ToLower(id) + history.Ext))
	return err == nil && info.Mode().IsRegular()
}

// Status returns the engine's status.
func (e *Engine) Status() agent.Status {
	e.mu.Lock()
	st := agent.Status{Problem: e.problem, Models: e.models}
	e.mu.Unlock()
	if err := e.o.Providers.Ready(); err != nil {
		st.Problem = err.Error()
	}
	return st
}

// models returns the known models.
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

// OnChange sets the function to call after the status has changed.
func (e *Engine) OnChange(changed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = changed
}

// setProblem records the reason that prevents sessions; empty means none.
func (e *Engine) setProblem(text string) {
	e.mu.Lock()
	news, changed := e.problem != text, e.changed
	e.problem = text
	e.mu.Unlock()
	if news && changed != nil {
		changed()
	}
}
