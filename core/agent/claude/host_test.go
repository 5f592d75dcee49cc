package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// hostCall contains the arguments of a callback of hostRun.
type hostCall struct {
	Hook  string
	Use   agent.ToolUse
	Again bool
}

// hostRun is a run whose callbacks record their arguments.
type hostRun struct {
	stop     func(context.Context, bool) string
	pre, ask func(context.Context, agent.ToolUse) agent.Decision

	mu    sync.Mutex
	calls []hostCall
}

func (r *hostRun) note(c hostCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *hostRun) seen(hook string) (calls []hostCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if c.Hook == hook {
			calls = append(calls, c)
		}
	}
	return calls
}

// options returns the session's options. A callback that is not set allows.
func (r *hostRun) options(tools ...agent.Tool) agent.SessionOptions {
	allow := func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() }
	if r.pre == nil {
		r.pre = allow
	}
	if r.ask == nil {
		r.ask = allow
	}
	if r.stop == nil {
		r.stop = func(context.Context, bool) string { return "" }
	}
	return agent.SessionOptions{
		Tools: tools,
		Hooks: agent.Hooks{
			Stop: func(ctx context.Context, again bool) string {
				r.note(hostCall{Hook: "stop", Again: again})
				return r.stop(ctx, again)
			},
			PreTool: func(ctx context.Context, u agent.ToolUse) agent.Decision {
				r.note(hostCall{Hook: "pre", Use: u})
				return r.pre(ctx, u)
			},
			PostTool: func(_ context.Context, u agent.ToolUse) { r.note(hostCall{Hook: "post", Use: u}) },
		},
		Permission: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			r.note(hostCall{Hook: "ask", Use: u})
			return r.ask(ctx, u)
		},
	}
}

// boundHost returns the host of a run, which is closed with the test.
func boundHost(t testing.TB, r *hostRun, tools ...agent.Tool) *host {
	t.Helper()
	h := newHost(r.options(tools...), slog.New(slog.DiscardHandler))
	t.Cleanup(h.close)
	return h
}

// asked returns the host's answer as the CLI reads it.
func asked(t testing.TB, h *host, subtype, request string) string {
	t.Helper()
	allow(h, request)
	answer, err := h.handle(t.Context(), subtype, json.RawMessage(request))
	if err != nil {
		t.Fatalf("%s is answered with the error %v", subtype, err)
	}
	data, err := json.Marshal(answer)
	testkit.Must(t, err)
	return string(data)
}

// allow lets the call of a tool in a message run, as the hook before it does.
func allow(h *host, request string) {
	var r struct {
		Server  string `json:"server_name"`
		Message struct {
			Params struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"params"`
		} `json:"message"`
	}
	if json.Unmarshal([]byte(request), &r) != nil || r.Message.Params.Name == "" {
		return
	}
	u := agent.ToolUse{Name: "mcp__" + r.Server + "__" + r.Message.Params.Name, Input: r.Message.Params.Args}
	if len(u.Input) == 0 {
		u.Input = json.RawMessage("{}")
	}
	a, _ := agent.Approve(u, u.Allowed())
	h.granted.add(a)
}

// decoded returns a JSON value for comparison.
func decoded(t testing.TB, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%.200s: %v", data, err)
	}
	return v
}

// exchange is a request of a captured session with its answer.
type exchange struct {
	subtype string
	request json.RawMessage
	answer  json.RawMessage // empty if the capture has none
}

// captured returns the control requests of a capture in order. The bot's own hook IDs replace the
// captured ones.
func captured(t *testing.T, name string) []*exchange {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "control", name+".jsonl"))
	testkit.Must(t, err)
	ours := map[string]string{"Stop": hookStop, "PreToolUse": hookPreTool, "PostToolUse": hookPostTool}
	byID := map[string]*exchange{}
	var list []*exchange
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var l struct {
			Line struct {
				Type     string         `json:"type"`
				ID       string         `json:"request_id"`
				Request  map[string]any `json:"request"`
				Response struct {
					ID       string          `json:"request_id"`
					Response json.RawMessage `json:"response"`
				} `json:"response"`
			} `json:"line"`
		}
		testkit.Must(t, json.Unmarshal(s.Bytes(), &l))
		if l.Line.Type == "control_response" {
			if e := byID[l.Line.Response.ID]; e != nil {
				e.answer = l.Line.Response.Response
			}
			continue
		}
		subtype, _ := l.Line.Request["subtype"].(string)
		if subtype == "hook_callback" {
			input, _ := l.Line.Request["input"].(map[string]any)
			event, _ := input["hook_event_name"].(string)
			if ours[event] == "" {
				continue // an event that the bot does not register
			}
			l.Line.Request["callback_id"] = ours[event]
		}
		request, err := json.Marshal(l.Line.Request)
		testkit.Must(t, err)
		e := &exchange{subtype: subtype, request: request}
		byID[l.Line.ID] = e
		list = append(list, e)
	}
	if len(list) == 0 {
		t.Fatalf("%s holds no requests", name)
	}
	return list
}

func TestAfterCloseEverythingIsRefused(t *testing.T) {
	r := &hostRun{}
	h := boundHost(t, r)
	h.close()
	h.close()
	if got := asked(t, h, "hook_callback", hookLine(hookPreTool, `{"tool_name":"Bash","tool_input":{}}`)); !strings.Contains(got, `"deny"`) {
		t.Errorf("the hook before a call answers %s", got)
	}
	if got := asked(t, h, "can_use_tool", `{"tool_name":"Bash","input":{}}`); !strings.Contains(got, `"deny"`) {
		t.Errorf("the question for permission is answered %s", got)
	}
	if got := asked(t, h, "mcp_message", mcpLine(1, "tools/list", nil)); !strings.Contains(got, `"error"`) {
		t.Errorf("the tools are still served: %s", got)
	}
	if n := len(r.seen("pre")); n != 0 {
		t.Errorf("the run was asked %d times", n)
	}
}

func TestTheNewestAreRememberedAndNoMore(t *testing.T) {
	var r recent
	for i := range 3 * keptIDs {
		r.add(fmt.Sprint(i))
		r.add(fmt.Sprint(i))
	}
	if r.has("0") || r.has(fmt.Sprint(2*keptIDs-1)) || !r.has(fmt.Sprint(2*keptIDs)) || r.has("") || len(r) != keptIDs {
		t.Errorf("%d are remembered: %s", len(r), r)
	}
}

// FuzzHandle checks the properties that the CLI depends on: nothing panics, every answer is JSON,
// only known requests have one, and an unreadable request never permits a call.
func FuzzHandle(f *testing.F) {
	for _, s := range []string{
		hookLine(hookPreTool, `{"tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t"}`),
		hookLine(hookStop, `{"stop_hook_active":true}`), hookLine("x", `null`), `[]`, `{`, `null`, `{"input":7}`,
		`{"tool_name":"Bash","input":{"a":1e999},"tool_use_id":"t"}`, mcpLine(0, "initialize", map[string]any{}),
		mcpLine(1, "tools/call", map[string]any{"name": "echo", "arguments": []int{1}}), mcpLine(1, "tools/list", nil),
		`{"server_name":"discord","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}}`,
		`{"server_name":"other","message":{"jsonrpc":"2.0","id":"x","method":"ping"}}`,
	} {
		for kind := range byte(4) {
			f.Add(kind, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, request []byte) {
		refusing := &hostRun{
			pre: func(context.Context, agent.ToolUse) agent.Decision { return agent.Decision{} },
			ask: func(context.Context, agent.ToolUse) agent.Decision { return agent.Decision{} },
		}
		h := boundHost(t, refusing, echoTool("echo"))
		defer h.close()
		handshake(t, h)
		kinds := []string{"hook_callback", "can_use_tool", "mcp_message", "other"}
		subtype := kinds[int(kind)%len(kinds)]
		answer, err := h.handle(t.Context(), subtype, request)
		if (err != nil) != (subtype == "other") {
			t.Fatalf("%s gives the error %v", subtype, err)
		}
		data, err := json.Marshal(answer)
		if err != nil || bytes.ContainsRune(data, '\n') {
			t.Fatalf("the answer is %s, %v", data, err)
		}
		if bytes.Contains(data, []byte(`"allow"`)) {
			t.Fatalf("a run that refuses everything answers %s", data)
		}
		if subtype == "hook_callback" && string(data) == "{}" && len(refusing.seen("stop"))+len(refusing.seen("post")) == 0 {
			var r struct {
				ID string `json:"callback_id"`
			}
			if json.Unmarshal(request, &r) != nil || r.ID != hookStop && r.ID != hookPostTool {
				t.Fatalf("no objection to %s", request)
			}
		}
	})
}

// hookLine returns a hook_callback request.
func hookLine(id, input string) string {
	return fmt.Sprintf(`{"subtype":"hook_callback","callback_id":%q,"input":%s}`, id, input)
}
