package dialect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// wire answers each request with a canned body, and keeps what it was sent.
type wire struct {
	base       string // of the server's address, unless it is of this machine
	status     int
	kind, body string
	err        error
	sent       []byte
	url        string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.sent, _ = io.ReadAll(r.Body)
	w.url = fmt.Sprint(r.URL, " ", r.Header)
	if int(r.ContentLength) != len(w.sent) {
		w.url += fmt.Sprint(" of ", r.ContentLength, " bytes")
	}
	return &http.Response{
		StatusCode: w.status, Header: http.Header{"Content-Type": {w.kind}}, Body: io.NopCloser(strings.NewReader(w.body)), Request: r, ContentLength: -1,
	}, w.err
}

// ask sends a request of the Messages API and returns the answer's body.
func ask(t *testing.T, o Options, w *wire, body string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.API.Endpoint(cmp.Or(w.base, "http://127.0.0.1:9")), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"x"}, "X-Other": {"y"}}
	resp, err := Do(&http.Client{Transport: w}, r, o)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

// forms are the events of the Messages API, as summed writes them.
var forms = []struct{ event, short string }{
	{`ping {"type":"ping"}`, "ping"},
	{`message_start {"message":{"content":[],"role":"assistant","type":"message"},"type":"message_start"}`, "begin"},
	{`content_block_start {"content_block":{"text":"","type":"text"},"index":#,"type":"content_block_start"}`, "$1 text"},
	{`content_block_start {"content_block":{"thinking":"","type":"thinking"},"index":#,"type":"content_block_start"}`, "$1 thought"},
	{`content_block_start {"content_block":{"id":"#","input":{},"name":"#","type":"tool_use"},"index":#,"type":"content_block_start"}`, "$3 call $1 $2"},
	{`content_block_delta {"delta":{"text":"#","type":"text_delta"},"index":#,"type":"content_block_delta"}`, "$2 +$1"},
	{`content_block_delta {"delta":{"thinking":"#","type":"thinking_delta"},"index":#,"type":"content_block_delta"}`, "$2 +$1"},
	{`content_block_delta {"delta":{"partial_json":"#","type":"input_json_delta"},"index":#,"type":"content_block_delta"}`, "$2 +$1"},
	{`content_block_stop {"index":#,"type":"content_block_stop"}`, "$1 ends"},
	{`message_delta {"delta":{"stop_reason":"#"},"type":"message_delta","usage":{"input_tokens":#,"output_tokens":#,"cache_read_input_tokens":#}}`, "$1 $2+$4 in $3 out"},
	{`message_delta {"delta":{"stop_reason":"#"},"type":"message_delta","usage":{"input_tokens":#,"output_tokens":#}}`, "$1 $2 in $3 out"},
	{`message_stop {"type":"message_stop"}`, "end"},
	{`error {"error":{"message":"#","type":"#"},"type":"error"}`, "error $2: $1"},
}

var patterns = func() (list []*regexp.Regexp) {
	for _, form := range forms {
		list = append(list, regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(form.event), "#", "(.*?)")+"$"))
	}
	return list
}()

// summed shows the events of an answer in a few words each, and what is none as it is.
func summed(stream string) string {
	var out []string
	for one := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(strings.TrimPrefix(one, "event: "), "\ndata: ")
		one = name + " " + data
		for i, form := range forms {
			one = patterns[i].ReplaceAllString(one, form.short)
		}
		out = append(out, strings.TrimSpace(one))
	}
	return strings.Join(out, "; ")
}

const asked = `{"model":"m","max_tokens":100,"stream":true,"thinking":{"type":"enabled","budget_tokens":5},
	"tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}],
	"system":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Be brief."}],
	"messages":[
		{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"look"}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Let me see."},{"type":"tool_use","id":"a","name":"Read","input":{"x":1}},{"type":"tool_use","id":"b","name":"Read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"BBBB"}}]},{"type":"tool_result","tool_use_id":"b","content":"two"},{"type":"text","text":"and?"}]}]}`

const (
	readTool = `"tools":[{"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object"}}}]`
	picture  = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	bare     = `{"model":"m","max_tokens":9,"output_config":{"effort":"high"},"system":"","messages":[
		{"role":"user","content":[{"type":"image","source":{"media_type":"image/png","data":"AAAA"}},{"type":"image","source":{}},{"type":"text","text":""}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}]}`
)

func TestTextsPicturesCallsAndLimitsOfARequestReachTheOtherAPIs(t *testing.T) {
	for _, c := range []struct {
		o                 Options
		base, asked, want string
	}{
		{Options{API: OpenAI}, "http://127.0.0.1:9/v1/chat/completions", asked, `{"model":"m","stream":true,"max_tokens":100,"stream_options":{"include_usage":true},` + readTool + `,
			"messages":[{"role":"system","content":"Be kind.\n\nBe brief."},
				{"role":"user","content":[{"type":"text","text":"look"},` + picture + `]},
				{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"x\":1}"}},
					{"id":"b","type":"function","function":{"name":"Read","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"},
				{"role":"user","content":[{"type":"text","text":"and?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,BBBB"}}]}]}`},
		{Options{API: Ollama, Window: 16_384, Thinks: true}, "http://127.0.0.1:9/api/chat", asked, `{"model":"m","stream":true,"think":true,"truncate":false,"shift":false,
			"options":{"num_ctx":16384,"num_predict":100},` + readTool + `,
			"messages":[{"role":"system","content":"Be kind.\n\nBe brief."},{"role":"user","content":"look","images":["AAAA"]},
				{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","function":{"name":"Read","arguments":{"x":1}}},{"id":"b","function":{"name":"Read","arguments":{}}}]},
				{"role":"tool","tool_call_id":"a","tool_name":"Read","content":"one"},{"role":"tool","tool_call_id":"b","tool_name":"Read","content":"two"},
				{"role":"user","content":"and?","images":["BBBB"]}]}`},
		{Options{API: OpenAI}, "https://api.openai.com/v1/chat/completions", bare, `{"model":"m","stream":true,"max_completion_tokens":9,"reasoning_effort":"high",
			"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[` + picture + `]}]}`},
		{Options{API: Ollama, Thinks: true}, "http://127.0.0.1:9/api/chat", bare, `{"model":"m","stream":true,"think":false,"truncate":false,"shift":false,
			"options":{"num_predict":9},"messages":[{"role":"user","content":"","images":["AAAA"]}]}`},
		{Options{API: Ollama, Window: 1}, "http://127.0.0.1:9/api/chat", bare, `{"model":"m","stream":true,"truncate":false,"shift":false,
			"options":{"num_predict":9,"num_ctx":1},"messages":[{"role":"user","content":"","images":["AAAA"]}]}`},
	} {
		base, _, _ := strings.Cut(strings.TrimPrefix(c.base, "https://"), "/v1")
		w := &wire{status: 500}
		if strings.HasPrefix(c.base, "https://") {
			w.base = "https://" + base
		}
		if _, err := ask(t, c.o, w, c.asked); err != nil || w.url != c.base+" map[X-Other:[y]]" {
			t.Errorf("%+v: sent to %s, %v", c.o, w.url, err)
		}
		same(t, w.sent, c.want)
	}
	for body, want := range map[string]string{"<h1>": "read the request: invalid character '<' looking for beginning of value", asked: "Post \"http://127.0.0.1:9/api/chat\": no network"} {
		if _, err := ask(t, Options{API: Ollama}, &wire{err: errors.New("no network")}, body); err == nil || err.Error() != want {
			t.Errorf("%.9s: %v, want %s", body, err, want)
		}
	}
}

func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(b, a); diff != "" {
		t.Errorf("the request (-want +sent):\n%s", diff)
	}
}

// sse returns lines as events.
func sse(lines ...string) string { return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n" }

func part(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

const (
	finished = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	counted  = `{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":20}}}`
)

// The forms in which servers really answer.
func TestAnswersOfEveryFormAreUnderstood(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, want string }{
		"text":     {"", sse(part(`{"role":"assistant","content":""}`), part(`{"content":"Good "}`), part(`{"content":"morning."}`), finished, counted, "[DONE]", part(`{"content":"unused"}`)), "ping; begin; 1 text; 1 +Good; 1 +morning.; ping; ping; 1 ends; end_turn 30+20 in 7 out; end"},
		"thoughts": {"", sse(part(`{"reasoning_content":"hm, "}`), part(`{"reasoning":"well"}`), part(`{"content":"Yes."}`), finished, "[DONE]"), "begin; 1 thought; 1 +hm,; 1 +well; 1 ends; 2 text; 2 +Yes.; ping; 2 ends; end_turn 0 in 0 out; end"},
		"calls in pieces": {
			"", sse(part(`{"content":"So: "}`), part(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"Read","arguments":""}}]}`),
				part(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`), part(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"Glob","arguments":"{}"}}]}`),
				part(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, counted, "[DONE]"),
			`begin; 1 text; 1 +So:; 1 ends; 2 call a Read; 2 +{\"x\"; 3 call b Glob; 3 +{}; 2 +:1}; ping; ping; 2 ends; 3 ends; tool_use 30+20 in 7 out; end`,
		},
		"calls of one number": {
			"", sse(part(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`), part(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"Read","arguments":"{"}}]}`),
				part(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`), finished),
			"begin; 1 call a Read; 1 +{}; 2 call b Read; 2 +{; 2 +}; ping; 1 ends; 2 ends; tool_use 0 in 0 out; end",
		},
		"calls without a number, with JSON": {
			"", sse(part(`{"tool_calls":[{"id":"a","function":{"name":"Read","arguments":{"x":1}}},{"id":"b","function":{"name":"Glob","arguments":{}}}]}`), finished),
			`begin; 1 call a Read; 1 +{\"x\":1}; 2 call b Glob; 2 +{}; ping; 1 ends; 2 ends; tool_use 0 in 0 out; end`,
		},
		"a list of texts":     {"", sse(part(`{"content":[{"type":"text","text":"Hi"}]}`), finished), "begin; 1 text; 1 +Hi; ping; 1 ends; end_turn 0 in 0 out; end"},
		"comments, no end":    {"", ": OPENROUTER PROCESSING\n\n" + sse(part(`{"content":"Hi"}`), finished), "ping; begin; 1 text; 1 +Hi; ping; 1 ends; end_turn 0 in 0 out; end"},
		"too long":            {"", sse(part(`{"content":"Hi"}`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`), "begin; 1 text; 1 +Hi; ping; 1 ends; max_tokens 0 in 0 out; end"},
		"filtered":            {"", sse(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`), "ping; begin; refusal 0 in 0 out; end"},
		"whole":               {"application/json", "{\n\"choices\":[{\"message\":{\"content\":\"Hi\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"Read\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}", "begin; 1 text; 1 +Hi; 1 ends; 2 call a Read; 2 +{}; 2 ends; tool_use 5 in 2 out; end"},
		"an error in between": {"", sse(part(`{"content":"Hi"}`), `{"error":{"message":"out of memory","type":"server_error","code":500}}`), "begin; 1 text; 1 +Hi; error server_error: out of memory"},
		"no JSON":             {"", sse("<h1>"), "data: ?"},
		"no error":            {"", sse(`{"error":null,"choices":[{"delta":{"content":"Hi"}}]}`, finished), "begin; 1 text; 1 +Hi; ping; 1 ends; end_turn 0 in 0 out; end"},
		"a refusal":           {"", sse(part(`{"refusal":"No."}`), `{"choices":[{"delta":{},"finish_reason":"function_call"}]}`), "begin; 1 text; 1 +No.; ping; 1 ends; tool_use 0 in 0 out; end"},
		"an unknown end":      {"", sse(part(`{"content":"Hi"}`), `{"choices":[{"delta":{},"finish_reason":"tired"}]}`), "begin; 1 text; 1 +Hi; ping; 1 ends; end_turn 0 in 0 out; end"},
		"more from the cache than there is": {"", sse(part(`{"content":"Hi"}`), finished,
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":6}}}`), "begin; 1 text; 1 +Hi; ping; ping; 1 ends; end_turn 0+6 in 7 out; end"},
		"a call whose pieces all have its name": {
			"", sse(part(`{"tool_calls":[{"index":3,"id":"a","function":{"name":"Read","arguments":"{"}}]}`), part(`{"tool_calls":[{"index":3,"id":"a","function":{"name":"Read","arguments":"\"x\""}}]}`),
				part(`{"tool_calls":[{"index":3,"function":{"name":"Read","arguments":":"}}]}`), part(`{"tool_calls":[{"index":3,"id":"b","function":{"arguments":"1}"}}]}`), finished),
			`begin; 1 call a Read; 1 +{; 1 +\"x\"; 1 +:; 1 +1}; ping; 1 ends; tool_use 0 in 0 out; end`,
		},
		"a line without an end": {"", sse(`{"x":"` + strings.Repeat("x", maxLine)), "data: ?"},
	} {
		if c.kind == "" {
			c.kind = "text/event-stream"
		}
		got, err := ask(t, Options{API: OpenAI}, &wire{status: 200, kind: c.kind, body: c.body}, asked)
		if summed(got) != c.want || err != nil {
			t.Errorf("%s: %s (%v), want %s", name, summed(got), err, c.want)
		}
	}
	lines := func(list ...string) string { return strings.Join(list, "\n") + "\n" }
	if got, err := ask(t, Options{API: Ollama}, &wire{status: 200, kind: "text/html", body: "<h1>"}, asked); got != "<h1>" || err != nil {
		t.Errorf("what is no API becomes %q, %v", got, err)
	}
	for name, c := range map[string]struct{ body, want string }{
		"text": {lines(`{"message":{"role":"assistant","content":"Good "},"done":false}`, `{"message":{"content":"morning."},"done":false}`,
			`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":26,"eval_count":298}`), "begin; 1 text; 1 +Good; 1 +morning.; ping; 1 ends; end_turn 26 in 298 out; end"},
		"thought and calls": {lines(`{"message":{"content":"","thinking":"hm"},"done":false}`,
			`{"message":{"content":"","tool_calls":[{"function":{"name":"Read","arguments":{"x":1}}},{"function":{"name":"Read","arguments":{"x":2}}}]},"done":false}`,
			`{"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2}`), `begin; 1 thought; 1 +hm; 1 ends; 2 call  Read; 2 +{\"x\":1}; 3 call  Read; 3 +{\"x\":2}; ping; 2 ends; 3 ends; tool_use 1 in 2 out; end`},
		"an error":  {lines(`{"message":{"content":"Hi"},"done":false}`, `{"error":"an error was encountered while running the model: CUDA"}`), "begin; 1 text; 1 +Hi; error : an error was encountered while running the model: CUDA"},
		"too long":  {lines(`{"message":{"content":"Hi"},"done":false}`, `{"done":true,"done_reason":"length"}`), "begin; 1 text; 1 +Hi; ping; 1 ends; max_tokens 0 in 0 out; end"},
		"no reason": {lines(`{"error":null,"message":{"content":"Hi"},"done":false}`, `{"done":true}`), "begin; 1 text; 1 +Hi; ping; 1 ends; end_turn 0 in 0 out; end"},
		"events":    {lines(`data: {"message":{"content":"Hi"},"done":true}`, `{"message":{"content":"unused"}}`), "begin; 1 text; 1 +Hi; 1 ends; end_turn 0 in 0 out; end"},
		"no JSON":   {lines("<h1>"), "data: ?"},
	} {
		got, err := ask(t, Options{API: Ollama}, &wire{status: 200, kind: "application/json; charset=utf-8", body: c.body}, asked)
		if summed(got) != c.want || err != nil {
			t.Errorf("Ollama, %s: %s (%v), want %s", name, summed(got), err, c.want)
		}
	}
}

// A stream that breaks off is never taken for a whole answer.
func TestACutStreamIsNoAnswer(t *testing.T) {
	if _, err := ask(t, Options{API: OpenAI}, &wire{status: 200, kind: "text/event-stream", body: sse(part(`{}`), "[DONE]")}, asked); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without a reason to stop: %v", err)
	}
	full := sse(part(`{"content":"Hi"}`), part(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`), finished)
	end := strings.Index(full, `"finish_reason":"stop"`)
	for at := range len(full) {
		got, err := ask(t, Options{API: OpenAI}, &wire{status: 200, kind: "text/event-stream", body: full[:at]}, asked)
		if whole := strings.Contains(got, "message_stop"); whole && at <= end || !whole && err == nil && !strings.HasSuffix(summed(got), "data: ?") {
			t.Fatalf("cut at %d of %d: %s, %v", at, len(full), summed(got), err)
		}
	}
}

func TestErrorsOfEveryFormBecomeThoseOfTheMessagesAPI(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`:            "invalid_request_error: no such model",
		`{"error":{"message":"You exceeded your current quota","type":"x","code":"insufficient_quota"}}`:           "billing_error: You exceeded your current quota",
		`{"error":{"message":"Pay","type":"insufficient_quota"}}`:                                                  "billing_error: Pay",
		`{"error":{"message":"first"},"detail":"second"}`:                                                          ": first",
		`{"error":{},"detail":[{"loc":1}],"message":"third"}`:                                                      ": third",
		`{"error":"` + strings.Repeat("x", maxRefusal) + `"}`:                                                      ": ",
		`{"error":"model 'x' not found"}`:                                                                          ": model 'x' not found",
		`{"object":"error","message":"maximum context length is 4096 tokens","type":"BadRequestError","code":400}`: ": maximum context length is 4096 tokens",
		`{"detail":"Not authenticated"}`:                                                                           ": Not authenticated",
		`<h1>Bad gateway</h1>`:                                                                                     ": ",
	} {
		got, err := ask(t, Options{API: OpenAI}, &wire{status: 400, kind: "application/json", body: body}, asked)
		var said struct {
			Error struct{ Type, Message string }
		}
		if err != nil || json.Unmarshal([]byte(got), &said) != nil || said.Error.Type+": "+said.Error.Message != want {
			t.Errorf("%s is %s (%v), want %s", body, got, err, want)
		}
	}
}

func TestTheAddressFollowsTheServersVersion(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:1234": "http://127.0.0.1:1234/v1/chat/completions", "https://openrouter.ai/api": "https://openrouter.ai/api/v1/chat/completions",
		"https://api.z.ai/api/paas/v4": "https://api.z.ai/api/paas/v4/chat/completions", "https://example.org/v1beta/openai": "https://example.org/v1beta/openai/chat/completions",
		"https://example.org/v": "https://example.org/v/v1/chat/completions", "https://example.org/x1": "https://example.org/x1/v1/chat/completions",
		"https://example.org/v1beta": "https://example.org/v1beta/v1/chat/completions", "https://example.org/v0": "https://example.org/v0/chat/completions",
	} {
		if got := OpenAI.Endpoint(base); got != want {
			t.Errorf("%s: %s", base, got)
		}
	}
	if got := Messages.Endpoint("https://example.org/v4"); got != "https://example.org/v4/v1/messages" {
		t.Errorf("of the Messages API: %s", got)
	}
	if got := All(); !slices.Equal(got, []string{"messages", "openai", "ollama"}) || Messages.Translated() || !OpenAI.Translated() || !Ollama.Translated() {
		t.Errorf("the APIs are %q", got)
	}
}
