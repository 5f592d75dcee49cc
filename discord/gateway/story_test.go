package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheFirstConnectionIsUpWithItsLatencyAfterReady(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome() }, func(w *world) {
		e := w.next(Ready)
		if e.At.IsZero() {
			t.Errorf("ready = %+v", e)
		}
		w.wait("up", time.Second, isUp)
		login := w.server.login[0]
		for _, want := range []string{`"intents":12288`, `"token":"` + testToken, `"compress":false`} {
			if !strings.Contains(login, want) {
				t.Errorf("IDENTIFY lacks %s:\n%s", want, login)
			}
		}
	})
}

func TestTheBotIsShownAsWatchingYourDMsUntilItIsBusyOrMuted(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.idle(2 * time.Minute)
			p.drop()
		}
	}, func(w *world) {
		w.next(Ready)
		time.Sleep(time.Minute)
		for i := range 20 { // faster than Discord allows
			w.s.Show(Presence{Watching: fmt.Sprint("number ", i)})
			time.Sleep(100 * time.Millisecond)
		}
		w.s.Show(Presence{Watching: "busy", Away: true})
		time.Sleep(10 * time.Second)
		w.wait("down", time.Hour, isDown)
		w.s.Show(Presence{})
		w.next(Resumed)
		time.Sleep(time.Second)
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		shows(t, w.server.login[0], "your DMs", "online")
		all := w.server.extra
		if n := len(all); n != 3 || !strings.Contains(all[0], "number 0") {
			t.Fatalf("told %q", all)
		}
		shows(t, all[1], "busy", "idle")
		shows(t, all[2], "your DMs", "online")
	})
}

// The budget in the presence: the newest text, at most five in twenty seconds.
func TestTheStatusIsTheNewestTextAndNoFasterThanDiscordAllows(t *testing.T) {
	var at []time.Time
	srv := new(server)
	inBubbleOf(t, srv, func(_ int, p *peer) { p.welcome() }, func(*Options) {}, func(w *world) {
		w.next(Ready)
		time.Sleep(time.Minute)
		told := 0
		for i := range 100 {
			w.s.Show(Presence{Status: fmt.Sprint(i, " pings left")})
			time.Sleep(300 * time.Millisecond)
			if n := w.server.count(func(s *server) int { return len(s.extra) }); n > told {
				told, at = n, append(at, time.Now())
			}
		}
		time.Sleep(presenceEvery)
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		for i := range at {
			if i >= 5 && at[i].Sub(at[i-5]) < 20*time.Second {
				t.Errorf("six in %v", at[i].Sub(at[i-5]))
			}
		}
		last := w.server.extra[len(w.server.extra)-1]
		if want := `"activities":[{"name":"Custom Status","type":4,"state":"99 pings left"}],"status":"online"`; !strings.Contains(last, want) {
			t.Errorf("%s lacks %s", last, want)
		}
	})
}

// shows checks a packet that tells a presence.
func shows(t *testing.T, packet, watching, status string) {
	t.Helper()
	for _, want := range []string{`"name":"` + watching + `","type":3`, `"status":"` + status + `"`} {
		if !strings.Contains(packet, want) {
			t.Errorf("%s lacks %s", packet, want)
		}
	}
}

func TestLatencyIsTheRoundTripOfTheLatestHeartbeat(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.mute.Store(true)
		p.welcome()
		for {
			select {
			case <-p.beats:
				p.idle(300 * time.Millisecond)
				p.send(packetOut{Op: opHeartbeatAck})
			case <-p.gone:
				return
			}
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("measured", 2*time.Minute, func(s State) bool { return s.Latency > 0 })
		if d := w.last.Latency; d != 300*time.Millisecond {
			t.Errorf("latency %v, want 300 ms", d)
		}
	})
}

func TestTheFirstHeartbeatComesAtARandomMomentOfItsInterval(t *testing.T) {
	var first []time.Duration
	for range 20 {
		inBubble(t, func(_ int, p *peer) {
			p.hello()
			began := time.Now()
			p.login()
			p.ready()
			<-p.beats
			first = append(first, time.Since(began))
		}, func(w *world) {
			w.next(Ready)
			time.Sleep(time.Minute)
		})
	}
	least, most := slices.Min(first), slices.Max(first)
	if most > 41250*time.Millisecond || least > 20*time.Second || most < 20*time.Second {
		t.Errorf("first heartbeats after %v to %v", least, most)
	}
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
				if got, want := w.last.Reason, "Discord did not let the bot in within 30s"; got != want {
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
			p.dispatch("MESSAGE_CREATE", words("1", "last words"))
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
		if got := w.server.count(connections); got != 5 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestAPermanentCloseCodeStopsForGoodAndSaysWhatToDo(t *testing.T) {
	for code, want := range map[int]string{
		4004: "Reset Token, set DISCORD_TOKEN in .env to the new token",
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
					for range w.events { // closed when Run ends
					}
					err := <-w.result
					if err == nil {
						t.Fatal("Run went on")
					}
					s := w.s.State()
					if s.Phase != Stopped || s.Reason != err.Error() || !strings.Contains(s.Reason, want) {
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
			}, nil, 10 * time.Second, 0,
		},
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
