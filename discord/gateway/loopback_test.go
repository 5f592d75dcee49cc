package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// These stories use real sockets and real time.

// Real time on a machine that has other work: the best of three counts. The
// exact numbers are those of the bubbles.
func bestOfThree(t *testing.T, limit time.Duration, o func(*Options), end func(*peer)) {
	t.Helper()
	lose := make(chan struct{})
	srv := &server{script: func(_ int, p *peer) {
		p.welcome()
		select {
		case <-lose:
			end(p)
		case <-p.gone:
		}
	}}
	options := overLoopback(t, srv)
	o(&options)
	w := begin(t, srv, options)
	defer w.leave()
	w.next(Ready)
	best := time.Hour
	for try := 0; try < 3 && best > limit; try++ {
		w.wait("up", 20*time.Second, isUp)
		lose <- struct{}{}
		at := time.Now()
		w.next(Resumed)
		best = min(best, time.Since(at))
	}
	t.Logf("resumed after %v", best)
	if best > limit {
		t.Errorf("resumed after %v, want %v at most\n%s", best, limit, w.log)
	}
}

// The number that was asked for: within 2 s.
func TestOverRealSocketsADroppedConnectionIsBackWithinTwoSeconds(t *testing.T) {
	bestOfThree(t, 2*time.Second, func(*Options) {}, (*peer).drop)
}

// A dead connection costs the idle limit, and then as much as a dropped one: with
// Discord's 90 s that is at most 92 s.
func TestOverRealSocketsADeadConnectionCostsTheIdleLimitAndTwoSeconds(t *testing.T) {
	bestOfThree(t, 3*time.Second, func(o *Options) { o.Timing.Idle = time.Second }, func(p *peer) { p.mute.Store(true) })
}

func TestFourSupervisorsSideBySideDoNotKnowOfEachOther(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		srv := &server{script: func(_ int, p *peer) {
			p.welcome()
			p.dispatch("MESSAGE_CREATE", message("1", fmt.Sprint(i)))
		}}
		w := begin(t, srv, overLoopback(t, srv))
		all.Go(func() {
			defer w.leave()
			for e := range w.s.Events() {
				if e.Kind == Message {
					if e.Content != fmt.Sprint(i) {
						t.Errorf("supervisor %d got %q", i, e.Content)
					}
					return
				}
			}
		})
	}
	all.Wait()
}

// A drop at the moment of a heartbeat, such as the first one, makes two goroutines
// of the library close the session; the second must not hit the next connection.
func TestADropAtTheMomentOfAHeartbeatDoesNotCostTheNextConnectionToo(t *testing.T) {
	const drops = 3
	var all sync.WaitGroup
	for range 16 {
		srv := &server{script: func(n int, p *peer) {
			p.welcome()
			if n <= drops {
				p.drop()
			}
		}}
		o := overLoopback(t, srv)
		o.Timing.BackoffMin, o.Timing.BackoffMax = time.Millisecond, time.Millisecond
		w := begin(t, srv, o)
		all.Go(func() {
			defer w.leave()
			for up := 0; up <= drops; {
				if e := <-w.s.Events(); e.Kind == Ready || e.Kind == Resumed {
					up++
				}
			}
			if text := w.log.String(); strings.Contains(text, textUnanswered) {
				t.Errorf("the library closed a connection that was fine:\n%s", text)
			}
		})
	}
	all.Wait()
}

// The wire looks at small packets only. One that is bloated gets through to the
// library, which then waits for itself for ever: the session is left behind.
func TestASessionThatGetsStuckIsLeftBehindAndReplaced(t *testing.T) {
	bloated := `{"op":7,"d":"` + strings.Repeat("x", frameLook) + `"}`
	srv := &server{script: func(n int, p *peer) {
		if n == 1 {
			p.hello()
			p.login()
			p.raw(bloated)
			return
		}
		p.welcome()
	}}
	o := overLoopback(t, srv)
	o.Timing = Timing{Open: 300 * time.Millisecond, Grace: 1200 * time.Millisecond, BackoffMin: time.Millisecond}
	before := stuck()
	w := begin(t, srv, o)
	w.next(Ready)
	w.wait("up", 5*time.Second, isUp)
	if n := w.s.State().Abandoned; n != 1 {
		t.Errorf("%d sessions left behind, want 1", n)
	}
	w.leave()
	if err := <-w.result; err != nil {
		t.Errorf("Run = %v", err)
	}
	if n := stuck() - before; n != 1 {
		t.Errorf("%d goroutines of the library are stuck, want the 1 of the session that was left behind", n)
	}
}

// stuck counts goroutines that wait inside the library's Open.
func stuck() int {
	stack := make([]byte, 1<<20)
	stack = stack[:runtime.Stack(stack, true)]
	n := 0
	for _, g := range strings.Split(string(stack), "\n\n") {
		if strings.Contains(g, "discordgo.(*Session).Open(0x") {
			n++
		}
	}
	return n
}

// The number that was asked for: all, in order, and the memory given back.
func TestABurstOfTenThousandArrivesWholeInOrderAndLeavesNoMemoryBehind(t *testing.T) {
	const n = 10_000
	text := strings.Repeat("words ", 50)
	begun, read := make(chan struct{}), make(chan struct{})
	srv := &server{script: func(_ int, p *peer) {
		p.welcome()
		<-p.beats // the first one comes by itself
		<-begun
		for i := range n {
			p.send(packetOut{Op: 0, D: message(fmt.Sprint(i+1), text), S: ptr(int64(i + 2)), T: ptr("MESSAGE_CREATE")})
		}
		p.send(packetOut{Op: opHeartbeat}) // answered when all of it was read
		<-p.beats
		close(read)
	}}
	w := begin(t, srv, overLoopback(t, srv))
	w.next(Ready)
	before := heap()
	close(begun)
	<-read
	full := heap()
	for i := range n {
		if e := w.next(Message); e.MessageID != fmt.Sprint(i+1) {
			t.Fatalf("message %s, want %d", e.MessageID, i+1)
		}
	}
	after := heap()
	t.Logf("heap: %d KiB before, %d KiB with 10,000 waiting, %d KiB after", before>>10, full>>10, after>>10)
	if after > before+1<<20 {
		t.Errorf("%d KiB stay behind", (after-before)>>10)
	}
	w.leave()
}

func ptr[T any](v T) *T { return &v }

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkABurstOfTenThousandMessages(b *testing.B) {
	const n = 10_000
	packets := make([][]byte, n)
	for i := range packets {
		out := packetOut{Op: 0, D: message(fmt.Sprint(i+1), "hello there"), S: ptr(int64(i + 2)), T: ptr("MESSAGE_CREATE")}
		var err error
		if packets[i], err = json.Marshal(out); err != nil {
			b.Fatal(err)
		}
	}
	next := make(chan struct{})
	srv := &server{script: func(_ int, p *peer) {
		p.welcome()
		for range next {
			for _, data := range packets {
				p.write(1, data)
			}
		}
	}}
	s := New(overLoopback(b, srv))
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	srv.work.Go(func() { done <- s.Run(ctx) })
	<-s.Events()
	b.ReportAllocs()
	for b.Loop() {
		next <- struct{}{}
		for range n {
			<-s.Events()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/message")
	close(next)
	cancel()
	for range s.Events() {
	}
}
