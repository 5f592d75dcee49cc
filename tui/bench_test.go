package tui

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/theme"
	"ollimbot/tui/view"
)

func BenchmarkFrame120x40(b *testing.B) {
	core := newBot(withForks(busyDay(day)))
	core.talk("f1f1f1f1", 500)
	r := newRoot(b.Context(), core, Options{Output: io.Discard})
	r.prefs.theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	r.w, r.h = 120, 40
	r.refresh()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r.setFocus(action.Panes[n%len(action.Panes)]) // nothing is the same twice
		_ = view.Frame(r.view())
	}
}

// watcher tells when a frame was painted: every frame is one write.
type watcher struct{ frames chan struct{} }

func (w *watcher) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("\x1b[?2026h")) {
		w.frames <- struct{}{}
	}
	return len(p), nil
}

var benchEnv = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "COLUMNS=120", "LINES=40"}

func BenchmarkFirstFrame(b *testing.B) {
	core := newBot(withForks(busyDay(day)))
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		w := &watcher{frames: make(chan struct{}, 16)}
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, core, Options{Output: w, Env: benchEnv, Theme: "dark"}) }()
		<-w.frames
		b.StopTimer()
		cancel()
		must(b, <-ended)
		b.StartTimer()
	}
}

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
	must(b, keys.Close())
	must(b, <-ended)
}

// BenchmarkFrameUnderADialog is a frame whose middle is covered by the palette.
func BenchmarkFrameUnderADialog(b *testing.B) {
	core := newBot(withForks(busyDay(day)))
	core.talk("f1f1f1f1", 500)
	r := newRoot(b.Context(), core, Options{Output: io.Discard})
	r.prefs.theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	r.w, r.h = 120, 40
	r.refresh()
	r.open(dialog.NewPalette(r.context(r.focus), r.focus, r.off, nil))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r.setFocus(action.Panes[n%len(action.Panes)])
		_ = view.Frame(r.view())
	}
}
