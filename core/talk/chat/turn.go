package chat

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
)

// Prompt makes a turn's message of the updates that it delivers.
type Prompt func(now time.Time, u []updates.Update) string

// answer is one turn for a user's message, in the fork where there is one.
// ids are those of the messages that wait on disk. A turn that failed has told
// the user so, and the messages are theirs again; only the program's end leaves
// them waiting.
func (c *Conversation) answer(ctx context.Context, m agent.Message, ids ...string) error {
	if why := c.mayTalk(ctx); why != nil {
		if ctx.Err() == nil {
			c.forget(ids...)
			c.SystemNote(why.Error())
		}
		return nil
	}
	var err error
	if f := c.inFork(); f != nil {
		err = c.forkTurn(ctx, f, m)
	} else {
		build := func(now time.Time, u []updates.Update) string { return prompt.Main(now, u, m.Text) }
		err = c.mainTurn(ctx, build, incoming{images: m.Images, waiting: ids})
	}
	if ctx.Err() == nil {
		c.forget(ids...)
	}
	return c.afterTurn(ctx, err)
}

// mayTalk is Options.MayTalk.
func (c *Conversation) mayTalk(ctx context.Context) error {
	if c.o.MayTalk == nil {
		return nil
	}
	return c.o.MayTalk(ctx)
}

// Ask queues a turn for words of the program's own in the user's name.
func (c *Conversation) Ask(text string) error {
	return c.later(func(ctx context.Context) error { return c.answer(ctx, agent.Message{Text: text}) })
}

// incoming is what comes with a message beside its text.
type incoming struct {
	images  []agent.Image
	waiting []string // the ids under which it waits on disk
}

// RunTask runs one turn of the main session for a foreground task. It waits for its
// turn like any message. An interactive fork stays open in front of it: what a
// task brings must not be thrown away with a fork.
func (c *Conversation) RunTask(ctx context.Context, build Prompt, d schedule.Due) error {
	return c.do(ctx, func(ctx context.Context) error {
		c.tools.chainOf(d.Reminder)
		defer c.tools.chainOf(nil)
		c.confine(c.o.Guard.LimitOf(d.Task()))
		defer c.confine(nil)
		if f := c.inFork(); f != nil {
			return c.behindFork(ctx, f, build, d.Task().Title())
		}
		return c.afterTurn(ctx, c.mainTurn(ctx, build, incoming{}))
	})
}

// confine binds the turn that runs to fewer rights; nil ends that.
func (c *Conversation) confine(l *policy.Limit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = l
}

// mainTurn runs one turn of the main session. Updates are claimed when it
// starts and leave the queue once the engine has taken the message; a turn that
// never reached it leaves them pending.
func (c *Conversation) mainTurn(ctx context.Context, build Prompt, in incoming) error {
	now := c.now()
	c.begin(nil, now) // busy while the session opens
	defer c.end()
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	var text string
	d, err := c.claim(ctx, func(u []updates.Update) updates.Delivery {
		text = build(now, u)
		return updates.NewDelivery(s.ID(), text, in.waiting)
	})
	if err != nil {
		return err
	}
	if n := len(d.Keys); n > 0 {
		c.SystemNote(catchingUp(n))
	}
	c.begin(s, now)
	accepted := false
	t := &turn{c: c, session: s, accepted: func() error {
		accepted = true
		return c.endDelivery(d, true)
	}, ended: func(r agent.Result) error {
		return c.o.Sessions.SaveMain(c.now(), sessionID(r, s))
	}}
	err = t.consume(ctx, s.Send(ctx, agent.Message{Text: text, Images: in.images}))
	if !accepted {
		c.recoverDelivery(ctx)
	}
	if err != nil {
		c.drop()
	}
	return err
}

// turn is one message on its way to a session, and what comes back.
type turn struct {
	c       *Conversation
	session agent.Session
	fork    *interactive // nil for a turn of the main session
	// accepted is called with the first event, ended with the result.
	accepted func() error
	ended    func(agent.Result) error

	reply *replyWriter
	cut   bool // the agent wants a fork: what it says now is dropped
	over  bool // and the turn should have ended
	// Whether the history was made shorter, and whether the turn was interrupted.
	compacted, interrupted bool
}

// consume shows a turn's events to their end.
func (t *turn) consume(ctx context.Context, events iter.Seq2[agent.Event, error]) error {
	t.reply = t.c.newReply()
	// A fork that begins, or a history that was made shorter, needs no words; a
	// turn that failed has others.
	silent := true
	defer func() { t.reply.end(silent, t.remember()) }()
	first := true
	for ev, err := range events {
		t.c.hear()
		if err != nil {
			return err
		}
		if first {
			first = false
			if err := t.accepted(); err != nil {
				t.c.o.Log.Error("delivered updates could not be removed", "error", err)
			}
			t.c.o.Changed()
		}
		if err := t.show(ctx, ev); err != nil {
			return err
		}
	}
	silent = t.cut || t.compacted || t.interrupted
	if t.interrupted && !t.cut && !t.reply.empty() {
		t.reply.append(textCutShort)
	}
	if !silent && t.reply.empty() {
		t.c.o.Transcript.Add(transcript.Notice, textNoWords)
	}
	return nil
}

// remember returns what is told under which ids the answer can be replied to: a
// reply to a fork's goes on in that fork later.
func (t *turn) remember() func([]post.MessageID) {
	if t.fork == nil || t.fork.id == "" {
		return func([]post.MessageID) {}
	}
	c, id := t.c, t.fork.id
	return func(ids []post.MessageID) {
		if err := c.o.Runs.Record(c.now(), ids, id, c.o.Sessions.Main()); err != nil {
			c.o.Log.Warn("a reply to this message will not find its fork", "error", err)
		}
	}
}

// show puts one event on the transcript.
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
		}
	case agent.ToolEnd:
		if ev.Denied && !t.cut {
			t.reply.tool(ev.Name, true)
		}
	case agent.Compacting:
		t.compacting(ev)
	case agent.Retry:
		t.setStatus(fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second)))
	case agent.RateLimit:
		t.rateLimit(ev)
	case agent.Notice:
		t.c.SystemNote(ev.Text)
	case agent.Result:
		return t.result(ev)
	}
	return nil
}

// cutForFork drops what is said once the agent has asked for a fork. Its tool ends
// the turn; one that goes on all the same, as behind a subagent, is interrupted.
func (t *turn) cutForFork(ctx context.Context, ev agent.Event) {
	t.c.mu.Lock()
	t.cut = t.cut || t.c.wanted != nil // it has asked for a fork in this turn
	t.c.mu.Unlock()
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
		t.c.o.Log.Warn("turn was not interrupted for the fork", "error", err)
	}
}

// label is a tool call in a few words, with the subagent that makes it.
func (t *turn) label(ev agent.ToolStart) string {
	if ev.Subagent == "" {
		return toolset.Label(ev.Name, ev.Input)
	}
	return clean.Cut(clean.Line(ev.Subagent), 60) + ": " + toolset.Label(ev.Name, ev.Input)
}

// setStatus says in the top line and on the other surface what holds the turn up.
func (t *turn) setStatus(text string) {
	t.c.setStatus(text)
	t.reply.status(text)
}

func (t *turn) rateLimit(ev agent.RateLimit) {
	at := ev.Resets.In(t.c.o.Zone).Format("15:04")
	switch ev.Status {
	case "rejected":
		t.setStatus(fmt.Sprintf(textRateLimit, at))
	case "allowed_warning":
		t.c.o.Notices.Add(notice.Warn, fmt.Sprintf(textNearLimit, at))
	}
}

// compacting shows that the history is being made shorter.
func (t *turn) compacting(ev agent.Compacting) {
	t.c.mu.Lock()
	t.c.compacting = !ev.Done
	t.c.mu.Unlock()
	t.compacted = true
	t.reply.compacting(ev)
	if ev.Done {
		t.c.setStatus("")
		t.c.o.Transcript.Add(transcript.Notice, compactedText(ev))
		return
	}
	t.c.setStatus(compactingText(ev))
}

// result ends the turn. An interruption is not a failure.
func (t *turn) result(r agent.Result) error {
	t.c.o.Spent(t.c.Settings(t.fork != nil).Model, r.Usage)
	if err := t.ended(r); err != nil {
		return fmt.Errorf("save the session id: %w", err)
	}
	t.interrupted = r.Interrupted
	if r.IsError && !r.Interrupted {
		return fmt.Errorf("the engine says: %s", r.Text)
	}
	if t.reply.empty() && r.Text != "" && !t.cut {
		t.reply.append(r.Text)
	}
	return nil
}

func sessionID(r agent.Result, s agent.Session) string {
	return cmp.Or(r.SessionID, s.ID())
}

// onEngineTurn shows turns that a session begins by itself, such as when a command
// in the background has ended: each is a job like any turn, and is waited for
// here, because the events are kept only until this returns. A fork that has
// been left meanwhile has nobody to talk to.
func (c *Conversation) onEngineTurn(kind policy.Kind) func(iter.Seq2[agent.Event, error]) {
	return func(events iter.Seq2[agent.Event, error]) {
		shown := make(chan struct{})
		err := c.later(func(ctx context.Context) error {
			defer close(shown)
			return c.showEngineTurn(ctx, kind, events)
		})
		if err == nil {
			select {
			case <-shown:
			case <-c.done:
			}
			return
		}
		c.o.Log.Warn("a turn that began by itself was dropped", "error", err)
	}
}

func (c *Conversation) showEngineTurn(ctx context.Context, kind policy.Kind, events iter.Seq2[agent.Event, error]) error {
	c.mu.Lock()
	s := c.session
	f := c.fork
	c.mu.Unlock()
	if kind == policy.Interactive {
		if f == nil {
			return nil
		}
		s = f.session
	}
	c.begin(s, c.now())
	defer c.end()
	t := &turn{c: c, session: s, accepted: func() error { return nil }, ended: func(agent.Result) error { return nil }}
	return c.afterTurn(ctx, t.consume(ctx, events))
}
