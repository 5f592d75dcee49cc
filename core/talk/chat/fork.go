package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/updates"
)

// interactive is a fork that the user talks in. Its fields belong to the job
// that runs, save those that Conversation.mu guards.
type interactive struct {
	session agent.Session
	id      string // once an engine has told it
	topic   string
	resumes string // the session of a background run that it continues, or empty
	entered time.Time
	card    post.MessageID // that shows its exits, below title
	title   string
	idle    time.Duration

	// Guarded by Conversation.mu: when the user or the agent last did something,
	// when the agent was asked whether to leave, how the agent wants to leave,
	// and whether it waits for the user's word on saving.
	active, prompted time.Time
	exit             command.Exit
	saveAsked        bool
	report           string      // the agent's last report
	mode             policy.Mode // this fork's own, else empty

	// ranBehind are the tasks that ran in the main session meanwhile.
	ranBehind []string
	seen      map[string]bool // updates that were shown in this fork
	overdue   bool            // the hard prompt was given
}

// forkRequest is a fork that somebody wants to enter.
type forkRequest struct {
	topic  string
	idle   time.Duration // 0: as configured
	resume string        // session of a background run to continue, or empty
	first  string        // the first prompt, where it is not that of a new fork
	title  string        // what is resumed, for people
	images []agent.Image // that come with the first prompt
}

func (c *Conversation) inFork() *interactive {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fork
}

// front is the fork that the running turn belongs to; nil in a turn of the main
// session, also in one behind a fork.
func (c *Conversation) front() *interactive {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.behind {
		return nil
	}
	return c.fork
}

func (c *Conversation) goBehind(behind bool) {
	c.mu.Lock()
	c.behind = behind
	c.mu.Unlock()
}

// behindFork runs a turn of the main session while the fork stays open.
func (c *Conversation) behindFork(ctx context.Context, f *interactive, build Prompt, title string) error {
	c.goBehind(true)
	defer c.goBehind(false)
	c.SystemNote(fmt.Sprintf(textBehindFork, title))
	f.ranBehind = append(f.ranBehind, title)
	return c.mainTurn(ctx, build, incoming{})
}

// tellBehind lets a saved fork know what it has not seen: it takes the place of the
// session in which those tasks ran.
func (c *Conversation) tellBehind(f *interactive) {
	for _, title := range f.ranBehind {
		if err := c.o.Updates.Append(c.now(), fmt.Sprintf(textRanBehind, title)); err != nil {
			c.o.Log.Error("a saved fork does not know what ran behind it", "error", err)
		}
	}
}

// requestFork notes that the agent wants a fork; false when it is in one.
func (c *Conversation) requestFork(topic string, minutes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fork != nil {
		return false
	}
	c.wanted = &forkRequest{topic: topic, idle: time.Duration(minutes) * time.Minute}
	return true
}

// requestExit notes how the agent wants to leave the fork when its turn has
// ended, and with which report; the later of two wishes wins. False when there is
// no fork.
func (c *Conversation) requestExit(how command.Exit, report string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fork == nil || c.behind {
		return false
	}
	c.fork.exit = how
	c.fork.report = cmp.Or(report, c.fork.report)
	return true
}

// enter opens a fork and lets it speak first.
func (c *Conversation) enter(ctx context.Context, r forkRequest) error {
	if c.inFork() != nil {
		return fmt.Errorf("%s", textAlreadyForked)
	}
	o := c.options(policy.Interactive)
	o.Resume, o.Fork, o.ID = c.o.Sessions.Main(), true, store.NewUUID()
	if o.Resume == "" {
		o.Fork = false
	}
	if r.resume != "" {
		o.Resume, o.Fork, o.ID = r.resume, false, ""
	}
	s, err := c.o.Engine.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("open the fork: %w", err)
	}
	now := c.now()
	f := &interactive{
		session: s, topic: r.topic, resumes: r.resume, entered: now, active: now,
		idle: r.idle, seen: map[string]bool{},
	}
	if f.idle <= 0 {
		f.idle = c.o.Config().ForkIdleTimeout
	}
	c.mu.Lock()
	c.fork, c.wanted = f, nil
	c.mu.Unlock()
	f.card = c.postEnter(ctx, f, r)
	first := r.first
	first = cmp.Or(first, prompt.ForkStarted(r.topic))
	return c.afterTurn(ctx, c.forkTurn(ctx, f, agent.Message{Text: first, Images: r.images}))
}

// forkTurn runs one turn of the fork. Updates are peeked, and those that the
// fork has seen are not repeated.
func (c *Conversation) forkTurn(ctx context.Context, f *interactive, m agent.Message) error {
	now := c.now()
	c.begin(f.session, now)
	defer c.end()
	var news []updates.Update
	for _, u := range c.o.Updates.Peek() {
		if !f.seen[u.Key] {
			news = append(news, u)
		}
	}
	t := &turn{c: c, session: f.session, fork: f, accepted: func() error {
		for _, u := range news {
			f.seen[u.Key] = true
		}
		return nil
	}, ended: func(r agent.Result) error { return c.named(f, sessionID(r, f.session)) }}
	err := t.consume(ctx, f.session.Send(ctx, agent.Message{Text: prompt.Peeked(now, news, m.Text), Images: m.Images}))
	f.overdue = false
	c.mu.Lock()
	f.active, f.prompted = c.now(), time.Time{}
	c.mu.Unlock()
	return err
}

// named learns the fork's session id, and logs it once.
func (c *Conversation) named(f *interactive, id string) error {
	if f.id != "" || id == "" {
		return nil
	}
	f.id = id
	if f.resumes != "" {
		return nil
	}
	return c.o.Sessions.Log(c.now(), session.Event{SessionID: id, Event: session.InteractiveFork, Parent: c.o.Sessions.Main()})
}

// afterTurn follows a turn: it carries out what the agent asked for, leaving a
// fork or entering one.
func (c *Conversation) afterTurn(ctx context.Context, err error) error {
	c.mu.Lock()
	f, r := c.fork, c.wanted
	c.wanted = nil
	var how command.Exit
	if f != nil {
		how = f.exit
	}
	c.mu.Unlock()
	switch { // what went wrong in the turn is told all the same
	case how != "":
		return errors.Join(err, c.leaveFork(ctx, f, how))
	case f == nil && r != nil:
		return errors.Join(err, c.enter(ctx, *r))
	}
	return err
}

// leaveFork ends the fork. A save makes it the main session, exactly once: the id
// is written before anything is closed. The next turn resumes it as main, for
// its process was bound to the fork's model, thinking and rights.
func (c *Conversation) leaveFork(ctx context.Context, f *interactive, how command.Exit) error {
	if how == command.ExitSave && (f.id == "" || f.resumes != "") {
		how = command.ExitDiscard
	}
	if how == command.ExitSave {
		if err := c.o.Sessions.SwapMain(c.now(), f.id); err != nil {
			return fmt.Errorf("save the fork: %w", err)
		}
		c.drop()
		c.tellBehind(f)
	}
	c.o.Guard.Approvals().CancelAll()
	c.mu.Lock()
	c.fork, c.wanted = nil, nil
	c.mu.Unlock()
	c.closeSession(f.session)
	c.postExit(ctx, f, how)
	return nil
}

// discardFork ends the fork without a word from it; false when there is none.
func (c *Conversation) discardFork(why string) bool {
	f := c.inFork()
	if f == nil {
		return false
	}
	if why != "" {
		c.SystemNote(why)
	}
	c.mu.Lock()
	f.exit = ""
	c.mu.Unlock()
	if err := c.leaveFork(context.Background(), f, command.ExitDiscard); err != nil {
		c.o.Log.Warn("fork did not end cleanly", "error", err)
	}
	return true
}

// exitByUser carries out the user's choice. For a report the agent is asked
// for a summary first; the fork ends whether it gives one or not.
func (c *Conversation) exitByUser(ctx context.Context, how command.Exit) error {
	f := c.inFork()
	if f == nil {
		return fmt.Errorf("%s", textNoFork)
	}
	if how == command.ExitReport {
		if err := c.forkTurn(ctx, f, agent.Message{Text: prompt.ForkReport()}); err != nil {
			c.o.Log.Warn("fork gave no report", "error", err)
		}
	}
	return c.leaveFork(ctx, f, how)
}

// checkIdle looks whether the fork has been left alone: first it is asked, then
// told, then ended (an ignored hard prompt ends it).
func (c *Conversation) checkIdle(ctx context.Context) error {
	f := c.inFork()
	if f == nil {
		return nil
	}
	now := c.now()
	c.mu.Lock()
	quiet, prompted := now.Sub(f.active), f.prompted
	c.mu.Unlock()
	if quiet <= f.idle {
		return nil
	}
	if f.overdue {
		c.discardFork(textForkExpired)
		return nil
	}
	hard := !prompted.IsZero() && now.Sub(prompted) > f.idle
	if prompted.IsZero() {
		prompted = now
	}
	c.SystemNote(textForkIdle)
	idle := f.idle
	if hard {
		idle *= 2
	}
	err := c.forkTurn(ctx, f, agent.Message{Text: prompt.ForkIdle(idle, hard)})
	c.mu.Lock()
	f.prompted, f.overdue = prompted, hard
	c.mu.Unlock()
	return c.afterTurn(ctx, err)
}

// ExitFork queues the user's way out of the fork.
func (c *Conversation) ExitFork(how command.Exit) error {
	f := c.inFork()
	switch {
	case f == nil:
		return errors.New(textNoFork)
	case how == command.ExitSave && f.resumes != "":
		return errors.New("this fork continues a background run and cannot be saved: report or leave it")
	}
	return c.later(func(ctx context.Context) error { return c.exitByUser(ctx, how) })
}

// EnterFork queues a fork that the user leads.
func (c *Conversation) EnterFork(topic string) error {
	if c.inFork() != nil {
		return errors.New(textAlreadyForked)
	}
	r := forkRequest{topic: cleanTopic(topic)}
	return c.later(func(ctx context.Context) error { return c.enter(ctx, r) })
}

// Resume goes on in the session of a background run, without branching from it.
func (c *Conversation) Resume(session, title string, ended time.Time) error {
	if c.inFork() != nil {
		return errors.New(textAlreadyForked)
	}
	r := forkRequest{resume: session, title: title, first: prompt.ForkReply(textGoOn) + "\n\n" + prompt.Stale(c.now().Sub(ended))}
	return c.later(func(ctx context.Context) error { return c.enter(ctx, r) })
}
