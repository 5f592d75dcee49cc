package discord

import (
	"context"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
)

// BenchmarkTheFirstSentence measures how long a message of the user takes, from its arrival at the gateway, to the
// message with the first sentence of its answer: at the pace that users have, with an engine that writes at once and
// with one that writes as a model does.
func BenchmarkTheFirstSentence(b *testing.B) {
	for name, pace := range map[string]float64{"at once": 0, "as a model writes": 1} {
		b.Run(name, func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				st := newStage(b, discordtest.Options{NoContract: true})
				st.pace = &tuning{line: stream.NewLine(stream.SendEvery, stream.EditEvery)}
				st.liveWith(script.New(script.Options{Pace: pace}))
				st.up()
				<-time.After(stream.SendEvery) // the greeting has just used the line
				began := time.Now()
				st.s.User().Say(play("say Your dentist appointment is on Tuesday at nine o'clock. Shall I remind you on Monday? There is time to walk."))
				st.says("nine o'clock.")
				took += time.Since(began)
				st.stop()
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/sentence")
		})
	}
}

// BenchmarkBesideAHangingTranscriber measures how long a message of the user waits for its answer after a voice message
// whose transcription hangs.
func BenchmarkBesideAHangingTranscriber(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		st := newStage(b, discordtest.Options{NoContract: true})
		o := st.options()
		o.Transcribe = func(ctx context.Context, _ []byte) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		st.liveAs(o)
		st.up()
		st.s.User().Speak(recording(b), 1)
		began := time.Now()
		st.s.User().Say(play("say It is on the list."))
		st.says("It is on the list.")
		took += time.Since(began)
		st.stop()
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "s/answer")
}
