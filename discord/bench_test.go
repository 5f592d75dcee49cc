package discord

import (
	"testing"
	"time"
)

// BenchmarkABacklogOf1000Messages is P11: from the start of the program to the answer, with a
// Discord and an engine that answer at once, and without Discord's pace.
func BenchmarkABacklogOf1000Messages(b *testing.B) {
	measures(b, "ms/backlog", func() (*player, string) {
		p := newPlayer(b)
		p.plays("given no contract ⇒ me ▸ say hello ⇒ and hello ⇒ stop ⇒ several 999 part # of the night, which had many parts of about this length ⇒ me ▸ say I have read all of it.")
		return p, "begin ⇒ and I have read all of it."
	})
}

// measures plays stories, and how long their ends take.
func measures(b *testing.B, unit string, begin func() (*player, string)) {
	var took time.Duration
	for b.Loop() {
		p, end := begin()
		began := time.Now()
		p.plays(end)
		took += time.Since(began)
		p.end()
	}
	b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), unit)
}
