// Package script is an engine like any other, only that no model stands behind
// it: it plays the small script that a prompt's body holds (docs/script-engine.md),
// and without one it improvises from the prompt's words. It goes through the
// same tools, hooks and permission callback as a model would, so the demo, the
// tests and a run without an account exercise the real paths.
//
// It must not know forks, budgets or the bot's files: what it knows of the bot
// stands in the prompt and comes back from the tools. Of its own it keeps a
// journal of what it was told, as a model keeps its sessions.
package script

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/store"
)

const (
	// keptSessions and keptTurns bound what is remembered: the oldest go first.
	keptSessions = 200
	keptTurns    = 50
	// defaultModel is the name that stands for no model at all.
	defaultModel = "offline"
)

// Options of the engine. The zero value plays without any waiting.
type Options struct {
	// Seed makes the improvisation repeatable: the same seed and prompt give the
	// same words and calls.
	Seed uint64
	// Pace scales every wait, those of a script too: 1 is the pace of a quick
	// model, 0.1 ten times faster, 0 waits for nothing.
	Pace float64
	// Dir is where it is written down which session was told what, so that it is
	// known after a crash; nil remembers nothing.
	Dir *store.Dir
	// Priced leaves open what the tokens cost, so that they count as those of a model
	// would; otherwise they are free.
	Priced bool
}

// Engine opens sessions that live in memory. Use New.
type Engine struct {
	o Options

	mu sync.Mutex
	// sessions is what each session id remembers, order the ids by age.
	sessions map[string][]exchange
	order    []string
}

// exchange is one finished turn: the beginnings of what was said, and the size of
// all of it in characters.
type exchange struct {
	Asked, Answered string
	size            int
}

// newExchange keeps copies of the beginnings: nothing reads the rest, an answer
// can be as long as a tail, and the question is a part of a longer prompt.
func newExchange(asked, answered string, size int) exchange {
	return exchange{Asked: strings.Clone(clean.Cut(asked, keptWords)), Answered: clean.Cut(answered, keptWords), size: size}
}

// keptWords is how much of a question and of an answer is kept, in characters.
const keptWords = 4 << 10

// New returns an engine.
func New(o Options) *Engine {
	return &Engine{o: o, sessions: map[string][]exchange{}}
}

// Open starts, resumes or forks a session. An id that is not a UUID gives
// agent.ErrNoSession; a UUID that this engine has never seen is resumed with an
// empty history, because an engine without a memory on disk cannot know better.
func (e *Engine) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open an offline session: %w", err)
	}
	if err := o.CheckIDs(); err != nil {
		return nil, fmt.Errorf("open an offline session: %w", err)
	}
	history := e.recall(o.Resume)
	id := o.Resume
	if o.Resume == "" || o.Fork {
		if id = o.ID; id == "" {
			id = store.NewUUID()
		}
	}
	e.remember(id, history)
	return &session{engine: e, id: id, o: o, settings: o.Settings, history: history}, nil
}

func (e *Engine) recall(id string) []exchange {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[id]
}

// remember stores a history, which nobody changes in place.
func (e *Engine) remember(id string, history []exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.sessions[id]; !known {
		e.order = append(e.order, id)
		if len(e.order) > keptSessions {
			delete(e.sessions, e.order[0])
			e.order = e.order[1:]
		}
	}
	e.sessions[id] = history
}
