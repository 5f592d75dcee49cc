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

func TestOverRealSocketsADroppedConnectionIsBackWithinTwoSeconds(t *testing.T) {
	dropped := make(chan time.Time, 1)
	ready := make(chan struct{})
	srv := &server{script: func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			<-ready
			dropped <- time.Now()
			p.drop()
		}
	}}
	w := begin(t, srv, overLoopback(t, srv))
	defer w.leave()
	w.next(Ready)
	w.wait("up", 5*time.Second, isUp)
	close(ready)
	at := <-dropped
	w.next(Resumed)
	took := time.Since(at)
	t.Logf("resumed %v after the drop", took)
	if took > 2*time.Second {
		t.Errorf("resumed %v after the drop", took)
	}
}

// A dead connection costs the idle limit, and then as much as a dropped one: with
// Discord's 90 s that is at most 92 s.
func TestOverRealSocketsADeadConnectionCostsTheIdleLimitAndTwoSeconds(t *testing.T) {
	srv := &server{script: func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.mute.Store(true)
		}
	}}
	o := overLoopback(t, srv)
	o.Timing.Idle = time.Second
	w := begin(t, srv, o)
	defer w.leave()
	w.next(Ready)
	began := time.Now()
	w.next(Resumed)
	took := time.Since(began)
	t.Logf("replaced after the limit of 1 s and %v", took-time.Second)
	if took > o.Timing.Idle+2*time.Second {
		t.Errorf("replaced after %v", took)
	}
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
