package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// all reads the lines of a capture that are of the decoder's kind.
func all[T any](t *testing.T, name, kind, subtype string, read func(Line) (T, error)) []T {
	t.Helper()
	var out []T
	for _, l := range captured(t, name) {
		if l.Type != kind || subtype != "" && l.Subtype != subtype {
			continue
		}
		v, err := read(l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func results(t *testing.T, name string) []Result {
	return all(t, name, TypeResult, "", Line.Result)
}

func TestAResultCarriesWhatTheTurnHasUsed(t *testing.T) {
	want := Result{
		Subtype: "success", Duration: 166 * time.Millisecond, APIDuration: 60 * time.Millisecond, TTFT: 136 * time.Millisecond,
		NumTurns: 1, Text: "Hi there, this is a fake streamed answer for the test.", StopReason: "end_turn",
		SessionID: "c98eca25-4ccf-4f98-8a76-612b79706614", UUID: "a3534989-8e34-4c67-9031-aeb0737f20c8",
		TotalCostUSD: 0.095952, Usage: Usage{InputTokens: 31934, OutputTokens: 10},
		ModelUsage: map[string]ModelUsage{"claude-sonnet-4-5": {
			InputTokens: 31934, OutputTokens: 10, CostUSD: 0.095952, ContextWindow: 200000, MaxOutputTokens: 32000,
		}},
		PermissionDenials: []PermissionDenial{}, TerminalReason: "completed",
	}
	if diff := cmp.Diff(want, results(t, "a-handshake-turn")[0]); diff != "" {
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
			for _, r := range results(t, name) {
				words := r.Text
				if len(r.Errors) > 0 {
					words = r.Errors[0]
				}
				got = append(got, ending{r.IsError, r.Interrupted(), r.TerminalReason, r.OriginKind, r.APIErrorStatus, words})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeltasOfAStreamJoinToTheAssistantLine(t *testing.T) {
	for _, name := range []string{"a-handshake-turn", "c-interrupt-while-permission-pending", "g-compact-manual"} {
		t.Run(name, func(t *testing.T) {
			var streamed, final strings.Builder
			message, checked := "", 0
			for _, l := range captured(t, name) {
				switch l.Type {
				case TypeStream:
					s, err := l.Stream()
					if err != nil {
						t.Fatal(err)
					}
					if s.Kind == MessageStart {
						message = s.MessageID
					}
					if s.Kind == BlockStart {
						streamed.Reset()
					}
					streamed.WriteString(s.Text + s.Thinking + s.PartialJSON)
				case TypeAssistant:
					a, err := l.Assistant()
					if err != nil || len(a.Content) != 1 || a.Synthetic() {
						t.Fatalf("%+v, %v", a, err)
					}
					b := a.Content[0]
					final.Reset()
					final.WriteString(b.Text + b.Thinking + string(b.Input))
					if a.MessageID != message || streamed.String() != final.String() {
						t.Errorf("message %s streamed %q, then said %q as %s", message, streamed.String(), final.String(), a.MessageID)
					}
					checked++
				}
			}
			if checked == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

func TestAStreamThatBreaksIsFollowedByAnotherMessage(t *testing.T) {
	starts := all(t, "j-tcp-drop", TypeStream, "", Line.Stream)
	truth := all(t, "j-tcp-drop", TypeAssistant, "", Line.Assistant)
	if starts[0].Kind != MessageStart || starts[0].MessageID == "" || starts[0].MessageID == truth[0].MessageID {
		t.Errorf("%q streamed, %q said", starts[0].MessageID, truth[0].MessageID)
	}
	if starts[0].Usage.InputTokens != 31937 || starts[0].TTFT != 14*time.Millisecond {
		t.Errorf("start: %+v", starts[0])
	}
	if want := "partial text here that breaks off in the middle of it all"; Text(truth[0].Content) != want {
		t.Errorf("said %q", Text(truth[0].Content))
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
	manual := all(t, "g-compact-manual", TypeSystem, SubtypeCompactBoundary, Line.Compact)
	want := []Compact{{
		Trigger: "manual", PreTokens: 31993, PostTokens: 781, Duration: 74 * time.Millisecond,
		Preserved: []string{"efa32398-cf65-4f4f-8a71-00166ece0c27"},
	}}
	if diff := cmp.Diff(want, manual); diff != "" {
		t.Error(diff)
	}
	auto := all(t, "g-compact-auto", TypeSystem, SubtypeCompactBoundary, Line.Compact)
	if len(auto) != 1 || auto[0].Trigger != "auto" || auto[0].PreTokens != 54424 || len(auto[0].Preserved) != 6 {
		t.Errorf("auto: %+v", auto)
	}
	var steps []string
	for _, name := range []string{"g-compact-auto", "g-prompt-too-long"} {
		for _, s := range all(t, name, TypeSystem, SubtypeStatus, Line.Status) {
			if s.Status == "compacting" || s.CompactResult != "" {
				steps = append(steps, strings.TrimSpace(s.Status+s.CompactResult+" "+s.CompactError))
			}
		}
	}
	if diff := cmp.Diff([]string{"compacting", "success", "compacting", "failed too_few_groups"}, steps); diff != "" {
		t.Error(diff)
	}
	var echoes []bool
	for _, u := range all(t, "g-compact-manual", TypeUser, "", Line.User) {
		if len(u.Content) != 1 || u.Content[0].Text == "" {
			t.Errorf("a string is one block: %+v", u)
		}
		echoes = append(echoes, u.IsSynthetic, u.IsReplay)
	}
	if diff := cmp.Diff([]bool{true, false, false, true}, echoes); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfTheAPIAreTold(t *testing.T) {
	retries := all(t, "j-401", TypeSystem, SubtypeRetry, Line.Retry)
	want := Retry{
		Attempt: 1, MaxRetries: 1, Delay: 606799434, ErrorStatus: 401, Error: "authentication_failed",
		SessionID: "7a008ab0-2144-457c-ae80-0440fb77dca7", UUID: "f1c5b559-05dd-475b-a927-5351d7ea6314",
	}
	if diff := cmp.Diff([]Retry{want}, retries); diff != "" {
		t.Error(diff)
	}
	said := all(t, "j-401", TypeAssistant, "", Line.Assistant)
	if len(said) != 1 || !said[0].Synthetic() || said[0].Error != "authentication_failed" {
		t.Errorf("said %+v", said)
	}
	fallback := all(t, "j-529-fallback", TypeSystem, SubtypeModelFallback, Line.ModelFallback)
	if diff := cmp.Diff([]ModelFallback{{
		Trigger: "overloaded", OriginalModel: "claude-sonnet-4-5", FallbackModel: "claude-haiku-4-5",
		Content: "Switched to Haiku 4.5 due to high demand for Sonnet 4.5",
	}}, fallback); diff != "" {
		t.Error(diff)
	}
	refusals := all(t, "j-refusal", TypeSystem, SubtypeRefusal, Line.Refusal)
	if len(refusals) != 1 || refusals[0].UserMessageUUID != "104ee162-3e96-42a2-8a74-145c0bd7e0ce" {
		t.Errorf("refusals %+v", refusals)
	}
	limits := all(t, "k-oauth-token-env", TypeRateLimit, "", Line.RateLimit)
	resets := time.Unix(1795225076, 0)
	if diff := cmp.Diff([]RateLimit{
		{Status: "allowed_warning", ResetsAt: resets, Type: "five_hour", Utilization: 0.91, SurpassedThreshold: 0.9},
		{Status: "rejected", ResetsAt: resets, Type: "five_hour", OverageStatus: "rejected", OverageDisabledReason: "org_level_disabled"},
	}, limits); diff != "" {
		t.Error(diff)
	}
}

func TestTasksInTheBackgroundAreFollowed(t *testing.T) {
	var got []Task
	for _, l := range captured(t, "l-subagent") {
		if l.Type == TypeSystem && strings.HasPrefix(l.Subtype, "task_") {
			task, err := l.Task()
			if err != nil {
				t.Fatal(err)
			}
			task.UUID, task.ToolUseID, task.SessionID = "", "", ""
			got = append(got, task)
		}
	}
	id := "abd46ec0c02869ffa"
	want := []Task{
		{Event: SubtypeTaskStarted, ID: id, Description: "do it", SubagentType: "general-purpose", TaskType: "local_agent", Prompt: "inner prompt"},
		{
			Event: SubtypeTaskProgress, ID: id, Description: "Running d", SubagentType: "general-purpose", LastToolName: "Bash",
			Usage: TaskUsage{TotalTokens: 15786, ToolUses: 1, Duration: 33 * time.Millisecond},
		},
		{Event: SubtypeTaskUpdated, ID: id, Status: "completed"},
		{
			Event: SubtypeTaskNotification, ID: id, Status: "completed", Summary: "do it",
			Usage: TaskUsage{TotalTokens: 16479, ToolUses: 1, Duration: 167 * time.Millisecond},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
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
}

func TestRefusalsBeforeAnybodyIsAskedAreTold(t *testing.T) {
	denied := all(t, "c-dontask", TypeSystem, SubtypePermissionDenied, Line.Denied)
	if len(denied) != 1 || denied[0].ToolName != "Bash" || denied[0].ReasonType != "mode" ||
		denied[0].ToolUseID != results(t, "c-dontask")[0].PermissionDenials[0].ToolUseID {
		t.Errorf("denied %+v", denied)
	}
	blocked := all(t, "d-userpromptsubmit-block", TypeSystem, SubtypeInformational, Line.Informational)
	if len(blocked) != 1 || blocked[0].Level != "warning" || !blocked[0].PreventContinuation ||
		!strings.HasPrefix(blocked[0].Content, "UserPromptSubmit operation blocked by hook:\nprompt refused") {
		t.Errorf("blocked %+v", blocked)
	}
}

func TestEveryTurnBeginsWithAnInitLine(t *testing.T) {
	inits := all(t, "a-handshake-turn", TypeSystem, SubtypeInit, Line.Init)
	if len(inits) != 2 {
		t.Fatalf("%d init lines", len(inits))
	}
	i := inits[0]
	if i.Model != "claude-sonnet-4-5" || i.Version != "2.1.197" || i.PermissionMode != "default" ||
		i.APIKeySource != "ANTHROPIC_API_KEY" || i.Tools[2] != "Bash" || i.MemoryPaths["auto"] == "" {
		t.Errorf("init %+v", i)
	}
	servers := all(t, "b-sdk-mcp", TypeSystem, SubtypeInit, Line.Init)[0].MCPServers
	if diff := cmp.Diff([]MCPServer{{"discord", "connected"}}, servers); diff != "" {
		t.Error(diff)
	}
	states := all(t, "l-background-task", TypeSystem, SubtypeState, Line.State)
	if len(states) == 0 || states[0].State != "running" || states[len(states)-1].State != "idle" {
		t.Errorf("states %+v", states)
	}
}
