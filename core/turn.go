package core

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/policy"
	"ollimbot/core/prompt"
	"ollimbot/core/toolset"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/routines/schedule"
)

// stallAfter is how long a turn may be silent while nothing is pending before
// it is interrupted (a hung turn would hold the lock for good).
const stallAfter = 5 * time.Minute

// buildPrompt makes a turn's message of the updates that it delivers.
type buildPrompt func(now time.Time, u []updates.Update) string

// answer is one turn for a user's message, in the fork where there is one.
// ids are those of the messages that wait on disk. A turn that failed has told
// the user so, and the messages are theirs again; only the program's end leaves
// them waiting.
func (c *conversation) answer(ctx context.Context, m agent.Message, ids ...string) error {
	var err error
	if f := c.inFork(); f != nil {
		err = c.forkTurn(ctx, f, m)
	} else {
		build := func(now time.Time, u []updates.Update) string { return prompt.Main(now, u, m.Text) }
		err = c.mainTurn(ctx, build, incoming{images: m.Images, waiting: ids})
	}
	if ctx.Err() == nil {
		c.bot.taken(ids...)
	}
	return c.settle(ctx, err)
}

// incoming is what comes with a message beside its text.
type incoming struct {
	images  []agent.Image
	waiting []string // the ids under which it waits on disk
}

// send runs one turn of the main session for a foreground task. It waits for the
// lock like any message. An interactive fork stays open in front of it: what a
// task brings must not be thrown away with a fork.
func (c *conversation) send(ctx context.Context, build buildPrompt, d schedule.Due) error {
	return c.locked(ctx, func(ctx context.Context) error {
		c.tools.chainOf(d.Reminder)
		defer c.tools.chainOf(nil)
		c.confine(c.bot.guard.LimitOf(d.Task()))
		defer c.confine(nil)
		if f := c.inFork(); f != nil {
			return c.behindFork(ctx, f, build, d.Task().Title())
		}
		return c.settle(ctx, c.mainTurn(ctx, build, incoming{}))
	})
}

// confine binds the turn that runs to fewer rights; nil ends that.
func (c *conversation) confine(l *policy.Limit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = l
}

// mainTurn runs one turn of the main session. Updates are claimed when it
// starts and leave the queue once the engine has taken the message; a turn that
// never reached it leaves them pending.
func (c *conversation) mainTurn(ctx context.Context, build buildPrompt, in incoming) error {
	now := c.bot.now()
	c.begin(nil, now) // busy while the session opens
	defer c.end()
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	var text string
	d, err := c.bot.claim(ctx, func(u []updates.Update) updates.Delivery {
		text = build(now, u)
		return updates.NewDelivery(s.ID(), text, in.waiting)
	})
	if err != nil {
		return err
	}
	if n := len(d.Keys); n > 0 {
		c.bot.small(catchingUp(n))
	}
	c.begin(s, now)
	accepted := false
	t := &turn{c: c, session: s, accepted: func() error {
		accepted = true
		return c.bot.settle(d, true)
	}, ended: func(r agent.Result) error {
		return c.bot.sessions.SaveMain(c.bot.now(), sessionID(r, s))
	}}
	err = t.stream(ctx, agent.Message{Text: text, Images: in.images})
	if !accepted {
		c.bot.settleDelivery(ctx)
	}
	if err != nil {
		c.drop()
	}
	return err
}

// turn is one message on its way to a session, and what comes back.
type turn struct {
	c       *conversation
	session agent.Session
	// accepted is called with the first event, ended with the result.
	accepted func() error
	ended    func(agent.Result) error

	said  *answering
	shown answerIDs // under which the answer can be replied to
	// pending counts tools that run: while one does, silence is no stall.
	pending atomic.Int32
	cut     bool // the agent wants a fork: what it says now is dropped
	over    bool // and the turn should have ended
	// Whether the history was made shorter, and whether the turn was interrupted.
	compacted, interrupted bool
}

// stream sends the message and shows what comes back until the turn has ended.
func (t *turn) stream(ctx context.Context, m agent.Message) error {
	return t.follow(ctx, t.session.Send(ctx, m))
}

// follow shows a turn's events to their end.
func (t *turn) follow(ctx context.Context, events iter.Seq2[agent.Event, error]) error {
	t.said = t.c.bot.speak()
	// A fork that begins, or a history that was made shorter, needs no words; a
	// turn that failed has others.
	silent := true
	defer func() { t.said.end(silent, t.shown.add) }()
	stall := t.watchSilence(ctx)
	defer func() {
		if err := stall.end(); err != nil {
			t.c.bot.log.Error("the watch on a silent turn broke", "error", err)
		}
	}()
	first := true
	for ev, err := range events {
		if err != nil {
			return err
		}
		stall.heard()
		if first {
			first = false
			if err := t.accepted(); err != nil {
				t.c.bot.log.Error("delivered updates could not be removed", "error", err)
			}
			t.c.bot.notify()
		}
		if err := t.show(ctx, ev); err != nil {
			return err
		}
	}
	silent = t.cut || t.compacted || t.interrupted
	if t.interrupted && !t.cut && !t.said.empty() {
		t.said.append(textCutShort)
	}
	if !silent && t.said.empty() {
		t.c.bot.book.Add(transcript.Notice, textNoWords)
	}
	return nil
}

// silence is the watch on a turn: a goroutine that whoever follows the turn ends
// and waits for.
type silence struct {
	event chan struct{} // has room for one
	stop  context.CancelFunc
	group errgroup.Group
}

func (t *turn) watchSilence(ctx context.Context) *silence {
	ctx, stop := context.WithCancel(ctx)
	s := &silence{event: make(chan struct{}, 1), stop: stop}
	s.group.Go(fault.Guard("the watch on a silent turn", func() error {
		timer := time.NewTimer(stallAfter)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-s.event:
				timer.Reset(stallAfter)
			case <-timer.C:
				t.stalled(ctx)
			}
		}
	}))
	return s
}

// heard says that the turn is not silent.
func (s *silence) heard() {
	select {
	case s.event <- struct{}{}:
	default:
	}
}

// end ends the watch. Its error is a fault in it.
func (s *silence) end() error {
	s.stop()
	return s.group.Wait()
}

// stalled ends a turn that has been silent for too long.
func (t *turn) stalled(ctx context.Context) {
	if t.pending.Load() > 0 || ctx.Err() != nil {
		return
	}
	t.c.bot.notice(Warn, textStalled)
	if err := t.session.Interrupt(ctx); err != nil {
		t.c.bot.log.Error("silent turn was not interrupted", "error", err)
	}
}

// show puts one event on the transcript.
func (t *turn) show(ctx context.Context, ev agent.Event) error {
	t.cutForFork(ctx, ev)
	switch ev := ev.(type) {
	case agent.Text:
		if !t.cut {
			t.said.append(ev.Delta)
		}
	case agent.Rewind:
		if !t.cut {
			t.said.rewind(ev.Bytes)
		}
	case agent.ToolStart:
		t.pending.Add(1)
		if !t.cut {
			t.said.tool(t.label(ev), false)
		}
	case agent.ToolEnd:
		t.pending.Add(-1)
		if ev.Denied && !t.cut {
			t.said.tool(ev.Name, true)
		}
	case agent.Compacting:
		t.compacting(ev)
	case agent.Retry:
		t.word(fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second)))
	case agent.RateLimit:
		t.rateLimit(ev)
	case agent.Notice:
		t.c.bot.small(ev.Text)
	case agent.Result:
		return t.result(ev)
	}
	return nil
}

// cutForFork drops what is said once the agent has asked for a fork. Its tool ends
// the turn; one that goes on all the same, as behind a subagent, is interrupted.
func (t *turn) cutForFork(ctx context.Context, ev agent.Event) {
	t.cut = t.cut || t.c.forkWanted()
	goesOn := false
	switch ev := ev.(type) {
	case agent.ToolEnd:
		t.over = t.over || t.cut && ev.Name == toolset.Prefix+toolset.EnterFork
	case agent.Text, agent.ToolStart:
		goesOn = t.over
	}
	if !goesOn {
		return
	}
	t.over = false
	if err := t.session.Interrupt(ctx); err != nil {
		t.c.bot.log.Warn("turn was not interrupted for the fork", "error", err)
	}
}

// label is a tool call in a few words, with the subagent that makes it.
func (t *turn) label(ev agent.ToolStart) string {
	if ev.Subagent == "" {
		return toolset.Label(ev.Name, ev.Input)
	}
	return clean.Cut(clean.Line(ev.Subagent), 60) + ": " + toolset.Label(ev.Name, ev.Input)
}

// word says in the top line and on the other surface what holds the turn up.
func (t *turn) word(text string) {
	t.c.word(text)
	t.said.status(text)
}

func (t *turn) rateLimit(ev agent.RateLimit) {
	at := ev.Resets.In(t.c.bot.zone).Format("15:04")
	switch ev.Status {
	case "rejected":
		t.word(fmt.Sprintf(textRateLimit, at))
	case "allowed_warning":
		t.c.bot.notice(Warn, fmt.Sprintf(textNearLimit, at))
	}
}

// compacting shows that the history is being made shorter.
func (t *turn) compacting(ev agent.Compacting) {
	t.c.mu.Lock()
	t.c.compacting = !ev.Done
	t.c.mu.Unlock()
	t.compacted = true
	t.said.compacting(ev)
	if ev.Done {
		t.c.word("")
		t.c.bot.book.Add(transcript.Notice, compactedText(ev))
		return
	}
	t.c.word(compactingText(ev))
}

// result ends the turn. An interruption is not a failure.
func (t *turn) result(r agent.Result) error {
	t.c.bot.spent(r.Usage)
	if err := t.ended(r); err != nil {
		return fmt.Errorf("save the session id: %w", err)
	}
	t.interrupted = r.Interrupted
	if r.IsError && !r.Interrupted {
		return fmt.Errorf("the engine says: %s", r.Text)
	}
	if t.said.empty() && r.Text != "" && !t.cut {
		t.said.append(r.Text)
	}
	return nil
}

func sessionID(r agent.Result, s agent.Session) string {
	if r.SessionID != "" {
		return r.SessionID
	}
	return s.ID()
}
