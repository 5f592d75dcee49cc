package webhook

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxConnections is how many connections are held at once.
const maxConnections = 256

// gate is a listener with room for a fixed number of connections. When it is
// full, a new one takes the place of the oldest that no request is being
// answered on: thousands of idle or slow connections cost nothing but
// themselves, and whoever has something to deliver gets through.
type gate struct {
	net.Listener
	room int

	mu     sync.Mutex
	guests []*guest // the oldest first
}

// guest is one connection.
type guest struct {
	net.Conn
	gate    *gate
	serving bool // guarded by gate.mu
}

func newGate(l net.Listener, room int) *gate { return &gate{Listener: l, room: room} }

// Accept waits for the next connection that there is room for.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, fmt.Errorf("accept a connection: %w", err)
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

// serving marks the request's connection as one that is being answered on, and
// returns the function that takes the mark away.
func serving(r *http.Request) func() {
	c, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		return func() {}
	}
	c.serve(true)
	return func() { c.serve(false) }
}
