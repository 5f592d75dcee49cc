package messages

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// counting is a Messages API server that stores nothing it receives, for measurements.
type counting struct {
	*httptest.Server
	answer string

	mu      sync.Mutex
	most    int64
	holding int
	held    int
	all     chan struct{} // closed when all are held
	free    chan struct{} // closed by release
	seen    time.Time     // end of the newest request
	sent    time.Time     // the time of its first byte of text
}

func newCounting(t testing.TB, text string) *counting {
	t.Helper()
	c := &counting{answer: reply("end_turn", saying(text)), all: make(chan struct{}), free: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP reads a request, sends half of the answer, waits if it is held, and sends the rest.
func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	c.mu.Lock()
	c.most, c.seen = max(c.most, n), time.Now()
	hold := c.holding > 0
	c.mu.Unlock()
	w.Header().Set("content-type", "text/event-stream")
	half := bytes.LastIndexByte([]byte(c.answer[:len(c.answer)/2]), '\n') + 1
	c.mu.Lock()
	c.sent = time.Now()
	c.mu.Unlock()
	_, _ = io.WriteString(w, c.answer[:half])
	_ = http.NewResponseController(w).Flush()
	if hold {
		c.mu.Lock()
		if c.held++; c.held == c.holding { // by only one of them
			close(c.all)
		}
		c.mu.Unlock()
		<-c.free
	}
	_, _ = io.WriteString(w, c.answer[half:])
}

func (c *counting) hold(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding, c.held = n, 0
}

func (c *counting) waitHeld(t testing.TB) {
	t.Helper()
	select {
	case <-c.all:
	case <-time.After(time.Minute):
		t.Fatal("not all forks have come")
	}
}

func (c *counting) release() { close(c.free) }

func (c *counting) longest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// resident returns the process's resident bytes.
func resident(t testing.TB) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("there is no /proc here")
	}
	fields := bytes.Fields(data)
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	testkit.Must(t, err)
	return pages * int64(os.Getpagesize())
}
