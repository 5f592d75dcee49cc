package claude

import (
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestAPromptThatIsTooLongIsCompactedAndAnswered(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	for range 4 {
		say(t, s, "a word "+strings.Repeat("and another one ", 50))
	}
	h := say(t, s, claudetest.Script(claudetest.Step{PromptTooLong: true, Times: 1, Text: "It fits."}))
	got := all[agent.Compacting](h)
	if len(got) != 2 || got[0].Done || !got[0].Auto || !got[1].Done || !got[1].Auto {
		t.Errorf("compacting %+v", got)
	}
	if h.result(t).IsError {
		t.Errorf("%+v", h.result(t))
	}
	alone := r.open()
	if end := say(t, alone, claudetest.Script(claudetest.Step{PromptTooLong: true})).result(t); !end.IsError || !strings.Contains(end.Text, "/compact") {
		t.Errorf("where nothing can be compacted: %+v", end)
	}
}

func TestWithoutALoginTheCureIsSaid(t *testing.T) {
	testkit.Alone(t)
	changed := make(chan struct{}, 100)
	r := newRig(t, func(o *Options) {
		o.Env = slices.DeleteFunc(slices.Clone(o.Env), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") })
	})
	r.engine.OnChange(func() { changed <- struct{}{} })
	s := r.open()
	if st := r.engine.Status(); !st.LoginNeeded || !strings.Contains(st.Problem, "L in the dashboard") {
		t.Errorf("status %+v", st)
	}
	if len(changed) == 0 {
		t.Error("no change was announced")
	}
	h := say(t, s, "hello")
	if end := h.result(t); !end.IsError || !strings.Contains(end.Text, "L in the dashboard") {
		t.Errorf("result %+v", end)
	}
	if h.text() != "" {
		t.Errorf("the CLI's words were taken for the model's: %q", h.text())
	}
}

// trouble is what the API does to a turn of the real command, and the expected outcome.
type trouble struct {
	name     string
	steps    []claudetest.Step
	sees     string // in the answer, a notice or the error
	requests int    // at most
	fails    bool
	retry    string // the reason of the only retry; of any number if it is empty
}

func TestAFailureSaysWhatToDo(t *testing.T) {
	testkit.Alone(t)
	meets(t, []trouble{
		{"429 once", []claudetest.Step{{Error: 429, Times: 1, Text: "Done."}}, "Done.", 2, false, "rate limit"},
		{"M13: a refused key was reported after eight seconds", []claudetest.Step{{Error: 401}}, textBadKey, 3, true, ""},
		{"529 for ever", []claudetest.Step{{Error: 529, RetryAfter: "0"}}, "529", 3, true, ""},
		{"a bad request", []claudetest.Step{{Error: 400, ErrMsg: "no good"}}, "no good", 3, true, ""},
		{"a stream without content", []claudetest.Step{{Text: "half of it", Chunk: 4, DropAfter: -1}}, "", 9, true, ""},
		{"cut in an answer once", []claudetest.Step{{Text: slow("").Text, Chunk: 4, DropAfter: 3, Times: 1}}, slow("").Text, 2, false, ""},
		{
			"an error within the stream once",
			[]claudetest.Step{{Text: slow("").Text, Chunk: 4, SSEError: "overloaded_error", SSEAfter: 3, Times: 1}},
			slow("").Text, 2, false, "",
		},
	})
}

// TestWhateverTheAPIDoesTheCommandsTurnEndsAndSaysSo has the rest of the table of the Messages engine, as far as
// the fake API serves it to the real command. With -v it prints the cost of each row.
func TestWhateverTheAPIDoesTheCommandsTurnEndsAndSaysSo(t *testing.T) {
	testkit.Alone(t)
	testkit.Campaign(t, "claude")
	type step = claudetest.Step
	call, done := bash("echo one"), step{Text: "Done."}
	two := []claudetest.Block{{Type: "tool_use", Name: "Bash", Input: call.Input}, {Type: "tool_use", Name: "Bash", Input: call.Input}}
	meets(t, []trouble{
		{"a sound answer", []step{call, done}, "Done.", 2, false, ""},
		{"429, retry-after: 1", []step{{Error: 429, RetryAfter: "1", Times: 1, Text: "Done."}}, "Done.", 2, false, "rate limit"},
		{"429 for ever", []step{{Error: 429, RetryAfter: "0"}}, "429", 3, true, ""},
		{"529 once", []step{{Error: 529, RetryAfter: "0", Times: 1, Text: "Done."}}, "Done.", 2, false, ""},
		{"500 for ever", []step{{Error: 500, RetryAfter: "0"}}, "500", 3, true, ""},
		{"credit exhausted", []step{{Error: 400, ErrMsg: "Your credit balance is too low to access the Anthropic API."}}, "redit balance", 1, true, ""},
		{"an unknown tool", []step{{Tool: "Fly", Input: map[string]any{}}, done}, "Done.", 2, false, ""},
		{"parallel calls", []step{{Blocks: two}, done}, "Done.", 2, false, ""},
		{"cut in a call once", []step{{Tool: "Bash", Input: call.Input, Chunk: 4, DropAfter: 3, Times: 1}, done}, "Done.", 3, false, ""},
	})
}

// meets plays each row in a session of its own, and a turn after it. They mostly wait to ask again.
func meets(t *testing.T, rows []trouble) {
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Env = append(slices.Clone(o.Env), "CLAUDE_CODE_MAX_RETRIES=2") })
			s := r.open()
			h := say(t, s, claudetest.Script(c.steps...))
			end, seen := h.result(t), h.text()
			for _, n := range all[agent.Notice](h) {
				seen += " " + n.Text
			}
			if end.IsError {
				seen += " " + end.Text
			}
			requests, tries := len(r.requests()), all[agent.Retry](h)
			if !strings.Contains(seen, c.sees) || end.IsError != c.fails || end.Interrupted || requests > c.requests {
				t.Errorf("%d requests, the user sees %q, %+v", requests, seen, end)
			}
			if c.fails && (h.text() != "" || end.Text == "" || strings.Contains(end.Text, "\n")) {
				t.Errorf("the turn says %q and ends as %+v", h.text(), end)
			}
			if c.retry != "" && (len(tries) != 1 || tries[0].Attempt != 1 || tries[0].Reason != c.retry || tries[0].Wait <= 0) {
				t.Errorf("retries %+v", tries)
			}
			if away := strings.Contains(c.sees, "credentials"); away && !end.Unavailable {
				t.Errorf("%+v", end)
			}
			if next := say(t, s, claudetest.Script(claudetest.Step{Text: "Next."})); next.text() != "Next." || next.result(t).IsError {
				t.Errorf("the next turn says %q", next.text())
			}
			t.Logf("%3d %9.5f  %.70s", requests, end.Usage.CostUSD, seen)
		})
	}
}
