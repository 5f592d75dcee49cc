package gateway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// errEnded is what the library reads and writes on a wire that has ended.
var errEnded = errors.New("gateway: the connection has ended")

// errUnanswered is why the library gives up a connection by itself.
var errUnanswered = errors.New(textUnanswered)

// errUnasked is about an answer that the library must not see.
var errUnasked = errors.New(textUnasked)

// byeWait is for how long Discord may take over its last words.
const byeWait = time.Second

// wire is the connection beneath the library. It sees the packets before the
// library does, because some of them would harm it: after "reconnect" as a first
// packet it waits for itself for ever, "invalid session" it answers at once and
// without limit, a close code it does not tell, and when it gives up a dead
// connection it says goodbye, which makes Discord forget the session that we
// want to resume. At all of these the wire ends instead, and knows why.
//
// The library's own logger would tell some of it, but that is one variable for
// the whole process and does not say which session speaks; we switch it off.
type wire struct {
	net.Conn
	idle       time.Duration
	identified func()             // called when an IDENTIFY packet leaves
	beats      chan time.Duration // the latest round trip of a heartbeat; room for one
	done       chan struct{}      // closed when the wire has ended
	frames     frames             // used by the one goroutine that reads

	mu       sync.Mutex // guards what follows
	why      cause
	ended    bool
	last     time.Time // when we stop waiting for Discord's last words; zero: we go on
	left     bool      // it is we who leave
	unsent   error     // why a write failed
	beat     time.Time // when the latest heartbeat left; zero before the first
	waiting  time.Time // when the oldest one left that is not answered; zero: all are
	unheeded bool      // the read's deadline is that of an unanswered heartbeat
}

func newWire(conn net.Conn, idle time.Duration, identified func()) *wire {
	return &wire{
		Conn: conn, idle: idle, identified: identified,
		beats: make(chan time.Duration, 1), done: make(chan struct{}),
	}
}

// end closes the connection for this reason; the first reason counts.
func (w *wire) end(why cause) {
	w.mu.Lock()
	first := !w.ended
	if first {
		w.ended = true
		w.why = why
		if w.left {
			w.why = cause{end: endLeft}
		}
	}
	w.mu.Unlock()
	if first {
		// Nobody is told of an error: the connection is given up either way.
		_ = w.Conn.Close()
		close(w.done)
	}
}

// cause is why the wire ended, once done is closed.
func (w *wire) cause() cause {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// arm sets until when the next read may take. The lock orders it with leave: a
// read that begins at that moment must not set its own, later deadline.
func (w *wire) arm() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return errEnded
	}
	at := time.Now().Add(w.idle)
	w.unheeded = !w.waiting.IsZero() && w.waiting.Add(w.idle).Before(at)
	if w.unheeded {
		at = w.waiting.Add(w.idle)
	}
	if !w.last.IsZero() {
		at = w.last
	}
	return w.SetReadDeadline(at)
}

// broken is the cause behind an error of the connection.
func (w *wire) broken(err error) cause {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return cause{end: endLost, err: err}
	case w.unsent != nil:
		return cause{end: endLost, err: w.unsent}
	case w.unheeded:
		return cause{end: endLost, err: errUnanswered}
	}
	return cause{end: endIdle, duration: w.idle}
}

// Read gives the library what may reach it, and fails when the wire has ended.
func (w *wire) Read(p []byte) (int, error) {
	if err := w.arm(); err != nil {
		w.end(w.broken(err))
		return 0, errEnded
	}
	n, err := w.Conn.Read(p)
	passed := w.frames.feed(p[:n], w.see)
	if passed < n {
		err = nil // the wire has ended; what came before may still be handled
		if passed == 0 {
			err = errEnded
		}
		return passed, err
	}
	if err != nil {
		w.end(w.broken(err))
	}
	return n, err
}

// see looks at a frame from Discord. False ends the wire in front of it.
func (w *wire) see(kind byte, body []byte) bool {
	switch kind {
	case frameClose:
		w.end(cause{end: endClosed, code: closeCode(body)})
		return false
	case frameText:
		why, acked := steering(body)
		if acked && !w.acked(time.Now()) {
			why = &cause{end: endNonsense, err: errUnasked}
		}
		if why != nil {
			w.end(*why)
			return false
		}
		return true
	}
	w.end(cause{end: endNonsense, err: fmt.Errorf(textTooLong, w.frames.left)})
	return false
}

// acked measures the heartbeat that Discord has answered. It is false when none
// has left yet: the library would then wait for itself, as after a reconnect.
func (w *wire) acked(now time.Time) bool {
	w.mu.Lock()
	beat, answer := w.beat, !w.waiting.IsZero()
	w.waiting = time.Time{}
	w.mu.Unlock()
	if !answer {
		return !beat.IsZero()
	}
	select {
	case <-w.beats: // nobody has looked: the newer one counts
	default:
	}
	w.beats <- now.Sub(beat) // room is certain: only the reader sends
	return true
}

// Write sends what the library writes, but for its goodbye: the session must
// live on unless it is we who leave. It never fails. Whoever reads learns of the
// end, and should be alone in that: when the library's heartbeat learns of it as
// well, the two close the session twice, maybe the next one already.
func (w *wire) Write(p []byte) (int, error) {
	if len(p) > 0 && p[0] == frameClose {
		w.end(cause{end: endLost, err: errUnanswered})
		return len(p), nil
	}
	switch sentOp(p) {
	case opHeartbeat:
		w.mu.Lock()
		w.beat = time.Now()
		if w.waiting.IsZero() {
			w.waiting = w.beat
		}
		w.mu.Unlock()
	case opIdentify:
		w.identified()
	}
	if _, err := w.Conn.Write(p); err != nil {
		w.finish(func() { w.unsent = err })
	}
	return len(p), nil
}

// finish gives Discord byeWait for its last words. After a write that failed they
// are often there already, and are the close code that says why.
func (w *wire) finish(because func()) {
	w.mu.Lock()
	because()
	if w.last.IsZero() {
		w.last = time.Now().Add(byeWait)
	}
	err := w.SetReadDeadline(w.last) // for the read that is already waiting
	w.mu.Unlock()
	if err != nil {
		w.end(cause{end: endLost, err: err})
	}
}

// Close is the library's: it has given up the connection.
func (w *wire) Close() error {
	w.end(cause{end: endLost})
	return nil
}

// leave says goodbye, so that Discord shows the bot as offline at once, and ends
// the wire when Discord has answered or byeWait has passed.
func (w *wire) leave() {
	w.finish(func() { w.left = true })
	const normalClosure = 1000
	if w.send(frame(frameClose, binary.BigEndian.AppendUint16(nil, normalClosure))) != nil {
		w.end(cause{end: endLeft})
	}
}

// send writes a frame of our own beside the library: a connection takes each
// write whole, and the library never spreads a packet of its own over two.
func (w *wire) send(frame []byte) error {
	if err := w.SetWriteDeadline(time.Now().Add(byeWait)); err != nil {
		return err
	}
	if _, err := w.Conn.Write(frame); err != nil {
		return err
	}
	return w.SetWriteDeadline(time.Time{})
}
