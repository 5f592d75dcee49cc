package chat

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// turns shows the turns of any session to the user.
type turns struct {
	poster   *poster
	running  *running
	fork     *forkState
	settings *settings
	notices  *notice.Board
	money    Money
	zone     *time.Location
	log      *slog.Logger
	// alive records a sign of life.
	alive func()
}

// turn consumes the events with which a session answers a message.
type turn struct {
	*turns
	session agent.Session
	read    *policy.Taint // what the session has read
	inFork  bool
	kind    post.Kind // of the answer, and with cause what it is about (post.Post)
	cause   string
	updates int // how many updates the message brings
	// accepted is called with the first event, ended with the result, and shown, if set,
	// with the ids under which the answer can be replied to.
	accepted func() error
	ended    func(agent.Result) error
	shown    func(ids []post.MessageID)

	reply *reply
	cut   bool // the agent wants a fork, so the rest of its answer is dropped
	over  bool // and the turn should have ended
	// Whether the history was compacted, and whether the turn was interrupted.
	compacted, interrupted bool
	notes                  []string // what the engine has reported
	// found are the calls made through the tool search, by ID: their end events do not name
	// the tool.
	found map[string]string
	// open are the labels of calls that have not ended, by their IDs.
	open map[string]string
}

// consume shows all events of a turn.
func (t *turn) consume(ctx context.Context, events iter.Seq2[agent.Event, error]) (err error) {
	defer t.money.Began(t.inFork)()
	t.reply = t.poster.newReply(t.kind, t.cause)
	if t.updates > 0 { // for the remote surface it is a status, which goes when the answer comes
		t.poster.transcript.Add(transcript.Notice, catchingUp(t.updates))
		t.reply.status(catchingUp(t.updates))
	}
	// A new fork or a compacted history needs no answer; a failed turn has an error.
	emptyIsFine := true
	defer func() {
		t.report(err)
		t.reply.entry.Label(t.read.Label())
		t.poster.answering.CompareAndSwap(t.reply, nil)
		t.reply.end(emptyIsFine, t.shown)
	}()
	waits := true
	for ev, err := range events {
		t.alive()
		if err != nil {
			return err
		}
		if waits && arrived(ev) {
			waits = false
			if err := t.accepted(); err != nil {
				t.log.Error("delivered updates could not be removed", "error", err)
			}
			t.running.changed()
		}
		if err := t.show(ctx, ev); err != nil {
			return err
		}
	}
	emptyIsFine = t.cut || t.compacted || t.interrupted || len(t.notes) > 0 || t.reply.beside.Load()
	switch {
	case !t.interrupted || t.cut:
	case t.reply.empty(): // a tool was running, or there was no output yet
		t.poster.transcript.Add(transcript.Notice, textInterrupted)
	default:
		t.reply.append(openBlock(t.reply.entry.Text()) + textCutShort)
	}
	if !emptyIsFine && t.reply.empty() {
		t.poster.transcript.Add(transcript.Notice, textNoWords)
	}
	if t.interrupted {
		for _, label := range t.open {
			t.reply.entry.Interrupted(label)
		}
		if !t.cut {
			t.running.interrupted()
		}
		return ctx.Err() // interrupted because the bot stops, which a task must know
	}
	return nil
}

// arrived reports whether an event proves that the message is in the session. While an
// engine is waiting or compacting, the message may still be returned.
func arrived(ev agent.Event) bool {
	switch ev := ev.(type) {
	case agent.Retry, agent.RateLimit, agent.Compacting, agent.Notice:
		return false
	case agent.Result:
		return !ev.IsError
	}
	return true
}

// show adds one event to the reply.
func (t *turn) show(ctx context.Context, ev agent.Event) error {
	t.cutForFork(ctx, ev)
	switch ev := ev.(type) {
	case agent.Text:
		if !t.cut {
			t.reply.append(ev.Delta)
		}
	case agent.Rewind:
		if !t.cut {
			t.reply.rewind(ev.Bytes)
		}
	case agent.ToolStart:
		if !t.cut {
			t.reply.tool(t.label(ev), false)
			t.called(ev)
		}
	case agent.ToolEnd:
		delete(t.open, ev.ID)
		if ev.Denied && !t.cut {
			t.reply.tool(cmp.Or(t.found[ev.ID], ev.Name), true)
		}
	case agent.Compacting:
		t.compacting(ev)
	case agent.Retry:
		t.setStatus(fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second)))
	case agent.RateLimit:
		t.rateLimit(ev)
	case agent.Notice:
		t.note(ev.Text)
	case agent.Result:
		return t.result(ev)
	}
	return nil
}

// note shows what the engine reports. The remote surface gets it at the end of the turn: by then it is known whether
// an answer comes beside it.
func (t *turn) note(text string) {
	t.poster.transcript.Add(transcript.Notice, t.poster.hide(text))
	t.notes = append(t.notes, text)
}

// report shows the engine's reports on the remote surface. They ring if there is neither an answer nor an error.
func (t *turn) report(err error) {
	k := post.KindTrouble
	if err != nil || !t.reply.empty() || t.reply.beside.Load() {
		k = post.KindAside
	}
	for _, text := range t.notes {
		t.poster.away(k, text)
	}
}

// cutForFork drops the answer once the agent has asked for a fork. The tool ends the
// turn; a turn that continues anyway, for example after a subagent, is interrupted.
func (t *turn) cutForFork(ctx context.Context, ev agent.Event) {
	t.cut = t.fork.requested()
	continues := false
	switch ev := ev.(type) {
	case agent.ToolEnd:
		t.over = t.over || t.cut && ev.Name == toolset.Prefix+toolset.EnterFork
	case agent.Text, agent.ToolStart:
		continues = t.over
	}
	if !continues {
		return
	}
	t.over = false
	if err := t.session.Interrupt(ctx); err != nil {
		t.log.Warn("turn was not interrupted for the fork", "error", err)
	}
}

// called records a started call, and which tool a call through the tool search runs.
func (t *turn) called(ev agent.ToolStart) {
	if t.open == nil {
		t.open, t.found = map[string]string{}, map[string]string{}
	}
	t.open[ev.ID] = t.label(ev)
	if ev.Name == toolset.Call {
		t.found[ev.ID] = toolset.Label(ev.Name, ev.Input)
	}
}

// label describes a tool call in a few words, with the subagent that made it.
func (t *turn) label(ev agent.ToolStart) string {
	if ev.Subagent == "" {
		return toolset.Label(ev.Name, ev.Input)
	}
	return clean.Cut(clean.Line(ev.Subagent), 60) + ": " + toolset.Label(ev.Name, ev.Input)
}

// setStatus shows what delays the turn in the top line and on the remote surface.
func (t *turn) setStatus(text string) {
	t.running.setStatus(text)
	t.reply.status(text)
}

func (t *turn) rateLimit(ev agent.RateLimit) {
	at := ev.Resets.In(t.zone).Format("15:04")
	switch ev.Status {
	case "rejected":
		t.setStatus(fmt.Sprintf(textRateLimit, at))
	case "allowed_warning":
		t.notices.Add(notice.Warn, fmt.Sprintf(textNearLimit, at))
	}
}

// compacting shows that the history is being compacted.
func (t *turn) compacting(ev agent.Compacting) {
	t.compacted = true
	t.running.compact(ev)
	t.reply.compacting(ev)
	if ev.Done {
		t.poster.transcript.Add(transcript.Notice, compactedText(ev))
	}
}

// result ends the turn. An interruption is not a failure.
func (t *turn) result(r agent.Result) error {
	if err := t.ended(r); err != nil {
		return fmt.Errorf("save the session id: %w", err)
	}
	t.interrupted = r.Interrupted
	if r.Stopped != "" {
		t.note(r.Stopped)
	}
	if r.IsError && !r.Interrupted {
		return fmt.Errorf("the engine says: %s", r.Text)
	}
	if t.reply.empty() && r.Text != "" && !t.cut {
		t.reply.append(r.Text)
	}
	return nil
}

// sessionID returns a session's id after a turn.
func sessionID(r agent.Result, s agent.Session) string {
	return cmp.Or(r.SessionID, s.ID())
}

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
