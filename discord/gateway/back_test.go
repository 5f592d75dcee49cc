package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheGatewayIsVersionTenAndASessionIsResumedWhereDiscordWants(t *testing.T) {
	srv := &server{resumeAt: "ws://127.0.0.1:2/"}
	var dead atomic.Bool
	inBubbleOf(t, srv, func(n int, p *peer) {
		p.welcome()
		if n < 3 {
			p.idle(time.Minute)
			p.drop()
		}
	}, func(o *Options) {
		dial := o.Dial
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dead.Load() && addr == "127.0.0.1:2" {
				return nil, refusal()
			}
			return dial(ctx, network, addr)
		}
	}, func(w *world) {
		w.next(Ready)
		w.next(Resumed)
		dead.Store(true) // the address is of no use any more: the general one is taken
		w.next(Resumed)
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		want := []string{"127.0.0.1:1/?encoding=json&v=10", "127.0.0.1:2/?encoding=json&v=10", "127.0.0.1:1/?encoding=json&v=10"}
		if diff := cmp.Diff(want, w.server.asked); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAGatewayThatRefusesEverySessionCostsThreeStartsAMinuteAndThirtyAnHour(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.hello()
		for p.login() != 0 {
			p.send(packetOut{Op: opInvalid, D: false})
		}
	}, func(w *world) {
		time.Sleep(5 * time.Hour)
		w.server.mu.Lock()
		starts := w.server.starts
		w.server.mu.Unlock()
		if len(starts) < 100 {
			t.Errorf("only %d sessions in 5 hours: it has given up", len(starts))
		}
		for i := range starts {
			if i >= 3 && starts[i].Sub(starts[i-3]) < time.Minute {
				t.Fatalf("start %d came %v after the one three before", i, starts[i].Sub(starts[i-3]))
			}
			if i >= 30 && starts[i].Sub(starts[i-30]) < time.Hour {
				t.Fatalf("start %d came %v after the one thirty before", i, starts[i].Sub(starts[i-30]))
			}
		}
		if s := w.s.State(); s.Phase != Down || s.Reason == "" {
			t.Errorf("state %+v", s)
		}
	})
}

func TestTheWaitsAfterRefusalsGrowToAMinute(t *testing.T) {
	var tries []time.Time
	inBubble(t, func(_ int, p *peer) {
		tries = append(tries, time.Now())
		p.closeWith(4000)
	}, func(w *world) {
		time.Sleep(20 * time.Minute)
		w.leave()
		for i := range 12 {
			if got, most := tries[i+1].Sub(tries[i]), min(time.Second<<i, time.Minute); got > most || got < most/2 {
				t.Errorf("wait %d is %v, want %v to %v", i, got, most/2, most)
			}
		}
		if !strings.Contains(w.log.String(), "Discord closed the connection (4000, unknown error)") {
			t.Errorf("log\n%s", w.log)
		}
	})
}

// concurrent answers like Discord with a max_concurrency of one: a session that is started
// within five seconds of another one is refused with op 9.
func concurrent(last *time.Time) func(int, *peer) {
	return func(n int, p *peer) {
		p.hello()
		p.login()
		now := time.Now()
		early := now.Sub(*last) < 5*time.Second
		*last = now
		if early {
			p.send(packetOut{Op: opInvalid, D: false})
			p.idle(time.Second)
			return
		}
		p.ready()
		p.idle(time.Hour)
	}
}

// P1: a program that is restarted at once was offline for a minute.
func TestASessionIsNeverStartedWithinFiveSecondsOfAnother(t *testing.T) {
	for name, earlier := range map[string]time.Duration{"just before": 0, "three seconds before": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			srv, last := new(server), new(time.Time)
			var noted []time.Time
			inBubbleOf(t, srv, concurrent(last), func(o *Options) {
				*last = time.Now().Add(-earlier)
				began := *last
				o.LastStart = func() time.Time { return began }
				o.Started = func(at time.Time) { noted = append(noted, at) }
			}, func(w *world) {
				began := time.Now()
				w.next(Ready)
				took := time.Since(began)
				t.Logf("connected %v after the restart", took)
				if took > 7*time.Second {
					t.Errorf("connected after %v, want 7 s", took)
				}
				if len(noted) != 1 || w.server.count(identifies) != 1 {
					t.Errorf("%d sessions started, %d noted", w.server.count(identifies), len(noted))
				}
				if text := w.log.String(); strings.Contains(text, "WARN") || strings.Contains(text, "several sessions") { // D7: it is the bot's own pause
					t.Errorf("the log says\n%s", text)
				}
			})
		})
	}
}

// P1: where nothing is known of the session before, op 9 costs its five seconds and no more.
func TestARefusedStartIsTriedAgainWithinSevenSeconds(t *testing.T) {
	srv, last := new(server), new(time.Time)
	inBubbleOf(t, srv, concurrent(last), func(*Options) { *last = time.Now() }, func(w *world) {
		began := time.Now()
		w.next(Ready)
		took := time.Since(began)
		t.Logf("connected %v after the refused start", took)
		if took > 7*time.Second || w.server.count(identifies) != 2 {
			t.Errorf("connected after %v with %d sessions, want 7 s and 2", took, w.server.count(identifies))
		}
	})
}

// P10: each reset names another port of this machine, which made each one news.
func TestAConnectionThatIsResetAgainAndAgainIsToldOnce(t *testing.T) {
	const resets = 30
	srv := new(server)
	inBubbleOf(t, srv, func(n int, p *peer) {
		p.welcome()
		if n <= resets {
			p.idle(time.Second)
			p.drop()
		}
	}, func(o *Options) {
		dial := o.Dial
		port := 40000
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			raw, err := dial(ctx, network, addr)
			port++
			return resetConn{raw, port}, err
		}
	}, func(w *world) {
		for range resets {
			w.wait("down", time.Minute, isDown)
			if r := w.last.Reason; r != "the connection to Discord was lost (connection reset)" {
				t.Fatalf("reason %q", r)
			}
			w.wait("up", time.Minute, isUp)
		}
		if n, m := strings.Count(w.log.String(), "level=WARN"), strings.Count(w.log.String(), "level=INFO"); n != 1 || m != 2 {
			t.Errorf("%d warnings and %d lines of information:\n%s", n, m, w.log)
		}
	})
}

// resetConn reports the end of a connection as the system does when it was reset.
type resetConn struct {
	net.Conn
	port int
}

func (c resetConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port}
		err = &net.OpError{Op: "read", Net: "tcp", Source: here, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return n, err
}

// P10: the same loss some hours later is news again, and so is its end.
func TestALossIsNewsAgainOnceItHasNotOccurredForTenMinutes(t *testing.T) {
	var n news
	at := time.Now()
	tell := func(later time.Duration, reason string) string {
		at = at.Add(later)
		return n.lost(reason, at).String() + " " + n.back().String()
	}
	for i, step := range []struct {
		later  time.Duration
		reason string
		want   string
	}{
		{0, "reset", "WARN INFO"},
		{time.Second, "reset", "DEBUG DEBUG"},
		{time.Second, "refused", "WARN INFO"},
		{9 * time.Minute, "reset", "DEBUG DEBUG"},
		{9 * time.Minute, "reset", "DEBUG DEBUG"}, // still going on
		{10 * time.Minute, "reset", "WARN INFO"},
	} {
		if got := tell(step.later, step.reason); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	for i := range 3 * keptReasons {
		n.lost(fmt.Sprint(i), at)
	}
	if len(n.last) > keptReasons {
		t.Errorf("%d reasons are kept", len(n.last))
	}
}
