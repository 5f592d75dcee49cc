// Package claude is the engine over the real "claude" command: one process for
// each session, spoken to in JSON lines (package wire) and kept by package
// process. It owns what a session is on that wire: how one is opened, resumed
// and forked, where a turn begins and ends, what its lines mean as events, and
// what a process may use.
//
// It must not know forks, budgets, Discord or the bot's files: what it knows of
// the bot are the callbacks that come with a session.
//
// Goroutines: every session has one that reads it (session.live). It belongs to
// the engine and has ended when Run returns, as have the processes.
package claude

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/config"
)

// Options of the engine.
type Options struct {
	// Path is the command. Empty: process.Find looks for it in Env.
	Path string
	// Env is the environment of the program; nil is os.Environ. What a process
	// gets of it is for process.Environment to say.
	Env []string
	// Process is what the environment carries of ours.
	Process process.Env
	// Control is the socket on which the commands of ours that a session's shell
	// calls reach the bot, which opens and serves it. Nil: those commands are on
	// their own.
	Control *control.Server
	// Sandbox puts the process of a session into its sandbox before it starts; see
	// process.Spec. Nil is none. Processes that run nothing for a model, as those
	// that log in or tell the version, are started as they are.
	Sandbox func(*exec.Cmd) (done func())
	// MemoryLimit is how many resident bytes one process may have before it is
	// ended, read whenever it matters; 0 sets no limit. Nil is none.
	MemoryLimit func() int64
	// Log may be nil.
	Log *slog.Logger
}

// Engine opens sessions with Claude. Use New.
type Engine struct {
	o Options
	// start begins a process; tests put pipes in its place.
	start func(process.Spec) (child, error)
	// begun is closed when Run has begun.
	begun chan struct{}
	// examined is closed when the command's version is known, or never will be.
	examined chan struct{}
	// background are the goroutines that outlive the call that started them:
	// Run waits for them.
	background sync.WaitGroup
	login      login
	ran        atomic.Bool // Run was called

	// ctx is that of Run, set before begun is closed: sessions may be opened until it
	// ends.
	ctx context.Context

	mu sync.Mutex
	// sessions are all whose process was not reaped yet, by id. A session that
	// is being opened holds its id with nil.
	sessions map[string]*session
	status   agent.Status
	unusable bool // the command is not to be started
	changed  func()
}

// The engine is all that package agent has a name for.
var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.Account        = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
)

// Misuse of the engine.
var (
	errNotRunning = errors.New(textNotRunning)
	errRanTwice   = errors.New("the engine was run twice")
)

// New returns an engine and starts nothing.
func New(o Options) *Engine {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.MemoryLimit == nil {
		o.MemoryLimit = func() int64 { return 0 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{
		o: o, begun: make(chan struct{}), examined: make(chan struct{}), sessions: map[string]*session{},
		start: func(s process.Spec) (child, error) { return process.Start(s) },
	}
}

// Run watches the processes until ctx ends, then ends every session and returns
// when nothing of them is left.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.begin(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.safely("version", func() { e.examine(ctx) }) })
	g.Go(func() error { return e.safely("watch", func() { e.watch(ctx) }) })
	err := g.Wait()
	cancel() // nothing is opened from here on
	e.end()
	return err
}

// begin ends what an earlier run of the program has left behind, before it
// lets sessions be opened: a process that was orphaned may still write to a
// session's history.
func (e *Engine) begin(ctx context.Context) error {
	if !e.ran.CompareAndSwap(false, true) {
		return errRanTwice
	}
	if mark := e.o.Process.Mark; mark != "" {
		if n, err := process.CollectOrphans(mark); n > 0 || err != nil {
			e.o.Log.Warn("processes of an earlier run were ended", "count", n, "error", err)
		}
	}
	e.ctx = ctx
	close(e.begun)
	return nil
}

// end closes all sessions at once and waits for everything of them.
func (e *Engine) end() {
	var g sync.WaitGroup
	for _, s := range e.opened() {
		g.Go(func() {
			if err := s.Close(); err != nil {
				e.o.Log.Warn("session did not close cleanly", "session", s.ID(), "error", err)
			}
		})
	}
	g.Wait()
	e.endLogin()
	e.background.Wait()
}

// safely runs f; a panic in it is logged and becomes an error.
func (e *Engine) safely(what string, f func()) error {
	err := fault.Guard("the engine: "+what, func() error { f(); return nil })()
	if err != nil {
		e.o.Log.Error("engine panicked", "error", err, "stack", fault.Stack(err))
	}
	return err
}

// later runs f in a goroutine that Run waits for. A panic in it is logged.
func (e *Engine) later(what string, f func()) {
	e.background.Go(func() { _ = e.safely(what, f) }) // safely has logged it
}

// waitBegun waits a moment for Run, which whoever wires the program starts
// beside the first Open.
func (e *Engine) waitBegun(ctx context.Context) error {
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	select {
	case <-e.begun:
	case <-limit.C:
		return errNotRunning
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.ctx.Err() != nil {
		return errNotRunning
	}
	return nil
}

// path is where the command is; the error says how to install it.
func (e *Engine) path() (string, error) {
	if e.o.Path != "" {
		return e.o.Path, nil
	}
	return process.Find(func(name string) string { return config.Lookup(e.o.Env, name) })
}

// env is the environment that a process gets, with what is its own.
func (e *Engine) env(own ...string) []string {
	o := e.o.Process
	o.Extra = slices.Concat(o.Extra, own)
	return process.Environment(e.o.Env, o)
}

// HasMessage reports whether a session's transcript holds a message whose text has
// this digest (agent.HistoryChecker). Only the session's own file is asked: what a fork
// has copied counts as heard by the fork. The CLI appends a message about 0.1 s
// after it has taken it, so that the last moment before a crash may be missing;
// a session without a file has heard nothing.
func (e *Engine) HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	files, err := transcripts(sessionfile.ConfigDir(e.env()), session)
	if err != nil {
		return false, fmt.Errorf("look for the transcript: %w", err)
	}
	for _, file := range files {
		heard, err := transcriptHolds(ctx, file, digest)
		if heard || err != nil {
			return heard, err
		}
	}
	return false, nil
}

// HasSession reports whether the command has a file of the session (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	files, err := transcripts(sessionfile.ConfigDir(e.env()), id)
	return err == nil && len(files) > 0
}

// transcripts are the files of a session, whichever directory it worked in.
func transcripts(configDir, session string) ([]string, error) {
	if session == "" || session != filepath.Base(session) || strings.ContainsRune(session, 0) {
		return nil, nil // no id that the CLI would give
	}
	projects := filepath.Join(configDir, sessionfile.Projects)
	folders, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, folder := range folders {
		file := filepath.Join(projects, folder.Name(), session+sessionfile.Ext)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			found = append(found, file)
		}
	}
	return found, nil
}

// transcriptHolds reads a transcript line by line; a line may have any length,
// and the last one may be torn.
func transcriptHolds(ctx context.Context, file string, digest [sha256.Size]byte) (bool, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the transcript: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		for _, text := range heardTexts(line) {
			if sha256.Sum256([]byte(text)) == digest {
				return true, nil
			}
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read the transcript: %w", err)
		case ctx.Err() != nil:
			return false, fmt.Errorf("read the transcript: %w", ctx.Err())
		}
	}
}

// heardTexts are the texts of the messages that a transcript's line holds: a
// user message, or one that was given to a running turn, which the CLI notes as
// an attachment.
func heardTexts(line []byte) []string {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		return nil // most lines; decoding a picture for nothing takes long
	}
	var l struct {
		Type      string `json:"type"`
		Sidechain bool   `json:"isSidechain"` // a subagent's
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Attachment struct {
			Type   string          `json:"type"`
			Prompt json.RawMessage `json:"prompt"`
		} `json:"attachment"`
	}
	if json.Unmarshal(line, &l) != nil || l.Sidechain {
		return nil
	}
	switch {
	case l.Type == "user":
		return sessionfile.Texts(l.Message.Content)
	case l.Type == "attachment" && l.Attachment.Type == "queued_command":
		return sessionfile.Texts(l.Attachment.Prompt)
	}
	return nil
}
