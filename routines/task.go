package routines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"ollimbot/routines/leeway"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

// Kind is the kind of a task.
type Kind string

// The kinds of tasks. Webhooks are one because prompts and forks handle them alike.
const (
	KindRoutine  Kind = "routine"
	KindReminder Kind = "reminder"
	KindWebhook  Kind = "webhook"
)

// Mode is the value of update-main-session.
type Mode string

// The four reporting modes; OnPing is the default.
const (
	Always  Mode = "always"
	OnPing  Mode = "on_ping"
	Freely  Mode = "freely"
	Blocked Mode = "blocked"
)

// Task holds the keys that routines and reminders share.
type Task struct {
	Kind        Kind
	ID          string
	Path        string // relative to the data directory, with forward slashes
	Description string // cleaned; may be empty
	Body        string // the prompt, trimmed
	Background  bool
	Model       string // "", "opus", "sonnet", "haiku", or with its provider "local/qwen3"
	Thinking    bool   // default true
	Isolated    bool
	Mode        Mode
	AllowPing   bool // default true
	// Allowed and Disallowed are nil when the key is absent. At most one is set.
	Allowed, Disallowed []string
	Skills              []string
	Subagent            string
	// TrustInput is `trust-input: true` (ours): the run keeps its tools after reading
	// untrusted input.
	TrustInput bool
	// Critical is `critical: true` (ours): the task runs even when a spending cap stops the
	// others.
	Critical bool
	// Essential is `essential: true` (ours): the first ping of a fire bypasses the budget,
	// and if no model is available, the user gets the file's own text.
	Essential bool
	// Check is `check:` (ours): a command or tool call (CheckCall) that decides before each
	// fire whether the task needs to run.
	Check string
	// Says is `say: check` (ours): what the check prints is sent to the user as it is, and no
	// model is asked.
	Says bool
	// Leeway is `window` and `jitter` (ours): how far the fire time may vary.
	Leeway leeway.Rule
	// Waits is why the task needs the user's approval before it may fire, or empty. The
	// index sets it (Folder.JudgeBy); it is not part of the file.
	Waits string
	// Script is the version of the script of its check that awaits approval, or empty. What
	// sets Waits sets it, too.
	Script string
	// Proposed is the agent's edit in the task's file that awaits approval, while this
	// earlier text stays in force. The index sets it.
	Proposed Proposal
	// Digest identifies the version of the file the task was read from: the SHA-256 of its
	// bytes in hexadecimal digits.
	Digest string
}

// Digest returns the digest of a file's bytes, as in Task.Digest.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Routine fires on a cron schedule until its file is removed.
type Routine struct {
	Task
	Cron     string           // the expression as the file has it
	Schedule recur.Recurrence // the expression and what narrows and bounds it
	// RunMissed is `missed: run` (ours): a fire missed while the bot was down runs once,
	// late, if it is at most Late old.
	RunMissed bool
	// Late is `late` (ours): how old a missed fire may be that still runs.
	Late time.Duration
}

// Zones returns the names of the zones that routines have of their own.
func Zones(list []*Routine) (names []string) {
	for _, r := range list {
		if r.Schedule.Zone != nil {
			names = append(names, r.Schedule.Zone.String())
		}
	}
	return names
}

// UsualLate is how old a missed fire may be that `missed: run` still runs, unless `late` says otherwise.
const UsualLate = 12 * time.Hour

// Reminder fires once and is removed after its run.
type Reminder struct {
	Task
	RunAt       time.Time // in the configured zone
	ChainDepth  int
	MaxChain    int    // 0: one-shot; N: up to N follow-ups, N+1 checks
	ChainParent string // id of the first reminder of the chain, or empty
	// UntilDone is `until: done` (ours): the reminder repeats, as the next check of its own
	// chain, until the user presses one of its buttons.
	UntilDone bool
	// Again is the number of minutes between repetitions.
	Again int
	// FirstAt is the original due time of a reminder that has repeated; zero before the
	// first repetition.
	FirstAt time.Time
	// LastWord marks the last repetition: when due, the reminder ends without a run.
	LastWord bool
	// Ahead is `ahead` (ours): what is sent before the reminder is due, the earliest first.
	Ahead []when.Ahead
}

// Ours says what the original program does not know and does otherwise; empty if there is nothing.
func (r *Reminder) Ours() string {
	if len(r.Ahead) == 0 {
		return ""
	}
	return noteAhead
}

// Early is a moment before a reminder is due, at which it sends a text.
type Early struct {
	when.Ahead
	At time.Time
}

// Early returns the moments before the reminder is due, the earliest first. A repetition has none.
func (r *Reminder) Early() []Early {
	if !r.FirstAt.IsZero() {
		return nil
	}
	list := make([]Early, len(r.Ahead))
	for i, a := range r.Ahead {
		list[i] = Early{a, a.Before(r.RunAt)}
	}
	slices.SortStableFunc(list, func(a, b Early) int { return a.At.Compare(b.At) })
	return list
}

// LeewayAt returns the leeway of a fire at a time. A snoozed or repeated reminder has
// none, because someone chose its time.
func (r *Reminder) LeewayAt(at time.Time) leeway.Rule {
	if r.FirstAt.IsZero() && at.Equal(r.RunAt) && r.Leeway.Fits(at) {
		return r.Leeway
	}
	return leeway.Rule{}
}

// First returns the reminder's original due time.
func (r *Reminder) First() time.Time {
	if r.FirstAt.IsZero() {
		return r.RunAt
	}
	return r.FirstAt
}

// Label returns the reminder's label in schedules: "Reminder", "Reminder until done", or
// its place in a chain, "Chain reminder (1/3)".
func (r *Reminder) Label() string {
	if r.UntilDone {
		return "Reminder until done"
	}
	if r.MaxChain > 0 {
		return fmt.Sprintf("Chain reminder (%d/%d)", r.ChainDepth+1, r.MaxChain+1)
	}
	return "Reminder"
}

// ErrUnrecorded is wrapped in the error of a failed run that could not be recorded
// either, for example on a full disk. The reminder is then kept and retried.
var ErrUnrecorded = errors.New("the run could not be recorded")

// ErrNothingNew is returned for a fire whose check found no reason to run.
var ErrNothingNew = errors.New("the check found nothing new")

// ErrNothingSaid is returned for a fire whose check should have printed the message and printed none.
var ErrNothingSaid = errors.New("the check printed nothing, so nothing was sent")

// ErrCutOff is returned for a run that the user ended early, by stopping it or with their next
// message. It is not repeated.
var ErrCutOff = errors.New("interrupted by you")

// Severity of a problem.
type Severity string

// Errors keep a file out of the schedule; warnings do not.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem describes what is wrong with a file and how to fix it.
type Problem struct {
	File     string   `json:"file"`   // relative to the data directory
	Line     int      `json:"line"`   // 1-based; 0 for the whole file
	Column   int      `json:"column"` // 1-based, in runes; 0 for the whole line
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // cleaned, one line, with the cure
	// Kept is when the version was kept that stays in force until the file is mended; zero if none does.
	Kept time.Time `json:"kept,omitzero"`
	// Lacks says in two words, such as "no skill", what the task needs and the bot does not have;
	// "" for a problem in the file itself.
	Lacks string `json:"lacks,omitempty"`
	// Waits means that the file is valid but inactive until the user approves it.
	Waits bool `json:"waits,omitempty"`
	// Version is the Digest of a file that needs approval.
	Version string `json:"version,omitempty"`
	// Proposed is set if the text before that version stays in force.
	Proposed Proposal `json:"proposed,omitzero"`
}

// Keeping returns the problem with the version of its file that stays in force, which was kept at a time.
func (p Problem) Keeping(at time.Time) Problem {
	p.Kept, p.Message = at, p.Message+fmt.Sprintf(msgKept, at.Format(time.DateOnly))
	return p
}

// Position returns file:line:column, as far as known.
func (p Problem) Position() string {
	at := p.File
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			at += fmt.Sprintf(":%d", p.Column)
		}
	}
	return at
}
