package claude

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	cancelledMethod = "notifications/cancelled"
	// keptCancels is how many cancellations that came before their call are
	// remembered.
	keptCancels = 64
)

// toolConn is one connection between the CLI and the tool server: it is the
// library's transport, fed by call and notify. It starts no goroutine.
type toolConn struct {
	in   chan jsonrpc.Message
	done chan struct{}

	mu     sync.Mutex
	closed bool
	// waiting holds the calls whose answer is awaited. Control requests are
	// answered concurrently, so a cancellation can overtake its call: early
	// remembers those.
	waiting map[jsonrpc.ID]chan *jsonrpc.Response
	early   recent[jsonrpc.ID]
}

var (
	_ mcp.Transport  = (*toolConn)(nil)
	_ mcp.Connection = (*toolConn)(nil)
)

func newToolConn() *toolConn {
	return &toolConn{
		in: make(chan jsonrpc.Message), done: make(chan struct{}),
		waiting: make(map[jsonrpc.ID]chan *jsonrpc.Response),
		early:   recent[jsonrpc.ID]{limit: keptCancels},
	}
}

// Connect implements mcp.Transport.
func (c *toolConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements mcp.Connection: there is no other session to tell apart.
func (c *toolConn) SessionID() string { return "" }

// Read gives the server the next message; io.EOF after Close, which makes it
// cancel what runs.
func (c *toolConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write takes an answer of the server to the call that waits for it. What the
// server says by itself is dropped: the CLI does not act on it.
func (c *toolConn) Write(_ context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ok := c.waiting[r.ID]; ok {
		delete(c.waiting, r.ID)
		w <- r // holds one
	}
	return nil
}

// Close ends the connection. It may be called several times.
func (c *toolConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.done)
	}
	return nil
}

// call hands a call to the server and waits for its answer. When ctx ends, the
// tool is cancelled, and its return is still awaited: a caller who has the
// answer knows that nothing runs any more.
func (c *toolConn) call(ctx context.Context, m *jsonrpc.Request) (r *jsonrpc.Response, problem string) {
	answer := make(chan *jsonrpc.Response, 1)
	c.mu.Lock()
	_, twice := c.waiting[m.ID]
	if !twice {
		c.waiting[m.ID] = answer
	}
	early := c.early.has(m.ID)
	c.mu.Unlock()
	if twice {
		return nil, textTwice
	}
	if !c.put(m) {
		return nil, textServerEnded
	}
	if early {
		c.cancel(m.ID)
	}
	select {
	case r := <-answer:
		return r, ""
	case <-ctx.Done():
		c.cancel(m.ID)
	case <-c.done:
		return nil, textServerEnded
	}
	select {
	case r := <-answer:
		return r, ""
	case <-c.done:
		return nil, textServerEnded
	}
}

// notify hands a notification to the server.
func (c *toolConn) notify(m *jsonrpc.Request) {
	if m.Method == cancelledMethod {
		c.noteCancel(m.Params)
	}
	c.put(m)
}

// noteCancel remembers the cancellation of a call that is not here yet.
func (c *toolConn) noteCancel(params json.RawMessage) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, here := c.waiting[id]; !here {
		c.early.add(id)
	}
}

// cancel cancels the context of a call that runs.
func (c *toolConn) cancel(id jsonrpc.ID) {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err != nil {
		return
	}
	c.put(&jsonrpc.Request{Method: cancelledMethod, Params: params})
}

// put hands a message to the server, which takes each at once; false after Close.
func (c *toolConn) put(m jsonrpc.Message) bool {
	select {
	case c.in <- m:
		return true
	case <-c.done:
		return false
	}
}
