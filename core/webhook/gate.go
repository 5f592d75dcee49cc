package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
)

// maxConnections is how many connections are held at once.
const maxConnections = 256

// gate is a listener with room for a fixed number of connections. When it is
// full, or the process has no file handle left, the oldest goes on which no
// delivery is being written down: thousands of idle or slow connections cost
// nothing but themselves, and whoever has something to deliver gets through. A
// limit that lets new ones wait would let the slow ones keep them waiting.
type gate struct {
	net.Listener
	room int
	// accepted is told what came of each Accept.
	accepted func(error)

	mu     sync.Mutex
	guests []*guest // the oldest first
}

// guest is one connection.
type guest struct {
	net.Conn
	gate    *gate
	serving bool // guarded by gate.mu
}

func newGate(l net.Listener, room int, accepted func(error)) *gate {
	return &gate{Listener: l, room: room, accepted: accepted}
}

// Accept waits for the next connection that there is room for. Errors are those
// of the listener as they are: net/http knows by their type which will pass, and
// tries those again.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		g.accepted(err)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			g.evict()
		}
		if err != nil {
			return nil, err
		}
		one := &guest{Conn: c, gate: g}
		out, ok := g.admit(one)
		if out != nil {
			_ = out.Conn.Close() // nobody is answered on it
		}
		if ok {
			return one, nil
		}
		_ = c.Close() // the same
	}
}

// admit takes a guest in, if need be in the place of another, which is to be
// closed. Not ok: all are being answered.
func (g *gate) admit(one *guest) (out *guest, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.guests) >= g.room {
		i := slices.IndexFunc(g.guests, func(o *guest) bool { return !o.serving })
		if i < 0 {
			return nil, false
		}
		out = g.guests[i]
		g.guests = slices.Delete(g.guests, i, i+1)
	}
	g.guests = append(g.guests, one)
	return out, true
}

// evict closes the oldest connection that can go, for its file handle.
func (g *gate) evict() {
	g.mu.Lock()
	i := slices.IndexFunc(g.guests, func(o *guest) bool { return !o.serving })
	var out *guest
	if i >= 0 {
		out = g.guests[i]
		g.guests = slices.Delete(g.guests, i, i+1)
	}
	g.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // nobody is answered on it
	}
}

// Close closes the connection and makes room.
func (c *guest) Close() error {
	c.gate.mu.Lock()
	if i := slices.Index(c.gate.guests, c); i >= 0 {
		c.gate.guests = slices.Delete(c.gate.guests, i, i+1)
	}
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

func (c *guest) serve(on bool) {
	c.gate.mu.Lock()
	c.serving = on
	c.gate.mu.Unlock()
}

// guestKey finds a request's connection: net/http has no other way to it.
type guestKey struct{}

func withGuest(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// serving marks the request's connection as one that a delivery is being written
// down for, and returns the function that takes the mark away.
func serving(r *http.Request) func() {
	c, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		return func() {}
	}
	c.serve(true)
	return func() { c.serve(false) }
}
