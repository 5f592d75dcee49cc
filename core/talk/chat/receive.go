package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/updates"
)

// maxMessage is the longest message of the user, in characters.
const maxMessage = 100_000

// Receive accepts a message of the user. When it returns, the message is on disk and in
// the chat, unless more follow at once; it is answered in its turn. done is that of
// command.Outcome; nil if the message needs no answer.
func (c *Conversation) Receive(ctx context.Context, in command.Receive) (done <-chan error, err error) {
	if !in.More {
		defer func() { err = errors.Join(err, c.inbox.save(), c.answerWaiting(ctx)) }()
	}
	if n := utf8.RuneCountInString(in.Text); n > maxMessage {
		return nil, fmt.Errorf(textLongMessage, n, maxMessage)
	}
	if in.Key != "" && !newer(in.Key, c.inbox.LastReceived(in.From)) {
		return nil, nil
	}
	if len(in.Files) == 0 && (c.google.Redirected(ctx, in.Text) || c.answersApproval(ctx, in.Text, in.At)) {
		return nil, c.inbox.noteReceived(in.From, in.Key)
	}
	message, hidden := c.inbox.gather(in)
	m := inbound{
		at: c.written(in.At), message: message, plain: in.Text, from: in.From, key: in.Key, quoted: in.Quoted, label: in.Label, done: make(chan error, 1),
	}
	defer func() {
		for _, why := range hidden {
			c.Aside(why)
		}
	}()
	if m.message.Text == "" && len(m.message.Images) == 0 && in.From == "" {
		return nil, errors.New(textEmptyMessage)
	}
	if in.ReplyTo != "" {
		return m.done, c.reply(ctx, in.ReplyTo, m)
	}
	return m.done, c.inbox.put(m, in.More && len(in.Files) == 0)
}

// LastReceived returns the key of the newest message received from a surface
// (command.Receive.Key), or "".
func (c *Conversation) LastReceived(from string) string { return c.inbox.LastReceived(from) }

// Reword changes the text of a message whose turn has not started or, if gone, takes it
// back. A message whose turn has started stays unchanged, which is not an error.
func (c *Conversation) Reword(from, key, text string, gone bool) error {
	return c.inbox.Reword(from, key, text, gone)
}

// Attach adds a file of the user's to the next message.
func (c *Conversation) Attach(path string) (string, error) { return c.inbox.Attach(path) }

// Attached returns the names of the files to be sent with the next message.
func (c *Conversation) Attached() []string { return c.inbox.Attached() }

// newer compares keys of one surface: numbers of any length, without a sign.
func newer(key, than string) bool {
	if len(key) != len(than) {
		return len(key) > len(than)
	}
	return key > than
}

// answersApproval reports whether a message was the answer to the longest pending tool
// call. A "yes" below a question is an answer to it and not a new turn that withdraws the
// question. A message written before the question answers nothing, even if it arrives
// late.
func (c *Conversation) answersApproval(ctx context.Context, text string, at time.Time) bool {
	approvals := c.rights.guard.Approvals()
	word := strings.ToLower(strings.Trim(text, " .!\n"))
	waiting := approvals.Pending()
	verdict, known := spokenVerdicts[word]
	if !known || len(waiting) == 0 || !at.IsZero() && at.Before(waiting[0].Asked.Add(-clocksDiffer)) {
		return false
	}
	return approvals.Answer(ctx, waiting[0].ID, verdict) == nil
}

// clocksDiffer is by how much another surface's clock may be behind this one.
const clocksDiffer = 5 * time.Second

// spokenVerdicts are the words that answer a tool call.
var spokenVerdicts = map[string]policy.Verdict{
	"yes": policy.Allow, "y": policy.Allow, "ok": policy.Allow, "okay": policy.Allow, "allow": policy.Allow, "allow once": policy.Allow,
	"👍": policy.Allow, "✅": policy.Allow, "always": policy.Always, "🔓": policy.Always,
	"no": policy.Deny, "n": policy.Deny, "deny": policy.Deny, "👎": policy.Deny, "❌": policy.Deny,
}

// answerWaiting queues one turn for all waiting messages, unless it is queued already. It
// interrupts a running turn first: if the new turn were queued before that, the interrupt
// could hit it. If the queue is full, the user gets the messages back.
func (c *Conversation) answerWaiting(ctx context.Context) error {
	if !c.inbox.needsTurn() {
		return nil
	}
	c.running.makeRoom(ctx)
	err := c.queue.later(func(ctx context.Context) error {
		all, finish := c.inbox.take()
		if len(all.ids) == 0 { // all of them were taken back
			return nil
		}
		err := errPanicked
		defer func() { finish(c.running.verdict(err)) }()
		err = c.answer(ctx, all)
		c.offerAgain(ctx, err, all)
		return nil
	})
	if err != nil {
		all, finish := c.inbox.take()
		c.inbox.forget(all.ids...)
		finish(err)
	}
	return err
}

var (
	// errTold is the error of a turn that did not run, after the user was told.
	errTold = errors.New("the user was informed why there is no answer")
	// errPanicked is the error of a turn that panicked.
	errPanicked = errors.New("the turn broke")
)

// Ask queues a turn for a text of the program itself in the user's name.
func (c *Conversation) Ask(text string) error {
	return c.queue.later(func(ctx context.Context) error { return c.answer(ctx, batch{message: agent.Message{Text: text}}) })
}

// written returns when the user wrote a message that has just arrived. Another surface
// may know an earlier time.
func (c *Conversation) written(at time.Time) time.Time {
	if now := c.now(); at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// answer runs one turn for messages of the user, in the fork if one is open. The messages
// stay on disk only if the program ends: a failed turn reports an error, and the user can
// send them again.
func (c *Conversation) answer(ctx context.Context, all batch) error {
	if why := c.money.MayTalk(ctx); why != nil {
		if ctx.Err() == nil {
			c.inbox.forget(all.ids...)
			c.note(post.KindTrouble, why.Error())
		}
		return errTold
	}
	defer c.running.allow(attended)()
	return c.forks.after(ctx, c.answerIn(ctx, c.forks.current(), all))
}

// answerIn is answer in a fork, or with nil in the main session.
func (c *Conversation) answerIn(ctx context.Context, f *interactive, all batch) error {
	defer c.answered(ctx, all.ids...)
	if f != nil {
		c.reading.answered(f.read, f.sessionID(), all.written)
		f.read.Read(all.label)
		return c.forks.turn(ctx, f, all.message)
	}
	c.reading.answered(c.reading.ofMain(), c.main.sessions.Main(), all.written)
	c.reading.ofMain().Read(all.label)
	build := func(now time.Time, u []updates.Update) string { return prompt.Main(now, u, all.message.Text) }
	return c.main.turn(ctx, build, all.message.Images, all.ids)
}

// answered forgets messages whose turn has ended, even in a panic, unless the program ends.
func (c *Conversation) answered(ctx context.Context, ids ...string) {
	if ctx.Err() == nil {
		c.inbox.forget(ids...)
	}
}

// reply answers a reply to one of the bot's messages: in the run that sent it, while its
// record is kept (seven days), or else with the message quoted.
func (c *Conversation) reply(ctx context.Context, to post.MessageID, m inbound) error {
	now := c.now()
	from, standing := c.forks.runs.Lookup(now, to)
	fork := c.forks.current()
	quoting := m.quoting(c.textOf(to))
	if standing == session.Live && fork == nil {
		if err := errors.Join(c.inbox.save(), c.answerWaiting(ctx)); err != nil { // earlier messages are answered first
			return err
		}
		c.running.makeRoom(ctx)
		return c.replyInRun(m, resumption(from, prompt.ForkReply(m.message.Text), now), quoting)
	}
	switch {
	case standing == session.Expired:
		c.Aside(textReplyExpired)
	case standing == session.Live && fork.resumes == from.Session: // the user is already talking to this run
		return c.inbox.put(m, false)
	case standing == session.Live:
		c.Aside(textReplyInFork)
	}
	return c.inbox.put(quoting, false)
}

// replyInRun continues the run that was replied to. Until that has started, the message
// is on disk in the form for the main session, quoting.
func (c *Conversation) replyInRun(m inbound, r forkRequest, quoting inbound) error {
	id, err := c.inbox.keep(quoting)
	if err != nil {
		m.finish(err)
		return err
	}
	c.show(m)
	r.images, r.written, r.label = m.message.Images, m.at, m.label
	err = c.queue.later(func(ctx context.Context) (err error) {
		err = errPanicked
		defer func() { m.finish(c.running.verdict(err)) }()
		switch f := c.forks.current(); { // an earlier reply may have entered a fork
		case f != nil && f.resumes == r.resume:
			return c.answer(ctx, m.batch(id))
		case f != nil:
			c.Aside(textReplyInFork)
			return c.answer(ctx, quoting.batch(id))
		}
		defer c.running.allow(attended)()
		defer c.answered(ctx, id)
		err = c.forks.enter(ctx, r)
		return err
	})
	if err != nil {
		c.inbox.forget(id)
		m.finish(err)
	}
	return err
}

// resumption continues the session of a background run.
func resumption(from session.ForkMessage, first string, now time.Time) forkRequest {
	return forkRequest{
		resume: from.Session, title: textEarlierRun,
		first: first + "\n\n" + prompt.Stale(now.Sub(from.At)),
	}
}

// clickAgent asks the agent the question of a button: in the run that showed it, if
// known, or else in the current session.
func (c *Conversation) clickAgent(ctx context.Context, message post.MessageID, inquiry string) error {
	now := c.now()
	from, standing := c.forks.runs.Lookup(now, message)
	if f := c.forks.current(); standing == session.Live && f != nil && f.resumes != from.Session {
		return errors.New(textAlreadyForked) // the question is kept
	}
	ask, label, ok, err := c.inquiries.Pop(now, inquiry)
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New(textButtonExpired)
	}
	c.running.makeRoom(ctx)
	return c.queue.later(func(ctx context.Context) error {
		if standing == session.Live && c.forks.current() == nil {
			defer c.running.allow(attended)()
			r := resumption(from, prompt.ForkButton(c.userName, ask), now)
			r.label = label
			return c.forks.enter(ctx, r)
		}
		c.rights.read(policy.Interactive).Read(label) // an earlier click may have entered the fork
		return c.answer(ctx, batch{message: agent.Message{Text: prompt.Button(ask)}})
	})
}

// tryAgain queues a turn for the message of a button.
func (c *Conversation) tryAgain(button string) error {
	all, ok := c.failed.take(button)
	if !ok {
		return errors.New(textButtonExpired)
	}
	id, err := c.inbox.keep(inbound{message: all.message, at: all.written, label: all.label})
	if err == nil {
		err = c.queue.later(func(ctx context.Context) error {
			all.ids = []string{id}
			c.offerAgain(ctx, c.answer(ctx, all), all)
			return nil
		})
	}
	if err != nil {
		c.inbox.forget(id)
		c.failed.keep(button, all)
	}
	return err
}

// failed is the user's last message that could not be answered, for the button that sends
// it again. It is not stored on disk: after a restart the button has expired.
type failed struct {
	mu  sync.Mutex
	id  string // of the button; empty if there is none
	all batch  // without ids: they are no longer on disk
}

// keep replaces the message.
func (f *failed) keep(id string, all batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all.ids = nil
	f.id, f.all = id, all
}

// take returns the message of a button, once.
func (f *failed) take(id string) (all batch, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == "" || id != f.id {
		return batch{}, false
	}
	all = f.all
	f.id, f.all = "", batch{}
	return all, true
}

// offerAgain tells the user that a message was not answered, with a button to send it
// again.
func (c *Conversation) offerAgain(ctx context.Context, err error, all batch) {
	if err == nil || errors.Is(err, errTold) || ctx.Err() != nil {
		return
	}
	id := store.NewID()
	c.failed.keep(id, all)
	buttons := []post.Button{{Label: textTryAgain, Style: "primary", Action: post.TryAgain + ":" + id}}
	if r, ok := c.delivery.engine.(agent.Reporter); ok && r.Status().LoginNeeded {
		buttons = append(buttons, post.Button{Label: textLogIn, Style: "secondary", Action: post.LogIn + ":"})
	}
	c.tell(err, buttons...)
}

// tell shows the reason for a missing answer.
func (c *Conversation) tell(err error, buttons ...post.Button) {
	c.log.Error(textTurnFailed, "error", err)
	c.note(post.KindTrouble, textTurnFailed+": "+err.Error(), buttons...) // a toast disappears, the question stays
}
