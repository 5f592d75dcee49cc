package discord

import (
	"fmt"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
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

// BenchmarkTheFirstSentence measures how long a message of the user takes, at the pace that users have, from its arrival
// at the gateway to the message with the first sentence of its answer.
func BenchmarkTheFirstSentence(b *testing.B) {
	for name, pace := range map[string]float64{"at once": 0, "as a model writes": 1} {
		b.Run(name, func(b *testing.B) {
			measures(b, "ms/sentence", func() (*player, string) {
				p := newPlayer(b)
				p.engine = script.New(script.Options{Pace: pace})
				p.plays("given no contract ⇒ given Discord's pace ⇒ connected")
				<-time.After(stream.SendEvery) // the greeting has just used the line
				return p, "me ▸ say Your dentist appointment is on Tuesday at nine o'clock. Shall I remind you on Monday? There is time to walk. ⇒ and nine o'clock."
			})
		})
	}
}

// BenchmarkAnAnswerReachesTheOtherPlace measures, at the pace that users have, how long an answer given in the dashboard takes to the
// edit of its card, and one given on the phone to the snapshot.
func BenchmarkAnAnswerReachesTheOtherPlace(b *testing.B) {
	for name, end := range map[string]string{"dashboard to card": "decide deny ⇒ buttons -", "phone to dashboard": "press Deny ⇒ now approvals=0"} {
		b.Run(name, func(b *testing.B) {
			p := newPlayer(b)
			p.plays("given no contract ⇒ given Discord's pace ⇒ do /permissions default")
			var took time.Duration
			for i := 0; b.Loop(); i++ {
				p.plays(fmt.Sprintf(`me ▸ ask Bash {"command":"rm %d"} ; say Done. ⇒ now approvals=1 ⇒ bot rm %d`, i, i))
				p.becomes(func(m *discordtest.Message) bool { return len(m.Buttons) > 1 && len(m.Buttons) == len(m.Reactions) })
				began := time.Now()
				p.plays(end)
				took += time.Since(began)
				p.plays("buttons -")
				p.await(func(s core.Snapshot) bool { return !s.Busy })
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/answer")
		})
	}
}
