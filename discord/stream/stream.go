// Package stream shows an answer while it grows, as messages of a Discord channel: the typing indicator, a message
// that begins with the first sentence, edits with the newest text, and further messages when one is full. Discord
// notifies a phone of new messages but not of edits, so exactly one message of an answer notifies: the one with its
// first words. It owns the answer's content, the messages that show it, and the order in which several writers send.
// It must not know the gateway or the bot: the channel is an interface whose errors are those of package rest.
package stream

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

// ErrRefused is the error of a Channel that refuses everything. The answer then gives up, as it does after permanent
// errors of package rest.
var ErrRefused = errors.New("the channel refuses the message")

// final reports whether no further try can succeed.
func final(err error) bool {
	for _, known := range []error{ErrRefused, rest.ErrAuth, rest.ErrForbidden, rest.ErrInvalid, rest.ErrNoChannel} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Page is one message.
type Page struct {
	Text string
	File string // the text of an attached file, or empty
	// Silent keeps a new message from notifying the user's phone.
	Silent bool
	// Stop offers to stop the answer, which has this ID.
	Stop bool
	ID   string
}

// Channel is the channel of direct messages. Its methods block on the network, respect ctx and may be called
// concurrently. Texts are not empty and have at most 2,000 UTF-16 units. Errors are those of package rest: the answer
// replaces a message that is deleted or too old, waits for rate limits, and rarely retries a user whose settings
// exclude the bot. It treats any other error that is not final as a network failure and repeats the call.
type Channel interface {
	// Send sends a message. The same nonce is one message across all tries and returns the same ID. rest.ErrGone means
	// that it was deleted between two tries.
	Send(ctx context.Context, m Page, nonce string) (post.MessageID, error)
	// Edit replaces a message's text and its stop button: rest.ErrGone, rest.ErrOldEdit.
	Edit(ctx context.Context, id post.MessageID, p Page) error
	// Delete deletes a message; rest.ErrGone if it does not exist.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows for ten seconds that the bot is typing.
	Typing(ctx context.Context) error
}

// Options of an answer. Only Channel is required.
type Options struct {
	Channel Channel
	Log     *slog.Logger
	// Line is shared by all writers of the channel.
	Line *Line
	// Messages is the largest number of messages. A longer answer ends with a file that contains all of it. Zero means
	// no limit.
	Messages int
	// StatusLine immediately shows a line that becomes the answer, so the phone notifies before there is anything to
	// read. Without it, a silent message reports long work.
	StatusLine bool
	// ID names the answer for its stop button. Silent keeps all of its messages from ringing.
	ID     string
	Silent bool
	// After, if set, is closed when the answer's first message may be sent: an earlier answer comes first.
	After <-chan struct{}
	// Growing is called when an answer starts or stops growing in a message: the last call before the program dies marks
	// an incomplete answer. May be nil.
	Growing func(id post.MessageID, there bool)
}

// The pace of an answer.
const (
	// flushAfter is how long the first words wait for more.
	flushAfter = 200 * time.Millisecond
	// silence is the time without text after which the status line appears.
	silence = 300 * time.Millisecond
	// longWork is the duration of tools or a delay after which a silent message reports them.
	longWork = 3 * time.Second
	// sentenceWithin is how long the first words wait for the end of their sentence, which
	// the notification shows.
	sentenceWithin = 2 * time.Second
	// workTick is the interval at which that message updates the duration of the work.
	workTick = 5 * time.Second
	// typingEvery is how often the typing indicator is renewed while nothing else changes; Discord shows it for ten
	// seconds. After a message, it appears after a quarter of that time.
	typingEvery = 8 * time.Second
	// longestPause is the longest pause between tries without a network.
	longestPause = 5 * time.Second
)

// Answer is a growing answer. Its methods may be called concurrently; only End blocks, and
// after End they do nothing.
type Answer struct {
	o      Options
	cancel context.CancelFunc
	wake   chan struct{} // capacity 1: the draft has changed
	// ending is closed by End, sent when no message is left to send, done when the editor has ended.
	ending, sent, done chan struct{}
	group              sync.WaitGroup

	mu    sync.Mutex
	draft draft
	rung  bool // a card or a file of the answer has notified

	ids []post.MessageID // written before done is closed
}

// New starts an answer and its editor, the goroutine that updates the messages. The editor runs until End has shown
// everything, or until ctx ends, which leaves the messages unchanged. End waits for it.
func New(ctx context.Context, o Options) *Answer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Growing == nil {
		o.Growing = func(post.MessageID, bool) {}
	}
	if o.Line == nil {
		o.Line = NewLine(SendEvery, EditEvery)
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &Answer{
		o: o, cancel: cancel, wake: make(chan struct{}, 1),
		ending: make(chan struct{}), sent: make(chan struct{}), done: make(chan struct{}),
		draft: draft{since: time.Now(), statusLine: o.StatusLine},
	}
	a.group.Go(func() { a.edit(ctx) })
	return a
}

// edit runs the editor. A panic ends only this answer.
func (a *Answer) edit(ctx context.Context) {
	e := newEditor(a)
	defer close(a.done)
	defer e.allSent()
	defer a.cancel()
	defer func() { a.ids = e.ids() }()
	defer fault.Rescue("an answer", func(err *fault.Error) {
		a.o.Log.Error("an answer is not shown any further", "error", err)
	})
	e.run(ctx)
}

// Sent is closed when the answer has ended and has no message left to send: a later answer may be sent.
func (a *Answer) Sent() <-chan struct{} { return a.sent }

// change changes the draft and wakes the editor.
func (a *Answer) change(do func(d *draft, now time.Time)) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draft.ended {
		return
	}
	do(&a.draft, now)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Append adds text. A piece may end anywhere, even within a character.
func (a *Answer) Append(delta string) {
	if delta != "" {
		a.change(func(d *draft, now time.Time) { d.append(delta, now) })
	}
}

// Rewind removes the last n bytes of the original text; tools and compactions stay.
func (a *Answer) Rewind(n int) {
	if n > 0 {
		a.change(func(d *draft, now time.Time) { d.rewind(n, now) })
	}
}

// Tool adds the label of a tool that was called or, if denied, refused.
func (a *Answer) Tool(label string, denied bool) {
	if label = tidy(label); label != "" {
		a.change(func(d *draft, now time.Time) { d.call(label, denied, now) })
	}
}

// Status shows why the answer is delayed, until it continues; an empty label means that the bot is thinking.
func (a *Answer) Status(label string) {
	label = tidy(label)
	a.change(func(d *draft, now time.Time) { d.status(label, now) })
}

// Compacting shows in its own message that the history is being or was compacted.
func (a *Answer) Compacting(ev agent.Compacting) {
	a.change(func(d *draft, now time.Time) { d.compacting(ev, now) })
}

// End finishes the answer and waits until all of it is shown or ctx ends, in which case the missing rest is logged.
// It returns the IDs of the messages in order. An empty answer leaves no message if emptyIsFine is set; otherwise the
// message says that there was no answer.
func (a *Answer) End(ctx context.Context, emptyIsFine bool) []post.MessageID {
	a.change(func(d *draft, now time.Time) {
		d.end(emptyIsFine, now)
		close(a.ending)
	})
	select {
	case <-a.done:
	case <-ctx.Done():
		a.cancel()
	}
	a.group.Wait()
	return a.ids
}

// Rings reports whether a card or a file of the answer notifies: if there are no words yet, and nothing else has.
func (a *Answer) Rings() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.o.Silent && !a.o.StatusLine && a.draft.spoke.IsZero() && post.KindAnswer.Rings(post.Moment{Rang: a.rung})
}

// Empty reports whether the answer has no words.
func (a *Answer) Empty() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draft.words() == ""
}

// Rang records that a card or a file of the answer has notified: then its words do not.
func (a *Answer) Rang() { a.change(func(*draft, time.Time) { a.rung = true }) }

// sketch returns the current state, and whether a message of it may still notify. It clears the wake-up.
func (a *Answer) sketch(rang bool) (s sketch, notifies bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.wake:
	default:
	}
	notifies = !a.o.Silent && post.KindAnswer.Rings(post.Moment{Rang: rang || a.rung})
	return a.draft.sketch(time.Now(), notifies), notifies
}

// SendEvery and EditEvery keep a channel below the five messages and the five edits in five seconds that Discord was
// seen to allow. They are even, because a burst leads to a long pause.
const (
	SendEvery = 1050 * time.Millisecond
	EditEvery = 1200 * time.Millisecond
)

// leastLimit is the wait for a rate limit of unknown duration.
const leastLimit = time.Second

// Line is the queue of a channel's writers. It guarantees:
//
//   - one writer sends at a time, in order of arrival, and the messages that a writer
//     sends in one turn are consecutive;
//   - messages are at least SendEvery apart and edits EditEvery, or longer if the
//     channel's rate limit requires it.
//
// Edits do not wait for senders, and waiting edits have no order. A writer that fails leaves the queue; to try again,
// it queues again. Its methods may be called concurrently.
type Line struct {
	// turn is full while a writer sends. Waiting writers get it in order of arrival.
	turn         chan struct{}
	sends, edits gate
}

// NewLine creates a line with these paces.
func NewLine(sendEvery, editEvery time.Duration) *Line {
	return &Line{turn: make(chan struct{}, 1), sends: gate{every: sendEvery}, edits: gate{every: editEvery}}
}

// Send calls send, which sends one message, when it is its turn. If send returns a rest.LimitedError, it keeps its
// turn and is called again; other errors, including ctx's, are returned.
func (l *Line) Send(ctx context.Context, send func(context.Context) error) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	return l.sendNext(ctx, send)
}

// Edit calls edit, which edits one message, at the channel's pace. Its errors are those of
// Send.
func (l *Line) Edit(ctx context.Context, edit func(context.Context) error) error {
	return l.edits.through(ctx, edit)
}

// sendNext sends one of a turn's messages.
func (l *Line) sendNext(ctx context.Context, send func(context.Context) error) error {
	return l.sends.through(ctx, send)
}

// acquire waits for the turn to send, which ends with release.
func (l *Line) acquire(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Line) release() { <-l.turn }

// gate spaces calls in time.
type gate struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

// through calls f when the gate opens, and again after a rate limit.
func (g *gate) through(ctx context.Context, f func(context.Context) error) error {
	for {
		for wait := g.wait(); wait > 0; wait = g.wait() {
			if err := sleep(ctx, wait, nil); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(ctx)
		var limited *rest.LimitedError
		if !errors.As(err, &limited) {
			return err
		}
		g.delay(limited.After)
	}
}

// wait passes the gate and returns 0, or returns how long the gate stays closed.
func (g *gate) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if wait := g.next.Sub(now); wait > 0 {
		return wait
	}
	g.next = now.Add(g.every)
	return 0
}

func (g *gate) delay(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(max(d, leastLimit)); until.After(g.next) {
		g.next = until
	}
}

// sleep waits for d or until kick is closed. Its error is ctx's.
func sleep(ctx context.Context, d time.Duration, kick <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-kick:
	case <-ctx.Done():
	}
	return ctx.Err()
}
