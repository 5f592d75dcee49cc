package claude

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/queue"
)

// turnEvent is one element of a turn's sequence.
type turnEvent struct {
	event agent.Event
	err   error
}

// eventQueue carries a turn's events from the session's goroutine to the reader of the turn. The
// session never waits for the reader, and a late reader misses nothing. A reader that leaves
// abandons the queue.
type eventQueue struct{ *queue.Queue[turnEvent] }

func newEventQueue() eventQueue { return eventQueue{queue.New[turnEvent]()} }

// put adds an event unless the consumer has left.
func (q eventQueue) put(e agent.Event) { q.Push(turnEvent{event: e}) }

// end adds the last event.
func (q eventQueue) end(e agent.Event) {
	q.put(e)
	q.Close()
}

// fail ends the turn with an error.
func (q eventQueue) fail(err error) {
	q.Push(turnEvent{err: err})
	q.Close()
}

// turn is one turn of the CLI and its events.
type turn struct {
	events eventQueue
	tr     *translator
	// uuid is the message's UUID; it is empty for a turn that started by itself.
	uuid    string
	command agent.Command
	// since is when the message was written or the turn started by itself.
	since time.Time
	// echoed means that the CLI has echoed our message in this turn, which proves that the turn is
	// ours.
	echoed bool
	// stopped is when the turn was asked to end, and signalled when SIGINT was sent for it. Both
	// are zero before that.
	stopped, signalled time.Time
	// forced is the result of a turn that the bot ends itself; nil otherwise.
	forced *agent.Result
}

// flow is the state of the conversation with a CLI between two lines. It is guarded by session.mu.
//
// The rules were found by experiment. A turn starts with system/init, or with status "compacting"
// before it, and ends with a result. Our message is echoed only with the first complete block of
// the answer, after its deltas, and commands are not echoed at all, so the echo does not mark the
// start. A turn that starts by itself is announced by a task_notification between session_state
// "running" (or the result before it) and init. So a turn is ours if a message is waiting and there
// was no announcement. An echo in another turn means that our message joined its tool loop, and
// from then on that turn is ours too.
type flow struct {
	current *turn // receives the lines
	waiting *turn // its message was written and its turn has not started
	// running is the last session_state_changed.
	running bool
	// announced is the summary of a task_notification between turns.
	announced string
	selfBegun bool
	// over is when the last turn ended.
	over time.Time
}

// quiet reports whether a message can be written: nothing is running or waiting, and the CLI has
// reported that it is idle. Without that report, a second after the last result is enough; wait is
// the time until then.
func (f *flow) quiet(now time.Time) (ok bool, wait time.Duration) {
	if f.busy() {
		return false, 0
	}
	if !f.running {
		return true, 0
	}
	if wait = f.over.Add(idleSoon).Sub(now); wait <= 0 {
		return true, 0
	}
	return false, wait
}

// busy reports whether a turn is running or waiting.
func (f *flow) busy() bool { return f.current != nil || f.waiting != nil }

// idleSoon is how long the state "idle" may take after a result; it takes 1 ms.
const idleSoon = time.Second

// notLoggedIn is the class of failures that a login or another key cures.
const notLoggedIn = "authentication_failed"

// result returns the event that ends a turn, without session and usage. stopped means that it was
// interrupted; forced explains why, if the bot did that itself. Only is_error marks a failure: the
// subtype is "success" for most failures and an error for interruptions.
func (t *translator) result(r wire.Result, stopped bool, forced *agent.Result) agent.Result {
	// An interrupted command of the CLI does not report the interruption.
	interrupted := r.Interrupted() || stopped && forced == nil && r.TerminalReason == "" && t.command != ""
	end := agent.Result{Text: r.Text, Turns: r.NumTurns}
	switch {
	case forced != nil && (interrupted || r.IsError || forced.Stopped != ""):
		end = *forced
		end.Text, end.Turns = cmp.Or(end.Text, t.last()), r.NumTurns
	case interrupted:
		end.Interrupted = true
	case r.IsError:
		end.IsError, end.Text = true, failureText(r, t.failure)
		end.Unavailable = unavailable(r, t.failure)
	}
	return end
}

// unavailable reports whether every turn would currently fail in this way.
func unavailable(r wire.Result, class string) bool {
	if noMoney(r, class) {
		return true
	}
	switch class {
	case notLoggedIn, "rate_limit", "overloaded", "server_error":
		return true
	}
	return r.APIErrorStatus == http.StatusUnauthorized ||
		r.APIErrorStatus == http.StatusTooManyRequests || r.APIErrorStatus >= http.StatusInternalServerError
}

// noCredit is the API's message about an empty account, which arrives as an invalid request.
const noCredit = "credit balance is too low"

// noMoney reports whether the account has no money left.
func noMoney(r wire.Result, class string) bool {
	return class == "billing_error" || r.APIErrorStatus == http.StatusPaymentRequired ||
		strings.Contains(strings.ToLower(r.Text+strings.Join(r.Errors, " ")), noCredit)
}

// failureText describes the failure on one line, with the cure if it is known.
func failureText(r wire.Result, class string) string {
	said := short(r.Text)
	if said == "" {
		said = short(strings.Join(r.Errors, " | "))
	}
	switch {
	case class == notLoggedIn && r.APIErrorStatus == 0:
		return textLoggedOut
	case class == notLoggedIn, r.APIErrorStatus == http.StatusUnauthorized:
		if said != "" {
			said = " (" + said + ")"
		}
		return textBadKey + said
	case noMoney(r, class):
		return fmt.Sprintf(textNoMoney, cmp.Or(said, textNoReason))
	case r.TerminalReason == "prompt_too_long":
		return textLongPrompt
	case said == "":
		return textNoWords
	}
	return said
}

// silence returns the step that is due. heard is when the last line arrived, pending the number of
// the bot's running callbacks.
func (t *turn) silence(now, heard time.Time, pending int) step {
	switch {
	case !t.signalled.IsZero():
		return due(now, t.signalled, obeyWithin, stepEnd)
	case !t.stopped.IsZero():
		return due(now, newer(t.stopped, heard), obeyWithin, stepSignal)
	case pending > 0:
		return stepNone
	}
	if tools, _ := t.tr.working(); tools {
		return stepNone
	}
	return due(now, newer(t.since, heard).Add(t.tr.retry.Delay()), t.patience(), stepInterrupt)
}

// patience is how long the turn may be silent now.
func (t *turn) patience() time.Duration {
	if _, subagents := t.tr.working(); subagents || t.tr.compacting || t.command != "" {
		return slowAfter
	}
	return stallAfter
}

// step is what to do with a silent turn.
type step int

const (
	stepNone step = iota
	stepInterrupt
	stepSignal
	stepEnd
)

func due(now, since time.Time, limit time.Duration, s step) step {
	if now.Sub(since) < limit {
		return stepNone
	}
	return s
}

func newer(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
