package gateway

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheFirstConnectionIsUpWithItsLatencyAfterReady(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome() }, func(w *world) {
		e := w.next(Ready)
		if e.UserID != "1000" || e.AppID != "2000" || e.At.IsZero() {
			t.Errorf("ready = %+v", e)
		}
		w.wait("up", time.Second, isUp)
		login := w.server.login[0]
		for _, want := range []string{`"intents":12288`, `"token":"Bot ` + testToken, `"your DMs"`, `"compress":false`} {
			if !strings.Contains(login, want) {
				t.Errorf("IDENTIFY lacks %s:\n%s", want, login)
			}
		}
	})
}

func TestTheBotIsShownAsWatchingYourDMs(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome() }, func(w *world) {
		w.next(Ready)
		time.Sleep(time.Minute)
		want := []string{`{"op":3,"d":{"since":null,"activities":[{"name":"your DMs","type":3}],"status":"online","afk":false}}`}
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		if diff := cmp.Diff(want, w.server.extra); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLatencyIsTheRoundTripOfTheLatestHeartbeat(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.mute.Store(true)
		p.welcome()
		for p.idle(300 * time.Millisecond) {
			p.send(packetOut{Op: opHeartbeatAck})
			if !p.idle(41250*time.Millisecond - 300*time.Millisecond) {
				return
			}
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("measured", 2*time.Minute, func(s State) bool { return s.Latency > 0 })
		if d := w.s.State().Latency; d != 300*time.Millisecond {
			t.Errorf("latency %v, want 300 ms", d)
		}
	})
}

// The number that was asked for: within 2 s.
func TestADroppedSocketIsResumedWithinTwoSecondsAndNothingIsMissed(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.dispatch("MESSAGE_CREATE", message("1", "one"))
			p.idle(10 * time.Second)
			p.s.record("MESSAGE_CREATE", message("2", "two")) // happens while the socket is dead
			p.drop()
			p.s.record("MESSAGE_CREATE", message("3", "three"))
			return
		}
		p.dispatch("MESSAGE_CREATE", message("4", "four"))
	}, func(w *world) {
		w.next(Ready)
		if got := w.text(); got != "one" {
			t.Errorf("message %q", got)
		}
		w.wait("down", time.Minute, isDown)
		if r := w.s.State().Reason; !strings.Contains(r, "lost") {
			t.Errorf("reason %q", r)
		}
		took := w.wait("up again", time.Minute, isUp)
		t.Logf("reconnected after %v", took)
		if took > 2*time.Second {
			t.Errorf("reconnected after %v", took)
		}
		for _, want := range []string{"two", "three"} {
			if got := w.text(); got != want {
				t.Errorf("message %q, want %q", got, want)
			}
		}
		w.next(Resumed)
		if got := w.text(); got != "four" {
			t.Errorf("message %q", got)
		}
		if n := w.server.count(identifies); n != 1 {
			t.Errorf("%d sessions started, want 1", n)
		}
	})
}

// The number that was asked for: within 95 s.
func TestADeadConnectionIsReplacedWithinNinetyFiveSecondsAndItsSessionLivesOn(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.mute.Store(true) // half open: what we send arrives, nothing comes back
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		began := time.Now()
		w.wait("down", 2*time.Minute, isDown)
		if got, want := w.s.State().Reason, "Discord sent nothing for 1m30s"; got != want {
			t.Errorf("reason %q", got)
		}
		w.wait("up again", time.Minute, isUp)
		took := time.Since(began)
		t.Logf("replaced after %v", took)
		if took > 95*time.Second {
			t.Errorf("replaced after %v", took)
		}
		w.next(Resumed)
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		if len(w.server.byes) > 0 {
			t.Errorf("said goodbye with %v: that ends the session", w.server.byes)
		}
	})
}

func TestAConnectionWhoseHeartbeatsAreNotAnsweredIsReplacedThoughItStillSpeaks(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		p.mute.Store(n == 1)
		for n == 1 && p.idle(time.Minute) {
			p.dispatch("TYPING_START", map[string]any{"channel_id": "77", "user_id": "42", "timestamp": 1})
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		w.wait("down", 10*time.Minute, isDown)
		w.wait("up again", time.Minute, isUp)
		w.next(Resumed) // the library's goodbye, which would have ended the session, did not leave
		if n := w.server.count(func(s *server) int { return len(s.byes) }); n > 0 {
			t.Errorf("said goodbye: that ends the session")
		}
	})
}

func TestAGatewayThatSendsNoGreetingIsGivenUpAfterThirtySeconds(t *testing.T) {
	for name, silent := range map[string]func(*peer){
		"no greeting":           func(*peer) {},
		"greeting, then silent": func(p *peer) { p.hello() },
		"anything but ready":    func(p *peer) { p.hello(); p.login(); p.dispatch("TYPING_START", map[string]any{"user_id": "42"}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n int, p *peer) {
				if n == 1 {
					silent(p)
					return
				}
				p.welcome()
			}, func(w *world) {
				took := w.wait("given up", time.Minute, isDown)
				if took < 30*time.Second || took > 32*time.Second {
					t.Errorf("given up after %v", took)
				}
				if got, want := w.s.State().Reason, "Discord did not let the bot in within 30s"; got != want {
					t.Errorf("reason %q", got)
				}
				w.next(Ready)
				w.wait("up", 5*time.Second, isUp)
			})
		})
	}
}

func TestAskedToReconnectItResumes(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.idle(5 * time.Second)
			// One piece: what comes before the order to reconnect still counts.
			p.dispatch("MESSAGE_CREATE", message("1", "last words"))
			p.send(packetOut{Op: opReconnect})
		}
	}, func(w *world) {
		w.next(Ready)
		if got := w.text(); got != "last words" {
			t.Errorf("message %q", got)
		}
		w.wait("down", time.Minute, isDown)
		took := w.wait("up again", time.Minute, isUp)
		if took > 2*time.Second {
			t.Errorf("reconnected after %v", took)
		}
		w.next(Resumed)
	})
}

func TestAskedToReconnectBeforeItIsInItTriesAgain(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		switch n {
		case 1, 4: // right after IDENTIFY, and right after RESUME
			p.hello()
			p.login()
			p.send(packetOut{Op: opReconnect})
		case 2, 3:
			p.welcome()
			p.idle(time.Minute)
			p.drop()
		default:
			p.welcome()
		}
	}, func(w *world) {
		w.next(Ready)
		w.next(Resumed)
		w.next(Resumed)
		w.wait("up", time.Minute, isUp)
		if got := [2]int{w.server.count(connections), w.s.State().Abandoned}; got != [2]int{5, 0} {
			t.Errorf("connections and abandoned sessions: %v", got)
		}
	})
}

func TestAnInvalidSessionIsReplacedAfterAPause(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		if n == 2 {
			p.hello()
			p.login()
			p.send(packetOut{Op: opInvalid, D: false})
			return
		}
		p.welcome()
		if n == 1 {
			p.idle(time.Minute)
			p.drop()
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("down", 2*time.Minute, isDown)
		began := time.Now()
		w.next(Ready) // not Resumed: the consumer has to catch up
		if took := time.Since(began); took < 2*time.Second || took > 7*time.Second {
			t.Errorf("the new session came after %v, want the second of the loss and a pause of 1 to 5 s", took)
		}
		if n, r := w.server.count(identifies), w.server.count(resumes); n != 2 || r != 1 {
			t.Errorf("%d sessions, %d resumed", n, r)
		}
	})
}

func TestAnInvalidSessionThatMayBeResumedIsResumed(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.idle(time.Minute)
			p.send(packetOut{Op: opInvalid, D: true})
		}
	}, func(w *world) {
		w.next(Ready)
		w.next(Resumed)
		if n := w.server.count(identifies); n != 1 {
			t.Errorf("%d sessions started", n)
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

func TestAPermanentCloseCodeStopsForGoodAndSaysWhatToDo(t *testing.T) {
	for code, want := range map[int]string{
		4004: "Reset Token, put the new one into DISCORD_TOKEN in .env",
		4010: "update it",
		4011: "one private server is enough",
		4012: "update the program",
		4013: "update it",
		4014: "Privileged Gateway Intents",
	} {
		for name, when := range map[string]time.Duration{"at the start": 0, "later": time.Hour} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(_ int, p *peer) {
					if when == 0 {
						p.hello()
						p.login()
					} else {
						p.welcome()
						p.idle(when)
					}
					p.closeWith(code)
				}, func(w *world) {
					for range w.s.Events() { // closed when Run ends
					}
					err := <-w.result
					var stopped *StoppedError
					if !errors.As(err, &stopped) || stopped.Code != code {
						t.Fatalf("Run = %v", err)
					}
					s := w.s.State()
					if s.Phase != Stopped || s.Reason != stopped.Reason || !strings.Contains(s.Reason, want) {
						t.Errorf("state %+v, want a sentence with %q", s, want)
					}
					time.Sleep(24 * time.Hour)
					if n := w.server.count(connections); n != 1 {
						t.Errorf("%d connections", n)
					}
				})
			})
		}
	}
}

func TestOtherCloseCodesReconnect(t *testing.T) {
	for code, resumed := range map[int]bool{
		4000: true, 4001: true, 4002: true, 4005: true, 4008: true, 1001: true, 1005: true, 4999: true,
		4007: false, 4009: false,
	} {
		inBubble(t, func(n int, p *peer) {
			p.welcome()
			if n == 1 {
				p.idle(time.Minute)
				if code == 1005 {
					p.write(8, nil)
				} else {
					p.closeWith(code)
				}
			}
		}, func(w *world) {
			w.next(Ready)
			if resumed {
				w.next(Resumed)
			} else {
				w.next(Ready)
			}
			w.wait("up", 3*time.Second, isUp)
		})
	}
}

func TestAServerThatIsDownForAMinuteIsTriedPatientlyAndTheSessionResumed(t *testing.T) {
	for name, failure := range map[string]error{"refused": refusal(), "swallowed": errSwallowed} {
		t.Run(name, func(t *testing.T) {
			var p1 *peer
			inBubble(t, func(n int, p *peer) {
				p.welcome()
				if n == 1 {
					p1 = p
				}
			}, func(w *world) {
				w.next(Ready)
				w.wait("up", time.Minute, isUp)
				w.server.refuseWith(failure)
				p1.drop()
				began := time.Now()
				w.wait("down", time.Minute, isDown)
				time.Sleep(30 * time.Second)
				s := w.s.State()
				if s.Phase != Down || s.Since.Sub(began) > time.Second {
					t.Errorf("state %+v: down since the loss, whatever was tried", s)
				}
				time.Sleep(time.Until(began.Add(time.Minute)))
				w.server.refuseWith(nil)
				took := w.wait("up again", 2*time.Minute, isUp)
				if took > time.Minute {
					t.Errorf("up %v after the server was back", took)
				}
				w.next(Resumed)
			})
		})
	}
}

func TestTheWaitsGrowToAMinuteAndTheNextTryIsTold(t *testing.T) {
	inBubbleWith(t, func(int, *peer) {}, func(o *Options) {
		o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, refusal() }
	}, func(w *world) {
		var try time.Time
		for i := range 12 {
			w.wait("resting", 2*time.Minute, func(s State) bool { return !s.NextTry.IsZero() && s.NextTry != try })
			try = w.s.State().NextTry
			if got, most := time.Until(try), min(time.Second<<i, time.Minute); got > most || got < most/2 {
				t.Errorf("wait %d is %v, want %v to %v", i, got, most/2, most)
			}
		}
		if r := w.s.State().Reason; r != "Discord cannot be reached (connection refused)" {
			t.Errorf("reason %q", r)
		}
	})
}

func TestRunEndsAtOnceWhateverItIsDoing(t *testing.T) {
	stories := map[string]struct {
		script func(n int, p *peer)
		refuse error
		after  time.Duration
		within time.Duration
	}{
		"up":                    {func(_ int, p *peer) { p.welcome() }, nil, time.Hour, 2 * time.Second},
		"waiting for a try":     {func(int, *peer) {}, refusal(), 5*time.Minute + time.Second/3, 0},
		"dialling":              {func(int, *peer) {}, errSwallowed, 10 * time.Second, 0},
		"waiting for greeting":  {func(int, *peer) {}, nil, 10 * time.Second, 0},
		"waiting for admission": {func(_ int, p *peer) { p.hello() }, nil, 10 * time.Second, 0},
		"half let in": {
			func(_ int, p *peer) {
				p.hello()
				p.login()
				p.dispatch("TYPING_START", map[string]any{"user_id": "42"})
			}, nil, 10 * time.Second, 2 * time.Second,
		},
		"letting go": {func(_ int, p *peer) { p.welcome(); p.idle(10 * time.Second); p.drop() }, nil, 10500 * time.Millisecond, time.Second},
	}
	for name, st := range stories {
		t.Run(name, func(t *testing.T) {
			inBubble(t, st.script, func(w *world) {
				w.server.refuseWith(st.refuse)
				time.Sleep(st.after)
				before := w.server.count(connections)
				began := time.Now()
				w.cancel()
				if err := <-w.result; err != nil {
					t.Errorf("Run = %v", err)
				}
				if took := time.Since(began); took > st.within {
					t.Errorf("Run took %v to end", took)
				}
				w.server.refuseWith(nil)
				time.Sleep(time.Hour)
				if after := w.server.count(connections); after != before {
					t.Errorf("connected %d times after the end", after-before)
				}
				if s := w.s.State(); s.Phase != Stopped {
					t.Errorf("state %+v", s)
				}
			})
		})
	}
}

func TestLeavingSaysGoodbyeSoThatTheBotIsShownAsOffline(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome() }, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		w.leave()
		w.server.work.Wait()
		if diff := cmp.Diff([]int{1000}, w.server.byes); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRunIsRunOnce(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome() }, func(w *world) {
		w.next(Ready)
		if err := w.s.Run(w.t.Context()); !errors.Is(err, errRanBefore) {
			t.Errorf("second Run = %v", err)
		}
	})
}
