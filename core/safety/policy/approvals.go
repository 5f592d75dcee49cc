package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
)

// Patience is how long an approval waits for its answer.
const Patience = 60 * time.Second

const (
	maxAnswered = 80  // of the label of a late answer, in characters
	maxPending  = 100 // limit of pending approvals
	keptSettled = 100 // settled ones whose outcome is kept for late answers
)

// Verdict is how an approval ended. Allow, Always and Deny are the user's answers; Expired and
// Cancelled are denials without an answer. Front ends append the value to the label.
type Verdict string

// The verdicts.
const (
	Allow     Verdict = "allowed"
	Always    Verdict = "always allowed"
	Deny      Verdict = "denied"
	Expired   Verdict = "expired"
	Cancelled Verdict = "cancelled"
)

// Allows reports whether the tool may run.
func (v Verdict) Allows() bool { return v == Allow || v == Always }

// Request asks the user a question, usually about a tool call.
type Request struct {
	ID       string // if empty, the queue assigns one
	Question string // "Run this command?"; a picture (package visible)
	Text     string // everything the user needs to answer it; a picture
	Digest   string // of the call that runs if it is allowed; empty for other questions
	Call     string // the tool call as shown in the conversation; empty for other questions
	Tool     string // the bare name of the tool that Always allows; empty if there is no Always
	Command  string // the rule of the single command that Always allows instead of the whole tool
	Session  string // who asks, as shown to the user; may be empty
}

// Approval is a request on the queue, as an immutable value for snapshots.
type Approval struct {
	ID, Question, Call, Digest, Tool, Command, Session string

	Label        string       // question and text on one line of at most 2,000 characters
	Text         string       // everything the user needs to answer it, a picture with line breaks
	Asked, Until time.Time    // when it was asked and when it expires
	Verdict      Verdict      // empty while it waits
	By           audit.Origin // who settled it
}

// Scope returns what Always allows, as a label for a button: "this command", "this tool", or empty
// for a question without this answer.
func (a Approval) Scope() string {
	switch {
	case a.Tool == "":
		return ""
	case a.Command != "":
		return scopeCommand
	}
	return scopeTool
}

// Grant returns the effect of Always as a clause.
func (a Approval) Grant() string {
	switch {
	case a.Command != "":
		return grantCommand
	case a.Tool == toolset.Prefix+toolset.SendFile:
		return grantFiles
	}
	return fmt.Sprintf(grantTool, toolset.Name(a.Tool))
}

// maxLabel is the maximum length of a label, in UTF-16 units.
const maxLabel = 2000

// Asked returns the request as an approval pending since now.
func (r Request) Asked(now time.Time) Approval {
	question, text := clean.Line(r.Question), clean.Text(r.Text) // pictures are clean already
	return Approval{
		ID: r.ID, Question: question, Text: text, Label: labelOf(question, text), Call: clean.Line(r.Call), Digest: r.Digest,
		Tool: clean.Line(r.Tool), Command: r.Command, Session: clean.Line(r.Session), Asked: now, Until: now.Add(Patience),
	}
}

// labelOf returns a question on one clean line, with "⏎" for line breaks, which a picture does not contain
// otherwise. A very long one has its middle cut.
func labelOf(question, text string) string {
	line, _ := visible.Excerpt(clean.Line(question+" "+strings.ReplaceAll(text, "\n", " ⏎ ")), maxLabel)
	return line
}

// AnsweredError means that an answer came too late. It contains the settled approval.
type AnsweredError struct{ Approval Approval }

func (e *AnsweredError) Error() string {
	return fmt.Sprintf(textAnswered, clean.Cut(e.Approval.Label, maxAnswered), e.Approval.Verdict)
}

// ApprovalQueue contains the pending approvals. Several front ends may show and answer them; the
// first answer is the verdict. All methods are safe for concurrent use. Use newApprovalQueue.
type ApprovalQueue struct {
	always func(Approval)

	mu sync.Mutex
	// pending in the order they were asked, settled oldest first.
	pending   []*entry
	settled   []Approval
	listeners []func(Approval)
}

// byNobody is the origin of verdicts without an answer by the user.
var byNobody = audit.Origin{Actor: audit.Bot}

// entry is one waiting approval; done is closed when its verdict is set.
type entry struct {
	Approval
	done chan struct{}
}

// OnChange adds a listener, which is called with each approval when it is asked and again when it
// is settled, in this order, from the asking goroutine. A listener should return quickly; the time
// limit keeps running meanwhile.
func (q *ApprovalQueue) OnChange(f func(Approval)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.listeners = append(q.listeners, f)
}

// Ask puts a request on the queue and blocks until it is answered, for at most Patience. The end of
// ctx cancels it. If the request cannot be queued, Ask returns Cancelled and an error.
func (q *ApprovalQueue) Ask(ctx context.Context, r Request) (Verdict, error) {
	if ctx.Err() != nil {
		return Cancelled, nil
	}
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	e, err := q.put(r)
	if err != nil {
		return Cancelled, fmt.Errorf("ask for permission: %w", err)
	}
	// If a listener panics, the approval must not stay pending.
	defer q.resolve(e, Cancelled, byNobody)
	q.notify(q.copyOf(e))
	select {
	case <-e.done:
	case <-timer.C:
		q.resolve(e, Expired, byNobody)
	case <-ctx.Done():
		q.resolve(e, Cancelled, byNobody)
	}
	<-e.done // the first caller has set the verdict
	a := q.copyOf(e)
	q.notify(a)
	return a.Verdict, nil
}

func (q *ApprovalQueue) put(r Request) (*entry, error) {
	now := time.Now()
	if r.ID == "" {
		r.ID = store.NewID()
	}
	e := &entry{done: make(chan struct{}), Approval: r.Asked(now)}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) >= maxPending {
		return nil, fmt.Errorf(textTooMany, maxPending)
	}
	if slices.ContainsFunc(q.pending, func(p *entry) bool { return p.ID == r.ID }) {
		return nil, fmt.Errorf(textSameID, clean.Cut(clean.Line(r.ID), 40))
	}
	q.pending = append(q.pending, e)
	return e, nil
}

// copyOf returns a copy of the approval in its current state.
func (q *ApprovalQueue) copyOf(e *entry) Approval {
	q.mu.Lock()
	defer q.mu.Unlock()
	return e.Approval
}

func (q *ApprovalQueue) notify(a Approval) {
	q.mu.Lock()
	listeners := slices.Clone(q.listeners)
	q.mu.Unlock()
	for _, f := range listeners {
		f(a)
	}
}

// resolve settles an approval, once. It reports whether this verdict was the first.
func (q *ApprovalQueue) resolve(e *entry, v Verdict, by audit.Origin) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.pending, e)
	if i < 0 {
		return false
	}
	q.pending = slices.Delete(q.pending, i, i+1)
	if v == Always && e.Tool == "" {
		v = Allow
	}
	e.Verdict, e.By = v, by
	q.settled = append(q.settled, e.Approval)
	if n := len(q.settled) - keptSettled; n > 0 {
		q.settled = slices.Delete(q.settled, 0, n)
	}
	if v == Always {
		// Called under the lock, so that the tool is allowed before Ask returns. always only sets a
		// map entry and does not call back.
		q.always(e.Approval)
	}
	close(e.done)
	return true
}

func (q *ApprovalQueue) waiting(id string) *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.pending {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// Answer settles an approval with Allow, Always or Deny, on behalf of the origin in ctx. It does
// not wait for the goroutine that asked. A late answer returns an *AnsweredError.
func (q *ApprovalQueue) Answer(ctx context.Context, id string, v Verdict) error {
	if v != Deny && !v.Allows() {
		return fmt.Errorf(textNoVerdict, clean.Cut(clean.Line(string(v)), 40))
	}
	if e := q.waiting(id); e != nil && q.resolve(e, v, audit.OriginOf(ctx)) {
		return nil
	}
	a, ok := q.Outcome(id)
	if !ok {
		return fmt.Errorf(textNoApproval, clean.Cut(clean.Line(id), 40), keptSettled)
	}
	return &AnsweredError{Approval: a}
}

// CancelAll cancels all pending approvals: after an interrupt, for a new conversation, at a fork's
// exit, or at the end of the bot.
func (q *ApprovalQueue) CancelAll() {
	q.mu.Lock()
	waiting := slices.Clone(q.pending)
	q.mu.Unlock()
	for _, e := range waiting {
		q.resolve(e, Cancelled, byNobody)
	}
}

// Pending returns the pending approvals, oldest first.
func (q *ApprovalQueue) Pending() []Approval {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Approval, 0, len(q.pending))
	for _, e := range q.pending {
		out = append(out, e.Approval)
	}
	return out
}

// Outcome returns a settled approval if it is among the last hundred.
func (q *ApprovalQueue) Outcome(id string) (Approval, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range slices.Backward(q.settled) {
		if a.ID == id {
			return a, true
		}
	}
	return Approval{}, false
}
