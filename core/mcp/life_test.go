package mcp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/storage/store/storetest"
)

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

func TestALogKeepsItsLastLinesAndNoSecrets(t *testing.T) {
	dir := storetest.Prepared(t)
	old := strings.Repeat("x", maxLog) + "\nbefore\n"
	storetest.Put(t, dir, logFile("a"), old)
	book := &logBook{dir: dir, redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}
	book.add("a", "a secret")
	lines, err := Log(dir, "a", 2)
	if err != nil || len(lines) != 2 || lines[0] != "before" || !strings.HasSuffix(lines[1], " a ***") {
		t.Errorf("%q, %v", lines, err)
	}
	if kept := storetest.Text(t, dir, logFile("a")+oldLog); kept != old {
		t.Errorf("%d bytes of the old log are kept", len(kept))
	}
}
