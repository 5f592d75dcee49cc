package wire

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// decoders are all decoders.
var decoders = map[string]func(Line) any{
	TypeResult:    func(l Line) any { return l.Result() },
	TypeAssistant: func(l Line) any { return l.Assistant() },
	TypeUser:      func(l Line) any { return l.User() },
	TypeStream:    func(l Line) any { return l.Stream() },
	TypeSystem:    func(l Line) any { return l.System() },
	TypeRateLimit: func(l Line) any { return l.RateLimit() },
}

func TestFieldsOfAWrongTypeAreZeroAndTheOthersAreRead(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want any
	}{
		"result": {
			`{"type":"result","is_error":"yes","result":["x"],"num_turns":2.5,"total_cost_usd":"much",
			"modelUsage":{"a":{"inputTokens":"many","outputTokens":3},"b":7},"errors":["e",7],"origin":"somebody","session_id":"s"}`,
			Result{SessionID: "s", ModelUsage: map[string]ModelUsage{"a": {OutputTokens: 3}, "b": {}}, Errors: []string{"e", ""}},
		},
		"a result of nulls":           {`{"type":"result","modelUsage":null,"errors":null,"origin":null,"result":null}`, Result{}},
		"assistant without a message": {`{"type":"assistant","message":"hello","error":{"a":1},"subagent_type":"u"}`, Assistant{Origin: Origin{SubagentType: "u"}}},
		"blocks among other things": {
			`{"type":"user","message":{"content":["…+1 more",{"type":"text","text":"a"},7,null,{"text":"no type"},{"type":"tool_result","content":{"x":1}}]}}`,
			User{Content: []Content{{Type: "text", Text: "a"}, {Type: "tool_result", Output: json.RawMessage(`{"x":1}`)}}},
		},
		"an empty string": {`{"type":"user","message":{"content":""},"uuid":"u"}`, User{UUID: "u"}},
		"a stream event": {
			`{"type":"stream_event","event":{"type":"content_block_delta","index":"first","delta":{"type":"text_delta","text":"a","thinking":7}},"ttft_ms":null}`,
			Stream{Kind: BlockDelta, Delta: DeltaText, Text: "a"},
		},
		"a stream event without an event": {`{"type":"stream_event","event":[]}`, Stream{}},
		"a rate limit":                    {`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"tomorrow","utilization":"full"}}`, RateLimit{Status: "rejected"}},
		"a retry":                         {`{"type":"system","subtype":"api_retry","retry_delay_ms":7,"error_status":null,"error":null}`, System{Retry: Retry{DelayMS: 7}}},
		"a compact":                       {`{"type":"system","subtype":"compact_boundary","compact_metadata":null,"session_id":"s"}`, System{SessionID: "s"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []any
			if err := New(strings.NewReader(strings.ReplaceAll(tt.raw, "\n", " ")), io.Discard, Options{Line: func(l Line) {
				got = append(got, decoders[l.Type](l))
			}}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTimesOfTheCLINeverOverflow(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		x := rapid.Float64().Draw(rt, "x")
		if d := (Retry{DelayMS: x}).Delay(); d < 0 {
			rt.Errorf("%g ms is %s", x, d)
		}
		if u := (RateLimit{ResetsAt: x}).Resets(); u.Year() < 1 || u.Year() > 9999 {
			rt.Errorf("%g s is %s", x, u)
		}
	})
	if d, u := (Retry{DelayMS: 1.5}).Delay(), (RateLimit{ResetsAt: 1.5}).Resets(); d != 1500*time.Microsecond || !u.Equal(time.UnixMilli(1500)) {
		t.Errorf("%s, %s", d, u)
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
		c := New(strings.NewReader(string(data)), io.Discard, Options{Line: func(l Line) {
			if !json.Valid(l.Raw) {
				t.Errorf("delivered %q", l.Raw)
			}
			for _, decode := range decoders {
				decode(l)
			}
		}})
		testkit.Must(t, c.Run(t.Context()))
	})
}
