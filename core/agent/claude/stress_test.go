package claude

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// TestWhateverTheAPIDoesTheCommandsTurnEndsAndSaysSo is the table of the Messages engine, as far as
// the fake API serves it to the real command. With -v it prints the cost of each row.
func TestWhateverTheAPIDoesTheCommandsTurnEndsAndSaysSo(t *testing.T) {
	testkit.Alone(t)
	testkit.Campaign(t, "claude")
	r := newRig(t, func(o *Options) { o.Env = append(slices.Clone(o.Env), "CLAUDE_CODE_MAX_RETRIES=2") })
	type step = claudetest.Step
	whole := "one two three four five six seven eight"
	done := step{Text: "Done."}
	call := bash("echo one")
	var table []string
	for _, c := range []struct {
		name     string
		steps    []step
		sees     string // in the answer, a notice or the error
		requests int    // at most
		fails    bool
	}{
		{"a sound answer", []step{call, done}, "Done.", 2, false},
		{"429 once", []step{{Error: 429, Times: 1, Text: "Done."}}, "Done.", 2, false},
		{"429, retry-after: 1", []step{{Error: 429, RetryAfter: "1", Times: 1, Text: "Done."}}, "Done.", 2, false},
		{"429 for ever", []step{{Error: 429, RetryAfter: "0"}}, "429", 3, true},
		{"529 once", []step{{Error: 529, RetryAfter: "0", Times: 1, Text: "Done."}}, "Done.", 2, false},
		{"529 for ever", []step{{Error: 529, RetryAfter: "0"}}, "529", 3, true},
		{"500 for ever", []step{{Error: 500, RetryAfter: "0"}}, "500", 3, true},
		{"401", []step{{Error: 401}}, "ANTHROPIC_API_KEY", 3, true},
		{"credit exhausted", []step{{Error: 400, ErrMsg: "Your credit balance is too low to access the Anthropic API."}}, "redit balance", 1, true},
		{"a bad request", []step{{Error: 400, ErrMsg: "no good"}}, "no good", 3, true},
		{"an unknown tool", []step{{Tool: "Fly", Input: map[string]any{}}, done}, "Done.", 2, false},
		{"parallel calls", []step{{Blocks: []claudetest.Block{
			{Type: "tool_use", Name: "Bash", Input: call.Input}, {Type: "tool_use", Name: "Bash", Input: call.Input},
		}}, done}, "Done.", 2, false},
		{"cut in an answer once", []step{{Text: whole, Chunk: 4, DropAfter: 3, Times: 1}}, whole, 2, false},
		{"an error within the stream once", []step{{Text: whole, Chunk: 4, SSEError: "overloaded_error", SSEAfter: 3, Times: 1}}, whole, 2, false},
		{"cut in a call once", []step{{Tool: "Bash", Input: call.Input, Chunk: 4, DropAfter: 3, Times: 1}, done}, "Done.", 3, false},
	} {
		before := len(r.requests())
		s := r.open()
		h := say(t, s, claudetest.Script(c.steps...))
		end := h.result(t)
		sees := []string{h.text()}
		for _, n := range all[agent.Notice](h) {
			sees = append(sees, n.Text)
		}
		if end.IsError {
			sees = append(sees, end.Text)
		}
		seen, requests := strings.Join(sees, " "), len(r.requests())-before
		if !strings.Contains(seen, c.sees) || end.IsError != c.fails || end.Interrupted || requests > c.requests {
			t.Errorf("%s: %d requests, the user sees %q, %+v", c.name, requests, seen, end)
		}
		if next := say(t, s, claudetest.Script(step{Text: "Next."})); next.text() != "Next." || next.result(t).IsError {
			t.Errorf("%s: the next turn says %q", c.name, next.text())
		}
		testkit.Must(t, s.Close())
		table = append(table, fmt.Sprintf("%-32s %3d %9.5f  %.70s", c.name, requests, end.Usage.CostUSD, cmp.Or(seen, "(nothing)")))
	}
	t.Log("\n" + strings.Join(table, "\n"))
}
