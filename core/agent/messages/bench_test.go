package messages

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// BenchmarkMessageToRequest measures the time from a message to its first request, which a server
// on loopback has read completely, with a history of 2 MB; and the time from the server's first
// byte of the answer to its event.
func BenchmarkMessageToRequest(b *testing.B) {
	api := newCounting(b, "An answer of some words.")
	r := newRigFor(b, api.URL)
	for _, kind := range []string{"session", "fork"} {
		b.Run(kind, func(b *testing.B) {
			main := fill(b, r, 2<<20)
			s := main
			var read, heard time.Duration
			for b.Loop() {
				if kind == "fork" {
					s = r.fork(main)
				}
				began, first := time.Now(), time.Time{}
				for ev, err := range s.Send(context.Background(), agent.Message{Text: "And now?"}) {
					testkit.Must(b, err)
					if _, ok := ev.(agent.Text); ok && first.IsZero() {
						first = time.Now()
					}
				}
				api.with(func() {
					read += api.seen.Sub(began)
					heard += first.Sub(api.sent)
				})
			}
			b.ReportMetric(float64(read.Microseconds())/float64(b.N)/1000, "ms/request")
			b.ReportMetric(float64(heard.Microseconds())/float64(b.N)/1000, "ms/event")
		})
	}
}

// BenchmarkOpen opens a session with a history of 2 MB, and a fork of it.
func BenchmarkOpen(b *testing.B) {
	api := newCounting(b, strings.Repeat("An answer of some words. ", 500))
	r := newRigFor(b, api.URL)
	s := fill(b, r, 2<<20)
	testkit.Must(b, s.Close())
	for _, fork := range []bool{false, true} {
		name := "resume"
		if fork {
			name = "fork"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := r.engine.Open(context.Background(), agent.SessionOptions{Dir: r.dir.Root(), Resume: s.ID(), Fork: fork})
				testkit.Must(b, err)
				testkit.Must(b, s.Close())
			}
		})
	}
}
