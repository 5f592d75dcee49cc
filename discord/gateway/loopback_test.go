package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
)

// The numbers that were asked for: back within 2 s, and a dead connection costs two heartbeats. In real time on a machine that
// has other work, the best of three counts: the exact numbers are those of the bubbles.
func TestOverRealSocketsALostConnectionIsSoonBack(t *testing.T) {
	testkit.Alone(t)
	for _, loss := range []struct {
		how             func(*peer)
		limit, interval time.Duration
	}{{(*peer).drop, 2 * time.Second, 0}, {func(p *peer) { p.mute.Store(true) }, 3 * time.Second, 500 * time.Millisecond}} {
		lose := make(chan struct{})
		srv := &server{interval: loss.interval, script: func(_ int, p *peer) {
			p.welcome()
			select {
			case <-lose:
				loss.how(p)
			case <-p.gone:
			}
		}}
		w := begin(t, srv, overLoopback(t, srv))
		w.next(Ready)
		best := time.Hour
		for try := 0; try < 3 && best > loss.limit; try++ {
			w.wait("up", 20*time.Second, isUp)
			lose <- struct{}{}
			at := time.Now()
			w.next(Resumed)
			best = min(best, time.Since(at))
		}
		if best > loss.limit {
			t.Errorf("resumed after %v, want %v at most\n%s", best, loss.limit, w.log)
		}
		w.leave()
	}
}

func TestAGatewayIsRecognizedByItsGreeting(t *testing.T) {
	testkit.Alone(t)
	for act, want := range map[string]string{"hello": "<nil>", `sends {"op":11}`: textNoGreeting, "drops": "lost", "silent": "deadline"} {
		srv := &server{script: func(_ int, p *peer) { p.acts(act) }}
		at, err := overLoopback(t, srv).Find(t.Context())
		testkit.Must(t, err)
		ctx, cancel := t.Context(), func() {}
		if act == "silent" {
			ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
		}
		if err := Greets(ctx, at.URL); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", act, err)
		}
		cancel()
	}
}

func TestFourLinksSideBySideDoNotKnowOfEachOther(t *testing.T) {
	testkit.Alone(t)
	var all sync.WaitGroup
	for i := range 4 {
		srv := &server{script: func(_ int, p *peer) {
			p.welcome()
			p.dispatch("MESSAGE_CREATE", words("1", fmt.Sprint(i)))
		}}
		w := begin(t, srv, overLoopback(t, srv))
		all.Go(func() {
			defer w.leave()
			w.next(Ready)
			if got := w.text(); got != fmt.Sprint(i) {
				t.Errorf("link %d got %q", i, got)
			}
		})
	}
	all.Wait()
}

// The number that was asked for: all, in order.
func TestABurstOfTenThousandArrivesWholeAndInOrder(t *testing.T) {
	testkit.Alone(t)
	const n = 10_000
	text := strings.Repeat("words ", 50)
	srv := &server{script: func(_ int, p *peer) {
		p.welcome()
		for i := range n {
			p.send(packetOut{Op: 0, D: words(fmt.Sprint(i+1), text), S: new(int64(i + 2)), T: new("MESSAGE_CREATE")})
		}
	}}
	w := begin(t, srv, overLoopback(t, srv))
	defer w.leave()
	w.next(Ready)
	for i := range n {
		if m := w.next(Message).Data.(*discordgo.MessageCreate); m.ID != fmt.Sprint(i+1) {
			t.Fatalf("message %s, want %d", m.ID, i+1)
		}
	}
}
