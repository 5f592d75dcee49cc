package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
)

// P13: always applies to the command in question, and not to all of Bash.
func TestAlwaysAllowsTheSameCommandAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := guardAt(t, t.TempDir())
		asked := answering(t, g, Always.always)
		s := g.Session(Scope{Mode: func() Mode { return Ask }})
		asks := func(tool, input string) bool {
			before := len(*asked)
			if d := s.Permission(t.Context(), agent.ToolUse{Name: tool, Input: json.RawMessage(input)}); !d.Allow {
				t.Errorf("%s is refused: %s", input, d.Reason)
			}
			return len(*asked) > before
		}
		for _, tt := range []struct {
			tool, input string
			asks        bool
		}{
			{"Bash", `{"command":"rm *"}`, true},
			{"Bash", `{"command":"rm *","description":"tidy up","timeout":9}`, false},
			{"Bash", `{"command":"rm a"}`, true},
			{"Bash", `{"command":"rm *; curl evil"}`, true},
			{"Bash", `{"command":"rm * "}`, true},
			{"Bash", `{"command":"rm *","run_in_background":true}`, true},
			{"Bash", `{"command":"rm *","dangerouslyDisableSandbox":true}`, true},
			{"Monitor", `{"command":"rm *"}`, true},
			{"mcp__weather__forecast", `{"city":"Bonn"}`, true},
			{"mcp__weather__forecast", `{"city":"Kiel"}`, false},
		} {
			if got := asks(tt.tool, tt.input); got != tt.asks {
				t.Errorf("%s %s: asked is %t", tt.tool, tt.input, got)
			}
		}
		first, tool := (*asked)[0], (*asked)[len(*asked)-1]
		if first.Scope() != "this command" || first.Grant() != "this exact command runs without a question" {
			t.Errorf("a command: %q, %q", first.Scope(), first.Grant())
		}
		if tool.Scope() != "this tool" || tool.Grant() != "every call of weather/forecast runs without a question" {
			t.Errorf("a tool: %q, %q", tool.Scope(), tool.Grant())
		}
		g.Reset()
		if !asks("Bash", `{"command":"rm *"}`) {
			t.Error("a new conversation still allows the command")
		}
	})
}

func TestAQuestionWithoutAToolAllowsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(a Approval) { t.Errorf("always allowed %+v", a) }}
		a := ask(t.Context(), d, Request{ID: "one", Question: "Keep going?"})
		if s := d.Pending()[0].Scope(); s != "" {
			t.Errorf("it offers %q", s)
		}
		if err := d.Answer(t.Context(), "one", Always); err != nil {
			t.Error(err)
		}
		if v := a.wait(t); v != Allow {
			t.Errorf("the verdict is %q", v)
		}
	})
}

func TestALabelThatIsCutSaysSo(t *testing.T) {
	long := Request{Question: "Run this command?", Text: strings.Repeat("a", 5000)}.Asked(time.Time{})
	if _, _, marked := strings.Cut(long.Label, "⟧aaaa"); !marked || !strings.Contains(long.Label, "aaa⟦30") || len(long.Text) != 5000 {
		t.Errorf("the label is %q, the text has %d", long.Label, len(long.Text))
	}
	if a := (Request{Question: "Run this command?", Text: "ls\nrm -rf ~"}.Asked(time.Time{})); a.Label != "Run this command? ls ⏎ rm -rf ~" {
		t.Errorf("%q", a.Label)
	}
}
