package messages

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// trouble is what an API does to a turn, and the expected outcome.
type trouble struct {
	name     string
	answers  []served
	sees     string // all that the user sees: the answer, notices, or the error
	requests int
	also     also
}

// also are outcomes that few rows have; for the rest they are none.
type also struct {
	ran    int    // calls of the tool
	called string // their arguments
	gone   bool   // the message counts as never received, and costs nothing
	paid   bool   // it costs something even so
	away   bool   // another engine may answer
	others bool   // there is one

	retry  string        // the reason of the only retry
	wait   time.Duration // before it, if not 0
	within time.Duration // how long the turn takes at most, if not 15 minutes

	notices  int
	text     string // the whole answer, if not ""
	result   string // the text of its result, if not ""
	roles    string // of the last request, if not ""
	told     string // a part of what the model is told at its end
	withdraw bool   // the next turn does not have the message
	status   string // a part of what the engine says is wrong
}

// refusal returns a failed request as the API reports it.
func refusal(status int, kind, text string, headers ...string) served {
	return with(status, "application/json", problem(kind, text), headers...)
}

func problem(kind, text string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
}

const (
	textStuckIn5  = "the turn was ended: the model got no further in 5 requests, which repeated the same calls or calls that were refused"
	tooLongToSay  = "the conversation is too long for the model: shorten it with /compact ("
	garbledAnswer = "the answer does not follow the Messages API"
)

var (
	tooLongPrompt = with(400, "application/json", `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)
	done          = ends("Done.")
	search        = object{"type": "server_tool_use", "id": "s", "name": "web_search", "input": object{}}
)

// troubles returns what an API may do.
func troubles() []trouble {
	type answers = []served
	one := note(object{"n": 1})
	full := reply("tool_use", thought("hm"), saying("One."), one)
	limit := func(headers ...string) answers {
		return answers{refusal(429, "rate_limit_error", "slow", headers...), done}
	}
	waits := func(d time.Duration) also { return also{retry: "rate limit", wait: d} }
	gone := also{gone: true}
	unavailable := also{gone: true, away: true}
	again := func(reason string) also { return also{retry: reason} }
	list := []trouble{
		{"a sound answer", answers{calls(one), done}, "Done.", 2, also{ran: 1}},
		{"429 without a header", limit(), "Done.", 2, waits(0)},
		{"429, retry-after: 7", limit("retry-after", "7"), "Done.", 2, waits(7 * time.Second)},
		{"429, retry-after-ms: 300", limit("retry-after-ms", "300"), "Done.", 2, waits(300 * time.Millisecond)},
		{"429, retry-after: a date", limit("retry-after", "Sat, 01 Jan 2000 00:00:09 GMT"), "Done.", 2, waits(9 * time.Second)},
		{
			"429 until a time, by a clock that is off", limit("Date", "Tue, 03 Jan 2012 10:00:00 GMT", "Retry-After", "Tue, 03 Jan 2012 10:00:09 GMT"),
			"Done.", 2, waits(9 * time.Second),
		},
		{"429, retry-after: garbage", limit("retry-after", "soon"), "Done.", 2, waits(0)},
		{"429, retry-after: a day", limit("retry-after", "86400"), "slow: the server asks to retry in 24 h", 1, unavailable},
		{"429 for ever", limit()[:1], "slow", retries + 1, unavailable},
		{"spend limit", answers{refusal(429, "rate_limit_error", "enforced_spend_limit_reached", "Retry-After", "7")}, "the account has reached its spend limit: raise it in the provider's console (enforced_spend_limit_reached)", 1, unavailable},
		{"529", answers{refusal(529, "overloaded_error", "Overloaded"), done}, "Done.", 2, again("overloaded")},
		{"529 for ever", answers{refusal(529, "overloaded_error", "Overloaded")}, "Overloaded", retries + 1, also{gone: true, away: true, within: 10 * time.Minute}},
		{
			"529 for ever, where somebody else answers",
			answers{with(529, "text/plain", "")},
			"status 529", fewRetries + 1,
			also{gone: true, away: true, others: true, within: 10 * time.Second},
		},
		{"a timeout", answers{with(408, "text/plain", ""), done}, "Done.", 2, again("request timeout")},
		{"a conflict", answers{with(409, "text/plain", ""), done}, "Done.", 2, again("conflict")},
		{"500", answers{refusal(500, "api_error", "broken"), done}, "Done.", 2, again("broken")},
		{"500 with a page", answers{with(500, "text/html", "<h1>"), done}, "Done.", 2, again("internal server error")},
		{"500 that says not to retry", answers{refusal(500, "api_error", "broken", "x-should-retry", "false")}, "broken", 1, unavailable},
		{"401", answers{refusal(401, "authentication_error", "invalid x-api-key")}, "the server does not accept the key: check ANTHROPIC_API_KEY, or the provider's key (invalid x-api-key)", 1, unavailable},
		{"402", answers{refusal(402, "billing_error", "credit")}, "the account has no money left: add some in the provider's console (credit)", 1, unavailable},
		{
			"model not found",
			answers{refusal(404, "not_found_error", "model: x")},
			"the server does not know this model or address: check the model's name, and its base-url or ANTHROPIC_BASE_URL (model: x)", 1, gone,
		},
		{"a long text", answers{refusal(400, "invalid_request_error", "a"+strings.Repeat("x", 400))}, "a" + strings.Repeat("x", 298) + "…", 1, gone},
		{"a bad request", answers{refusal(400, "invalid_request_error", "messages.0: bad")}, "messages.0: bad", 1, gone},
		{
			"M7: an empty account was not recognized, so no other engine answered",
			answers{refusal(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.")},
			"the account has no money left: add some in the provider's console (Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.)", 1,
			also{gone: true, away: true, status: "no money left"},
		},
		{"a page", answers{with(200, "text/html", "<h1>Welcome to the hotel</h1>")}, "api.anthropic.com answers with \"text/html\", which is not the Messages API or another known one: check its base-url, or ANTHROPIC_BASE_URL", 1, gone},
		{"a redirect", answers{with(302, "text/plain", "", "Location", "https://example.com/v1/messages")}, "api.anthropic.com redirects the request: set ANTHROPIC_BASE_URL to the new address", 1, gone},
		{"no connection", answers{func(*http.Request) canned { return canned{err: errors.New("connection refused")} }, done}, "Done.", 2, again("no connection to api.anthropic.com: connection refused")},
		{"an answer in JSON that is none", answers{with(200, "application/json", `{"choices":[]}`), done}, "Done.", 2, again(garbledAnswer)},
		{
			"an answer that does not stream",
			answers{with(200, "application/json; charset=utf-8", `{"type": "message", "role": "assistant", "stop_reason": "tool_use",
				"content": [{"type": "text", "text": "One\nmoment."}, {"type": "tool_use", "id": "a", "name": "mcp__discord__note", "input": {"n": [1,
				2]}}], "usage": {"input_tokens": 5, "output_tokens": 7}}`), done},
			"One moment. Done.", 2,
			also{ran: 1, called: `{"n":[1,2]}`, text: "One\nmoment.\nDone."},
		},
		{"malformed events", answers{streams("data: {{{\n\n"), done}, "Done.", 2, again(garbledAnswer)},
		{"malformed events for ever", answers{streams("data: {{{\n\n")}, garbledAnswer, retries + 1, unavailable},
		{
			"a delta of nothing",
			answers{streams(event(object{"type": "content_block_delta", "index": 3, "delta": object{"type": "text_delta", "text": "x"}})), done},
			"Done.", 2, again(garbledAnswer),
		},
		{"events of an unknown kind", answers{streams("event: news\ndata: {\"type\":\"news\"}\n\n" + reply("end_turn", saying("Done.")))}, "Done.", 1, also{}},
		{
			"an error within the stream",
			answers{streams(strings.Join(strings.SplitAfter(reply("", saying("half")), "\n\n")[:3], "") + "event: error\ndata: " + problem("overloaded_error", "Overloaded") + "\n\n"), done},
			"Done.", 2, again("overloaded"),
		},
		{"a refusal within the stream", answers{streams("event: error\ndata: " + problem("invalid_request_error", "no") + "\n\n")}, "no", 1, gone},
		{"an empty answer", answers{streams(reply("end_turn"))}, "", 1, also{}},
		{"a server that hangs", answers{hangs("")}, "the server stopped responding", 2, also{gone: true, away: true, within: 5 * time.Minute}},
		{"a stream that hangs", answers{hangs(full[:300]), done}, "Done.", 2, again("the server stopped responding")},
		{"an answer cut for ever", answers{streams(reply("end_turn", saying("half"))[:400])}, "the answer was cut off", maxIdle, also{gone: true, paid: true, away: true}},

		{"a context that is too long", answers{tooLongPrompt}, tooLongToSay + "prompt is too long: 210000 tokens > 200000 maximum)", 1, gone},
		{"a context that is too long for a local server", answers{refusal(400, "", "the request exceeds the available context size")}, tooLongToSay + "the request exceeds the available context size)", 1, gone},
		{"a context that is too long between calls", answers{calls(one), tooLongPrompt, ends("They talked."), done}, "Done.", 4, also{ran: 1}},
		{"413", answers{refusal(413, "request_too_large", "too large")}, tooLongToSay + "too large)", 1, gone},
		{"a picture that is too big", answers{refusal(400, "invalid_request_error", "image too big")}, "image too big", 1, gone},

		{"an unknown tool", answers{calls(use("a", "Fly", object{})), done}, "Done.", 2, also{
			told: "Error: there is no tool Fly. Available: Agent, Bash, Edit, Glob, Grep, Read, Skill, TodoWrite, WebFetch, WebSearch, Write, " +
				"mcp__discord__burst, mcp__discord__note, mcp__other__note ",
		}},
		{"an unknown tool for ever", answers{calls(use("a", "Fly", object{}))}, textStuckIn5, maxIdle, also{}},
		{"the same call for ever", answers{calls(one)}, textStuckIn5, maxIdle + 1, also{ran: maxIdle + 1}}, // the first is news
		{"a refused call for ever", answers{calls(use("a", "mcp__other__note", object{}))}, textStuckIn5, maxIdle + 1, also{}},
		{"arguments that are none for ever", answers{calls(note(`[1]`))}, textStuckIn5, maxIdle, also{}},
		{"a pause without a word for ever", answers{streams(reply(stopPause))}, "the turn was ended: the server paused it 5 times without an end", maxIdle, also{}},
		{"a pause for ever", answers{streams(reply(stopPause, saying("Wait.")))}, "Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. Wait. the turn was ended: the server paused it 21 times without an end", maxPauses + 1, also{}},
		{"a pause", answers{streams(reply(stopPause, saying("Searching."), search)), done}, "Searching. Done.", 2, also{text: "Searching.\nDone.", roles: "ua"}},
		{"parallel calls", answers{calls(one, use("b", "mcp__discord__note", object{"n": 2})), done}, "Done.", 2, also{ran: 2}},
		{"calls with one ID or none", answers{calls(one, one, use("", "mcp__discord__note", object{})), done}, "Done.", 2, also{ran: 3}},
		{"an input of 4 MB", answers{calls(note(object{"n": strings.Repeat("x", 4<<20)})), done}, "Done.", 2, also{ran: 1}},
		{"a tool that panics", answers{calls(use("a", "mcp__discord__burst", object{})), done}, "Done.", 2, also{told: "Error: burst failed inside the bot; its effects are unknown. "}},
		{"signed thinking", answers{calls(thought("hm"), one), done}, "Done.", 2, also{ran: 1}},
		{"redacted thinking", answers{calls(object{"type": "redacted_thinking", "data": "c2VjcmV0"}, one), done}, "Done.", 2, also{ran: 1}},
		{"calls with another reason to stop", answers{streams(reply("end_turn", one)), done}, "Done.", 2, also{ran: 1, roles: "uau", text: "Done."}},

		{
			"M1: the model was asked 400 times, and never learned that its call was cut off",
			answers{streams(reply(stopMaxTokens, saying("Writing."), note(`{"n":"unfin`)))},
			"Writing. Writing. Writing. Writing. Writing. Writing. the answer was cut off 6 times and is incomplete: ask for it in smaller parts", maxLonger + 1,
			also{notices: 1, told: "Error: your answer was cut off at 10 tokens, so this call did not run: write it in smaller parts. "},
		},
		{
			"M2: a word that was cut off continued on a new line, and the last cut was not noticed",
			answers{streams(reply(stopMaxTokens, saying("And so on")))},
			"And so onAnd so onAnd so onAnd so onAnd so onAnd so on the answer was cut off 6 times and is incomplete: ask for it in smaller parts", maxLonger + 1,
			also{notices: 1, text: strings.Repeat("And so on", maxLonger+1), result: strings.Repeat("And so on", maxLonger+1)},
		},
		{"a text that is cut off", answers{streams(reply(stopMaxTokens, saying("Do"))), ends("ne.")}, "Done.", 2, also{}},
		{
			"a text and a call that are cut off",
			answers{
				streams(strings.Replace(reply(stopMaxTokens, saying("Half a"), note(`{"n":"unfin`)), event(object{"type": "content_block_stop", "index": 1}), "", 1)),
				ends("sentence."),
			},
			"Half a sentence.", 2,
			also{text: "Half a\nsentence.", roles: "uau"},
		},
		{"the model refuses", answers{streams(reply(stopRefusal, saying("I can")))}, "I can the model refused to answer; the message was removed from the conversation", 1, also{text: "I can", roles: "u", notices: 1, withdraw: true}},
		{"the window is full", answers{streams(reply("model_context_window_exceeded", saying("Well")))}, "Well the answer no longer fit into the model's window", 1, also{text: "Well", roles: "u", notices: 1}},
		{"an unknown reason to stop", answers{streams(reply("tomorrow", saying("Well")))}, "Well", 1, also{text: "Well", roles: "u"}},
	}
	for _, bad := range []string{`{"n":`, `[1]`, `"text"`, `null`, "{\"a\":\x01}"} {
		list = append(list, trouble{"arguments that are no JSON: " + bad, answers{calls(note(bad)), done}, "Done.", 2, also{told: "Error: the arguments are not a JSON object: " + strings.ReplaceAll(bad, "\x01", "")}})
	}
	for _, input := range []any{"", object{}, object{"n": "all"}} {
		list = append(list, trouble{
			fmt.Sprintf("M3: a call that was cut off before its first argument ran without any: %v", input),
			answers{streams(reply(stopMaxTokens, note(object{"n": "first"}), use("b", "mcp__discord__note", input))), done},
			"Done.", 2,
			also{ran: 1, called: `{"n":"first"}`},
		})
	}
	events := strings.SplitAfter(full, "\n\n")
	for i := range len(events) - 3 { // without message_stop nothing is missing
		kind, _, _ := strings.Cut(strings.TrimPrefix(events[i], "event: "), "\n")
		list = append(list, trouble{
			fmt.Sprintf("cut after event %d, %s", i+1, kind),
			answers{streams(strings.Join(events[:i+1], "")), calls(one), done},
			"Done.", 3,
			also{ran: 1, retry: "the answer was cut off"},
		})
	}
	return list
}

func TestWhateverTheAPIDoesTheTurnEndsSaysSoAndCostsLittle(t *testing.T) {
	for _, c := range troubles() {
		t.Run(c.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { suffer(t, c) }) })
	}
}

// suffer plays one row.
func suffer(t *testing.T, c trouble) {
	b := newBench(t, c.answers...)
	b.engine.o.Others = func() bool { return c.also.others }
	s := b.open(b.notes, func(o *agent.SessionOptions) {
		other := bot("note", func(string) agent.ToolResult { return agent.ToolResult{} })
		other.Server = "other"
		o.Tools = append(o.Tools, other, bot("burst", func(string) agent.ToolResult { panic("burst") }))
		o.Disallowed = []string{"mcp__other__note"}
	})
	defer func() { testkit.Must(t, s.Close()) }()
	began := time.Now()
	got := say(s, "hello")
	took, also := time.Since(began), c.also

	sees := []string{got.text, got.result.Stopped}
	notices := find[agent.Notice](got)
	for _, n := range notices {
		sees = append(sees, n.Text)
	}
	if got.err != nil || got.result.IsError {
		sees = append(sees, got.fate())
	}
	if got := strings.TrimPrefix(strings.Join(strings.Fields(strings.Join(sees, " ")), " "), "<nil>"); got != c.sees {
		t.Errorf("the user sees %q, want %q", got, c.sees)
	}
	if also.text != "" && got.text != also.text || also.result != "" && got.result.Text != also.result || (got.err != nil || got.result.IsError) != also.gone {
		t.Errorf("the answer is %q, the result %+v, %v", got.text, got.result, got.err)
	}
	if b.count() != c.requests || len(b.called) != also.ran || also.called != "" && strings.Join(b.called, " ") != also.called || len(notices) != also.notices {
		t.Errorf("%d requests, calls of the tool %.99q, notices %v", b.count(), b.called, notices)
	}
	dollars, within := got.result.Usage.CostUSD, 15*time.Minute
	if also.within > 0 {
		within = also.within
	}
	if dollars > 0.01 || dollars > 0 && also.gone && !also.paid || took > within {
		t.Errorf("it cost $%.4f and took %s", dollars, took)
	}
	switch tries := find[agent.Retry](got); {
	case c.requests == 1 && len(tries) > 0, also.retry != "" && len(tries) != 1, also.wait > 0 && tries[0].Wait != also.wait:
		t.Errorf("retries %+v", tries)
	case also.retry != "" && tries[0].Reason != also.retry:
		t.Errorf("the reason is %q, want %q", tries[0].Reason, also.retry)
	}
	if away := errors.Is(got.err, agent.ErrUnavailable) || got.result.Unavailable; away != also.away {
		t.Errorf("that another engine may answer is %v", away)
	}
	if b.took(s, "hello") == also.gone || b.took(s, "never said") {
		t.Error("what counts as received is wrong")
	}
	q := b.last()
	if also.roles != "" && q.roles() != also.roles {
		t.Errorf("the last request holds %s", q.roles())
	}
	holds(t, "what the model is told", q.told(len(q.Messages)-1), also.told)
	holds(t, "the status", b.engine.Status().Problem, also.status)

	b.next(ends("Next."))
	b.says(s, "next", "Next.")
	q = b.last()
	if q.valid(t); (q.roles() == "u") != (also.gone || also.withdraw) || !b.took(s, "next") {
		t.Errorf("the next turn sends %s", q.roles())
	}
}
