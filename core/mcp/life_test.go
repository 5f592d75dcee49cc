package mcp

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

func TestAServerThatNeverAnswersIsGivenUp(t *testing.T) {
	testkit.Alone(t)
	pids := filepath.Join(t.TempDir(), "pids")
	h := newHome(t, stdio(t, map[string]string{"PIDS": pids}, "hang"))
	h.limits = limits{newest: 20 * time.Millisecond, older: 20 * time.Millisecond}
	h.remake()
	h.run()
	h.until("the server is given up", func() bool { return h.state("hang").Status == Failed })
	if s := h.state("hang"); s.Text != "no connection: it did not answer within 20ms" || s.Tools != 0 {
		t.Errorf("state: %+v", s)
	}
	h.until("the word about it", func() bool { return strings.Contains(h.said(), "MCP server hang") })
	h.end()
	for _, pid := range pidsIn(t, pids) {
		h.until("the end of a process", func() bool { return gone(pid) || h.pause() })
	}
}

func TestAnIdleServerEndsAndTheNextCallStartsIt(t *testing.T) {
	testkit.Alone(t)
	pids := filepath.Join(t.TempDir(), "pids")
	patient := limits{newest: time.Minute, idle: time.Millisecond} // so that a slow machine starts no second process for the older protocol
	h := running(t, stdio(t, map[string]string{"PIDS": pids}, "plain"), patient)
	h.until("its rest", func() bool { return h.state("plain").Status == Idle })
	h.until("its end", func() bool { return gone(pidsIn(t, pids)[0]) || h.pause() })
	if s := h.state("plain"); s.Text != "" || s.Tools != 3 {
		t.Errorf("state: %+v", s)
	}
	if got := h.call("plain/echo", `{"text":"again"}`); got.Text != "you said again" || len(pidsIn(t, pids)) != 2 {
		t.Errorf("called: %+v; processes %v", got, pidsIn(t, pids))
	}
}

func TestAServerRestsAfterItsLastCallAndNotDuringOne(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		calls int
		after time.Duration
		ends  bool
		again time.Duration // after its last use; 0 for no further check
	}{
		{0, 10*time.Minute - 1, false, 10 * time.Minute},
		{0, 10 * time.Minute, true, 0},
		{1, time.Hour, false, 0},
	} {
		s := &server{host: newHome(t, "").Host, conn: &connection{}, used: now, calls: c.calls}
		end, again := s.rest(now.Add(c.after))
		if (end != nil) != c.ends || (s.conn == nil) != c.ends || again.IsZero() != (c.again == 0) || c.again != 0 && !again.Equal(now.Add(c.again)) {
			t.Errorf("%d calls, %v later: ends %v, again %v", c.calls, c.after, end != nil, again)
		}
	}
}

func TestAServerDoesNotRestBeforeTheCallThatHasStartedIt(t *testing.T) {
	host := newHome(t, "").Host
	synctest.Test(t, func(t *testing.T) {
		s := &server{host: host, opening: make(chan struct{})}
		got := make(chan *connection, 1)
		go func() {
			c, _ := s.acquire(t.Context()) // nil if there is an error
			got <- c
		}()
		synctest.Wait()
		c := &connection{}
		s.mu.Lock()
		s.conn, s.used = c, time.Now()
		s.mu.Unlock()
		if end, _ := s.rest(time.Now().Add(time.Hour)); end != nil {
			t.Fatal("it ends while a call waits for it")
		}
		close(s.opening)
		if <-got != c {
			t.Error("the call got another connection")
		}
		s.release()
		if end, _ := s.rest(time.Now().Add(time.Hour)); end != c {
			t.Error("it goes on after the call")
		}
	})
}
