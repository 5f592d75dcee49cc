package claude

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

const bashCall = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}`

func TestTheCapturedHooksAreAnsweredAsTheCLIUnderstoodThem(t *testing.T) {
	r := &hostRun{
		stop: func(_ context.Context, again bool) string { return "You have not reported yet." },
		pre: func(_ context.Context, u agent.ToolUse) agent.Decision {
			return agent.Decision{Digest: u.Digest(), Allow: !strings.Contains(string(u.Input), "deny"), Reason: "no"}
		},
	}
	h := boundHost(t, r)
	blocked := 0
	for _, x := range captured(t, "d-hooks") {
		if x.subtype != "hook_callback" {
			continue
		}
		answer, err := h.handle(t.Context(), x.subtype, x.request)
		testkit.Must(t, err)
		if answer.(hookAnswer).Decision == "block" {
			blocked++
		}
	}
	if got := len(r.seen("pre")); got != 5 {
		t.Errorf("%d calls were announced, not 5", got)
	}
	if got := len(r.seen("post")); got != 3 {
		t.Errorf("%d calls have succeeded, not 3", got)
	}
	var again []bool
	for _, c := range r.seen("stop") {
		again = append(again, c.Again)
	}
	if diff := cmp.Diff([]bool{false, true, true}, again); diff != "" {
		t.Error(diff)
	}
	if blocked != 1 {
		t.Errorf("the end was blocked %d times, not once", blocked)
	}
	for _, c := range append(r.seen("pre"), r.seen("post")...) {
		if c.Use.Name == "" || !strings.HasPrefix(c.Use.ID, "toolu_") || !json.Valid(c.Use.Input) {
			t.Errorf("a call arrives as %+v", c.Use)
		}
	}
}

func TestASubagentsCallsGoThroughTheSameHooks(t *testing.T) {
	r := &hostRun{}
	h := boundHost(t, r)
	for _, x := range captured(t, "l-subagent") {
		if _, err := h.handle(t.Context(), x.subtype, x.request); err != nil {
			t.Fatal(err)
		}
	}
	names := func(calls []hostCall) (list []string) {
		for _, c := range calls {
			list = append(list, c.Use.Name)
		}
		return list
	}
	if diff := cmp.Diff([]string{"Agent", "Bash"}, names(r.seen("pre"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Bash"}, names(r.seen("ask"))); diff != "" {
		t.Error(diff)
	}
}
