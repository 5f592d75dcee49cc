package git

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestAReasonIsLoggedOnceAndHoldsUpNoOther(t *testing.T) {
	var log bytes.Buffer
	w := warnings{log: slog.New(slog.NewTextHandler(&log, nil)), known: map[string]bool{}}
	for _, s := range []struct {
		do    func()
		lines int
	}{
		{func() { w.add("pack", "it could not be packed", nil) }, 1},
		{func() { w.add("pack", "it could not be packed", nil) }, 1},
		{func() { w.add("commit a.md", "it could not be recorded", nil) }, 2},
		{func() { w.forget("commit ") }, 2},
		{func() { w.add("pack", "it could not be packed", nil) }, 2},
		{func() { w.add("commit a.md", "it could not be recorded", nil) }, 3},
	} {
		s.do()
		if !w.mu.TryLock() {
			t.Fatal("a warning keeps the lock: the next one waits forever")
		}
		w.mu.Unlock()
		if n := strings.Count(log.String(), "\n"); n != s.lines {
			t.Errorf("%d lines, want %d:\n%s", n, s.lines, log.String())
		}
	}
	for i := range 2 * maxWarnings {
		w.add(fmt.Sprint("reason ", i), "too many", nil)
	}
	if n := strings.Count(log.String(), "too many"); n > maxWarnings {
		t.Errorf("%d reasons are logged, more than are remembered", n)
	}
}
