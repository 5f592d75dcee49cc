package messages

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/base/testkit"
)

var tooLongPrompt = with(400, "application/json", `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)

// No loop without progress: each of these made 400 requests.
func TestATurnThatGetsNowhereIsEnded(t *testing.T) {
	call := func(name string, input any) func(*http.Request) canned {
		return streams(reply("tool_use", use("a", name, input)))
	}
	for name, answer := range map[string]func(*http.Request) canned{
		"the same call with the same result": call("mcp__discord__note", object{"n": 1}),
		"arguments that are none":            call("mcp__discord__note", `[1]`),
		"a tool that does not exist":         call("Fly", object{}),
		"a call that is refused":             call("mcp__other__note", object{}),
		"a pause without a word":             streams(reply(stopPause)),
	} {
		t.Run(name, func(t *testing.T) {
			wanted := maxIdle
			if name == "the same call with the same result" || name == "a call that is refused" {
				wanted++ // the first refusal is news
			}
			var called []string
			b := newBench(t, answer)
			s := b.open(func(o *agent.SessionOptions) {
				other := noting("note", new([]string))
				other.Server = "other"
				o.Tools, o.Disallowed = []agent.Tool{noting("note", &called), other}, []string{"mcp__other__note"}
			})
			got := say(t, s, "go")
			if got.err != nil || got.result.IsError || b.count() != wanted {
				t.Errorf("%v, %+v, %d requests", got.err, got.result, b.count())
			}
			holds(t, "why it stopped", got.result.Stopped, "was ended")
			b.wire.answers = append(b.wire.answers, streams(reply("end_turn", saying("Next."))))
			b.wire.answers = b.wire.answers[1:]
			if got := say(t, s, "next"); got.err != nil || got.text != "Next." {
				t.Errorf("%q, %v", got.text, got.err)
			}
			b.sent(b.count() - 1).valid(t)
		})
	}
}

func TestATurnThatGetsSomewhereGoesOn(t *testing.T) {
	var answers []func(*http.Request) canned
	for i := range 3 * maxIdle {
		answers = append(answers, streams(reply("tool_use", use("a", "mcp__discord__note", object{"n": i}))))
	}
	var called []string
	b := newBench(t, append(answers, streams(reply("end_turn", saying("Done."))))...)
	got := say(t, b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} }), "go")
	if got.text != "Done." || got.result.Stopped != "" || len(called) != 3*maxIdle {
		t.Errorf("%q, %q, %d calls", got.text, got.result.Stopped, len(called))
	}
}

func TestATurnEndsAfterFourHundredRequests(t *testing.T) {
	next := 0
	b := newBench(t, func(r *http.Request) canned {
		next++
		return streams(reply("tool_use", use("a", "mcp__discord__note", object{"n": next})))(r)
	})
	got := say(t, b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", new([]string))} }), "go")
	if b.count() != 400 || got.result.Stopped == "" {
		t.Errorf("%d requests, %+v", b.count(), got.result)
	}
}

// Requests were made without checking the cost of the turn: $153 in 12 seconds.
func TestATurnAsksBeforeItCostsMore(t *testing.T) {
	next := 0
	more := func(r *http.Request) canned {
		next++
		return streams(reply("tool_use", use("a", "mcp__discord__note", object{"n": next})))(r)
	}
	for _, said := range []string{"", "too much"} {
		var asked []agent.Spending
		b := newBench(t, more, more, more, streams(reply("end_turn", saying("Done."))))
		s := b.open(func(o *agent.SessionOptions) {
			o.Tools = []agent.Tool{noting("note", new([]string))}
			o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
				asked = append(asked, x)
				if len(asked) < 2 {
					return 7, ""
				}
				return 9, said
			}
		})
		got := say(t, s, "go")
		want := map[string]int{"": 4, "too much": 2}[said]
		if got.err != nil || b.count() != want || len(asked) != min(want, 3) || got.result.Stopped != said || got.result.IsError {
			t.Errorf("%q: %v, %d requests, %d questions, %+v", said, got.err, b.count(), len(asked), got.result)
		}
		first, second := asked[0], asked[1]
		if first.Allowed != 0 || second.Allowed != 7 || second.Used.CostUSD <= first.Used.CostUSD || first.Used.CostUSD <= 0 || !strings.Contains(first.Model, "haiku") {
			t.Errorf("asked %+v", asked)
		}
	}
}

// A subagent's requests count for the turn.
func TestASubagentAsksForTheWholeTurn(t *testing.T) {
	var asked []agent.Spending
	b := newBench(t,
		streams(reply("tool_use", use("a", "Agent", object{"description": "look", "prompt": "look", "subagent_type": "general-purpose"}))),
		streams(reply("tool_use", use("b", "mcp__discord__note", object{}))),
		streams(reply("end_turn", saying("Done."))))
	s := b.open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{noting("note", new([]string))}
		o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
			asked = append(asked, x)
			if len(asked) == 2 { // the subagent is about to make its second request
				return 0, "too much"
			}
			return 0, ""
		}
	})
	got := say(t, s, "go")
	if got.result.Stopped != "too much" || b.count() != 2 || len(asked) != 2 || asked[1].Used.CostUSD <= asked[0].Used.CostUSD {
		t.Errorf("%d requests, asked %+v, %+v", b.count(), asked, got.result)
	}
}

// M14: answers that break off cost money, and were requested again up to ten times.
func TestAnswersThatBreakOffCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := reply("end_turn", saying(strings.Repeat("word ", 4000)))
		half := whole[:len(whole)*3/4]
		b := newBench(t, streams(half))
		about := 0
		s := b.open(func(o *agent.SessionOptions) {
			o.Hooks.Charge = func(c agent.Charge) {
				if c.About && c.Used.OutputTokens >= 2000 {
					about++
				}
			}
		})
		got := say2(s, "go")
		if !got.result.IsError || b.count() != maxIdle || about != maxIdle || got.result.Usage.OutputTokens < maxIdle*2000 {
			t.Errorf("%d requests, %+v, %v", b.count(), got.result, got.err)
		}
		if taken, err := b.engine.HasMessage(t.Context(), s.ID(), sha("go")); taken || err != nil {
			t.Errorf("taken %v, %v", taken, err)
		}
		testkit.Must(t, s.Close())
	})
}

// M4: a summary lost the newest message and its pictures.
func TestTheNewestMessageSurvivesACompactionAsItWas(t *testing.T) {
	picture := agent.Image{MediaType: "image/png", Data: []byte("png")}
	yes, done := streams(reply("end_turn", saying("Yes."))), streams(reply("end_turn", saying("On.")))
	sum := streams(reply("end_turn", saying("They talked.")))
	for _, c := range []struct {
		name    string
		answers []func(*http.Request) canned
	}{
		{"before its answer", []func(*http.Request) canned{yes, tooLongPrompt, sum, done}},
		{"between its calls", []func(*http.Request) canned{yes, streams(reply("tool_use", use("a", "mcp__discord__note", object{}))), tooLongPrompt, sum, done}},
		{"between its calls, by length", []func(*http.Request) canned{yes, used(151_000, reply("tool_use", use("a", "mcp__discord__note", object{}))), sum, done}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.answers...)
			s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", new([]string))} })
			say(t, s, "hello")
			got := send(t, s, agent.Message{Text: "what is in <this> picture?", Images: []agent.Image{picture}})
			if got.err != nil || got.text != "On." || b.count() != len(c.answers) {
				t.Fatalf("%q, %v, %d requests", got.text, got.err, b.count())
			}
			q := b.sent(b.count() - 1)
			q.valid(t)
			last := fmt.Sprint(q.Messages[len(q.Messages)-1].Content)
			holds(t, "the newest message", last, "what is in <this> picture?")
			holds(t, "the newest message", last, "image/png")
			if taken, err := b.engine.HasMessage(t.Context(), s.ID(), sha("what is in <this> picture?")); !taken || err != nil {
				t.Errorf("taken %v, %v", taken, err)
			}
		})
	}
}

// M5: the message stayed in the history although the user was told to send it again, and so did the
// prompt to save.
func TestAMessageThatFindsNoRoomWasNeverSent(t *testing.T) {
	no := with(400, "application/json", `{"error":{"message":"no"}}`)
	b := newBench(t, used(100, reply("end_turn", saying("Yes."))), tooLongPrompt, streams(reply("end_turn", saying("Saved."))), no, streams(reply("end_turn", saying("On."))))
	s := b.open(func(o *agent.SessionOptions) { o.Allowed = []string{"Write(./**.md)"} })
	say(t, s, "one")
	got := say(t, s, "zebra")
	if !got.result.IsError || len(find[agent.Notice](got)) != 1 {
		t.Errorf("%+v, %v", got.result, got.err)
	}
	if taken, err := b.engine.HasMessage(t.Context(), s.ID(), sha("two")); taken || err != nil {
		t.Errorf("taken %v, %v", taken, err)
	}
	if got := say(t, s, "three"); got.text != "On." {
		t.Errorf("%q, %v", got.text, got.err)
	}
	if q := b.sent(4); q.roles() != "uau" || strings.Contains(b.wire.bodies[4], "zebra") || strings.Contains(b.wire.bodies[4], "USER.md") {
		t.Errorf("%s is sent: %v", q.roles(), q.Messages)
	}
	if file, err := os.ReadFile(b.dir.Path(history.Folder + "/" + s.ID() + ".jsonl")); err != nil || !strings.Contains(string(file), "zebra") {
		t.Errorf("the file has lost a message: %v", err)
	}
}

// A message that is too long by itself is reported, without a loop of summaries.
func TestAMessageThatIsTooLongByItselfIsSaid(t *testing.T) {
	b := newBench(t, tooLongPrompt)
	got := say(t, b.open(), "very long")
	holds(t, "the end", fmt.Sprint(got.err, got.result.Text), "too long")
	if b.count() != 1 {
		t.Errorf("%d requests", b.count())
	}
}

// M7: an empty account was not recognized, so no other engine answered.
func TestAnEmptyAccountIsSaidAndLeavesTheTurnToAnotherEngine(t *testing.T) {
	b := newBench(t, with(400, "application/json",
		`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."}}`))
	got := say(t, b.open(), "hello")
	if fmt.Sprint(got.err) == "" || b.count() != 1 {
		t.Errorf("%+v, %d requests", got.result, b.count())
	}
	holds(t, "the error", fmt.Sprint(got.err), "no money left")
	if problem := b.engine.Status().Problem; !strings.Contains(problem, "no money left") {
		t.Errorf("the status says %q", problem)
	}
}
