package messages

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// misbehaviour is what an API does to a turn, and the expected outcome.
type misbehaviour struct {
	name    string
	answers []func(*http.Request) canned
	// sees is a part of what the user sees: the answer, a notice, or the error.
	sees     string
	requests int
	most     float64 // dollars
	ran      int     // calls of the tool
	gone     bool    // the message counts as never received
}

// refusal returns a failed request as the API reports it.
func refusal(status int, kind, text string, headers ...string) func(*http.Request) canned {
	return with(status, "application/json", fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text), headers...)
}

// misbehaviours returns those of a server whose tool is called at most once.
func misbehaviours() []misbehaviour {
	type answers = []func(*http.Request) canned
	note := func(input any) object { return use("a", "mcp__discord__note", input) }
	calls := streams(reply("tool_use", note(object{"n": 1})))
	done := streams(reply("end_turn", saying("Done.")))
	list := []misbehaviour{
		{"a sound answer", answers{calls, done}, "Done.", 2, 0.01, 1, false},
		{"429 without a header", answers{refusal(429, "rate_limit_error", "slow"), done}, "Done.", 2, 0.01, 0, false},
		{"429, retry-after: 7", answers{refusal(429, "rate_limit_error", "slow", "retry-after", "7"), done}, "Done.", 2, 0.01, 0, false},
		{"429, retry-after-ms: 300", answers{refusal(429, "rate_limit_error", "slow", "retry-after-ms", "300"), done}, "Done.", 2, 0.01, 0, false},
		{"429, retry-after: a date", answers{refusal(429, "rate_limit_error", "slow", "retry-after", "Sat, 01 Jan 2000 00:00:09 GMT"), done}, "Done.", 2, 0.01, 0, false},
		{"429, retry-after: garbage", answers{refusal(429, "rate_limit_error", "slow", "retry-after", "soon"), done}, "Done.", 2, 0.01, 0, false},
		{"429, retry-after: a day", answers{refusal(429, "rate_limit_error", "slow", "retry-after", "86400")}, "retry in 24 h", 1, 0, 0, true},
		{"429 for ever", answers{refusal(429, "rate_limit_error", "slow")}, "slow", retries + 1, 0, 0, true},
		{"spend limit", answers{refusal(429, "rate_limit_error", "enforced_spend_limit_reached")}, "spend limit", 1, 0, 0, true},
		{"529", answers{refusal(529, "overloaded_error", "Overloaded"), done}, "Done.", 2, 0.01, 0, false},
		{"529 for ever", answers{refusal(529, "overloaded_error", "Overloaded")}, "Overloaded", retries + 1, 0, 0, true},
		{"500", answers{refusal(500, "api_error", "broken"), done}, "Done.", 2, 0.01, 0, false},
		{"500 that says not to retry", answers{refusal(500, "api_error", "broken", "x-should-retry", "false")}, "broken", 1, 0, 0, true},
		{"401", answers{refusal(401, "authentication_error", "invalid x-api-key")}, "ANTHROPIC_API_KEY", 1, 0, 0, true},
		{"model not found", answers{refusal(404, "not_found_error", "model: x")}, "does not know this model", 1, 0, 0, true},
		{"credit exhausted", answers{refusal(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")}, "no money left", 1, 0, 0, true},
		{"context too long", answers{tooLongPrompt}, "too long", 1, 0, 0, true},
		{"context too long between calls", answers{calls, tooLongPrompt, streams(reply("end_turn", saying("They talked."))), done}, "Done.", 4, 0.01, 1, false},
		{"413", answers{refusal(413, "request_too_large", "too large")}, "too long", 1, 0, 0, true},
		{"malformed events", answers{streams("data: {{{\n\n"), done}, "Done.", 2, 0.01, 0, false},
		{"malformed events for ever", answers{streams("data: {{{\n\n")}, "does not follow", retries + 1, 0, 0, true},
		{"events of an unknown kind", answers{streams("event: news\ndata: {\"type\":\"news\"}\n\n" + reply("end_turn", saying("Done.")))}, "Done.", 1, 0.01, 0, false},
		{"an empty answer", answers{streams(reply("end_turn"))}, "", 1, 0.01, 0, false},
		{"an error within the stream", answers{streams(reply("", saying("half"))[:300] + "\n\n" + event(object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}})), done}, "Done.", 2, 0.01, 0, false},
		{"an unknown tool", answers{streams(reply("tool_use", use("a", "Fly", object{}))), done}, "Done.", 2, 0.01, 0, false},
		{"an unknown tool for ever", answers{streams(reply("tool_use", use("a", "Fly", object{})))}, "got no further", maxIdle, 0.01, 0, false},
		{"the same call for ever", answers{calls}, "got no further", maxIdle + 1, 0.01, maxIdle + 1, false},
		{"parallel calls", answers{streams(reply("tool_use", note(object{"n": 1}), use("b", "mcp__discord__note", object{"n": 2}))), done}, "Done.", 2, 0.01, 2, false},
		{"calls with one ID", answers{streams(reply("tool_use", note(object{"n": 1}), note(object{"n": 2}))), done}, "Done.", 2, 0.01, 2, false},
		{"an input of 4 MB", answers{streams(reply("tool_use", note(object{"n": strings.Repeat("x", 4<<20)}))), done}, "Done.", 2, 0.01, 1, false},
		{"arguments that are none", answers{streams(reply("tool_use", note(`[1]`))), done}, "Done.", 2, 0.01, 0, false},
		{"a call cut by max_tokens for ever", answers{streams(reply(stopMaxTokens, note(`{"n":"unfin`)))}, "smaller parts", maxLonger + 1, 0.01, 0, false},
		{"a text cut by max_tokens", answers{streams(reply(stopMaxTokens, saying("Do"))), streams(reply("end_turn", saying("ne.")))}, "Done.", 2, 0.01, 0, false},
		{"a refusal", answers{streams(reply(stopRefusal))}, "refused", 1, 0.01, 0, false},
		{"pause_turn", answers{streams(reply(stopPause, object{"type": "server_tool_use", "id": "s", "name": "web_search", "input": object{}})), done}, "Done.", 2, 0.01, 0, false},
		{"pause_turn for ever", answers{streams(reply(stopPause, saying("Wait.")))}, "paused it", maxPauses + 1, 0.01, 0, false},
		{"signed thinking", answers{streams(reply("tool_use", object{"type": "thinking", "thinking": "hm"}, note(object{"n": 1}))), done}, "Done.", 2, 0.01, 1, false},
		{"redacted thinking", answers{streams(reply("tool_use", object{"type": "redacted_thinking", "data": "c2VjcmV0"}, note(object{"n": 1}))), done}, "Done.", 2, 0.01, 1, false},
		{"a server that hangs", answers{hangs("")}, "stopped responding", 2, 0, 0, true},
		{"a stream that hangs", answers{hangs(reply("end_turn", saying("half"))[:300]), done}, "Done.", 2, 0.01, 0, false},
		{"a page", answers{with(200, "text/html", "<h1>")}, "not the Messages API", 1, 0, 0, true},
		{"cut in an answer for ever", answers{streams(reply("end_turn", saying("half"))[:400])}, "cut off", maxIdle, 0.01, 0, true},
	}
	full := reply("tool_use", object{"type": "thinking", "thinking": "hm"}, saying("One."), note(object{"n": 1}))
	events := strings.SplitAfter(full, "\n\n")
	for i := range len(events) - 3 { // without message_stop nothing is missing
		kind, _, _ := strings.Cut(strings.TrimPrefix(events[i], "event: "), "\n")
		list = append(list, misbehaviour{
			fmt.Sprintf("cut after event %d, %s", i+1, kind),
			answers{streams(strings.Join(events[:i+1], "")), calls, done},
			"Done.",
			3, 0.01, 1, false,
		})
	}
	return list
}

// TestWhateverTheAPIDoesTheTurnEndsSaysSoAndCostsLittle prints a table of the cost of each
// misbehaviour with -v.
func TestWhateverTheAPIDoesTheTurnEndsSaysSoAndCostsLittle(t *testing.T) {
	list := misbehaviours()
	table := make([]string, len(list))
	for i, c := range list {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { table[i] = suffer(t, c) })
		})
	}
	t.Logf("%-42s %8s %9s  %s\n%s", "misbehaviour", "requests", "dollars", "the user sees", strings.Join(table, "\n"))
}

// suffer plays one row and describes it.
func suffer(t *testing.T, c misbehaviour) string {
	var ran []string
	b := newBench(t, c.answers...)
	s := b.open(func(o *agent.SessionOptions) { o.Bare, o.Tools = false, []agent.Tool{noting("note", &ran)} })
	defer func() { testkit.Must(t, s.Close()) }()
	began := time.Now()
	got := say2(s, "hello")
	sees := []string{got.text, got.result.Stopped}
	for _, n := range find[agent.Notice](got) {
		sees = append(sees, n.Text)
	}
	if got.err != nil {
		sees = append(sees, got.err.Error())
	} else if got.result.IsError {
		sees = append(sees, got.result.Text)
	}
	seen := strings.Join(strings.Fields(strings.Join(sees, " ")), " ")
	holds(t, "what the user sees", seen, c.sees)
	requests, dollars := b.count(), got.result.Usage.CostUSD
	if requests != c.requests || dollars > c.most || len(ran) != c.ran || time.Since(began) > 15*time.Minute {
		t.Errorf("%d requests, %d wanted; $%.4f of %.4f; the tool ran %d times, %d wanted; it took %s",
			requests, c.requests, dollars, c.most, len(ran), c.ran, time.Since(began))
	}
	if n := len(find[agent.Notice](got)); n > 2 || n > 1 && c.sees != "Done." {
		t.Errorf("%d notices", n)
	}
	if taken, err := b.engine.HasMessage(t.Context(), s.ID(), sha("hello")); err != nil || taken == c.gone {
		t.Errorf("that the message was received is %v, %v", taken, err)
	}
	b.wire.mu.Lock()
	b.wire.answers = []func(*http.Request) canned{streams(reply("end_turn", saying("Next.")))}
	b.wire.mu.Unlock()
	if next := say2(s, "next"); next.err != nil || next.text != "Next." {
		t.Errorf("the next turn: %q, %v", next.text, next.err)
	}
	b.sent(b.count() - 1).valid(t)
	return fmt.Sprintf("%-42s %8d %9.5f  %.70s", c.name, requests, dollars, cmp.Or(seen, "(an empty reply, which the chat says)"))
}
