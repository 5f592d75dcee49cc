package stream

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// sendEvery and editEvery keep a channel below the five messages and the five
	// edits in five seconds that Discord was seen to allow. They are even, for a burst would be paid for with a long pause.
	sendEvery = 1050 * time.Millisecond
	editEvery = 1200 * time.Millisecond
	// leastLimit is waited where a limit names no time.
	leastLimit = time.Second
)

// Line is where the writers of one channel stand in line. It guarantees:
//
//   - one writer sends at a time, in the order in which they asked, and the
//     messages that a writer asked for at once follow each other;
//   - between two messages lie 1.05 s and between two edits 1.2 s, or as long as
//     the channel wants when it answers with a limit.
//
// Edits wait for no sender, and several that wait come in any order. Whoever
// fails leaves the line: trying again is asking again, behind the others. The
// zero Line is ready; its methods may be called concurrently.
type Line struct {
	// SendEvery and EditEvery are other paces than those, where they are not zero.
	// They are set before the first call.
	SendEvery, EditEvery time.Duration

	sends, edits gate

	mu    sync.Mutex
	taken bool
	queue []chan struct{}
}

// Send calls send, which sends one message, when it is its turn. A send that
// answers with a LimitedError keeps its turn and is called again; its other
// errors are the answer, as is ctx's.
func (l *Line) Send(ctx context.Context, send func(context.Context) error) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.leave()
	return l.sendNext(ctx, send)
}

// Edit calls edit, which edits one message, as soon as the channel's pace
// allows. For its errors see Send.
func (l *Line) Edit(ctx context.Context, edit func(context.Context) error) error {
	return l.edits.through(ctx, cmp.Or(l.EditEvery, editEvery), edit)
}

// sendNext sends one of the messages of a turn.
func (l *Line) sendNext(ctx context.Context, send func(context.Context) error) error {
	return l.sends.through(ctx, cmp.Or(l.SendEvery, sendEvery), send)
}

// take waits for the turn to send, which ends with leave.
func (l *Line) take(ctx context.Context) error {
	l.mu.Lock()
	if !l.taken {
		l.taken = true
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.queue = append(l.queue, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(l.queue, turn)
	if i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // the turn came in the same moment: the next one has it
		l.leave()
	}
	return ctx.Err()
}

func (l *Line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.taken = false
		return
	}
	close(l.queue[0])
	l.queue = l.queue[1:]
}

// gate lets calls through with some time between them.
type gate struct {
	mu   sync.Mutex
	next time.Time
}

// through calls f when the gate opens, and again when a limit is over.
func (g *gate) through(ctx context.Context, every time.Duration, f func(context.Context) error) error {
	for {
		for wait := g.pass(every); wait > 0; wait = g.pass(every) {
			if err := sleep(ctx, wait, nil); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(ctx)
		var limited *LimitedError
		if !errors.As(err, &limited) {
			return err
		}
		g.hold(limited.After)
	}
}

// pass goes through the gate and answers with 0, or with how long it is closed.
func (g *gate) pass(every time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if wait := g.next.Sub(now); wait > 0 {
		return wait
	}
	g.next = now.Add(every)
	return 0
}

func (g *gate) hold(d time.Duration) {
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
