// Package chat is the conversation with the user: the main session, the interactive fork
// that may be open in front of it, and their turns. It owns the user's messages from
// their receipt until the engine has them, the streaming answers, and the delivery of
// pending updates. It must not know the schedule, background runs, commands or any
// dashboard.
//
// # A message is never lost and never delivered twice
//
// A message is written to state/waiting_messages.json before it is shown, so it is
// answered even if the program ends. All work of the conversation goes through one queue:
// turns of the user, foreground tasks, clicks, entering and leaving a fork, and /compact.
// A turn takes all waiting messages, whatever surface they came from. A message that
// arrives while another is waiting joins it and interrupts nothing.
//
// Before a turn is sent, its delivery is on disk (state/delivery.json): the messages and the
// updates that it claims. When the engine has accepted the message, the messages and updates are
// removed from their files, and the record last. One lock orders claim, append, discard and the
// end of a delivery, in this process and in others. After a crash, or a turn that failed too
// early to tell, the engine is asked whether the message arrived (agent.HistoryChecker). Every
// step can be repeated. A test kills the process at random and counts.
//
// # Interactive forks
//
// /fork, the agent's enter_fork, or "resume" on a finished run opens a second session in
// front of the main one. It reads pending updates but never claims them. The agent's
// requests (report_updates, exit_fork, enter_fork) are recorded during its turn and
// executed after it; save_context asks the user. Saving writes the fork's ID as the main
// session's before anything is closed, so it happens exactly once. An idle fork is asked,
// then warned, then ended. A foreground task that becomes due in the meantime is a turn
// of the main session behind the fork: messages for the fork wait, and a saved fork gets
// a report of the tasks that ran.
package chat

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
)

const (
	// idleCheck is how often an interactive fork is checked for inactivity.
	idleCheck = time.Minute
	// A queue without a sign of life for this long is stuck. If its job is a turn, that is
	// longer than a tool call or the wait for a model takes.
	turnQuiet = time.Hour
	jobQuiet  = 10 * time.Minute
)

// Host is the program as seen by the conversation. Its methods must be safe for
// concurrent use.
type Host interface {
	Config() *config.Runtime
	// SystemPrompt and BriefPrompt are those of agent.SessionOptions; Profile is the user's part of both. They read files.
	SystemPrompt() string
	BriefPrompt() string
	Profile() prompt.Profile
	// Reminders returns the book that the reminder tools write to, with a writer's rights.
	Reminders(policy.Writer) toolset.ReminderBook
	// Propose asks the user about a promise, if they made it. It may write a file.
	Propose(toolset.Promise) agent.ToolResult
	// Hide removes secrets from a text.
	Hide(text string) string
	// Changed is called after something shown in a dashboard has changed. It must not block.
	Changed()
}

// Money pays for the turns.
type Money interface {
	// MayTalk returns why no turn may start now, or nil. It may block while the user is
	// asked.
	MayTalk(context.Context) error
	// MayGoOn decides whether a turn may continue after some usage, as agent.Hooks.Afford.
	// It may block while the user is asked.
	MayGoOn(ctx context.Context, s agent.Spending) (allowed float64, stop string)
	// Began notes that a turn of the main session or of a fork is under way, until ended is called.
	Began(inFork bool) (ended func())
	// Booked books a request of the main session or of a fork.
	Booked(inFork bool, c agent.Charge)
}

// Google is the user's Google account.
type Google interface {
	// Redirected reports whether a message was the address that completes a login, and
	// completes it. The message contains a secret.
	Redirected(ctx context.Context, text string) bool
	// Click carries out a button of a task or an event and describes the effect.
	Click(ctx context.Context, action, data string) (done string, err error)
}

// Records are the files that the conversation reads and writes.
type Records struct {
	Transcript *transcript.Chat
	Updates    *updates.Queue
	Sessions   *session.Store
	// Runs records which run sent which message.
	Runs  *session.ForkMessages
	Audit *audit.Log
}

// Options configure a conversation. All are required unless noted.
type Options struct {
	Dir    *store.Dir
	Zone   *time.Location
	Log    *slog.Logger
	Engine agent.Engine
	// Remote reaches the user away from the dashboard, under the name RemoteName; may be
	// nil.
	Remote     Remote
	RemoteName string
	// Rings reports whether a message rings now, as attention.Attention.Rings.
	Rings   func(k post.Kind, cause string) bool
	Records Records
	Notices *notice.Board
	Guard   *policy.Guard
	Policy  *policy.File
	// UserName is the user's name in prompts.
	UserName string
	// Library returns the tools that every session has besides the bot's own. They stay the
	// same until Renew is called, for a new main session. May be nil.
	Library func() []agent.Tool
	Renew   func(context.Context)
	// Commands runs the program's own commands for a session; nil refuses them.
	Commands policy.Runner
	// Commit records a file written by a session in the directory's history.
	Commit func(rel, message string)
	Host   Host
	Money  Money
	Google Google
}

// Conversation is the main session and the interactive fork that may be open in front of
// it. Turns run one at a time, in order; a user's message interrupts the running one. Its
// methods are safe for concurrent use.
type Conversation struct {
	// Their exported methods are part of the conversation.
	*poster
	*settings

	queue    *queue
	inbox    *inbox
	failed   failed
	running  *running
	rights   *rights
	forks    *forks
	turns    *turns
	main     *mainSession
	reading  *reading
	delivery *delivery
	tools    *tools
	money    Money
	google   Google
	userName string
	log      *slog.Logger
	now      func() time.Time
}

// New returns a conversation that reads and starts nothing.
func New(o Options) *Conversation {
	c := &Conversation{queue: newQueue(), money: o.Money, google: o.Google, userName: o.UserName, log: o.Log}
	c.now = func() time.Time { return time.Now().In(o.Zone) }
	r := o.Records
	c.poster = &poster{
		rings: o.Rings, transcript: r.Transcript, remote: o.Remote, remoteName: o.RemoteName, surface: r.Transcript,
		inquiries: session.NewInquiries(o.Dir, o.Log), audit: r.Audit, log: o.Log, now: c.now, hide: o.Host.Hide,
	}
	if o.Remote != nil {
		c.surface = &fanout{remote: o.Remote, name: o.RemoteName, transcript: r.Transcript}
	}
	c.inbox = &inbox{
		unansweredFile: &unansweredFile{dir: o.Dir, log: o.Log},
		attachments:    &attachments{dir: o.Dir, log: o.Log},
		poster:         c.poster, now: c.now,
	}
	c.delivery = &delivery{updates: r.Updates, engine: o.Engine, log: o.Log, ack: c.inbox.ack}

	fork := &forkState{}
	c.reading = &reading{sessions: r.Sessions, audit: r.Audit, log: o.Log, now: c.now}
	c.running = &running{guard: o.Guard, reading: c.reading, log: o.Log, changed: o.Host.Changed}
	c.settings = &settings{config: o.Host.Config, fork: fork, turn: c.running, apply: c.configure}
	c.rights = &rights{guard: o.Guard, policy: o.Policy, settings: c.settings, turn: c.running, reading: c.reading, fork: fork}
	c.tools = &tools{
		dir: o.Dir, host: o.Host, rights: c.rights, fork: fork, running: c.running, poster: c.poster,
		updates: r.Updates, audit: r.Audit, notices: o.Notices, now: c.now,
	}
	opener := &opener{
		engine: o.Engine, dir: o.Dir.Root(), host: o.Host, rights: c.rights, settings: c.settings, tools: c.tools,
		library: o.Library, renew: o.Renew, commands: o.Commands, commit: o.Commit, money: o.Money, onEngineTurn: c.onEngineTurn,
	}
	c.turns = &turns{
		poster: c.poster, running: c.running, fork: fork, settings: c.settings,
		notices: o.Notices, money: o.Money, zone: o.Zone, log: o.Log, alive: c.queue.hear,
	}
	c.main = &mainSession{
		opener: opener, turns: c.turns, running: c.running, delivery: c.delivery,
		sessions: r.Sessions, reading: c.reading, notices: o.Notices, log: o.Log, now: c.now,
		passed: fork.passed,
	}
	c.forks = &forks{
		forkState: fork, opener: opener, turns: c.turns, main: c.main, poster: c.poster, running: c.running,
		updates: r.Updates, sessions: r.Sessions, reading: c.reading, runs: r.Runs, log: o.Log, now: c.now,
	}
	return c
}

// Recover resumes after a restart: it settles a delivery and queues unanswered messages.
// Call it once, before Run.
func (c *Conversation) Recover(ctx context.Context) {
	c.delivery.recover(ctx)
	if !c.inbox.recover() {
		return
	}
	if err := c.answerWaiting(context.Background()); err != nil {
		c.log.Error("messages from before could not be queued", "error", err)
	}
	c.main.notices.Add(notice.Info, textResumeWaiting)
}

// Run serves the user until ctx ends, and then closes the sessions.
func (c *Conversation) Run(ctx context.Context) error {
	defer c.close()
	c.queue.hear()
	c.main.recover()
	c.forks.recover()
	c.forgetFleeting()
	c.main.openAhead(ctx)
	c.queue.run(ctx, c.forks.checkIdle, func(err error) {
		if errors.Is(err, errTold) {
			return
		}
		c.tell(err)
	})
	return nil
}

// close closes the sessions. No turn may be running.
func (c *Conversation) close() {
	if f := c.forks.current(); f != nil {
		c.forks.set(nil)
		closeSession(f.session, c.log)
	}
	c.main.drop()
}

// Alive waits until the queue has run a job added by this call. If another job is still
// running when ctx ends, it is enough that the job started within ten minutes, or that
// its turn showed a sign of life within an hour. The error names the stuck part.
func (c *Conversation) Alive(ctx context.Context) error {
	return c.queue.alive(ctx, func() time.Duration {
		if busy, _ := c.running.Busy(); busy {
			return turnQuiet
		}
		return jobQuiet
	})
}

// Busy reports whether a turn is running, and since when.
func (c *Conversation) Busy() (bool, time.Time) { return c.running.Busy() }

// Status describes what delays the running turn, in a few words; empty if nothing does.
func (c *Conversation) Status() string { return c.running.Status() }

// Interrupt ends the running turn, if there is one, and its open questions.
func (c *Conversation) Interrupt(ctx context.Context) error { return c.running.Interrupt(ctx) }

// Banner returns the open fork, or nil.
func (c *Conversation) Banner() *Banner { return c.forks.Banner() }

// Guard judges the calls of the main session or of a fork, by the list it returns.
func (c *Conversation) Guard(kind policy.Kind) (*policy.Session, []string) {
	return c.rights.Guard(kind)
}

// configure applies changed settings to the open sessions.
func (c *Conversation) configure(ctx context.Context) error {
	var err error
	if s := c.main.current(); s != nil {
		err = s.Configure(ctx, c.Settings(false))
	}
	if f := c.forks.current(); f != nil {
		err = errors.Join(err, f.session.Configure(ctx, c.Settings(true)))
	}
	return err
}

// onEngineTurn shows a turn that a session starts by itself, for example when a
// background command has ended. It is queued like any turn. Its events are available only
// until this returns. A fork that was left in the meantime no longer reaches the user.
func (c *Conversation) onEngineTurn(kind policy.Kind, events iter.Seq2[agent.Event, error]) {
	shown := make(chan struct{})
	err := c.queue.later(func(ctx context.Context) error {
		defer close(shown)
		return c.showEngineTurn(ctx, kind, events)
	})
	if err != nil {
		c.log.Warn("a turn that began by itself was dropped", "error", err)
		return
	}
	select {
	case <-shown:
	case <-c.queue.done:
	}
}

func (c *Conversation) showEngineTurn(ctx context.Context, kind policy.Kind, events iter.Seq2[agent.Event, error]) error {
	s, inFork := c.main.current(), kind == policy.Interactive
	if inFork {
		f := c.forks.current()
		if f == nil {
			return nil
		}
		s = f.session
	}
	c.running.begin(s, c.now())
	defer c.running.end()
	t := &turn{
		turns: c.turns, session: s, read: c.rights.read(kind), inFork: inFork, kind: post.KindAnswer,
		accepted: func() error { return nil }, ended: func(agent.Result) error { return nil },
	}
	return c.forks.after(ctx, t.consume(ctx, events))
}

// RunTask runs one turn of the main session for a foreground task, in order with all
// others. An interactive fork stays open in front of it: the task's output must not be
// discarded with a fork. The error is command.ErrInterrupted if the user cut the turn off.
func (c *Conversation) RunTask(ctx context.Context, build Prompt, d schedule.Due) error {
	return c.queue.do(ctx, func(ctx context.Context) error {
		c.tools.chainOf(d.Reminder)
		defer c.tools.chainOf(nil)
		guard, task := c.rights.guard, d.Task()
		defer c.running.allow(policy.Turn{Limit: guard.LimitOf(task), Trusted: guard.Trusted(task)})()
		c.reading.ofMain().Read(guard.TaskLabel(task).Via(string(task.Kind) + " " + task.ID))
		if f := c.forks.current(); f != nil {
			return c.running.verdict(c.forks.behind(ctx, f, build, task.Title()))
		}
		return c.forks.after(ctx, c.running.verdict(c.main.turn(ctx, build, nil, nil)))
	})
}

// DeliverUpdates queues a turn that gives the main session its n pending updates. It
// interrupts nothing. Updates that another turn has claimed by then are not delivered
// again.
func (c *Conversation) DeliverUpdates() (n int, done <-chan error, err error) {
	n = len(c.delivery.updates.Peek())
	switch {
	case c.forks.current() != nil:
		return 0, nil, errors.New(textDeliverInFork)
	case n == 0:
		return 0, nil, nil
	}
	finished := make(chan error)
	err = c.queue.later(func(ctx context.Context) error {
		defer close(finished)
		switch {
		case len(c.delivery.updates.Peek()) == 0:
			return nil
		case c.forks.current() != nil:
			return errors.New(textDeliverInFork)
		}
		defer c.running.allow(attended)()
		return c.forks.after(ctx, c.main.turn(ctx, prompt.Delivery, nil, nil))
	})
	return n, finished, err
}

// ExitFork queues the user's exit from the fork.
func (c *Conversation) ExitFork(how command.Exit) error {
	f := c.forks.current()
	switch {
	case f == nil:
		return errors.New(textNoFork)
	case how == command.ExitSave && f.resumes != "":
		return errors.New(textSaveResumed)
	}
	return c.queue.later(func(ctx context.Context) error {
		defer c.running.allow(attended)()
		return c.forks.exit(ctx, how)
	})
}

// EnterFork queues a fork led by the user.
func (c *Conversation) EnterFork(topic string) error {
	return c.enterLater(forkRequest{topic: cleanTopic(topic)})
}

// Resume continues the session of a background run, without branching off.
func (c *Conversation) Resume(session, title string, ended time.Time) error {
	first := prompt.ForkReply(textGoOn) + "\n\n" + prompt.Stale(c.now().Sub(ended))
	return c.enterLater(forkRequest{resume: session, title: title, first: first})
}

func (c *Conversation) enterLater(r forkRequest) error {
	if c.forks.current() != nil {
		return errors.New(textAlreadyForked)
	}
	return c.queue.later(func(ctx context.Context) error {
		defer c.running.allow(attended)()
		return c.forks.enter(ctx, r)
	})
}

// Clear forgets the conversation: the fork, the session and its id, and earlier approvals
// and denials. Pending updates are kept. The running turn is interrupted first, so that
// the user does not wait for a turn that is about to be forgotten.
func (c *Conversation) Clear(ctx context.Context) (forkToo bool, err error) {
	if err := c.running.Interrupt(ctx); err != nil {
		c.log.Warn("turn was not interrupted", "error", err)
	}
	err = c.queue.do(ctx, func(context.Context) error {
		forkToo = c.forks.discard("")
		if err := c.main.forget(); err != nil {
			return err
		}
		c.rights.guard.Reset()
		return nil
	})
	return forkToo, err
}

// Command sends the engine one of its own commands, between two turns, and returns
// its output. tokens is the length of the history before it was compacted.
func (c *Conversation) Command(ctx context.Context, m agent.Message) (text string, r agent.Result, tokens int, err error) {
	err = c.queue.do(ctx, func(ctx context.Context) (err error) {
		text, r, tokens, err = c.main.command(ctx, m)
		return err
	})
	return text, r, tokens, err
}

// Click carries out a button of a message.
func (c *Conversation) Click(ctx context.Context, message post.MessageID, button string) (done string, err error) {
	action, data, ok := post.ParseCustomID(button)
	if !ok {
		return "", errors.New(textUnknownButton)
	}
	switch action {
	case post.ForkSave:
		return "", c.ExitFork(command.ExitSave)
	case post.ForkReport:
		return "", c.ExitFork(command.ExitReport)
	case post.ForkExit:
		return "", c.ExitFork(command.ExitDiscard)
	case "dismiss":
		return "dismissed", c.surface.Delete(ctx, message)
	case post.TryAgain:
		return "", c.tryAgain(data)
	case post.StopAnswer:
		if !c.isAnswering(data) { // that of an earlier answer must not end this one
			return "", errors.New(textAnswerOver)
		}
		return "", c.Interrupt(ctx)
	case post.AskAgent:
		return "", c.clickAgent(ctx, message, data)
	case "task_done", "task_del", "event_del":
		return c.google.Click(ctx, action, data)
	}
	return "", errors.New(textUnknownButton)
}
