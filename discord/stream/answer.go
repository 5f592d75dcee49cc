package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/fault"
	"ollimbot/core/post"
)

// Answer is an answer on its way. Its methods may be called concurrently; none
// but End blocks, and after End they do nothing.
type Answer struct {
	o      Options
	cancel context.CancelFunc
	wake   chan struct{} // has room for one
	// ending is closed when End was called, done when the editor has ended.
	ending, done chan struct{}
	group        sync.WaitGroup

	mu    sync.Mutex
	draft draft
	// changed is true when the draft is not what the editor saw last; listening
	// when the editor waits to be woken.
	changed, listening bool

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
		o.Line = new(Line)
	}
	o.Timing = o.Timing.orDefault()
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

// change changes the draft and wakes the editor where it waits for that.
func (a *Answer) change(do func(d *draft, now time.Time)) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draft.ended {
		return
	}
	do(&a.draft, now)
	a.changed = true
	if a.listening {
		a.listening = false
		a.wake <- struct{}{} // the editor took the last one before it listened
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

// sketch is what the answer says now.
func (a *Answer) sketch() sketch {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed = false
	return a.draft.sketch(time.Now(), a.o.Timing.Status)
}

// listen reports whether the editor may wait for wake: nothing has changed since
// it looked.
func (a *Answer) listen() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listening = !a.changed
	return a.listening
}

// hear ends listening, whatever ended the wait.
func (a *Answer) hear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listening = false
	select {
	case <-a.wake:
	default:
	}
}
