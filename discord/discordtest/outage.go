package discordtest

import (
	"net"
	"sync"
)

// gate is a listener that can simulate a server that is down. It keeps the port, so that no other test can take it,
// and resets new connections.
type gate struct {
	net.Listener

	mu   sync.Mutex // guards what follows
	down bool
	open []net.Conn // accepted since it was last down
}

// Accept returns the next connection while the server is up.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		down := g.down
		if !down {
			g.open = append(g.open, c)
		}
		g.mu.Unlock()
		if !down {
			return c, nil
		}
		reset(c)
	}
}

// shut resets open connections and refuses new ones until it is called with false.
func (g *gate) shut(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down = down; down {
		for _, c := range g.open {
			reset(c)
		}
		g.open = nil
	}
}

// reset aborts a connection: the peer sees neither an answer nor an orderly end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
