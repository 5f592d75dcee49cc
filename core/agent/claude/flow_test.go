package claude

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// played opens a session with a played process.
func played(t *testing.T, st *stage, change ...func(*agent.SessionOptions)) (agent.Session, *player) {
	t.Helper()
	o := agent.SessionOptions{Dir: "/"}
	for _, f := range change {
		f(&o)
	}
	s, err := st.engine.Open(t.Context(), o)
	testkit.Must(t, err)
	p := <-st.players
	<-p.asked // initialize
	return s, p
}

// turnLines returns the lines of a whole turn that answers a message.
func turnLines(m sent, text string) []string {
	return []string{begin, start("m" + m.UUID), delta(text), echoLine(m), answerLine("m"+m.UUID, text), resultLine("")}
}

// ownLines returns the lines of a whole turn that begins by itself.
func ownLines(text string) []string {
	return []string{ended, begin, start("own"), delta(text), answerLine("own", text), resultLine("task-notification")}
}

// collect returns an OnEngineTurn that keeps what it reads.
func collect(into chan<- told) func(iter.Seq2[agent.Event, error]) {
	return func(turn iter.Seq2[agent.Event, error]) {
		var h told
		for ev, err := range turn {
			if err != nil {
				h.err = err
				continue
			}
			h.events = append(h.events, ev)
		}
		into <- h
	}
}

// beside runs a turn in a goroutine. The first sender reads first: a turn that begins by itself in
// the meantime is read after it.
func beside(t *testing.T, s agent.Session, text string) <-chan told {
	done := make(chan told, 1)
	go func() { done <- listen(t, 24*time.Hour, s.Send, agent.Message{Text: text}) }()
	return done
}

func TestAnEngineThatDoesNotRunOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := New(Options{Path: "/nowhere"}).Open(t.Context(), agent.SessionOptions{})
		if !errors.Is(err, errNotRunning) {
			t.Errorf("it gives %v", err)
		}
	})
}

// In any order of turns, every message gets its own answer and every other turn goes to the bot.
func TestNoAnswerIsLostOrGivenToAnother(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		order := rapid.SliceOfN(rapid.SampledFrom([]string{"mine", "own", "own first", "taken in", "idle"}), 1, 12).Draw(rt, "order")
		synctest.Test(t, func(t *testing.T) {
			own := make(chan told, 100)
			s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) { o.OnEngineTurn = collect(own) })
			wantOwn := 0
			for i, what := range order {
				answer, other := fmt.Sprintf("answer %d", i), fmt.Sprintf("other %d", i)
				switch what {
				case "idle":
					p.say(running, idle)
					continue
				case "own":
					p.say(running)
					p.say(ownLines(other)...)
					p.say(idle)
					wantOwn++
					continue
				}
				mine := beside(t, s, "question")
				m := <-p.messages
				p.say(running)
				switch what {
				case "own first":
					p.say(ownLines(other)...)
					wantOwn++
					p.say(turnLines(m, answer)...)
				case "taken in":
					p.say(ended, begin, start("x"), delta(other), answerLine("x", other), echoLine(m))
					wantOwn++
					p.say(start("y"), delta(answer), answerLine("y", answer), resultLine("task-notification"))
				default:
					p.say(turnLines(m, answer)...)
				}
				p.say(idle)
				if h := <-mine; h.text() != answer || h.err != nil {
					t.Fatalf("%v: message %d is answered with %q, %v", order, i, h.text(), h.err)
				}
			}
			for range wantOwn {
				if h := <-own; !strings.HasPrefix(h.text(), "other") {
					t.Fatalf("%v: a turn of its own says %q", order, h.text())
				}
			}
		})
	})
}
