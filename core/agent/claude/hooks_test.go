package claude

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
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

func TestNoObjectionIsNotAPermission(t *testing.T) {
	h := boundHost(t, &hostRun{})
	if got := asked(t, h, "hook_callback", hookLine(hookPreTool, bashCall)); got != "{}" {
		t.Errorf("the hook answers %s; an allow would skip the question for permission", got)
	}
}

func TestADenialTellsTheModelWhy(t *testing.T) {
	h := boundHost(t, &hostRun{pre: func(context.Context, agent.ToolUse) agent.Decision {
		return agent.Decision{Reason: "state/ is the bot's own"}
	}})
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
		`"permissionDecisionReason":"state/ is the bot's own"}}`
	if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, []byte(asked(t, h, "hook_callback", hookLine(hookPreTool, bashCall))))); diff != "" {
		t.Error(diff)
	}
}

func TestAStopHookBlocksOnceHoweverOftenItObjects(t *testing.T) {
	h := boundHost(t, &hostRun{stop: func(context.Context, bool) string { return "report first" }})
	if got := asked(t, h, "hook_callback", hookLine(hookStop, `{"stop_hook_active":false}`)); got != `{"decision":"block","reason":"report first"}` {
		t.Errorf("the first end is answered %s", got)
	}
	if got := asked(t, h, "hook_callback", hookLine(hookStop, `{"stop_hook_active":true}`)); got != "{}" {
		t.Errorf("the second end is answered %s", got)
	}
}

// With an error the call would run, so no fault may become one.
func TestWhateverGoesWrongBeforeACallRefusesIt(t *testing.T) {
	panics := func(context.Context, agent.ToolUse) agent.Decision { panic("bug") }
	for name, c := range map[string]struct {
		pre     func(context.Context, agent.ToolUse) agent.Decision
		request string
	}{
		"a panic":                     {panics, hookLine(hookPreTool, bashCall)},
		"no JSON":                     {nil, `{"callback_id":`},
		"no object":                   {nil, `[1]`},
		"no input":                    {nil, `{"callback_id":"ollim_pre_tool"}`},
		"an input that is no object":  {nil, hookLine(hookPreTool, `"x"`)},
		"no tool":                     {nil, hookLine(hookPreTool, `{"tool_input":{}}`)},
		"no input of the tool":        {nil, hookLine(hookPreTool, `{"tool_name":"Bash"}`)},
		"a list as the tool's input":  {nil, hookLine(hookPreTool, `{"tool_name":"Bash","tool_input":[]}`)},
		"a tool's name that is none":  {nil, hookLine(hookPreTool, `{"tool_name":7,"tool_input":{}}`)},
		"a hook that nobody has made": {nil, hookLine("other", bashCall)},
	} {
		h := boundHost(t, &hostRun{pre: c.pre})
		if got := asked(t, h, "hook_callback", c.request); !strings.Contains(got, `"permissionDecision":"deny"`) {
			t.Errorf("%s is answered %s", name, got)
		}
	}
}

func TestFaultsOfTheOtherHooksHoldNothingUp(t *testing.T) {
	o := (&hostRun{}).options()
	o.Hooks.Stop = func(context.Context, bool) string { panic("bug") }
	o.Hooks.PostTool = func(context.Context, agent.ToolUse) { panic("bug") }
	h := newHost(o, slog.New(slog.DiscardHandler))
	defer h.close()
	for _, request := range []string{
		hookLine(hookStop, `{}`), hookLine(hookStop, `7`), hookLine(hookPostTool, bashCall), hookLine(hookPostTool, `{"tool_name":[]}`),
	} {
		if got := asked(t, h, "hook_callback", request); got != "{}" {
			t.Errorf("%s is answered %s", request, got)
		}
	}
}

func TestARunWithoutHooksObjectsToNothing(t *testing.T) {
	h := newHost(agent.SessionOptions{}, slog.New(slog.DiscardHandler))
	defer h.close()
	for _, hook := range []string{hookStop, hookPreTool, hookPostTool} {
		if got := asked(t, h, "hook_callback", hookLine(hook, bashCall)); got != "{}" {
			t.Errorf("%s answers %s", hook, got)
		}
	}
}

func TestASlowHookIsAnsweredBeforeTheCLIGivesUp(t *testing.T) {
	for hook, c := range map[string]struct {
		limit time.Duration
		want  string
	}{
		hookPreTool:  {55 * time.Second, callback.AnswerSlow},
		hookStop:     {55 * time.Second, "{}"},
		hookPostTool: {25 * time.Second, "{}"},
	} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			o := (&hostRun{}).options()
			o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision { <-release; return u.Allowed() }
			o.Hooks.Stop = func(context.Context, bool) string { <-release; return "late" }
			o.Hooks.PostTool = func(context.Context, agent.ToolUse) { <-release }
			h := newHost(o, slog.New(slog.DiscardHandler))
			begun := time.Now()
			got := asked(t, h, "hook_callback", hookLine(hook, bashCall))
			if took := time.Since(begun); took != c.limit {
				t.Errorf("%s was answered after %v, not %v", hook, took, c.limit)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s is answered %s", hook, got)
			}
			close(release)
			h.close()
		})
	}
}

func TestACancelledHookRefusesAndEndsItsCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		h := boundHost(t, &hostRun{pre: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			<-ctx.Done()
			ended = true
			return u.Allowed()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		answer, err := h.handle(ctx, "hook_callback", json.RawMessage(hookLine(hookPreTool, bashCall)))
		if err != nil || answer.(hookAnswer).Specific == nil || !h.denied("toolu_1") {
			t.Errorf("the answer is %+v, %v", answer, err)
		}
		h.close()
		if !ended {
			t.Error("close did not wait for the callback")
		}
	})
}

func TestCloseCancelsTheHooksThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := boundHost(t, &hostRun{pre: func(ctx context.Context, u agent.ToolUse) agent.Decision {
			<-ctx.Done()
			return u.Allowed()
		}})
		begun := time.Now()
		time.AfterFunc(time.Second, h.close)
		if got := asked(t, h, "hook_callback", hookLine(hookPreTool, bashCall)); !strings.Contains(got, `"deny"`) {
			t.Errorf("the hook answers %s", got)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
