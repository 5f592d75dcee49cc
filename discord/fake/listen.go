package fake

import (
	"net"
	"sync"
)

// gate is a listener that can play a server which is down. It keeps the port,
// so that no other test can take it meanwhile, and resets whatever knocks.
type gate struct {
	net.Listener

	mu   sync.Mutex // guards what follows
	down bool
	open map[net.Conn]struct{}
}

func newGate(l net.Listener) *gate {
	return &gate{Listener: l, open: make(map[net.Conn]struct{})}
}

// Accept hands out the next connection that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if k := g.admit(c); k != nil {
			return k, nil
		}
		reset(c)
	}
}

func (g *gate) admit(c net.Conn) net.Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down {
		return nil
	}
	g.open[c] = struct{}{}
	return &admitted{Conn: c, gate: g}
}

// shut cuts what is open and lets nothing in until it is called with false.
func (g *gate) shut(down bool) {
	g.mu.Lock()
	g.down = down
	g.mu.Unlock()
	if down {
		g.cutAll()
	}
}

func (g *gate) cutAll() {
	g.mu.Lock()
	cut := make([]net.Conn, 0, len(g.open))
	for c := range g.open {
		cut = append(cut, c)
	}
	clear(g.open)
	g.mu.Unlock()
	for _, c := range cut {
		reset(c)
	}
}

// admitted is a connection that the gate forgets when it is closed.
type admitted struct {
	net.Conn
	gate *gate
}

func (a *admitted) Close() error {
	a.gate.mu.Lock()
	delete(a.gate.open, a.Conn)
	a.gate.mu.Unlock()
	return a.Conn.Close()
}

// reset ends a connection the hard way: the peer sees neither an answer nor an
// orderly end. What the closing reports does not matter any more.
func reset(c net.Conn) {
	if a, ok := c.(*admitted); ok {
		a.gate.mu.Lock()
		delete(a.gate.open, a.Conn)
		a.gate.mu.Unlock()
		c = a.Conn
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// Down plays an outage: open connections are reset, new ones are turned away
// until Up.
func (s *Server) Down() { s.gate.shut(true) }

// Up ends an outage.
func (s *Server) Up() { s.gate.shut(false) }
