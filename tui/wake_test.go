package tui

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestNoFrameTickerWakesAnIdleDashboard(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		time.Sleep(time.Second)
		buf := make([]byte, 1<<20)
		all := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(all, "(*Program).eventLoop") {
			t.Fatal("Bubble Tea does not run, or its loop has another name: this test sees nothing")
		}
		if strings.Contains(all, "(*Program).startRenderer") {
			t.Error("Bubble Tea's frame ticker runs: it wakes the process once a second for nothing")
		}
	})
}
