package messages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// counting is a Messages API server that stores nothing it receives, for measurements.
type counting struct {
	*httptest.Server
	answer string

	mu     sync.Mutex
	most   int64
	middle func()    // called in the middle of an answer, if not nil
	seen   time.Time // end of the newest request
	sent   time.Time // the time of its first byte of text
}

func newCounting(t testing.TB, text string) *counting {
	t.Helper()
	c := &counting{answer: reply("end_turn", saying(text))}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// with changes the server while it answers nothing.
func (c *counting) with(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// ServeHTTP reads a request, sends half of the answer, waits if it has to, and sends the rest.
func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	w.Header().Set("content-type", "text/event-stream")
	half := strings.LastIndexByte(c.answer[:len(c.answer)/2], '\n') + 1
	middle := func() {}
	c.with(func() {
		c.most, c.seen, c.sent = max(c.most, n), time.Now(), time.Now()
		if c.middle != nil {
			middle = c.middle
		}
	})
	_, _ = io.WriteString(w, c.answer[:half])
	_ = http.NewResponseController(w).Flush()
	middle()
	_, _ = io.WriteString(w, c.answer[half:])
}
