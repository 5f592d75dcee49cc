package wire

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// decoders are all of them, for what must hold for each.
var decoders = map[string]func(Line) (any, error){
	"result":         func(l Line) (any, error) { return l.Result() },
	"assistant":      func(l Line) (any, error) { return l.Assistant() },
	"user":           func(l Line) (any, error) { return l.User() },
	"stream":         func(l Line) (any, error) { return l.Stream() },
	"init":           func(l Line) (any, error) { return l.Init() },
	"status":         func(l Line) (any, error) { return l.Status() },
	"state":          func(l Line) (any, error) { return l.State() },
	"thinking":       func(l Line) (any, error) { return l.ThinkingTokens() },
	"retry":          func(l Line) (any, error) { return l.Retry() },
	"rate limit":     func(l Line) (any, error) { return l.RateLimit() },
	"compact":        func(l Line) (any, error) { return l.Compact() },
	"denied":         func(l Line) (any, error) { return l.Denied() },
	"task":           func(l Line) (any, error) { return l.Task() },
	"informational":  func(l Line) (any, error) { return l.Informational() },
	"notification":   func(l Line) (any, error) { return l.Notification() },
	"model fallback": func(l Line) (any, error) { return l.ModelFallback() },
	"refusal":        func(l Line) (any, error) { return l.Refusal() },
}

func TestEveryLineHasAtMostOneDecoder(t *testing.T) {
	read := map[string]int{}
	for _, name := range captures(t) {
		for _, l := range captured(t, name) {
			n := 0
			for kind, decode := range decoders {
				switch _, err := decode(l); {
				case err == nil:
					n++
					read[kind]++
				case !errors.Is(err, ErrOtherKind):
					t.Errorf("%s %s: %v", l.Type, l.Subtype, err)
				}
			}
			if n != 1 {
				t.Errorf("%s %s has %d decoders", l.Type, l.Subtype, n)
			}
		}
	}
	for kind := range decoders {
		if read[kind] == 0 && kind != "notification" { // none of these captures has one
			t.Errorf("no captured line is a %s", kind)
		}
	}
}

func TestFieldsOfAWrongTypeAreZeroAndTheOthersAreRead(t *testing.T) {
	tests := map[string]struct {
		raw  string
		kind string
		want any
	}{
		"result": {
			`{"type":"result","subtype":7,"is_error":"yes","result":["x"],"num_turns":2.5,"total_cost_usd":"much","usage":[1],
			"modelUsage":{"a":{"inputTokens":"many","outputTokens":3},"b":7},"errors":["e",7],"origin":"somebody","duration_ms":"long","session_id":"s"}`, "result",
			Result{SessionID: "s", ModelUsage: map[string]ModelUsage{"a": {OutputTokens: 3}, "b": {}}, Errors: []string{"e", ""}},
		},
		"a result of nulls": {`{"type":"result","subtype":null,"usage":null,"modelUsage":null,"errors":null,"origin":null,"result":null}`, "result", Result{}},
		"assistant without a message": {
			`{"type":"assistant","message":"hello","error":{"a":1},"uuid":"u"}`, "assistant",
			Assistant{Origin: Origin{UUID: "u"}},
		},
		"blocks among other things": {
			`{"type":"user","message":{"content":["…+1 more",{"type":"text","text":"a"},7,null,{"text":"no type"},{"type":"tool_result","content":{"x":1}}]}}`, "user",
			User{Content: []Content{{Type: "text", Text: "a"}, {Type: "tool_result", Output: json.RawMessage(`{"x":1}`)}}},
		},
		"an empty string": {
			`{"type":"user","message":{"content":""},"isReplay":1,"isSynthetic":true}`, "user",
			User{IsSynthetic: true},
		},
		"a stream event": {
			`{"type":"stream_event","event":{"type":"content_block_delta","index":"first","delta":{"type":"text_delta","text":"a","thinking":7}},"ttft_ms":null}`, "stream",
			Stream{Kind: BlockDelta, Delta: DeltaText, Text: "a"},
		},
		"a stream event without an event": {`{"type":"stream_event","event":[]}`, "stream", Stream{}},
		"a rate limit": {
			`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"tomorrow","utilization":"full"}}`, "rate limit",
			RateLimit{Status: "rejected"},
		},
		"a retry":   {`{"type":"system","subtype":"api_retry","retry_delay_ms":1e300,"error_status":null,"error":null}`, "retry", Retry{Delay: math.MaxInt64}},
		"a task":    {`{"type":"system","subtype":"task_updated","patch":"x","usage":7,"task_id":"t"}`, "task", Task{Event: SubtypeTaskUpdated, ID: "t"}},
		"an init":   {`{"type":"system","subtype":"init","tools":"all","mcp_servers":["discord",{"name":"n"}],"model":"m"}`, "init", Init{Model: "m", MCPServers: []MCPServer{{}, {Name: "n"}}}},
		"a compact": {`{"type":"system","subtype":"compact_boundary","compact_metadata":null}`, "compact", Compact{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := Parse([]byte(tt.raw), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := decoders[tt.kind](l)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestALineOfAnotherKindIsAnError(t *testing.T) {
	for kind, decode := range decoders {
		if _, err := decode(Line{Type: "system", Subtype: "of tomorrow", Raw: []byte(`{}`)}); !errors.Is(err, ErrOtherKind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := (Line{Type: TypeResult, Raw: []byte(`{`)}).Result(); err == nil || errors.Is(err, ErrOtherKind) {
		t.Errorf("broken JSON: %v", err)
	}
	for _, bad := range []string{"", "[]", "{", "nonsense"} {
		if _, err := Parse([]byte(bad), time.Time{}); err == nil {
			t.Errorf("parsed %q", bad)
		}
	}
}

func TestTimesOfTheCLINeverOverflow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64().Draw(rt, "x")
		if d := millis(x); d < 0 {
			rt.Errorf("%g ms is %s", x, d)
		}
		if u := unix(x); u.Year() < 1 || u.Year() > 9999 {
			rt.Errorf("%g s is %s", x, u)
		}
	})
	if millis(1.5) != 1500*time.Microsecond || !unix(1.5).Equal(time.UnixMilli(1500)) {
		t.Errorf("%s, %s", millis(1.5), unix(1.5))
	}
}

func FuzzLine(f *testing.F) {
	for _, name := range []string{"a-handshake-turn", "c-dontask", "k-oauth-token-env", "l-subagent", "g-prompt-too-long", "b-sdk-mcp"} {
		for _, e := range capture(f, name) {
			if len(e.Line) < 2000 {
				f.Add([]byte(e.Line))
			}
		}
	}
	f.Add([]byte("{\"ty\\u0070e\":\"result\"}\r\n[]\n{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(strings.NewReader(string(data)), io.Discard, Options{})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, l := range rest(t, c) {
			if !json.Valid(l.Raw) {
				t.Errorf("delivered %q", l.Raw)
			}
			for kind, decode := range decoders {
				if _, err := decode(l); err != nil && !errors.Is(err, ErrOtherKind) {
					t.Errorf("%s of %q: %v", kind, l.Raw, err)
				}
			}
		}
	})
}
