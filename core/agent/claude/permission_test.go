package claude

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/base/testkit"
)

func TestTheCapturedPermissionsAreAnsweredAsTheCLIUnderstoodThem(t *testing.T) {
	const refusal = "Not allowed by the owner of the bot."
	h := boundHost(t, &hostRun{ask: func(_ context.Context, u agent.ToolUse) agent.Decision {
		return agent.Decision{Digest: u.Digest(), Allow: !strings.Contains(string(u.Input), "deny.txt"), Reason: refusal}
	}})
	compared := 0
	for _, x := range captured(t, "c-can-use-tool") {
		// The bot's answers differ where that host tried wrong answers or changed the input.
		odd := []string{"rewrite.txt", "noinput.txt", "raise.txt", "bad.txt", "always.txt"}
		if slices.ContainsFunc(odd, func(s string) bool { return strings.Contains(string(x.request), s) }) {
			continue
		}
		compared++
		got := asked(t, h, x.subtype, string(x.request))
		if diff := cmp.Diff(decoded(t, x.answer), decoded(t, []byte(got))); diff != "" {
			t.Errorf("%s\n%s", x.request, diff)
		}
	}
	if compared < 4 {
		t.Errorf("only %d answers were compared", compared)
	}
}

func TestAnAllowedInputComesBackAsItWas(t *testing.T) {
	h := boundHost(t, &hostRun{})
	testkit.Check(t, func(rt *rapid.T) {
		key := rapid.String().Draw(rt, "key")
		quoted, err := json.Marshal(key)
		if err != nil {
			rt.Fatal(err)
		}
		number := rapid.SampledFrom([]string{"1", "1.0", "1e400", "123456789012345678901234567890", "-0", "1E+2"}).Draw(rt, "number")
		// A repeated key, and numbers that no float can represent.
		input := `{"n":` + number + `,"k":` + string(quoted) + `,"n":` + number + `}`
		answer, err := h.handle(t.Context(), "can_use_tool", json.RawMessage(`{"tool_name":"Write","input":`+input+`,"tool_use_id":"t"}`))
		if err != nil {
			rt.Fatal(err)
		}
		p := answer.(permission)
		if p.Behavior != "allow" || string(p.Input) != input {
			rt.Fatalf("%s comes back as %+v", input, p)
		}
	})
}

func TestTheUserIsAskedInAMessageAndNotInADialog(t *testing.T) {
	r := &hostRun{}
	h := boundHost(t, r)
	for _, x := range captured(t, "c-ask-user-question") {
		got := asked(t, h, x.subtype, string(x.request))
		if !strings.Contains(got, `"deny"`) || !strings.Contains(got, "message") {
			t.Errorf("the answer is %s", got)
		}
	}
	if n := len(r.seen("ask")); n != 0 {
		t.Errorf("the run was asked %d times", n)
	}
}

func TestWhateverGoesWrongWithAPermissionRefusesTheCall(t *testing.T) {
	const call = `{"tool_name":"Bash","input":{"command":"rm x"},"tool_use_id":"t"}`
	panics := func(context.Context, agent.ToolUse) agent.Decision { panic("bug") }
	for name, c := range map[string]struct {
		ask     func(context.Context, agent.ToolUse) agent.Decision
		request string
	}{
		"a panic":              {panics, call},
		"no JSON":              {nil, `{"tool_name":"Bash"`},
		"no tool":              {nil, `{"input":{}}`},
		"no input":             {nil, `{"tool_name":"Bash"}`},
		"a text as the input":  {nil, `{"tool_name":"Bash","input":"rm x"}`},
		"null as the input":    {nil, `{"tool_name":"Bash","input":null}`},
		"a number as the tool": {nil, `{"tool_name":7,"input":{}}`},
	} {
		h := boundHost(t, &hostRun{ask: c.ask})
		got := asked(t, h, "can_use_tool", c.request)
		if !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, `"message":"`) {
			t.Errorf("%s is answered %s", name, got)
		}
	}
}

func TestARunThatCanAskNobodyRefuses(t *testing.T) {
	h := newHost(agent.SessionOptions{}, slog.New(slog.DiscardHandler))
	defer h.close()
	if got := asked(t, h, "can_use_tool", `{"tool_name":"Bash","input":{},"tool_use_id":"t"}`); !strings.Contains(got, callback.AnswerNobody) {
		t.Errorf("the answer is %s", got)
	}
	if !h.denied("t") {
		t.Error("the call does not count as denied")
	}
}

func TestAnInterruptRefusesWhatWaitsForPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The callback allows the call at the moment of the interrupt, which is too late.
		h := boundHost(t, &hostRun{ask: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			<-ctx.Done()
			return u.Allowed()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		answer, err := h.handle(ctx, "can_use_tool", json.RawMessage(`{"tool_name":"Bash","input":{},"tool_use_id":"t"}`))
		if p, ok := answer.(permission); err != nil || !ok || p.Behavior != "deny" || !h.denied("t") {
			t.Errorf("the answer is %+v, %v", answer, err)
		}
	})
}

func TestAPersonMayThinkForAsLongAsTheyLike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := boundHost(t, &hostRun{ask: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			time.Sleep(24 * time.Hour)
			return agent.Decision{Digest: u.Digest(), Allow: ctx.Err() == nil}
		}})
		if got := asked(t, h, "can_use_tool", `{"tool_name":"Bash","input":{}}`); !strings.Contains(got, `"allow"`) {
			t.Errorf("the answer is %s", got)
		}
	})
}
