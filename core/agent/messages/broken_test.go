package messages

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// whole returns an answer with all kinds of blocks.
func whole() string {
	return reply("tool_use", thought("hmm, well"), saying("Let me <see> it."), note(object{"n": "ü"}))
}

func TestAStreamThatIsCutAtAnyByteIsAskedForAgain(t *testing.T) {
	full := whole()
	stopped := strings.Index(full, "event: message_stop") // from there on nothing is missing
	for at := range len(full) {
		synctest.Test(t, func(t *testing.T) {
			answers, want := []served{streams(full[:at]), streams(full), done}, 1
			if at >= stopped {
				answers, want = []served{streams(full[:at]), done}, 0
			}
			b := newBench(t, answers...)
			s := b.open(b.notes, func(o *agent.SessionOptions) { o.Bare = true })
			got := b.says(s, "do it", "Let me <see> it.\nDone.")
			q := b.last()
			if q.valid(t); q.roles() != "uau" || strings.Join(b.called, " ") != `{"n":"ü"}` || len(find[agent.Retry](got)) != want {
				t.Fatalf("cut at %d of %d: called %v, the history is %s, retries %v", at, len(full), b.called, q.roles(), find[agent.Retry](got))
			}
			testkit.Must(t, s.Close())
		})
	}
}

func TestATurnThatIsInterruptedAtAnyByteLeavesAHistoryToContinue(t *testing.T) {
	full := whole()
	for at := 0; at < len(full); at += 3 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, hangs(full[:at]), ends("Here."))
			s := b.open(b.notes, func(o *agent.SessionOptions) { o.Bare = true })
			go func() {
				time.Sleep(time.Second)
				_ = s.Interrupt(context.Background())
			}()
			if got := say(s, "one"); at < len(full)-20 && (got.err != nil || !got.result.Interrupted) {
				t.Fatalf("interrupted at %d: %+v, %v", at, got.result, got.err)
			}
			if got := say(s, "two"); got.err != nil || got.result.Text != "Here." {
				t.Fatalf("after %d: %+v, %v", at, got.result, got.err)
			}
			b.last().valid(t)
			testkit.Must(t, s.Close())
		})
	}
}

func TestAnInterruptedCallSaysSo(t *testing.T) {
	b := newBench(t, calls(note(object{}), use("b", "mcp__discord__slow", object{}), use("c", "mcp__discord__note", object{})), ends("Here."))
	var s agent.Session
	s = b.open(b.notes, func(o *agent.SessionOptions) {
		o.Tools = append(o.Tools, agent.Tool{Name: "slow", Schema: []byte(`{}`), Call: func(ctx context.Context, _ agent.Approved) agent.ToolResult {
			_ = s.Interrupt(ctx)
			<-ctx.Done()
			return agent.ToolResult{Text: "cancelled", IsError: true}
		}})
	})
	if got := say(s, "go"); !got.result.Interrupted {
		t.Errorf("%+v, %v", got.result, got.err)
	}
	say(s, "and?")
	q := b.sent(1)
	q.valid(t)
	results := q.Messages[2].Content
	holds(t, "the first result", fmt.Sprint(results[0]), "note did it")
	holds(t, "the third result", fmt.Sprint(results[2]), "its effects are unknown")
}

<<<<<<< HEAD
func TestWhatHelpsIsTriedAgainAndWhatDoesNotIsSaid(t *testing.T) {
	problem := func(kind, text string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
	}
	good := streams(reply("end_turn", saying("Here.")))
	none := func(*http.Request) canned { return canned{err: errors.New("connection refused")} }
	for _, c := range []struct {
		name   string
		answer func(*http.Request) canned
		again  bool
		wait   time.Duration // exact if it is not 0
		says   string
		away   bool // and another engine may answer
	}{
		{"overloaded", with(529, "application/json", problem("overloaded_error", "Overloaded")), true, 0, "overloaded", false},
		{"rate limit", with(429, "application/json", problem("rate_limit_error", "slow"), "Retry-After", "7"), true, 7 * time.Second, "rate limit", false},
		{
			"rate limit until a time, by a clock that is off",
			with(429, "application/json", problem("rate_limit_error", "slow"), "Date", "Tue, 03 Jan 2012 10:00:00 GMT", "Retry-After", "Tue, 03 Jan 2012 10:00:09 GMT"),
			true, 9 * time.Second, "rate limit", false,
		},
		{"spend limit", with(429, "application/json", problem("rate_limit_error", "enforced_spend_limit_reached"), "Retry-After", "7"), false, 0, "spend limit", true},
		{"a wait of a day", with(429, "application/json", problem("rate_limit_error", "tomorrow"), "Retry-After", "86400"), false, 0, "asks to retry in 24 h", true},
		{"timeout", with(408, "text/plain", ""), true, 0, "request timeout", false},
		{"conflict", with(409, "text/plain", ""), true, 0, "conflict", false},
		{"broken server", with(500, "text/html", "<h1>"), true, 0, "internal server error", false},
		{"a server that wants no other try", with(500, "application/json", problem("api_error", "broken"), "X-Should-Retry", "false"), false, 0, "broken", true},
		{"wrong key", with(401, "application/json", problem("authentication_error", "invalid x-api-key")), false, 0, "ANTHROPIC_API_KEY", true},
		{"no money", with(402, "application/json", problem("billing_error", "credit")), false, 0, "no money left", true},
		{"no model", with(404, "application/json", problem("not_found_error", "model: x")), false, 0, "does not know this model", false},
		{"bad request", with(400, "application/json", problem("invalid_request_error", "messages.0: bad")), false, 0, "messages.0: bad", false},
		{"a page", with(200, "text/html", "<h1>Welcome to the hotel</h1>"), false, 0, "not the Messages API", false},
		{"a redirect", with(302, "text/plain", "", "Location", "https://example.com/v1/messages"), false, 0, "redirects the request", false},
		{"no connection", none, true, 0, "no connection", false},
		{"garbage", streams("data: {{{\n\n"), true, 0, "does not follow the Messages API", false},
		{"a delta of nothing", streams(event(object{"type": "content_block_delta", "index": 3, "delta": object{"type": "text_delta", "text": "x"}})), true, 0, "does not follow", false},
		{"an error in the stream", streams(reply("", saying("half"))[:200] + "\n\nevent: error\ndata: " + problem("overloaded_error", "Overloaded") + "\n\n"), true, 0, "", false},
		{"a refusal in the stream", streams("event: error\ndata: " + problem("invalid_request_error", "no") + "\n\n"), false, 0, "no", false},
		{"a JSON answer that is none", with(200, "application/json", `{"choices":[]}`), true, 0, "does not follow", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, c.answer, good)
				s := b.open()
				got := say(t, s, "hello")
				retries := find[agent.Retry](got)
				if !c.again {
					if got.err == nil || len(retries) > 0 || b.count() != 1 {
						t.Fatalf("%v, %d retries, %d requests", got.err, len(retries), b.count())
					}
					holds(t, "the error", got.err.Error(), c.says)
					if errors.Is(got.err, agent.ErrUnavailable) != c.away {
						t.Errorf("that another engine may answer is not %v", c.away)
					}
					testkit.Must(t, s.Close())
					return
				}
				if got.err != nil || got.text != "Here." || len(retries) != 1 || c.wait > 0 && retries[0].Wait != c.wait {
					t.Fatalf("%q, %v, retries %v", got.text, got.err, retries)
				}
				holds(t, "the reason", retries[0].Reason, c.says)
				testkit.Must(t, s.Close())
			})
		})
	}
}

func TestAMessageThatNobodyTookIsNotInTheHistory(t *testing.T) {
	b := newBench(t, with(400, "application/json", `{"error":{"type":"invalid_request_error","message":"image too big"}}`), streams(reply("end_turn", saying("Here."))))
	s := b.open()
	if got := say(t, s, "the bad one"); got.err == nil {
		t.Error("the bad message was taken")
	}
	if got := say(t, s, "the good one"); got.err != nil {
		t.Error(got.err)
	}
	if q := b.sent(1); q.roles() != "u" || strings.Contains(b.wire.bodies[1], "the bad one") {
		t.Errorf("the second request is %s", b.wire.bodies[1])
	}
	for text, want := range map[string]bool{"the bad one": false, "the good one": true, "never said": false} {
		if got, err := b.engine.HasMessage(t.Context(), s.ID(), sha(text)); err != nil || got != want {
			t.Errorf("that %q was taken is %v, %v", text, got, err)
		}
	}
}

func TestAServerThatStaysAwayIsGivenUpWithASentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(529, "text/plain", ""))
		s := b.open()
		began := time.Now()
		got := say2(s, "hello")
		if n := len(find[agent.Retry](got)); n != retries || !got.result.IsError || !got.result.Unavailable || got.result.Text == "" || time.Since(began) > 10*time.Minute {
			t.Errorf("%d retries in %s, %+v, %v", n, time.Since(began), got.result, got.err)
		}
		testkit.Must(t, s.Close())
	})
}

func TestAServerThatStaysAwayIsGivenUpSoonWhereSomebodyElseAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(529, "text/plain", ""))
		b.engine.o.Others = func() bool { return true }
		s := b.open()
		began := time.Now()
		got := say2(s, "hello")
		if n := len(find[agent.Retry](got)); n != fewRetries || !got.result.Unavailable || time.Since(began) > 10*time.Second {
			t.Errorf("%d retries in %s, %+v, %v", n, time.Since(began), got.result, got.err)
		}
		testkit.Must(t, s.Close())
	})
}

// say2 runs a turn without a time limit, for tests with a fake clock.
func say2(s agent.Session, text string) turnOf {
	return gather(s.Send(context.Background(), agent.Message{Text: text}))
}

func TestASilentServerIsAskedOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, hangs(whole()[:300]), streams(reply("end_turn", saying("Here."))))
		s := b.open()
		if got := say2(s, "hello"); got.err != nil || got.text != "Here." || len(find[agent.Retry](got)) != 1 {
			t.Errorf("%q %v", got.text, got.err)
		}
		testkit.Must(t, s.Close())
		b = newBench(t, hangs(""))
		s = b.open()
		began := time.Now()
		got := say2(s, "hello")
		holds(t, "the end", got.result.Text, "stopped responding")
		if d := time.Since(began); d > 5*time.Minute {
			t.Errorf("it took %s", d)
		}
		testkit.Must(t, s.Close())
	})
}

func TestAServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	answer := `{
  "type": "message", "role": "assistant", "stop_reason": "tool_use",
  "content": [{"type": "text", "text": "One\nmoment."}, {"type": "tool_use", "id": "a", "name": "mcp__discord__note", "input": {"n": [1,
  2]}}], "usage": {"input_tokens": 5, "output_tokens": 7}}`
	var called []string
	b := newBench(t, with(200, "application/json; charset=utf-8", answer), streams(reply("end_turn", saying("Done."))))
	s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
	got := say(t, s, "hello")
	if got.err != nil || got.text != "One\nmoment.\nDone." || fmt.Sprint(called) != `[{"n":[1,2]}]` {
		t.Errorf("%q %v %v", got.text, called, got.err)
	}
	b.sent(1).valid(t)
}

func TestTenMegabytesInOneBlockAreTakenAndSentBack(t *testing.T) {
	long := strings.Repeat("ä <b> and so on ", 10<<20/17)
	var called []string
	b := newBench(t, streams(reply("tool_use", saying(long), use("a", "mcp__discord__note", object{"n": long}))), streams(reply("end_turn", saying("Done."))))
	s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
	got := say(t, s, "hello")
	if got.err != nil || got.text != long+"\nDone." || len(called) != 1 {
		t.Errorf("%d bytes, %v, %d calls", len(got.text), got.err, len(called))
	}
	if q := b.sent(1); q.Messages[1].Content[0]["text"] != long {
		t.Error("the text was changed on the way back")
	}
}

func TestATornLastLineIsAsIfItWasNeverWritten(t *testing.T) {
	root := t.TempDir()
	b := newBenchAt(t, root, streams(reply("end_turn", saying("First."))))
	s := b.open()
	say(t, s, "one")
=======
// The file of a session may end anywhere: in its middle after a crash, in a line that was never written whole.
func TestAHistoryThatEndsAnywhereCanBeContinued(t *testing.T) {
	b := newBench(t, streams(whole()), ends("First."))
	s := b.open(b.notes)
	say(s, "one")
>>>>>>> 7db946c9 (Put what an API may do to a turn into one table)
	testkit.Must(t, s.Close())
	data, err := os.ReadFile(b.file(s))
	testkit.Must(t, err)
	resumes := func(text string) sent {
		testkit.Must(t, os.WriteFile(b.file(s), []byte(text), 0o600))
		again, s := b.again(s, ends("Second."))
		again.says(s, "two", "Second.")
		testkit.Must(t, s.Close())
		again.sent(0).valid(t)
		return again.sent(0)
	}
	for at := strings.Index(string(data), `{"role"`); at <= len(data); at += 17 {
		resumes(string(data[:at]))
	}
	for _, end := range []string{`{`, `{"role":"us`, `{"role":"user","content":[{"type":"text","text":"to` + strings.Repeat("o", 70<<10), "\x00\x00\x00"} {
		if q := resumes(string(data) + end); q.roles() != "uauau" {
			t.Errorf("with %.20q at its end it holds %s", end, q.roles())
		}
	}
}
