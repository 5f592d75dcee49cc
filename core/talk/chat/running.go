package chat

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
)

// running is the turn that is running, of any session.
type running struct {
	guard   *policy.Guard
	reading *reading
	log     *slog.Logger
	changed func()

	mu sync.Mutex
	// session is the one whose turn is running, nil while it is being opened. since is when
	// the turn began, zero if none is running; status is a note for the top line.
	session agent.Session
	since   time.Time
	status  string
	// compacting keeps messages from interrupting the turn.
	compacting bool
	// cutOff means that the newest turn was interrupted.
	cutOff bool
	// behind is set during a turn of the main session while a fork is open.
	behind bool
	// may is what the turn may do.
	may policy.Turn
}

// Busy reports whether a turn is running, and since when.
func (r *running) Busy() (bool, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.since.IsZero(), r.since
}

// Status describes what delays the running turn, in a few words; empty if nothing does.
func (r *running) Status() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Interrupt ends the running turn, if there is one, and its open questions.
func (r *running) Interrupt(ctx context.Context) error {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return nil
	}
	r.guard.Approvals().CancelAll()
	if err := s.Interrupt(ctx); err != nil {
		return fmt.Errorf("interrupt the turn: %w", err)
	}
	return nil
}

// makeRoom interrupts the running turn for a new message, unless the turn is compacting
// or is a task's turn behind the fork that the message is for.
func (r *running) makeRoom(ctx context.Context) {
	r.mu.Lock()
	waits := r.compacting || r.behind
	r.mu.Unlock()
	if waits {
		return
	}
	if err := r.Interrupt(ctx); err != nil {
		r.log.Warn("running turn was not interrupted", "error", err)
	}
}

func (r *running) begin(s agent.Session, now time.Time) {
	r.mu.Lock()
	r.session, r.since, r.status, r.cutOff = s, now, "", false
	r.mu.Unlock()
	r.changed()
}

func (r *running) end() {
	r.mu.Lock()
	r.session, r.since, r.status, r.compacting = nil, time.Time{}, "", false
	r.mu.Unlock()
	r.guard.Rest()
	r.reading.ended()
	r.changed()
}

func (r *running) setStatus(s string) {
	r.mu.Lock()
	r.status = s
	r.mu.Unlock()
	r.changed()
}

// interrupted records that the turn was interrupted.
func (r *running) interrupted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutOff = true
}

// verdict returns the outcome for a message whose turn has ended with err.
func (r *running) verdict(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.cutOff {
		return command.ErrInterrupted
	}
	return err
}

// compact follows the compaction of the session's history.
func (r *running) compact(ev agent.Compacting) {
	r.mu.Lock()
	r.compacting, r.status = !ev.Done, ""
	if r.compacting {
		r.status = compactingText(ev)
	}
	r.mu.Unlock()
	r.changed()
}

func (r *running) goBehind(behind bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = behind
}

func (r *running) isBehind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.behind
}

// allow sets the rights of turns until the returned function is called. Otherwise turns
// count as unattended.
func (r *running) allow(t policy.Turn) (end func()) {
	set := func(t policy.Turn) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.may = t
	}
	set(t)
	return func() { set(policy.Turn{}) }
}

// attended is a turn started by the user.
var attended = policy.Turn{Attended: true}

// rights returns the rights of the running turn.
func (r *running) rights() policy.Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.may
}
