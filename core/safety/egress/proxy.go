package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

const (
	// greetTime is how long a client may take to send its request.
	greetTime = 30 * time.Second
	idleTime  = 2 * time.Minute
	// maxConnections is the limit of simultaneous connections of a sandbox. More wait.
	maxConnections = 256
)

// proxy serves the connections of one sandbox.
type proxy struct {
	gate    *gate
	forward *httputil.ReverseProxy

	mu    sync.Mutex // guards the fields below
	ended bool
	busy  sync.WaitGroup // requests in progress
}

func newProxy(g *gate) *proxy {
	p := &proxy{gate: g}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.RawQuery = r.In.URL.RawQuery },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				host, port, err := split(address)
				if err != nil {
					return nil, err
				}
				return g.connect(ctx, host, port)
			},
			DisableCompression: true, IdleConnTimeout: idleTime,
		},
		FlushInterval: -1, // flush immediately
		ErrorLog:      quiet(),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { answer(w, err) },
	}
	return p
}

// quiet returns a logger that discards errors caused by commands.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// serve serves all connections until the listener ends, and returns when all have ended.
func (p *proxy) serve(l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	var group errgroup.Group
	web := &handover{conns: make(chan net.Conn), done: ctx.Done(), addr: l.Addr()}
	server := &http.Server{
		Handler: p, ErrorLog: quiet(), ReadHeaderTimeout: greetTime, IdleTimeout: idleTime, DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	group.Go(fault.Guard("the proxy of a sandbox", func() error { return server.Serve(web) }))
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		group.Go(fault.Guard("the proxy of a sandbox", func() error { return p.greet(ctx, conn, web) }))
	}
	stop()
	_ = server.Close()
	_ = group.Wait() // errors of a connection concern only its command
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.busy.Wait()
	p.forward.Transport.(*http.Transport).CloseIdleConnections()
}

// greet detects a client's protocol: HTTP requests never begin with the first byte of SOCKS5.
func (p *proxy) greet(ctx context.Context, conn net.Conn, web *handover) error {
	_ = conn.SetReadDeadline(time.Now().Add(greetTime))
	c := &peeked{Conn: conn, r: bufio.NewReader(conn)}
	first, err := c.r.Peek(1)
	if err != nil {
		return conn.Close()
	}
	if first[0] == socksVersion {
		return p.socks(ctx, c)
	}
	_ = conn.SetReadDeadline(time.Time{})
	select {
	case web.conns <- c:
		return nil
	case <-ctx.Done():
		return conn.Close()
	}
}

// ServeHTTP answers a request to the proxy.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.busy.Add(1)
	p.mu.Unlock()
	defer p.busy.Done()
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward.ServeHTTP(w, r)
	default:
		http.Error(w, textNoRequest, http.StatusBadRequest)
	}
}

// tunnel connects the client to a host.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := split(r.Host)
	if err != nil {
		http.Error(w, clean.Line(err.Error()), http.StatusBadRequest)
		return
	}
	server, err := p.gate.connect(r.Context(), host, port)
	if err != nil {
		answer(w, err)
		return
	}
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		answer(w, err)
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = errors.Join(conn.Close(), server.Close())
		return
	}
	splice(r.Context(), &peeked{Conn: conn, r: both.Reader}, server)
}

// answer sends a client the reason why it is not connected.
func answer(w http.ResponseWriter, err error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		http.Error(w, r.Error(), http.StatusForbidden)
		return
	}
	http.Error(w, unreachable(err), http.StatusBadGateway)
}

// splice copies bytes in both directions until both sides or ctx have ended.
func splice(ctx context.Context, client, server net.Conn) {
	end := context.AfterFunc(ctx, func() { _ = errors.Join(client.Close(), server.Close()) })
	defer end()
	var group errgroup.Group
	group.Go(fault.Guard("a tunnel out of a sandbox", func() error { return pour(server, client) }))
	group.Go(fault.Guard("a tunnel out of a sandbox", func() error { return pour(client, server) }))
	_ = group.Wait()
	_ = errors.Join(client.Close(), server.Close())
}

// pour copies until the source ends, and then closes the destination for writing. After an error
// neither direction is usable.
func pour(to, from net.Conn) error {
	if _, err := io.Copy(to, from); err != nil {
		return errors.Join(err, to.Close(), from.Close())
	}
	return closeWrite(to)
}

// closeWrite tells the other side that no more data follows. A closed stream can still be read.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// peeked is a connection whose first bytes have already been read.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// handover is a listener of connections that another listener has accepted.
type handover struct {
	conns chan net.Conn
	done  <-chan struct{}
	addr  net.Addr
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handover) Addr() net.Addr { return h.addr }
func (h *handover) Close() error   { return nil }
