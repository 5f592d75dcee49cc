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
	open map[*admitted]struct{}
}

// Accept hands out the next connection that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		a := &admitted{Conn: c, gate: g}
		g.mu.Lock()
		down := g.down
		if !down {
			g.open[a] = struct{}{}
		}
		g.mu.Unlock()
		if !down {
			return a, nil
		}
		reset(a)
	}
}

// shut cuts what is open and lets nothing in until it is called with false.
func (g *gate) shut(down bool) {
	g.mu.Lock()
	g.down = down
	var cut []*admitted
	for a := range g.open {
		cut = append(cut, a)
	}
	g.mu.Unlock()
	for _, a := range cut {
		if down {
			reset(a)
		}
	}
}

// admitted is a connection that the gate forgets when it is closed.
type admitted struct {
	net.Conn
	gate *gate
}

func (a *admitted) Close() error {
	a.gate.mu.Lock()
	delete(a.gate.open, a)
	a.gate.mu.Unlock()
	return a.Conn.Close()
}

// reset ends a connection the hard way: the peer sees neither an answer nor an
// orderly end. What the closing reports does not matter any more.
func reset(c net.Conn) {
	if a, ok := c.(*admitted); ok {
		if t, ok := a.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
	}
	_ = c.Close()
}

// Down plays an outage: open connections are reset, new ones are turned away
// until Up.
func (s *Server) Down() { s.gate.shut(true) }

// Up ends an outage.
func (s *Server) Up() { s.gate.shut(false) }
