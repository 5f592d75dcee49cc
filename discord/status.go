package discord

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// board is how the connection stands, put together from what the gateway knows
// and what the answers of Discord have shown.
type board struct {
	zone    *time.Location
	gate    func() gateway.State
	refused chan struct{} // closed when the token was refused

	mu        sync.Mutex
	lost      string    // why the bot's own data could not be looked up
	since     time.Time // since when
	shutOut   string    // why the bot may not write to its user
	stopped   string    // why it has given up
	listeners []func()
}

func newBoard(zone *time.Location) *board {
	return &board{zone: zone, refused: make(chan struct{}), gate: func() gateway.State { return gateway.State{} }}
}

func (b *board) change(do func()) {
	b.mu.Lock()
	do()
	b.mu.Unlock()
	b.tell()
}

// tell calls the listeners, without a lock.
func (b *board) tell() {
	b.mu.Lock()
	listeners := slices.Clone(b.listeners)
	b.mu.Unlock()
	for _, f := range listeners {
		f()
	}
}

// unreachable notes that Discord did not answer what Run begins with; nil that
// it did.
func (b *board) unreachable(err error) {
	b.change(func() {
		switch {
		case err == nil:
			b.lost = ""
			return
		case b.lost == "":
			b.since = time.Now()
		}
		b.lost = reason(err)
	})
}

// wrote notes whether the bot may write to its user, and gives what is new: why
// not, or empty.
func (b *board) wrote(err error) (changed bool, why string) {
	switch {
	case errors.Is(err, rest.ErrCannotDM):
		why = rest.ErrCannotDM.Error()
	case err != nil:
		return false, "" // it says nothing about that
	}
	b.mu.Lock()
	same := b.shutOut == why
	b.mu.Unlock()
	if !same {
		b.change(func() { b.shutOut = why })
	}
	return !same, why
}

func (b *board) stop(err error) { b.change(func() { b.stopped = reason(err) }) }

// refuse notes that the token is wrong.
func (b *board) refuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.refused:
	default:
		close(b.refused)
	}
}

// gaveUp is why the surface has stopped, or empty.
func (b *board) gaveUp() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// reason is an error as a sentence: the innermost of this room's that is one.
func reason(err error) string {
	for _, known := range []error{rest.ErrAuth, rest.ErrCannotDM} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	words := clean.Cut(clean.Line(err.Error()), 300)
	if errors.Is(err, rest.ErrTransient) { // the fact first: a top line is short
		return textLooking + " (" + words + ")"
	}
	return words
}

// Status is how the connection stands.
func (d *Discord) Status() core.SurfaceStatus {
	state, ok := d.board.words()
	return core.SurfaceStatus{Name: name, State: state, OK: ok}
}

// OnChange calls f after the status has changed. f must not block.
func (d *Discord) OnChange(f func()) {
	d.board.mu.Lock()
	defer d.board.mu.Unlock()
	d.board.listeners = append(d.board.listeners, f)
}

func (b *board) words() (string, bool) {
	g := b.gate()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stopped != "":
		return fmt.Sprintf(textStopped, b.stopped), false
	case b.lost != "":
		return b.down(b.since, b.lost), false
	}
	switch g.Phase {
	case gateway.Stopped:
		return fmt.Sprintf(textStopped, g.Reason), false
	case gateway.Down:
		return b.down(g.Since, g.Reason), false
	case gateway.Connecting:
		if g.Reason != "" { // the first try has failed
			return b.down(g.Since, g.Reason), false
		}
		return textConnecting, true
	case gateway.Up:
	}
	switch {
	case b.shutOut != "":
		return b.shutOut, false // it begins with the cure, since a top line is short
	case g.Latency > 0:
		return fmt.Sprintf(textUpIn, max(g.Latency.Milliseconds(), 1)), true
	}
	return textUp, true
}

func (b *board) down(since time.Time, why string) string {
	if why == "" {
		why = textLooking
	}
	return fmt.Sprintf(textDownSince, since.In(b.zone).Format("15:04"), why)
}
