package routines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
)

// Kind tells what a task is.
type Kind string

// The kinds of tasks. Webhooks share the type because prompts and forks do.
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

// Task is what routines and reminders have in common.
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
	// TrustInput is `trust-input: true` (ours): the run keeps its tools when it has
	// read what strangers write.
	TrustInput bool
	// Critical is `critical: true` (ours): the task runs also where a cap on money holds
	// the others.
	Critical bool
	// Essential is `essential: true` (ours): the first ping of a fire is beside the budget, and
	// the file's own words reach the user where no model can.
	Essential bool
	// MayWait is `may-wait: true` (ours): a run is one request without tools, which may be
	// answered up to a day later at half the price.
	MayWait bool
	// Check is `check:` (ours): a command, or a call (CheckCall), that decides before each fire
	// whether there is anything to run for.
	Check string
	// Leeway is `window` and `jitter` (ours): what the task leaves open about its time.
	Leeway leeway.Rule
	// Waits is why the task does not fire until its user says so; empty for all that
	// may. An index tells it (Folder.JudgeBy), no file does.
	Waits string
	// Proposed is an edit of the agent's that waits for the user in the task's file while this
	// text, the one before it, stays in force. An index tells it.
	Proposed Proposal
	// Digest is the SHA-256 of the file's bytes in hexadecimal digits, where the
	// task comes from a file: which version of it this is.
	Digest string
}

// Digest is that of a file's bytes, as Task.Digest has it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Routine fires by cron until its file is removed.
type Routine struct {
	Task
	Cron     string
	Schedule cron.Schedule
	// RunMissed is true for `missed: run` (ours): a fire that fell while the bot
	// was down runs once, late, if no older than 12 hours.
	RunMissed bool
}

// Reminder fires once and is removed after its run.
type Reminder struct {
	Task
	RunAt       time.Time // in the configured zone
	ChainDepth  int
	MaxChain    int    // 0: one-shot; N: up to N follow-ups, N+1 checks
	ChainParent string // id of the first reminder of the chain, or empty
	// UntilDone is `until: done` (ours): it comes back, as the next check of its own
	// chain, until its user presses one of its buttons.
	UntilDone bool
	// Again is after how many minutes it does.
	Again int
	// FirstAt is when it was due before it came back for the first time; zero until then.
	FirstAt time.Time
	// LastWord says that it came for the last time: when it is due it ends, without a run.
	LastWord bool
}

// LeewayAt is what the reminder leaves open about a fire of its: nothing about one that was
// snoozed or has come back, whose time somebody chose.
func (r *Reminder) LeewayAt(at time.Time) leeway.Rule {
	if r.FirstAt.IsZero() && at.Equal(r.RunAt) && r.Leeway.Fits(at) {
		return r.Leeway
	}
	return leeway.Rule{}
}

// First is when the reminder was due at first.
func (r *Reminder) First() time.Time {
	if r.FirstAt.IsZero() {
		return r.RunAt
	}
	return r.FirstAt
}

// Label is the reminder's word in schedules: "Reminder", "Reminder until done", or its
// place in a chain, "Chain reminder (1/3)".
func (r *Reminder) Label() string {
	if r.UntilDone {
		return "Reminder until done"
	}
	if r.MaxChain > 0 {
		return fmt.Sprintf("Chain reminder (%d/%d)", r.ChainDepth+1, r.MaxChain+1)
	}
	return "Reminder"
}

// ErrUnrecorded is part of what the run of a task returns that failed and of which
// nothing could be written down, as on a full disk. A reminder is kept then, and
// tried again.
var ErrUnrecorded = errors.New("the run could not be recorded")

// ErrNothingNew is returned for a fire whose check found nothing to run for.
var ErrNothingNew = errors.New("the check found nothing new")

// ErrNoSpace is part of what the run of a task returns that failed because the disk is
// full.
var ErrNoSpace = errors.New("the disk is full")

// Severity of a problem.
type Severity string

// Errors keep a file out of the schedule; warnings do not.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is what is wrong with a file and how to cure it.
type Problem struct {
	File     string   `json:"file"`   // relative to the data directory
	Line     int      `json:"line"`   // 1-based; 0 where the whole file is meant
	Column   int      `json:"column"` // 1-based, in runes; 0 where the whole line is meant
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // cleaned, one line, says the cure
	// Waits says that the file is in order and does nothing until its user says so.
	Waits bool `json:"waits,omitempty"`
	// Version is that of a file that waits: its Digest.
	Version string `json:"version,omitempty"`
	// Proposed is set if the text before that version stays in force.
	Proposed Proposal `json:"proposed,omitzero"`
}

// Position is file:line:column, as far as known.
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
