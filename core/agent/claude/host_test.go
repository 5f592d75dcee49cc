package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
)

// hostCall contains the arguments of a callback of hostRun.
type hostCall struct {
	Hook  string
	Use   agent.ToolUse
	Again bool
}

// hostRun is a run whose callbacks record their arguments.
type hostRun struct {
	stop     func(again bool) string
	pre, ask func(agent.ToolUse) agent.Decision

	mu    sync.Mutex
	calls []hostCall
}

func (r *hostRun) note(c hostCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *hostRun) seen(hook string) []hostCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(c hostCall) bool { return c.Hook != hook })
}

// options returns the session's options.
func (r *hostRun) options(tools ...agent.Tool) agent.SessionOptions {
	return agent.SessionOptions{
		Tools: tools,
		Hooks: agent.Hooks{
			Stop: func(_ context.Context, again bool) string {
				r.note(hostCall{Hook: "stop", Again: again})
				return r.stop(again)
			},
			PreTool: func(_ context.Context, u agent.ToolUse) agent.Decision {
				r.note(hostCall{Hook: "pre", Use: u})
				return r.pre(u)
			},
			PostTool: func(_ context.Context, u agent.ToolUse) { r.note(hostCall{Hook: "post", Use: u}) },
		},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision {
			r.note(hostCall{Hook: "ask", Use: u})
			return r.ask(u)
		},
	}
}

// boundHost returns the host of a run that decides alike about every call, which is closed with the test.
func boundHost(t testing.TB, decide func(agent.ToolUse) agent.Decision, tools ...agent.Tool) (*host, *hostRun) {
	t.Helper()
	r := &hostRun{pre: decide, ask: decide, stop: func(bool) string { return "" }}
	h := newHost(r.options(tools...), slog.New(slog.DiscardHandler))
	t.Cleanup(h.close)
	return h, r
}

// asked returns the host's answer as the CLI reads it.
func asked(t testing.TB, h *host, subtype, request string) string {
	t.Helper()
	answer, err := h.handle(t.Context(), subtype, json.RawMessage(request))
	testkit.Must(t, err)
	data, err := json.Marshal(answer)
	testkit.Must(t, err)
	return string(data)
}

// hookLine returns a hook_callback request.
func hookLine(id, input string) string {
	return fmt.Sprintf(`{"subtype":"hook_callback","callback_id":%q,"input":%s}`, id, input)
}

// mcpLine returns an mcp_message request with a call of the CLI.
func mcpLine(id int, method, params string) string {
	return fmt.Sprintf(`{"server_name":"discord","message":{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}}`, id, method, params)
}

// echoTool answers with its arguments.
func echoTool(name string) agent.Tool {
	return tool(name, func(_ context.Context, a agent.Approved) agent.ToolResult {
		return agent.ToolResult{Text: string(a.Input())}
	})
}

// waitingTool waits for its context; it sends on begun and on ended.
func waitingTool(begun, ended chan<- struct{}) agent.Tool {
	return tool("wait", func(ctx context.Context, _ agent.Approved) agent.ToolResult {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return agent.ToolResult{Text: "cancelled", IsError: true}
	})
}

func TestToolsAreListedWithTheirSchemasUnchanged(t *testing.T) {
	tools := toolset.Tools(nil)
	h, _ := boundHost(t, agent.ToolUse.Allowed, tools...)
	slices.SortFunc(tools, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) })
	var want []string
	for _, one := range tools {
		var schema, about bytes.Buffer // JSON on one line has no spaces between its tokens
		testkit.Must(t, json.Compact(&schema, one.Schema))
		data, err := json.Marshal(one.Description)
		testkit.Must(t, err)
		json.HTMLEscape(&about, schema.Bytes())
		want = append(want, fmt.Sprintf(`{"name":%q,"description":%s,"inputSchema":%s}`, one.Name, data, about.Bytes()))
	}
	got := asked(t, h, "mcp_message", mcpLine(1, "tools/list", "{}"))
	if all := `{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(want, ",") + `]}}}`; got != all || len(tools) != 14 {
		t.Errorf("%d tools are listed as\n%s, not\n%s", len(tools), got, all)
	}
}

func TestAfterCloseEverythingIsRefused(t *testing.T) {
	h, r := boundHost(t, agent.ToolUse.Allowed)
	h.close()
	h.close()
	for subtype, request := range map[string]string{
		"hook_callback": hookLine(hookPreTool, `{"tool_name":"Bash","tool_input":{}}`), "can_use_tool": `{"tool_name":"Bash","input":{}}`,
		"mcp_message": mcpLine(1, "tools/list", "{}"),
	} {
		if got := asked(t, h, subtype, request); !strings.Contains(got, `"deny"`) && !strings.Contains(got, `"code":-32603,"message":"the server has ended"`) {
			t.Errorf("%s is answered %s", subtype, got)
		}
	}
	if n := len(r.seen("pre")); n != 0 {
		t.Errorf("the run was asked %d times", n)
	}
}

func TestTheNewestAreRememberedAndNoMore(t *testing.T) {
	h, _ := boundHost(t, func(agent.ToolUse) agent.Decision { return agent.Decision{} })
	for i := range 3 * keptIDs {
		for range 2 {
			asked(t, h, "can_use_tool", fmt.Sprintf(`{"tool_name":"Bash","input":{},"tool_use_id":"%d"}`, i))
		}
	}
	if h.denied("0") || h.denied(fmt.Sprint(2*keptIDs-1)) || !h.denied(fmt.Sprint(2*keptIDs)) || !h.denied(fmt.Sprint(3*keptIDs-1)) || h.denied("") {
		t.Errorf("refused are %s", h.refused)
	}
}

func TestAnAllowedInputComesBackAsItWas(t *testing.T) {
	h, _ := boundHost(t, agent.ToolUse.Allowed)
	testkit.Check(t, func(rt *rapid.T) {
		quoted, err := json.Marshal(rapid.String().Draw(rt, "key"))
		testkit.Must(rt, err)
		number := rapid.SampledFrom([]string{"1", "1.0", "1e400", "123456789012345678901234567890", "-0", "1E+2"}).Draw(rt, "number")
		// A repeated key, and numbers that no float can represent.
		input := `{"n":` + number + `,"k":` + string(quoted) + `,"n":` + number + `}`
		answer, err := h.handle(t.Context(), "can_use_tool", json.RawMessage(`{"tool_name":"Write","input":`+input+`,"tool_use_id":"t"}`))
		testkit.Must(rt, err)
		if p := answer.(permission); p.Behavior != "allow" || string(p.Input) != input {
			rt.Fatalf("%s is answered %+v", input, p)
		}
	})
}

// FuzzHandle checks the properties that the CLI depends on: nothing panics, every answer is JSON,
// only known requests have one, and an unreadable request never permits a call.
func FuzzHandle(f *testing.F) {
	for _, s := range []string{
		hookLine(hookPreTool, `{"tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t"}`),
		hookLine(hookStop, `{"stop_hook_active":true}`), hookLine("x", `null`), `[]`, `{`, `null`, `{"input":7}`,
		`{"tool_name":"Bash","input":{"a":1e999},"tool_use_id":"t"}`, mcpLine(0, "initialize", "{}"),
		mcpLine(1, "tools/call", `{"name":"echo","arguments":[1]}`), mcpLine(1, "tools/list", "null"),
		`{"server_name":"discord","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}}`,
		`{"server_name":"other","message":{"jsonrpc":"2.0","id":"x","method":"ping"}}`,
	} {
		for kind := range byte(4) {
			f.Add(kind, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, request []byte) {
		h, refusing := boundHost(t, func(agent.ToolUse) agent.Decision { return agent.Decision{} }, echoTool("echo"))
		defer h.close()
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

func BenchmarkAToolsRoundTrip(b *testing.B) {
	h, _ := boundHost(b, agent.ToolUse.Allowed, echoTool("echo"))
	for id := 1; b.Loop(); id++ {
		asked(b, h, "hook_callback", hookLine(hookPreTool, `{"tool_name":"mcp__discord__echo","tool_input":{},"tool_use_id":"t"}`))
		asked(b, h, "mcp_message", mcpLine(id, "tools/call", `{"name":"echo"}`))
	}
}

// However a message is streamed, broken off and repeated, the final text consists of its lines,
// each block once and on its own line.
func TestWhatIsSaidIsWhatTheLinesSay(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		var s textAccumulator
		var h told
		put := func(e agent.Event) { h.events = append(h.events, e) }
		want := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "blocks") {
			text := rapid.StringMatching(`[a-cé]{0,8}\n?`).Draw(rt, "text")
			id := string(rune('a' + i))
			if rapid.Bool().Draw(rt, "streamed") {
				s.begin(id, put)
				s.block()
				cut := rapid.IntRange(0, len(text)).Draw(rt, "cut")
				s.say(text[:cut], put)
				switch rapid.IntRange(0, 2).Draw(rt, "fate") {
				case 0: // broken off: a separate request repeats it
					id += "'"
				case 1: // streamed to its end
					s.say(text[cut:], put)
				case 2: // streamed with a different text
					s.say("zzz", put)
				}
			}
			s.finish(id, text, put)
			if text != "" && want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			want += text
		}
		if h.text() != want || s.total != len(want) {
			rt.Fatalf("said %q (%d bytes), want %q", h.text(), s.total, want)
		}
	})
}

func TestALongOutputIsCutBetweenCharacters(t *testing.T) {
	got := callback.Output("x" + strings.Repeat("é", 16<<10))
	if !strings.HasPrefix(got, "xéé") || strings.Contains(got, "\uFFFD") || len(got) > 16<<10+40 || !strings.Contains(got, "more bytes") {
		t.Errorf("%d bytes, ending %q", len(got), got[len(got)-30:])
	}
}

// In any order of turns, every message gets its own answer and every other turn goes to the bot.
func TestNoAnswerIsLostOrGivenToAnother(t *testing.T) {
	const own, its = `announce | init | start own | delta %s | answer own %[1]s | result {"origin":{"kind":"task-notification"}}`, `init | start m | delta %s | echo | answer m %[1]s | result`
	testkit.Check(t, func(rt *rapid.T) {
		steps, mine, others := []string{"> idle"}, 0, 0
		want := map[string]string{}
		for i, what := range rapid.SliceOfN(rapid.SampledFrom([]string{"mine", "own", "own first", "taken in", "idle"}), 1, 12).Draw(rt, "order") {
			answer, other, step := fmt.Sprint("answer ", i), fmt.Sprint("other ", i), "> running"
			if what == "mine" || what == "own first" || what == "taken in" {
				mine++
				steps = append(steps, "> send question")
				want[fmt.Sprint("turn ", mine)] = answer
			}
			if what == "own" || what == "own first" || what == "taken in" {
				others++
				want[fmt.Sprint("own turn ", others)] = other
			}
			switch what {
			case "mine":
				step += " | " + fmt.Sprintf(its, answer)
			case "own":
				step += " | " + fmt.Sprintf(own, other)
			case "own first":
				step += " | " + fmt.Sprintf(own, other) + " | " + fmt.Sprintf(its, answer)
			case "taken in":
				step += fmt.Sprintf(` | announce | init | start x | delta %s | answer x %[1]s | echo | start y | delta %s | answer y %[2]s | result {"origin":{"kind":"task-notification"}}`, other, answer)
			}
			steps = append(steps, step+" | idle")
		}
		said := map[string]string{}
		story := tell(t, steps)
		for line := range strings.Lines(story) {
			if who, text, ok := strings.Cut(strings.TrimSpace(line), ": says "); ok {
				said[who] += strings.Trim(text, `"`)
			}
		}
		if fmt.Sprint(said) != fmt.Sprint(want) || strings.Count(story, ": Result ") != len(want) || strings.Contains(story, "fails") {
			rt.Fatalf("%v is said, want %v:\n%s", said, want, story)
		}
	})
}
