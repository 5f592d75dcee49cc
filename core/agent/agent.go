// Package agent defines the interface between the bot and a model. How a model is reached is up to
// the engine. An Engine opens sessions; a Session runs turns and reports them as events. The bot's
// tools, hooks and permission callback are bound to a session, so a call never has to be looked up.
//
// The package holds contracts only. It must not know forks, budgets, Discord or any particular
// model.
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
// Open may be called concurrently. It may take seconds because it may start a process; it respects
// ctx.
type Engine interface {
	// Open starts, resumes or forks a session and returns once it can take a message. A
	// session ID that cannot be resumed returns ErrNoSession.
	Open(ctx context.Context, o SessionOptions) (Session, error)
}

// Session is one conversation. All methods but Send may be called from any goroutine at any
// time.
type Session interface {
	// ID returns the session's ID. It is known at once if SessionOptions.ID was set, otherwise
	// after the first event at the latest.
	ID() string
	// Send runs one turn. Events arrive in order and end with a Result, or with an error as the
	// last pair; the engine ends a turn that has become silent. Only one turn can run at a time: do
	// not call Send again before the first turn has ended.
	Send(ctx context.Context, m Message) iter.Seq2[Event, error]
	// Interrupt ends the running turn and marks its Result as interrupted. It does nothing if no
	// turn is running.
	Interrupt(ctx context.Context) error
	// Configure changes the model, thinking or permission mode of the open session.
	Configure(ctx context.Context, s Settings) error
	// Close ends the session and its process. It is idempotent.
	Close() error
}

// ErrNoSession means that the engine does not know the session ID to resume.
var ErrNoSession = errors.New("no such session")

// Errors for misuse of a session.
var (
	ErrClosed   = errors.New("the session is closed")
	ErrTwoTurns = errors.New("a turn is still running: wait for its end before you send again")
)

// ErrUnavailable is wrapped in errors that every turn would currently hit: the model is
// unreachable, the user is not logged in, or the account is out of money. Another engine may be
// able to answer.
var ErrUnavailable = errors.New("the model is not available")

// SessionOptions describes the session to open.
type SessionOptions struct {
	// Resume is the ID of the session to continue; empty starts a new one.
	Resume string
	// Fork branches from Resume into a new session and leaves Resume unchanged.
	Fork bool
	// ID is the ID of a new or forked session (a UUID). If empty, the engine chooses one.
	ID string
	// Dir is the working directory of the model's own tools, which is the data directory.
	Dir string
	// SystemPrompt is appended to the engine's preset. BriefPrompt takes its place for a model with a window that has
	// no room for all of it; empty means that there is none.
	SystemPrompt, BriefPrompt string
	// Bare opens a session for a single question: SystemPrompt is the whole prompt, the only tools
	// are those below, Dir is not used, and no history is kept.
	Bare     bool
	Settings Settings
	// Tools are the bot's own tools, the same for every session.
	Tools []Tool
	// Allowed and Disallowed are tool patterns such as "Bash(ollim-bot tasks *)".
	Allowed, Disallowed []string
	Hooks               Hooks
	// Permission decides about tools that no pattern allows. If nil, they are denied.
	Permission func(ctx context.Context, u ToolUse) Decision
	// Command runs the bot's own command line when the model's shell calls it; args follow
	// "ollim-bot". It checks whether the session is allowed to, may block while the user decides,
	// and returns when ctx ends. If nil, every command is refused.
	Command func(ctx context.Context, args []string) CommandResult
	// OnEngineTurn is called in its own goroutine when the session starts a turn without a message,
	// such as after a background command has ended. Events are queued until they are read and never
	// delay Send. If nil, such turns are dropped.
	OnEngineTurn func(turn iter.Seq2[Event, error])
}

var idForm = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// CheckIDs returns ErrNoSession, with details, if an ID is not a UUID.
func (o SessionOptions) CheckIDs() error {
	for _, id := range []string{o.Resume, o.ID} {
		if id != "" && !idForm().MatchString(id) {
			return fmt.Errorf("%w: %.60q is not a session id", ErrNoSession, id)
		}
	}
	return nil
}

// Settings may change while a session is open. Empty fields mean the engine's default.
type Settings struct {
	Model    string // "opus", "sonnet", "haiku" or an engine's own name
	Thinking string // "off", "adaptive" or a number of tokens
	Mode     string // permission mode: "default", "acceptEdits", "bypassPermissions"
}

// With returns s with the non-empty fields of n.
func (s Settings) With(n Settings) Settings {
	return Settings{Model: cmp.Or(n.Model, s.Model), Thinking: cmp.Or(n.Thinking, s.Thinking), Mode: cmp.Or(n.Mode, s.Mode)}
}

// Message is a message from the user or from the bot's scheduler. Engines treat its text as plain
// text: "@path" and "/word" have no effect.
type Message struct {
	Text   string
	Images []Image
	// Command is a command of the engine itself, such as Compact, with Text as its
	// argument. Only the bot sets it; a user's text never becomes one.
	Command Command
}

// Command is an operation of an engine other than answering.
type Command string

// Compact is the command that shortens the history.
const Compact Command = "compact"

// Image is an encoded picture.
type Image struct {
	MediaType string // "image/png", "image/jpeg", "image/gif", "image/webp"
	Data      []byte
}

// Tool is one of the bot's tools, bound to the run that may call it.
type Tool struct {
	// Name has no prefix: "ping_user". On the wire it is "mcp__discord__ping_user".
	Name string
	// Server is the middle part of the wire name; empty means "discord".
	Server      string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	// Call runs the tool with the arguments that were approved. It is cancelled with the turn.
	Call func(ctx context.Context, a Approved) ToolResult
}

// ToolResult is a tool's answer: a text, never a Go error.
type ToolResult struct {
	Text    string
	IsError bool
	// EndTurn ends the turn with this result, without asking the model again.
	EndTurn bool
}

// CommandResult is a command's output and exit status.
type CommandResult struct {
	Stdout, Stderr string
	Exit           int
}

// Hooks run at fixed moments of a turn. Nil functions are skipped. A hook must not panic or fail:
// an internal error must become a denial.
type Hooks struct {
	// Stop runs when the model wants to end its turn. A non-empty reason keeps the turn going, but
	// only once: again is true if the turn continues because of a Stop hook.
	Stop func(ctx context.Context, again bool) (blockReason string)
	// PreTool runs before any tool, including allowed ones.
	PreTool func(ctx context.Context, u ToolUse) Decision
	// PostTool runs after a tool has succeeded.
	PostTool func(ctx context.Context, u ToolUse)
	// Afford runs before a turn that has already used tokens makes another request. It may block
	// while the user decides. A non-empty stop ends the turn; otherwise allowed is passed back in
	// Spending.Allowed the next time.
	Afford func(ctx context.Context, s Spending) (allowed float64, stop string)
	// Charge books what requests to a model have used, once, as soon as it is known, whatever
	// becomes of their turn. It may be called concurrently, and must return soon.
	Charge func(Charge)
}

// Charge is what one request to a model has used, or several of which only the sum is known.
type Charge struct {
	Model string // empty if unknown
	// Used has a cost if the engine knows it. Otherwise the cost follows from the price of the
	// model, unless it is free.
	Used Usage
	Part Part
	// About means that the request broke off and Used is estimated. Unknown means that nothing is
	// known but that there was a request.
	About, Unknown bool
	// Plan means that the user has a subscription, and would pay this much without one.
	Plan bool
}

// Part is the part of a turn that a request belongs to.
type Part string

// The parts of a turn.
const (
	Main       Part = "" // the conversation itself
	Subagent   Part = "subagent"
	Compaction Part = "compaction"
)

// Spending is a turn's usage before its next request, including subagents and answers that broke
// off and were requested again.
type Spending struct {
	Model string
	Used  Usage
	// Allowed is the amount in dollars that an earlier Afford allowed for this turn.
	Allowed float64
}

// HistoryChecker is an Engine that can determine after a crash whether a session's history contains
// a message. Without it, a message whose delivery is uncertain counts as not received and its
// content is delivered again.
type HistoryChecker interface {
	// HasMessage reports whether the session has received a message whose text has this SHA-256
	// digest. It may read files; it is called once, at startup.
	HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error)
}

// Keeper is an Engine that can tell whether it knows a session.
type Keeper interface {
	// HasSession reports whether the engine could resume the session. It may access the file
	// system.
	HasSession(id string) bool
}

// Reporter is an Engine with a status.
type Reporter interface {
	// Status returns the current status. It never blocks.
	Status() Status
	// OnChange sets the function to call after the status has changed. It is called once, before
	// any other method. The function must not block.
	OnChange(changed func())
}

// Runner is an Engine with background work, such as watching its processes. Run blocks until ctx
// ends and everything it started, including sessions, has ended. It must be called once, before
// Open.
type Runner interface {
	Run(ctx context.Context) error
}

// Account is an Engine that needs a login.
type Account interface {
	// Login starts a login and returns the address that the user must open. The login waits for
	// Finish until the engine ends; a second Login replaces it.
	Login(ctx context.Context) (url string, err error)
	// Finish completes a login with the code shown on the page.
	Finish(ctx context.Context, code string) error
}

// Status is an engine's state. The zero value is unknown.
type Status struct {
	// Name is the name of the engine in use, if there are several.
	Name string
	// Version is the version of the program behind the engine, or empty.
	Version string
	// Warning is one line about a possible problem, such as an untested version, or empty.
	Warning string
	// Problem is one line, with the cure, about what prevents sessions; empty if there is none.
	Problem string
	// LoginNeeded means that the problem is a missing login. LoginURL is the address of a login in
	// progress.
	LoginNeeded bool
	LoginURL    string
	// Models returns the models the engine knows; it may be nil. It is a function because the
	// status is read for every frame but the models only rarely.
	Models func() []Model
	// Processes are the processes of the engine.
	Processes []Process
}

// Model describes a model.
type Model struct {
	// Names are all its names; "" is the engine's default.
	Names []string
	// AlwaysThinks means that thinking cannot be switched off. OwnMeasure means that the model
	// decides how much to think and ignores the number of tokens.
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
	Session string // its session
	Memory  int64  // resident bytes; 0 if unknown
	Started time.Time
}
