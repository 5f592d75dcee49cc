package claude

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// benchStage returns a stage for benchmarks.
func benchStage(b *testing.B, n int) []agent.Session {
	b.Helper()
	st := newStage(b, Options{Env: []string{"HOME=" + b.TempDir()}})
	var list []agent.Session
	for range n {
		s, err := st.engine.Open(b.Context(), agent.SessionOptions{Dir: "/", ID: store.NewUUID(), Tools: []agent.Tool{whoTool("x")}})
		testkit.Must(b, err)
		list = append(list, s)
	}
	return list
}

// BenchmarkFromLineToEvent measures the time of a piece of text from the command's pipe to the
// reader of the turn.
func BenchmarkFromLineToEvent(b *testing.B) {
	st := newStage(b, Options{Env: []string{"HOME=" + b.TempDir()}})
	s, err := st.engine.Open(b.Context(), agent.SessionOptions{Dir: "/"})
	testkit.Must(b, err)
	p := <-st.players
	arrived := make(chan time.Time, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range s.Send(context.Background(), agent.Message{Text: "hello"}) {
			if err != nil {
				b.Error(err)
			}
			if _, ok := ev.(agent.Text); ok {
				arrived <- time.Now()
			}
		}
	}()
	<-p.messages
	p.say(running, begin, start("a"))
	var took []time.Duration
	line := delta("a few words ")
	for b.Loop() {
		at := time.Now()
		p.say(line)
		took = append(took, (<-arrived).Sub(at))
	}
	p.say(resultLine(""), idle)
	<-done
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/p99")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "µs/max")
}

// BenchmarkTwentySessions measures the memory of twenty open sessions in the bot.
func BenchmarkTwentySessions(b *testing.B) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	for b.Loop() {
		before := heap()
		list := benchStage(b, 20)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
		if len(list) != 20 {
			b.Fatal(fmt.Sprint(len(list)))
		}
	}
}
