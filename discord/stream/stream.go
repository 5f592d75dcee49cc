// Package stream shows one answer while it grows, as messages of a Discord
// channel: a status line that becomes the text, edits that bring the
// newest text, further messages where one is full. It owns what the answer says
// and which messages show it, and the order in which several writers send. It
// knows no gateway and no bot: the channel is an interface, whose refusals are
// those of package rest.
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

// ErrRefused is the answer of a Channel that will never take anything. So are
// refusals of package rest that no second try can mend. The answer gives up.
var ErrRefused = errors.New("the channel refuses the message")

// final reports whether no try will ever succeed.
func final(err error) bool {
	for _, known := range []error{ErrRefused, rest.ErrAuth, rest.ErrForbidden, rest.ErrInvalid, rest.ErrNoChannel} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Page is one message. File is the text of a file that comes with it, or empty.
type Page struct{ Text, File string }

// Channel is the one channel of direct messages. Its methods block on the
// network, respect ctx and may be called concurrently. Texts are not empty and
// have at most 2,000 UTF-16 units. Errors are those of package rest: where a
// message is gone or too old a new one takes its place, a limit is waited for, a
// user who shuts the bot out is tried again now and then, and anything that is not
// final is taken for trouble of the network: the call is made again.
type Channel interface {
	// Send sends a message; the same nonce is one message over all tries, and its
	// id is the answer to each. rest.ErrGone says that it was deleted between two tries.
	Send(ctx context.Context, m Page, nonce string) (post.MessageID, error)
	// Edit replaces a message's text: rest.ErrGone, rest.ErrOldEdit.
	Edit(ctx context.Context, id post.MessageID, text string) error
	// Delete removes a message; rest.ErrGone where it does not exist.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows for ten seconds that the bot writes.
	Typing(ctx context.Context) error
}

// Options are what an answer needs. Only Channel must be given.
type Options struct {
	Channel Channel
	Log     *slog.Logger
	// Line is shared by all that write into the channel.
	Line *Line
	// Messages is how many an answer may have. What is longer ends with a file that
	// holds all of it. Zero is no limit.
	Messages int
	// Growing is told that the answer grows in a message, and that it no longer
	// does: what it was told last when the program dies is a half answer. Nil is
	// nobody.
	Growing func(id post.MessageID, there bool)
}

// How fast an answer moves.
const (
	// flushAfter is how long the first words wait for more to be shown with them.
	flushAfter = 200 * time.Millisecond
	// silence is how long the bot may say nothing before a status says what it does.
	silence = 300 * time.Millisecond
	// typingEvery is how often the typing indicator is renewed while nothing else
	// changes; Discord shows it for ten seconds. It begins after a quarter of that.
	typingEvery = 8 * time.Second
	// longestPause is that between two tries while the network is gone.
	longestPause = 5 * time.Second
)

// Answer is an answer on its way. Its methods may be called concurrently; none
// but End blocks, and after End they do nothing.
type Answer struct {
	o      Options
	cancel context.CancelFunc
	wake   chan struct{} // has room for one: the draft has changed since the editor looked
	// ending is closed when End was called, done when the editor has ended.
	ending, done chan struct{}
	group        sync.WaitGroup

	mu    sync.Mutex
	draft draft

	ids []post.MessageID // written before done is closed
}

// New begins an answer and starts its editor, the goroutine that brings the
// messages to what the answer says. It runs until End has shown everything or
// ctx ends, which leaves the messages as they are; End waits for it.
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
		ending: make(chan struct{}), done: make(chan struct{}),
		draft: draft{since: time.Now()},
	}
	a.group.Go(func() { a.edit(ctx) })
	return a
}

// edit runs the editor. A panic in it ends this answer and nothing else.
func (a *Answer) edit(ctx context.Context) {
	e := newEditor(a)
	defer close(a.done)
	defer a.cancel()
	defer func() { a.ids = e.ids() }()
	defer fault.Rescue("an answer", func(err *fault.Error) {
		a.o.Log.Error("an answer is not shown any further", "error", err)
	})
	e.run(ctx)
}

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

// Append adds text. A piece may end anywhere, in the middle of a character too.
func (a *Answer) Append(delta string) {
	if delta != "" {
		a.change(func(d *draft, now time.Time) { d.append(delta, now) })
	}
}

// Rewind takes the last n bytes of the text back, as they came; tools and
// compactions among them stay.
func (a *Answer) Rewind(n int) {
	if n > 0 {
		a.change(func(d *draft, now time.Time) { d.rewind(n, now) })
	}
}

// Tool adds the label of a tool that was called or, denied, that was refused.
func (a *Answer) Tool(label string, denied bool) {
	if label = tidy(label); label != "" {
		a.change(func(d *draft, now time.Time) { d.call(label, denied, now) })
	}
}

// Status shows what holds the answer up until it goes on; an empty label says
// that the bot thinks.
func (a *Answer) Status(label string) {
	label = tidy(label)
	a.change(func(d *draft, now time.Time) { d.status(label, now) })
}

// Compacting shows that the history is or was made shorter, in a message of its
// own.
func (a *Answer) Compacting(ev agent.Compacting) {
	a.change(func(d *draft, now time.Time) { d.compacting(ev, now) })
}

// End finishes the answer and waits until all of it is shown, at most until ctx
// ends; what is missing then stays missing, and the log says so. Its messages'
// ids are the answer, in order. An answer without a word leaves no message, or
// says that none came unless emptyIsFine.
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

// sketch is what the answer says now; what has changed until now wakes nobody.
func (a *Answer) sketch() sketch {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.wake:
	default:
	}
	return a.draft.sketch(time.Now())
}

// SendEvery and EditEvery keep a channel below the five messages and the five
// edits in five seconds that Discord was seen to allow. They are even, for a burst
// would be paid for with a long pause.
const (
	SendEvery = 1050 * time.Millisecond
	EditEvery = 1200 * time.Millisecond
)

// leastLimit is waited where a limit names no time.
const leastLimit = time.Second

// Line is where the writers of one channel stand in line. It guarantees:
//
//   - one writer sends at a time, in the order in which they asked, and the
//     messages that a writer asked for at once follow each other;
//   - between two messages lies SendEvery and between two edits EditEvery, or as
//     long as the channel wants when it answers with a limit.
//
// Edits wait for no sender, and several that wait come in any order. Whoever
// fails leaves the line: trying again is asking again, behind the others. Its
// methods may be called concurrently.
type Line struct {
	// turn is full while a writer sends. Those who wait for room in it get it in
	// the order in which they came, as all senders on a channel do.
	turn         chan struct{}
	sends, edits gate
}

// NewLine makes a line with these paces.
func NewLine(sendEvery, editEvery time.Duration) *Line {
	return &Line{turn: make(chan struct{}, 1), sends: gate{every: sendEvery}, edits: gate{every: editEvery}}
}

// Send calls send, which sends one message, when it is its turn. A send that
// answers with a rest.LimitedError keeps its turn and is called again; its other
// errors are the answer, as is ctx's.
func (l *Line) Send(ctx context.Context, send func(context.Context) error) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	return l.sendNext(ctx, send)
}

// Edit calls edit, which edits one message, as soon as the channel's pace
// allows. For its errors see Send.
func (l *Line) Edit(ctx context.Context, edit func(context.Context) error) error {
	return l.edits.through(ctx, edit)
}

// sendNext sends one of the messages of a turn.
func (l *Line) sendNext(ctx context.Context, send func(context.Context) error) error {
	return l.sends.through(ctx, send)
}

// acquire waits for the turn to send, which ends with leave.
func (l *Line) acquire(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Line) release() { <-l.turn }

// gate lets calls through with some time between them.
type gate struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

// through calls f when the gate opens, and again when a limit is over.
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

// wait goes through the gate and answers with 0, or with how long it is closed.
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

// sleep waits for some time, or until kick is closed. Its error is ctx's.
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
