package stream

import (
	"context"
	"errors"
	"sync"
	"time"

	"ollimbot/discord/rest"
)

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
