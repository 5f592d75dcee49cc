package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
)

// mcpLine returns an mcp_message request with a call of the CLI.
func mcpLine(id int, method string, params any) string {
	m := map[string]any{"jsonrpc": "2.0", "id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	data, err := json.Marshal(map[string]any{"subtype": "mcp_message", "server_name": "discord", "message": m})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// noticeLine returns an mcp_message request with a notification.
func noticeLine(method string, params any) string {
	data, err := json.Marshal(map[string]any{
		"server_name": "discord", "message": map[string]any{"jsonrpc": "2.0", "method": method, "params": params},
	})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

const clientHello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.197"}}`

// handshake sends the CLI's first messages.
func handshake(t testing.TB, h *host) {
	t.Helper()
	hello := asked(t, h, "mcp_message", mcpLine(0, "initialize", json.RawMessage(clientHello)))
	if !strings.Contains(hello, `"serverInfo"`) {
		t.Fatalf("initialize is answered %s", hello)
	}
	if got := asked(t, h, "mcp_message", noticeLine("notifications/initialized", nil)); got != `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{}}}` {
		t.Fatalf("a notification is answered %s", got)
	}
}

// echoTool answers with its arguments.
func echoTool(name string) agent.Tool {
	return agent.Tool{
		Name: name, Description: "says " + name, Schema: json.RawMessage(`{"type":"object"}`),
		Call: func(_ context.Context, a agent.Approved) agent.ToolResult {
			return agent.ToolResult{Text: string(a.Input())}
		},
	}
}

// called returns the text and the error mark of a tool's result.
func called(t testing.TB, answer string) (text string, isError bool) {
	t.Helper()
	var r struct {
		Response struct {
			Result struct {
				Content []struct{ Type, Text string }
				IsError bool
			}
			Error json.RawMessage
		} `json:"mcp_response"`
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil || len(r.Response.Result.Content) != 1 {
		t.Fatalf("the answer to a call is %s", answer)
	}
	return r.Response.Result.Content[0].Text, r.Response.Result.IsError
}

func TestTheCapturedConversationWithTheToolsIsTheSameWithUs(t *testing.T) {
	object := json.RawMessage(`{"type":"object","properties":{}}`)
	says := func(name, about string, r agent.ToolResult) agent.Tool {
		return agent.Tool{Name: name, Description: about, Schema: object, Call: func(context.Context, agent.Approved) agent.ToolResult { return r }}
	}
	h := boundHost(t, &hostRun{},
		says("ping_user", "Ping the user", agent.ToolResult{Text: "pinged: hello"}),
		says("fail", "Always fails", agent.ToolResult{Text: "user is not in the guild", IsError: true}),
		says("slow", "slow", agent.ToolResult{Text: "slow ok"}),
	)
	compared := 0
	for _, x := range captured(t, "b-sdk-mcp") {
		got := asked(t, h, x.subtype, string(x.request))
		var r struct {
			Message struct {
				Method string
				Params struct{ Name string }
			}
		}
		testkit.Must(t, json.Unmarshal(x.request, &r))
		switch {
		case r.Message.Method == "tools/call" && (r.Message.Params.Name == "rpcfail" || r.Message.Params.Name == "image"),
			r.Message.Method == "initialize", r.Message.Method == "tools/list": // other tools, another version
			continue
		}
		compared++
		if diff := cmp.Diff(decoded(t, x.answer), decoded(t, []byte(got))); diff != "" {
			t.Errorf("%s\n%s", x.request, diff)
		}
	}
	if compared < 8 {
		t.Errorf("only %d answers were compared", compared)
	}
}

func TestTheServerPromisesToolsAndNothingElse(t *testing.T) {
	h := boundHost(t, &hostRun{})
	got := asked(t, h, "mcp_message", mcpLine(0, "initialize", json.RawMessage(clientHello)))
	want := `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",
		"capabilities":{"tools":{}},"serverInfo":{"name":"discord","version":"1"}}}}`
	if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, []byte(got))); diff != "" {
		t.Error(diff)
	}
}

func TestToolsAreListedWithTheirSchemasAsTheyStand(t *testing.T) {
	tools := toolset.Tools(nil)
	h := newHost(agent.SessionOptions{Tools: tools}, slog.New(slog.DiscardHandler))
	defer h.close()
	handshake(t, h)
	var r struct {
		Response struct {
			Result struct {
				Tools []map[string]json.RawMessage
			}
		} `json:"mcp_response"`
	}
	testkit.Must(t, json.Unmarshal([]byte(asked(t, h, "mcp_message", mcpLine(1, "tools/list", nil))), &r))
	listed := map[string]map[string]json.RawMessage{}
	for _, tool := range r.Response.Result.Tools {
		listed[strings.Trim(string(tool["name"]), `"`)] = tool
	}
	if len(listed) != len(tools) || len(tools) != 14 {
		t.Fatalf("%d tools are listed of %d", len(listed), len(tools))
	}
	for _, tool := range tools {
		got := listed[tool.Name]
		// JSON on one line has no spaces between its tokens, and writes "<" as an escape.
		var compact, want bytes.Buffer
		testkit.Must(t, json.Compact(&compact, tool.Schema))
		json.HTMLEscape(&want, compact.Bytes())
		if !bytes.Equal(got["inputSchema"], want.Bytes()) {
			t.Errorf("the schema of %s is listed as\n%s, not\n%s", tool.Name, got["inputSchema"], want.Bytes())
		}
		var about string
		if err := json.Unmarshal(got["description"], &about); err != nil || about != tool.Description {
			t.Errorf("%s is described as %q, %v", tool.Name, about, err)
		}
		if len(got) != 3 {
			t.Errorf("%s is listed with more than its name, description and schema: %v", tool.Name, got)
		}
	}
}

func TestAToolGetsItsArgumentsAsTheyWere(t *testing.T) {
	h := boundHost(t, &hostRun{}, echoTool("echo"))
	handshake(t, h)
	for _, args := range []string{`{"n":1e400,"n":123456789012345678901234567890,"text":"é\u0000"}`, `[1]`} {
		text, _ := called(t, asked(t, h, "mcp_message", mcpLine(1, "tools/call", json.RawMessage(`{"name":"echo","arguments":`+args+`}`))))
		if text != args {
			t.Errorf("%s arrives as %s", args, text)
		}
	}
	if text, _ := called(t, asked(t, h, "mcp_message", mcpLine(2, "tools/call", json.RawMessage(`{"name":"echo"}`)))); text != "{}" {
		t.Errorf("a call without arguments arrives as %q", text)
	}
}

func TestAToolThatPanicsGivesAnErrorAndTheOthersGoOn(t *testing.T) {
	broken := echoTool("broken")
	broken.Call = func(context.Context, agent.Approved) agent.ToolResult { panic("bug") }
	h := boundHost(t, &hostRun{}, broken, echoTool("echo"))
	handshake(t, h)
	text, isError := called(t, asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "broken"})))
	if !isError || !strings.Contains(text, "broken") {
		t.Errorf("the result is %q, error %v", text, isError)
	}
	if text, isError := called(t, asked(t, h, "mcp_message", mcpLine(2, "tools/call", map[string]any{"name": "echo"}))); isError || text != "{}" {
		t.Errorf("the next call gives %q, error %v", text, isError)
	}
}

func TestAnEmptyAnswerIsStillAText(t *testing.T) {
	silent := echoTool("silent")
	silent.Call = func(context.Context, agent.Approved) agent.ToolResult { return agent.ToolResult{} }
	h := boundHost(t, &hostRun{}, silent)
	handshake(t, h)
	if text, isError := called(t, asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "silent"}))); text == "" || isError {
		t.Errorf("the result is %q, error %v", text, isError)
	}
}

func TestMessagesThatMakeNoSenseAreJSONRPCErrors(t *testing.T) {
	h := boundHost(t, &hostRun{}, echoTool("echo"))
	handshake(t, h)
	for name, request := range map[string]string{
		"another server": strings.Replace(mcpLine(1, "tools/list", nil), `"discord"`, `"other"`, 1),
		"no such tool":   mcpLine(2, "tools/call", map[string]any{"name": "nothing"}),
		"no such method": mcpLine(3, "tools/eat", nil),
		"no message":     `{"server_name":"discord"}`,
		"no JSON-RPC":    `{"server_name":"discord","message":{"a":1}}`,
		"no object":      `{"server_name":"discord","message":[]}`,
		"nothing":        `7`,
	} {
		got := asked(t, h, "mcp_message", request)
		if !strings.HasPrefix(got, `{"mcp_response":{"jsonrpc":"2.0",`) || !strings.Contains(got, `"error":{"code":-32`) {
			t.Errorf("%s is answered %s", name, got)
		}
	}
}

func TestCallsRunBesideEachOther(t *testing.T) {
	const n = 8
	var together sync.WaitGroup
	together.Add(n)
	meet := echoTool("meet")
	meet.Call = func(context.Context, agent.Approved) agent.ToolResult {
		together.Done()
		together.Wait() // would block forever if one had to wait for another
		return agent.ToolResult{Text: "met"}
	}
	h := boundHost(t, &hostRun{}, meet)
	handshake(t, h)
	var g sync.WaitGroup
	for i := range n {
		g.Go(func() {
			if text, _ := called(t, asked(t, h, "mcp_message", mcpLine(i+1, "tools/call", map[string]any{"name": "meet"}))); text != "met" {
				t.Errorf("call %d gives %q", i, text)
			}
		})
	}
	g.Wait()
}

// waitingTool waits for its context; it sends on begun and on ended.
func waitingTool(begun, ended chan<- struct{}) agent.Tool {
	wait := echoTool("wait")
	wait.Call = func(ctx context.Context, _ agent.Approved) agent.ToolResult {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return agent.ToolResult{Text: "cancelled", IsError: true}
	}
	return wait
}

func TestTheCapturedInterruptCancelsTheToolThatRuns(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	slow := waitingTool(begun, ended)
	slow.Name = "slow"
	h := boundHost(t, &hostRun{}, slow)
	var g sync.WaitGroup
	for _, x := range captured(t, "f-interrupt-mid-mcp-tool") {
		switch {
		case strings.Contains(string(x.request), "tools/call"):
			g.Go(func() { asked(t, h, x.subtype, string(x.request)) })
			<-begun
		default:
			asked(t, h, x.subtype, string(x.request))
		}
	}
	<-ended
	g.Wait()
}

func TestACancellationMayOvertakeItsCall(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := boundHost(t, &hostRun{}, waitingTool(begun, ended), echoTool("echo"))
	handshake(t, h)
	asked(t, h, "mcp_message", noticeLine("notifications/cancelled", map[string]any{"requestId": 7}))
	// It returns whether or not the tool has begun.
	asked(t, h, "mcp_message", mcpLine(7, "tools/call", map[string]any{"name": "wait"}))
	if text, _ := called(t, asked(t, h, "mcp_message", mcpLine(8, "tools/call", map[string]any{"name": "echo"}))); text != "{}" {
		t.Errorf("the next call gives %q", text)
	}
}

func TestTheEndOfTheRequestCancelsItsToolAndWaitsForIt(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := boundHost(t, &hostRun{}, waitingTool(begun, ended))
	handshake(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	var g sync.WaitGroup
	g.Go(func() { <-begun; cancel() })
	line := mcpLine(1, "tools/call", map[string]any{"name": "wait"})
	allow(h, line)
	if _, err := h.handle(ctx, "mcp_message", json.RawMessage(line)); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("the answer came before the tool had returned")
	}
	g.Wait()
}

func TestCloseCancelsToolsAndWaitsForThem(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := boundHost(t, &hostRun{}, waitingTool(begun, ended))
	handshake(t, h)
	var g sync.WaitGroup
	g.Go(func() { asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "wait"})) })
	<-begun
	h.close()
	select {
	case <-ended:
	default:
		t.Error("close came back before the tool had returned")
	}
	g.Wait()
}

func TestANewHandshakeBeginsAgainAndEndsWhatRan(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := boundHost(t, &hostRun{}, waitingTool(begun, ended), echoTool("echo"))
	handshake(t, h)
	var g sync.WaitGroup
	g.Go(func() { asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "wait"})) })
	<-begun
	handshake(t, h)
	handshake(t, h)
	<-ended
	if text, _ := called(t, asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "echo"}))); text != "{}" {
		t.Errorf("after it a call gives %q", text)
	}
	g.Wait()
}

func TestOneIDIsOneCall(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := boundHost(t, &hostRun{}, waitingTool(begun, ended))
	handshake(t, h)
	var g sync.WaitGroup
	g.Go(func() { asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "wait"})) })
	<-begun
	if got := asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "wait"})); !strings.Contains(got, `"error"`) {
		t.Errorf("the second call with the id is answered %s", got)
	}
	asked(t, h, "mcp_message", noticeLine("notifications/cancelled", map[string]any{"requestId": 1}))
	<-ended
	g.Wait()
}

func TestALongCallIsNotCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := echoTool("long")
		long.Call = func(ctx context.Context, _ agent.Approved) agent.ToolResult {
			time.Sleep(10 * time.Hour)
			return agent.ToolResult{Text: fmt.Sprint(ctx.Err())}
		}
		h := boundHost(t, &hostRun{}, long)
		defer h.close()
		handshake(t, h)
		if text, _ := called(t, asked(t, h, "mcp_message", mcpLine(1, "tools/call", map[string]any{"name": "long"}))); text != "<nil>" {
			t.Errorf("the tool's context was %s", text)
		}
	})
}

func BenchmarkAToolsRoundTrip(b *testing.B) {
	h := boundHost(b, &hostRun{}, echoTool("echo"))
	handshake(b, h)
	id := 1
	for b.Loop() {
		id++
		line := mcpLine(id, "tools/call", map[string]any{"name": "echo"})
		allow(h, line)
		if _, err := h.handle(b.Context(), "mcp_message", json.RawMessage(line)); err != nil {
			b.Fatal(err)
		}
	}
}

// A0: the bot's tools run with what was approved, and with nothing else.
func TestAToolRunsOnlyAsItWasApproved(t *testing.T) {
	h := boundHost(t, &hostRun{}, echoTool("echo"))
	handshake(t, h)
	call := func(id int, args string) string {
		answer, err := h.handle(t.Context(), "mcp_message", json.RawMessage(mcpLine(id, "tools/call", json.RawMessage(`{"name":"echo","arguments":`+args+`}`))))
		testkit.Must(t, err)
		data, err := json.Marshal(answer)
		testkit.Must(t, err)
		return string(data)
	}
	if got := call(1, `{"a":1}`); !strings.Contains(got, textNotGranted) {
		t.Errorf("without approval: %s", got)
	}
	asked(t, h, "hook_callback", hookLine(hookPreTool, `{"tool_name":"mcp__discord__echo","tool_input":{"a":1},"tool_use_id":"one"}`))
	if got := call(2, `{"a":2}`); !strings.Contains(got, textNotGranted) {
		t.Errorf("other arguments: %s", got)
	}
	if got := call(3, `{ "a": 1 }`); strings.Contains(got, "error") {
		t.Errorf("as approved: %s", got)
	}
	if got := call(4, `{"a":1}`); !strings.Contains(got, textNotGranted) {
		t.Errorf("a second time: %s", got)
	}
	asked(t, h, "hook_callback", hookLine(hookPreTool, `{"tool_name":"mcp__discord__echo","tool_input":{"a":5},"tool_use_id":"two"}`))
	h.granted.remove("two") // the permission was denied after all
	if got := call(5, `{"a":5}`); !strings.Contains(got, textNotGranted) {
		t.Errorf("denied after all: %s", got)
	}
}
