package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

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
