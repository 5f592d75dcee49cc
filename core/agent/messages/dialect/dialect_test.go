package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// wire answers each request with a canned body, and keeps what it was sent.
type wire struct {
	status     int
	kind, body string
	sent       []byte
	url        string
	headers    http.Header
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	w.sent, err = io.ReadAll(r.Body)
	w.url, w.headers = r.URL.String(), r.Header
	return &http.Response{
		StatusCode: w.status, Header: http.Header{"Content-Type": {w.kind}}, Body: io.NopCloser(strings.NewReader(w.body)), Request: r, ContentLength: -1,
	}, err
}

// ask sends a request of the Messages API and returns the answer's body.
func ask(t *testing.T, o Options, w *wire, body string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.API.Endpoint("http://127.0.0.1:9"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	resp, err := Do(&http.Client{Transport: w}, r, o)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

// summed shows the events of an answer: its blocks, the reason to stop, and the usage.
func summed(stream string) string {
	var out []string
	blocks := map[float64]*strings.Builder{}
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string         `json:"type"`
			Index float64        `json:"index"`
			Block map[string]any `json:"content_block"`
			Delta map[string]any `json:"delta"`
			Usage map[string]any `json:"usage"`
			Error map[string]any `json:"error"`
		}
		if json.Unmarshal([]byte(data), &e) != nil {
			return strings.Join(append(out, "garbled"), "; ")
		}
		switch e.Type {
		case "content_block_start":
			b := &strings.Builder{}
			fmt.Fprintf(b, "%v", e.Block["type"])
			if e.Block["type"] == "tool_use" {
				fmt.Fprintf(b, " %v %v", e.Block["id"], e.Block["name"])
			}
			b.WriteString(" ")
			blocks[e.Index] = b
		case "content_block_delta":
			for _, name := range []string{"text", "thinking", "partial_json"} {
				if text, ok := e.Delta[name].(string); ok {
					blocks[e.Index].WriteString(text)
				}
			}
		case "content_block_stop":
			out = append(out, blocks[e.Index].String())
		case "message_delta":
			out = append(out, fmt.Sprint(e.Delta["stop_reason"], " ", e.Usage["input_tokens"], "+", e.Usage["cache_read_input_tokens"], " ", e.Usage["output_tokens"]))
		case "error":
			out = append(out, fmt.Sprint("error ", e.Error["type"], " ", e.Error["message"]))
		}
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

func TestARequestIsWrittenForTheOtherAPIs(t *testing.T) {
	w := &wire{status: 500}
	if _, err := ask(t, Options{API: OpenAI}, w, asked); err != nil || w.url != "http://127.0.0.1:9/v1/chat/completions" || w.headers.Get("anthropic-version") != "" {
		t.Fatal(w.url, err)
	}
	same(t, w.sent, `{"model":"m","stream":true,"max_tokens":100,"stream_options":{"include_usage":true},
		"tools":[{"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"Be kind.\n\nBe brief."},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
			{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"Read","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"},
			{"role":"user","content":[{"type":"text","text":"and?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,BBBB"}}]}]}`)
	if _, err := ask(t, Options{API: Ollama, Window: 16_384, Thinks: true}, w, asked); err != nil || w.url != "http://127.0.0.1:9/api/chat" {
		t.Fatal(w.url, err)
	}
	same(t, w.sent, `{"model":"m","stream":true,"think":true,"truncate":false,"shift":false,"options":{"num_ctx":16384,"num_predict":100},
		"tools":[{"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"Be kind.\n\nBe brief."},{"role":"user","content":"look","images":["AAAA"]},
			{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","function":{"name":"Read","arguments":{"x":1}}},{"id":"b","function":{"name":"Read","arguments":{}}}]},
			{"role":"tool","tool_call_id":"a","tool_name":"Read","content":"one"},{"role":"tool","tool_call_id":"b","tool_name":"Read","content":"two"},
			{"role":"user","content":"and?","images":["BBBB"]}]}`)
}

func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("sent\n%s\nwant\n%s", x, y)
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
		"text":     {"", sse(part(`{"role":"assistant","content":""}`), part(`{"content":"Good "}`), part(`{"content":"morning."}`), finished, counted, "[DONE]"), "text Good morning.; end_turn 30+20 7"},
		"thoughts": {"", sse(part(`{"reasoning_content":"hm, "}`), part(`{"reasoning":"well"}`), part(`{"content":"Yes."}`), finished, "[DONE]"), "thinking hm, well; text Yes.; end_turn 0+<nil> 0"},
		"calls in pieces": {
			"", sse(part(`{"content":"So: "}`), part(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"Read","arguments":""}}]}`),
				part(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`), part(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"Glob","arguments":"{}"}}]}`),
				part(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, counted, "[DONE]"),
			`text So: ; tool_use a Read {"x":1}; tool_use b Glob {}; tool_use 30+20 7`,
		},
		"calls of one number": {
			"", sse(part(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`), part(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"Read","arguments":"{}"}}]}`), finished),
			"tool_use a Read {}; tool_use b Read {}; tool_use 0+<nil> 0",
		},
		"calls without a number, with JSON": {
			"", sse(part(`{"tool_calls":[{"id":"a","function":{"name":"Read","arguments":{"x":1}}},{"id":"b","function":{"name":"Glob","arguments":{}}}]}`), finished),
			`tool_use a Read {"x":1}; tool_use b Glob {}; tool_use 0+<nil> 0`,
		},
		"a list of texts":     {"", sse(part(`{"content":[{"type":"text","text":"Hi"}]}`), finished), "text Hi; end_turn 0+<nil> 0"},
		"comments, no end":    {"", ": OPENROUTER PROCESSING\n\n" + sse(part(`{"content":"Hi"}`), finished), "text Hi; end_turn 0+<nil> 0"},
		"too long":            {"", sse(part(`{"content":"Hi"}`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`), "text Hi; max_tokens 0+<nil> 0"},
		"filtered":            {"", sse(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`), "refusal 0+<nil> 0"},
		"whole":               {"application/json", "{\n\"choices\":[{\"message\":{\"content\":\"Hi\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"Read\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}", "text Hi; tool_use a Read {}; tool_use 5+<nil> 2"},
		"an error in between": {"", sse(part(`{"content":"Hi"}`), `{"error":{"message":"out of memory","type":"server_error","code":500}}`), "error server_error out of memory"},
		"no JSON":             {"", sse("<h1>"), "garbled"},
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
	for name, c := range map[string]struct{ body, want string }{
		"text": {lines(`{"message":{"role":"assistant","content":"Good "},"done":false}`, `{"message":{"content":"morning."},"done":false}`,
			`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":26,"eval_count":298}`), "text Good morning.; end_turn 26+<nil> 298"},
		"thought and calls": {lines(`{"message":{"content":"","thinking":"hm"},"done":false}`,
			`{"message":{"content":"","tool_calls":[{"function":{"name":"Read","arguments":{"x":1}}},{"function":{"name":"Read","arguments":{"x":2}}}]},"done":false}`,
			`{"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2}`), `thinking hm; tool_use  Read {"x":1}; tool_use  Read {"x":2}; tool_use 1+<nil> 2`},
		"an error": {lines(`{"message":{"content":"Hi"},"done":false}`, `{"error":"an error was encountered while running the model: CUDA"}`), "error  an error was encountered while running the model: CUDA"},
		"too long": {lines(`{"message":{"content":"Hi"},"done":false}`, `{"done":true,"done_reason":"length"}`), "text Hi; max_tokens 0+<nil> 0"},
	} {
		got, err := ask(t, Options{API: Ollama}, &wire{status: 200, kind: "application/x-ndjson", body: c.body}, asked)
		if summed(got) != c.want || err != nil {
			t.Errorf("Ollama, %s: %s (%v), want %s", name, summed(got), err, c.want)
		}
	}
}

// A stream that breaks off is never taken for a whole answer.
func TestACutStreamIsNoAnswer(t *testing.T) {
	full := sse(part(`{"content":"Hi"}`), part(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`), finished)
	end := strings.Index(full, `"finish_reason":"stop"`)
	for at := range len(full) {
		got, err := ask(t, Options{API: OpenAI}, &wire{status: 200, kind: "text/event-stream", body: full[:at]}, asked)
		if whole := strings.Contains(got, "message_stop"); whole && at <= end || !whole && err == nil && summed(got) != "garbled" && !strings.HasSuffix(summed(got), "garbled") {
			t.Fatalf("cut at %d of %d: %s, %v", at, len(full), summed(got), err)
		}
	}
}

func TestErrorsOfEveryFormBecomeThoseOfTheMessagesAPI(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`:                   "invalid_request_error: no such model",
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`: "billing_error: You exceeded your current quota",
		`{"error":"model 'x' not found"}`: ": model 'x' not found",
		`{"object":"error","message":"maximum context length is 4096 tokens","type":"BadRequestError","code":400}`: ": maximum context length is 4096 tokens",
		`{"detail":"Not authenticated"}`: ": Not authenticated",
		`<h1>Bad gateway</h1>`:           ": ",
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
	} {
		if got := OpenAI.Endpoint(base); got != want {
			t.Errorf("%s: %s", base, got)
		}
	}
}
