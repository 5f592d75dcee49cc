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

// running is the turn that runs, of whichever session.
type running struct {
	guard   *policy.Guard
	reading *reading
	log     *slog.Logger
	changed func()

	mu sync.Mutex
	// session is the one whose turn runs, nil while it is being opened; since is when
	// the turn began, zero when none runs; status is a note for the top line.
	session agent.Session
	since   time.Time
	status  string
	// compacting keeps messages from interrupting the turn.
	compacting bool
	// cutOff is whether the newest turn was interrupted.
	cutOff bool
	// behind is set during a turn of the main session while a fork is open.
	behind bool
	// may is what the turn may do.
	may policy.Turn
}

// Busy reports whether a turn runs, and since when.
func (r *running) Busy() (bool, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.since.IsZero(), r.since
}

// Status is what delays the running turn, in a few words; empty when nothing does.
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

// makeRoom interrupts the running turn for a new message, unless it is compacting or
// is a task's turn behind the fork that the message is for.
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

// interrupted records that the turn has been interrupted.
func (r *running) interrupted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutOff = true
}

// verdict is how a message fared whose turn has ended with err.
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

// allow sets what the turns may do until the returned function is called. Other turns are
// those that nobody attends.
func (r *running) allow(t policy.Turn) (end func()) {
	set := func(t policy.Turn) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.may = t
	}
	set(t)
	return func() { set(policy.Turn{}) }
}

// attended is a turn that the user has begun.
var attended = policy.Turn{Attended: true}

// rights is what the running turn may do.
func (r *running) rights() policy.Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.may
}
