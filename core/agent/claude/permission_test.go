package claude

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
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
