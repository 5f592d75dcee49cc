package gateway

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

func TestPacketsThatWouldHarmTheLibraryEndTheConnectionInstead(t *testing.T) {
	for name, text := range map[string]string{
		"null":                      `null`,
		"no JSON":                   `hello?`,
		"no opcode":                 `{"d":1}`,
		"opcode as text":            `{"op":"7"}`,
		"heartbeats without pause":  `{"op":10,"d":{"heartbeat_interval":0}}`,
		"heartbeats backwards":      `{"op":10,"d":{"heartbeat_interval":-5}}`,
		"heartbeats in a billion":   `{"op":10,"d":{"heartbeat_interval":9223372036854775}}`,
		"greeting without content":  `{"op":10,"d":null}`,
		"an answer to no heartbeat": `{"op":11}`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n int, p *peer) {
				if n == 1 {
					p.raw(text)
					return
				}
				p.welcome()
			}, func(w *world) {
				w.wait("down", time.Second, isDown)
				if r := w.s.State().Reason; !strings.Contains(r, "makes no sense") {
					t.Errorf("reason %q", r)
				}
				w.next(Ready)
				w.wait("up", 5*time.Second, isUp)
			})
		})
	}
}

func TestAFrameBeyondAllMeasureEndsTheConnection(t *testing.T) {
	inBubble(t, func(n int, p *peer) {
		p.welcome()
		if n == 1 {
			p.idle(time.Minute)
			_, _ = p.ws.NetConn().Write([]byte{frameText, 127, 0, 0, 0, 0xff, 0, 0, 0, 0}) // says that a terabyte follows
		}
	}, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		w.wait("down", 2*time.Minute, isDown)
		if r := w.s.State().Reason; !strings.Contains(r, "1095216660480 bytes") {
			t.Errorf("reason %q", r)
		}
		w.next(Ready)
	})
}

func TestACompressedReadyIsUnderstood(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.hello()
		p.login()
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_ = json.NewEncoder(z).Encode(p.s.record("READY", map[string]any{
			"session_id": "s", "user": map[string]any{"id": "1000"}, "filler": strings.Repeat("x", 5000),
		}))
		_ = z.Close()
		p.write(websocket.BinaryMessage, b.Bytes())
	}, func(w *world) {
		if e := w.next(Ready); e.UserID != "1000" {
			t.Errorf("ready = %v", e)
		}
		w.wait("up", time.Second, isUp)
	})
}

func TestEventsThatMakeNoSenseAreLeftOutAndCounted(t *testing.T) {
	without := func(key string) map[string]any {
		m := message("9", "half")
		delete(m, key)
		return m
	}
	with := func(key string, v any) map[string]any {
		m := message("9", "half")
		m[key] = v
		return m
	}
	type dispatch struct {
		kind string
		d    any
	}
	bad := []dispatch{
		{"MESSAGE_CREATE", nil},
		{"MESSAGE_CREATE", []int{1}},
		{"MESSAGE_CREATE", without("author")},
		{"MESSAGE_CREATE", with("author", nil)},
		{"MESSAGE_CREATE", with("author", "me")},
		{"MESSAGE_CREATE", with("author", map[string]any{"id": ""})},
		{"MESSAGE_CREATE", with("author", map[string]any{"id": 42})},
		{"MESSAGE_CREATE", without("id")},
		{"MESSAGE_CREATE", with("id", "")},
		{"MESSAGE_CREATE", with("id", "../../users/@me")},
		{"MESSAGE_CREATE", with("id", strings.Repeat("1", 21))},
		{"MESSAGE_CREATE", without("channel_id")},
		{"MESSAGE_CREATE", with("content", 5)},
		{"MESSAGE_CREATE", with("attachments", "none")},
		{"MESSAGE_DELETE", map[string]any{"channel_id": "77"}},
		{"MESSAGE_REACTION_ADD", map[string]any{"user_id": "42", "channel_id": "77", "message_id": "1", "emoji": map[string]any{}}},
		{"MESSAGE_REACTION_ADD", map[string]any{"channel_id": "77", "message_id": "1", "emoji": map[string]any{"name": "👀"}}},
		{"INTERACTION_CREATE", map[string]any{"id": "", "token": "", "type": 0}},
		{"INTERACTION_CREATE", map[string]any{"id": "5", "application_id": "2000", "token": "t", "type": 2, "channel_id": "77"}},
		{"BRAND_NEW_EVENT", map[string]any{"id": "5"}},
	}
	inBubble(t, func(_ int, p *peer) {
		p.welcome()
		for _, b := range bad {
			p.dispatch(b.kind, b.d)
		}
		p.dispatch("MESSAGE_UPDATE", message("1", "edited")) // fine, and of no interest, as is a call
		p.dispatch("MESSAGE_CREATE", with("type", 3))
		p.dispatch("MESSAGE_CREATE", message("1", "whole"))
	}, func(w *world) {
		w.next(Ready)
		if got := w.text(); got != "whole" {
			t.Errorf("message %q", got)
		}
		w.wait("up", time.Second, isUp) // the events may be there before it
		if n := w.s.State().Dropped; n != len(bad) {
			t.Errorf("%d dropped, want %d", n, len(bad))
		}
	})
}

func TestDuplicatesAndDisorderArriveAsDiscordSentThem(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.welcome()
		one := p.s.record("MESSAGE_CREATE", message("1", "one"))
		two := p.s.record("MESSAGE_CREATE", message("2", "two"))
		p.dispatch("MESSAGE_UPDATE", message("1", "edited before it was there"))
		p.send(two)
		p.send(one) // its number is lower
		p.send(one)
		p.dispatch("MESSAGE_DELETE", map[string]any{"id": "2", "channel_id": "77"})
		p.dispatch("MESSAGE_DELETE", map[string]any{"id": "404", "channel_id": "77"})
	}, func(w *world) {
		w.next(Ready)
		var got []string
		for range 3 {
			got = append(got, w.text())
		}
		got = append(got, w.next(MessageDelete).MessageID, w.next(MessageDelete).MessageID)
		if diff := cmp.Diff([]string{"two", "one", "one", "2", "404"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAReaderThatSleepsForHoursLosesNothingAndTheConnectionLivesOn(t *testing.T) {
	const n = 500
	inBubble(t, func(_ int, p *peer) {
		p.welcome()
		for i := range n {
			p.dispatch("MESSAGE_CREATE", message(fmt.Sprint(i+1), fmt.Sprint(i)))
		}
	}, func(w *world) {
		w.wait("up", time.Second, isUp)
		time.Sleep(3 * time.Hour)
		if c := w.server.count(connections); c != 1 {
			t.Errorf("%d connections", c)
		}
		w.next(Ready)
		for i := range n {
			if got := w.text(); got != fmt.Sprint(i) {
				t.Fatalf("message %q, want %d", got, i)
			}
		}
	})
}

func TestWithFewStartsLeftItWaitsForDiscordToCountAnew(t *testing.T) {
	began := time.Time{}
	inBubbleWith(t, func(_ int, p *peer) { p.welcome() }, func(o *Options) {
		began = time.Now()
		o.Budget = func(context.Context) (int, time.Duration, error) {
			if left := time.Until(began.Add(5 * time.Hour)); left > 0 {
				return 9, left, nil
			}
			return 1000, 24 * time.Hour, nil
		}
	}, func(w *world) {
		w.wait("waiting", time.Second, isDown)
		s := w.s.State()
		if s.NextTry.Sub(began) != 5*time.Hour || !strings.Contains(s.Reason, "only 9") {
			t.Errorf("state %+v", s)
		}
		if took := w.wait("up", 6*time.Hour, isUp); took < 5*time.Hour {
			t.Errorf("connected after %v", took)
		}
	})
}

func TestABudgetThatCannotBeReadIsNoReasonToStayAway(t *testing.T) {
	for name, budget := range map[string]func(context.Context) (int, time.Duration, error){
		"an error":  func(context.Context) (int, time.Duration, error) { return 0, 0, errors.New("503") },
		"no answer": func(ctx context.Context) (int, time.Duration, error) { <-ctx.Done(); return 0, 0, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWith(t, func(_ int, p *peer) { p.welcome() }, func(o *Options) { o.Budget = budget }, func(w *world) {
				w.next(Ready)
				w.wait("up", time.Second, isUp)
			})
		})
	}
}

func TestTheBudgetIsNotAskedBeforeASessionIsResumed(t *testing.T) {
	asked := 0
	inBubbleWith(t, func(n int, p *peer) {
		p.welcome()
		if n < 4 {
			p.idle(time.Minute)
			p.drop()
		}
	}, func(o *Options) {
		o.Budget = func(context.Context) (int, time.Duration, error) { asked++; return 1000, 0, nil }
	}, func(w *world) {
		w.next(Ready)
		for range 3 {
			w.next(Resumed)
		}
		w.leave()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

func TestAGatewayAddressThatCannotBeHadIsAReasonAndNotAnEnd(t *testing.T) {
	for want, answer := range map[string]func() (*http.Response, error){
		"500 Internal Server Error":              func() (*http.Response, error) { return answered(500, "<html>"+testToken), nil },
		"Rate limit exceeded":                    func() (*http.Response, error) { return answered(429, `{"retry_after":3600}`), nil },
		"connection refused":                     func() (*http.Response, error) { return nil, refusal() },
		"the gateway's address is not encrypted": func() (*http.Response, error) { return answered(200, `{"url":"ws://example.com"}`), nil },
		"malformed ws or wss URL":                func() (*http.Response, error) { return answered(200, `{"url":"file:///etc/passwd"}`), nil },
	} {
		t.Run(want, func(t *testing.T) {
			inBubbleWith(t, func(_ int, p *peer) { p.welcome() }, func(o *Options) {
				working, tries := o.Transport, 0
				o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
					if tries++; tries == 1 {
						return answer()
					}
					return working.RoundTrip(r)
				})
			}, func(w *world) {
				w.wait("down", time.Second, isDown)
				if r := w.s.State().Reason; !strings.Contains(r, want) || strings.Contains(r, testToken) {
					t.Errorf("reason %q, want %q in it", r, want)
				}
				w.next(Ready)
			})
		})
	}
}

func answered(status int, body string) *http.Response {
	rec := bytes.NewBufferString(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body))
	resp, err := http.ReadResponse(bufio.NewReader(rec), nil)
	if err != nil {
		panic(err)
	}
	return resp
}

func TestAPanicOfAListenerEndsRunWithAnErrorAndNotTheProgram(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome(); p.idle(time.Minute); p.drop() }, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		w.s.OnChange(func() { panic("listener") })
		for range w.s.Events() {
		}
		if err := <-w.result; err == nil || !strings.Contains(err.Error(), "listener") {
			t.Errorf("Run = %v", err)
		}
		time.Sleep(2 * time.Second) // the library is still letting go
		if n := w.server.count(connections); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// Not in parallel with anything: the standard logger is the process's.
func TestTheLibraryWritesNothingByItself(t *testing.T) {
	var b syncBuffer
	log.SetOutput(&b)
	defer log.SetOutput(os.Stderr)
	inBubble(t, func(n int, p *peer) {
		switch n {
		case 1:
			p.welcome()
			p.dispatch("MESSAGE_CREATE", map[string]any{"author": 5})
			p.dispatch("BRAND_NEW_EVENT", nil)
			p.send(packetOut{Op: 42})
			p.idle(time.Minute)
			p.closeWith(4000)
		case 2:
			p.hello()
			p.login()
			p.send(packetOut{Op: opInvalid, D: false})
		default:
			p.welcome()
		}
	}, func(w *world) {
		w.next(Ready)
		w.next(Ready)
	})
	if got := b.String(); got != "" {
		t.Errorf("the library wrote:\n%s", got)
	}
}
