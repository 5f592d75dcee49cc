// Package agent says what the bot needs from a model, and nothing about how a
// model is reached. An Engine opens sessions; a Session runs turns and says
// what happens in them as events; the bot's tools, hooks and permission
// callback travel with the session that they are bound to, so that a call is
// known by the object it arrives at and is never looked up.
//
// The package holds contracts only. It must not know forks, budgets, Discord
// or any particular model.
package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"ollimbot/core/base/lazyregexp"
)

// Engine opens sessions with a model.
//
// Open may be called from several goroutines at once. It may take seconds (a
// process is started); it respects ctx.
type Engine interface {
	// Open starts, resumes or forks a session and returns once it can take a
	// message. A session id that cannot be resumed gives ErrNoSession.
	Open(ctx context.Context, o SessionOptions) (Session, error)
}

// Session is one conversation. All methods but Send may be called from any
// goroutine at any time.
type Session interface {
	// ID is the session's id: known at once when SessionOptions.ID was given,
	// otherwise at the latest when the first event has arrived.
	ID() string
	// Send runs one turn. Events arrive in order and end with a Result, or with
	// an error as the last pair; it is the engine that ends a turn which has become
	// silent. One turn at a time: a second Send waits for nobody and must not be
	// made before the first has ended.
	Send(ctx context.Context, m Message) iter.Seq2[Event, error]
	// Interrupt ends the running turn; its Result says Interrupted. Without a
	// running turn it does nothing.
	Interrupt(ctx context.Context) error
	// Configure changes model, thinking or permission mode while it lives.
	Configure(ctx context.Context, s Settings) error
	// Close ends the session and what stands behind it. It is idempotent.
	Close() error
}

// ErrNoSession says that the session id to resume is unknown to the engine.
var ErrNoSession = errors.New("no such session")

// Misuse of a session.
var (
	ErrClosed   = errors.New("the session is closed")
	ErrTwoTurns = errors.New("a turn is under way: wait for its end before sending again")
)

// ErrUnavailable is part of an error that would meet every turn just now: the model
// cannot be reached, nobody is logged in, or no money is left. Another engine may
// answer.
var ErrUnavailable = errors.New("the model is not available")

// SessionOptions describes the session to open.
type SessionOptions struct {
	// Resume is the id of the session to continue; empty starts a fresh one.
	Resume string
	// Fork branches from Resume into a new session and leaves Resume alone.
	Fork bool
	// ID is the id of a new or forked session (a UUID). Empty: the engine's choice.
	ID string
	// Dir is the working directory of the model's own tools: the data directory.
	Dir string
	// SystemPrompt is appended to the engine's preset.
	SystemPrompt string
	// Bare is for one question: SystemPrompt is all that the model is told, it has
	// no tools but those below, knows nothing of Dir, and no history is kept.
	Bare     bool
	Settings Settings
	// Tools are the bot's own tools, the same for every session.
	Tools []Tool
	// Allowed and Disallowed are tool patterns such as "Bash(ollim-bot tasks *)".
	Allowed, Disallowed []string
	Hooks               Hooks
	// Permission decides tools that no pattern allows. Nil denies them.
	Permission func(ctx context.Context, u ToolUse) Decision
	// Command runs the bot's own command line where the model's shell calls it:
	// the arguments behind "ollim-bot". It decides by itself whether the session
	// may, can block while a person thinks, and ends with ctx. Nil refuses.
	Command func(ctx context.Context, args []string) CommandResult
	// OnEngineTurn is called in a goroutine of its own when the session has begun a
	// turn that nobody sent a message for, such as when a command in the
	// background has ended. Its events are kept until they are read, however long
	// that takes; Send never waits for it. Nil drops such turns.
	OnEngineTurn func(turn iter.Seq2[Event, error])
}

var idForm = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// CheckIDs gives ErrNoSession, with words, where an id is no UUID.
func (o SessionOptions) CheckIDs() error {
	for _, id := range []string{o.Resume, o.ID} {
		if id != "" && !idForm().MatchString(id) {
			return fmt.Errorf("%w: %.60q is not a session id", ErrNoSession, id)
		}
	}
	return nil
}

// Settings may change while a session lives. Empty fields mean the default of
// the engine.
type Settings struct {
	Model    string // "opus", "sonnet", "haiku" or an engine's own name
	Thinking string // "off", "adaptive" or a number of tokens
	Mode     string // permission mode: "default", "acceptEdits", "bypassPermissions"
}

// With is s with the fields of n that are set.
func (s Settings) With(n Settings) Settings {
	return Settings{Model: cmp.Or(n.Model, s.Model), Thinking: cmp.Or(n.Thinking, s.Thinking), Mode: cmp.Or(n.Mode, s.Mode)}
}

// Message is one message of the user or of the bot's scheduler. Its text is
// nothing but text to the engine: neither "@path" nor "/word" in it is obeyed.
type Message struct {
	Text   string
	Images []Image
	// Command is a command of the engine itself, Compact or Cost, with Text as its
	// argument. The bot sets it deliberately; words of a user never become one.
	Command Command
}

// Command is something that an engine does besides answering.
type Command string

// The commands of an engine.
const (
	Compact Command = "compact" // makes the history shorter
	Cost    Command = "cost"    // says what the session has used
)

// Image is a picture in its own format.
type Image struct {
	MediaType string // "image/png", "image/jpeg", "image/gif", "image/webp"
	Data      []byte
}

// Tool is one tool of the bot, bound to the run that may call it.
type Tool struct {
	// Name is bare: "ping_user". On the wire it is "mcp__discord__ping_user".
	Name string
	// Server is the name in the middle; empty means "discord".
	Server      string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	// Call runs the tool. It is cancelled with the turn.
	Call func(ctx context.Context, args json.RawMessage) ToolResult
}

// ToolResult is what a tool answers: one text, never an error of the program.
type ToolResult struct {
	Text    string
	IsError bool
	// EndTurn ends the turn with this result: the model is not asked for more.
	EndTurn bool
}

// CommandResult is what a command has printed, and its exit status.
type CommandResult struct {
	Stdout, Stderr string
	Exit           int
}

// ToolUse is one call of a tool as hooks and the permission callback see it.
type ToolUse struct {
	ID    string
	Name  string // "Bash", "Write", "mcp__discord__ping_user"
	Input json.RawMessage
}

// Decision answers a permission request or a PreTool hook.
type Decision struct {
	Allow  bool
	Reason string // told to the model when it was denied
	// Ask is for PreTool hooks that allow: Permission must be asked, also where
	// the engine would let the call pass by itself.
	Ask bool
}

// Hooks run at fixed moments of a turn. Nil functions are skipped. None may
// panic or fail: a fault inside a hook must be turned into a denial.
type Hooks struct {
	// Stop runs when the model wants to end its turn. A non-empty reason blocks
	// the end, once: again is true when the turn goes on because of a Stop hook.
	Stop func(ctx context.Context, again bool) (blockReason string)
	// PreTool runs before any tool, the allowed ones too.
	PreTool func(ctx context.Context, u ToolUse) Decision
	// PostTool runs after a tool has succeeded.
	PostTool func(ctx context.Context, u ToolUse)
}

// HistoryChecker is an Engine that can tell, after a crash, whether a session's
// history holds a message. Without one, a message whose fate is unknown counts
// as not taken, and what it carried is delivered again.
type HistoryChecker interface {
	// HasMessage reports whether the session has taken a message whose text has this
	// SHA-256 digest. It may read files; it is asked once, at start.
	HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error)
}

// Keeper is an Engine that knows its sessions again.
type Keeper interface {
	// HasSession reports whether the engine could resume the session. It may look for
	// files.
	HasSession(id string) bool
}

// Reporter is an Engine that can say how it stands.
type Reporter interface {
	// Status is how the engine stands now. It never blocks.
	Status() Status
	// OnChange sets what is called after the status has changed. It is set once,
	// before anything else, and must not block.
	OnChange(changed func())
}

// Runner is an Engine with work in the background, such as watching what its
// processes use. Run blocks until ctx ends and everything it has started,
// sessions too, has ended. It must be called once, and before Open.
type Runner interface {
	Run(ctx context.Context) error
}

// Account is an Engine that somebody must be logged in to.
type Account interface {
	// Login begins a login and answers with the address that the user must open.
	// The login waits for Finish for as long as the engine runs; a second Login
	// replaces it.
	Login(ctx context.Context) (url string, err error)
	// Finish ends a login with the code that the page has shown.
	Finish(ctx context.Context, code string) error
}

// Status is how an engine stands. The zero value knows nothing yet.
type Status struct {
	// Name is that of the engine that answers, where there are several; else empty.
	Name string
	// Version is that of the program behind the engine, or empty.
	Version string
	// Warning is one line about something that works but may not, such as a
	// version that was never tried. Empty when there is nothing to say.
	Warning string
	// Problem is one line, with the cure, about what keeps sessions from working;
	// empty when they work.
	Problem string
	// LoginNeeded says that the problem is a missing login. LoginURL is the
	// address of a login that has begun.
	LoginNeeded bool
	LoginURL    string
	// Models asks what is known of the engine's models; nil knows none. A status is
	// wanted for every frame, its models hardly ever.
	Models func() []Model
	// Processes are what runs on the engine's behalf.
	Processes []Process
}

// Model is what an engine tells of a model.
type Model struct {
	// Names are all that it can be asked for by; "" is the engine's own choice.
	Names []string
	// AlwaysThinks says that thinking cannot be switched off; OwnMeasure that the
	// model thinks as much as it needs, whatever number of tokens is set.
	AlwaysThinks, OwnMeasure bool
}

// Model finds a model by one of its names.
func (s Status) Model(name string) (Model, bool) {
	if s.Models == nil {
		return Model{}, false
	}
	models := s.Models()
	i := slices.IndexFunc(models, func(m Model) bool { return slices.Contains(m.Names, name) })
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}

// Process is one process of an engine.
type Process struct {
	PID     int
	Session string // the session it holds
	Memory  int64  // resident bytes; 0 where unknown
	Started time.Time
}
