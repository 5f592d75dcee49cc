package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// all returns the decoded lines of one kind in a capture.
func all[T any](t *testing.T, name, kind, subtype string, read func(Line) T) []T {
	t.Helper()
	var out []T
	for _, l := range captured(t, name) {
		if l.Type == kind && (subtype == "" || l.Subtype == subtype) {
			out = append(out, read(l))
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no %s %s", name, kind, subtype)
	}
	return out
}

func TestAResultCarriesWhatTheTurnHasUsed(t *testing.T) {
	want := Result{
		NumTurns: 1, Text: "Hi there, this is a fake streamed answer for the test.",
		SessionID: "c98eca25-4ccf-4f98-8a76-612b79706614", TotalCostUSD: 0.095952,
		ModelUsage: map[string]ModelUsage{"claude-sonnet-4-5": {InputTokens: 31934, OutputTokens: 10, CostUSD: 0.095952}}, TerminalReason: "completed",
	}
	if diff := cmp.Diff(want, all(t, "a-handshake-turn", TypeResult, "", Line.Result)[0]); diff != "" {
		t.Error(diff)
	}
}

func TestResultsSayHowTheirTurnsEnded(t *testing.T) {
	type ending struct {
		IsError, Interrupted bool
		Reason, Origin       string
		Status               int
		Words                string // the text, or the first error
	}
	tests := map[string][]ending{
		"c-interrupt-while-permission-pending": {
			{true, true, "aborted_tools", "", 0, "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"},
		},
		"e-resume-unknown": {{true, false, "", "", 0, "No conversation found with session ID: 1d316b56-ec62-45f4-aa6b-6cdfed872938"}},
		"j-401":            {{true, false, "completed", "", 401, "Failed to authenticate. API Error: 401 fake authentication_error"}},
		"k-not-logged-in": {
			{true, false, "completed", "", 0, "Not logged in · Please run /login"},
			{true, false, "completed", "", 0, "Not logged in · Please run /login"},
		},
		"g-prompt-too-long": {
			{false, false, "completed", "", 0, "r0"},
			{true, false, "prompt_too_long", "", 400, "Prompt is too long"},
		},
		"l-background-task": {
			{false, false, "completed", "", 0, "started in bg"},
			{false, false, "completed", "task-notification", 0, "auto turn"},
			{false, false, "completed", "", 0, "started 2"},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			var got []ending
			for _, r := range all(t, name, TypeResult, "", Line.Result) {
				words := r.Text
				if len(r.Errors) > 0 {
					words = r.Errors[0]
				}
				got = append(got, ending{r.IsError, r.Interrupted(), r.TerminalReason, r.Origin.Kind, r.APIErrorStatus, words})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolResultsAreReadWhetherStringOrBlocks(t *testing.T) {
	type output struct {
		Text    string
		IsError bool
	}
	var got []output
	for _, u := range all(t, "b-sdk-mcp", TypeUser, "", Line.User) {
		for _, b := range u.Content {
			if b.Type != BlockToolResult || !strings.HasPrefix(b.ToolUseID, "toolu_") {
				t.Errorf("block %+v", b)
			}
			got = append(got, output{b.OutputText(), b.IsError})
		}
	}
	want := []output{{"pinged: hello", false}, {"user is not in the guild", true}, {"MCP error -32603: boom inside", true}, {"img", false}, {"slow ok", false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompactionsSayWhatTheyDid(t *testing.T) {
	for name, want := range map[string]System{
		"g-compact-manual": {Compact: struct {
			Trigger   string `json:"trigger"`
			PreTokens int    `json:"pre_tokens"`
		}{"manual", 31993}},
		"g-compact-auto": {Compact: struct {
			Trigger   string `json:"trigger"`
			PreTokens int    `json:"pre_tokens"`
		}{"auto", 54424}},
	} {
		if got := all(t, name, TypeSystem, SubtypeCompactBoundary, Line.System)[0].Compact; got != want.Compact {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var steps []string
	for _, name := range []string{"g-compact-auto", "g-prompt-too-long"} {
		for _, s := range all(t, name, TypeSystem, SubtypeStatus, Line.System) {
			if s.Status == "compacting" || s.CompactResult != "" {
				steps = append(steps, strings.TrimSpace(s.Status+s.CompactResult+" "+s.CompactError))
			}
		}
	}
	if diff := cmp.Diff([]string{"compacting", "success", "compacting", "failed too_few_groups"}, steps); diff != "" {
		t.Error(diff)
	}
	for _, u := range all(t, "g-compact-manual", TypeUser, "", Line.User) {
		if len(u.Content) != 1 || u.Content[0].Text == "" {
			t.Errorf("a string is one block: %+v", u)
		}
	}
}

func TestFaultsOfTheAPIAreTold(t *testing.T) {
	retry := all(t, "j-401", TypeSystem, SubtypeRetry, Line.System)[0].Retry
	if want := (Retry{Attempt: 1, MaxRetries: 1, DelayMS: 606.7994349574347, ErrorStatus: 401, Error: "authentication_failed"}); retry.Delay() != want.Delay() ||
		retry.Attempt != 1 || retry.MaxRetries != 1 || retry.ErrorStatus != 401 || retry.Error != want.Error {
		t.Errorf("retry %+v", retry)
	}
	if said := all(t, "j-401", TypeAssistant, "", Line.Assistant); len(said) != 1 || said[0].Error != "authentication_failed" {
		t.Errorf("said %+v", said)
	}
	fallback := all(t, "j-529-fallback", TypeSystem, SubtypeModelFallback, Line.System)[0]
	if fallback.FallbackModel != "claude-haiku-4-5" || fallback.Content != "Switched to Haiku 4.5 due to high demand for Sonnet 4.5" {
		t.Errorf("fallback %+v", fallback)
	}
	limits := all(t, "k-oauth-token-env", TypeRateLimit, "", Line.RateLimit)
	if len(limits) != 2 || limits[0].Status != "allowed_warning" || limits[1].Status != "rejected" || !limits[1].Resets().Equal(time.Unix(1795225076, 0)) {
		t.Errorf("limits %+v", limits)
	}
}

func TestASubagentsLinesSayWhoseTheyAre(t *testing.T) {
	inside := 0
	for _, a := range all(t, "l-subagent", TypeAssistant, "", Line.Assistant) {
		if a.ParentToolUseID != "" {
			inside++
			if a.SubagentType != "general-purpose" || a.TaskDescription != "do it" || a.Content[0].Name != "Bash" {
				t.Errorf("inside: %+v", a)
			}
		}
	}
	if inside != 1 {
		t.Errorf("%d lines of the subagent", inside)
	}
	if end := all(t, "l-subagent", TypeSystem, SubtypeTaskNotification, Line.System)[0]; end.Summary != "do it" || end.ToolUseID == "" {
		t.Errorf("its end: %+v", end)
	}
}

func TestWhereTheSessionStandsIsTold(t *testing.T) {
	states := all(t, "l-background-task", TypeSystem, SubtypeState, Line.System)
	if states[0].State != "running" || states[len(states)-1].State != "idle" {
		t.Errorf("states %+v", states)
	}
	if i := all(t, "a-handshake-turn", TypeSystem, SubtypeInit, Line.System); len(i) != 2 || i[0].SessionID == "" {
		t.Errorf("%d turns begin, %+v", len(i), i[0])
	}
	if d := all(t, "c-dontask", TypeSystem, SubtypePermissionDenied, Line.System); len(d) != 1 || d[0].ToolUseID == "" {
		t.Errorf("denied %+v", d)
	}
	blocked := all(t, "d-userpromptsubmit-block", TypeSystem, SubtypeInformational, Line.System)
	if len(blocked) != 1 || !strings.HasPrefix(blocked[0].Content, "UserPromptSubmit operation blocked by hook:\nprompt refused") {
		t.Errorf("blocked %+v", blocked)
	}
}
