package tui

import (
	"bytes"
	"context"
	"io"
	"testing"

	"ollimbot/core/base/testkit"
)

// watcher tells when a frame was painted: every frame is one write.
type watcher struct{ frames chan struct{} }

func (w *watcher) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("\x1b[?2026h")) {
		w.frames <- struct{}{}
	}
	return len(p), nil
}

var benchEnv = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "COLUMNS=120", "LINES=40"}

func BenchmarkKeyToPaint(b *testing.B) {
	core := newBot(withForks(busyDay(day)))
	ctx, cancel := context.WithCancel(b.Context())
	in, keys := io.Pipe()
	w := &watcher{frames: make(chan struct{}, 16)}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, core, Options{Input: in, Output: w, Env: benchEnv, Theme: "dark"}) }()
	<-w.frames
	for n := 0; b.Loop(); n++ {
		if _, err := keys.Write([]byte{byte('1' + n%2)}); err != nil {
			b.Fatal(err)
		}
		<-w.frames
	}
	cancel()
	testkit.Must(b, keys.Close())
	testkit.Must(b, <-ended)
}
