package script

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

func TestTheSamePromptGivesTheSameTurn(t *testing.T) {
	play := func() string {
		s := open(t, Options{}, agent.SessionOptions{Tools: botTools(nil)})
		got, _, err := turnOf(t.Context(), s, prompts(t)["bg-reminder-chain-mid"])
		must(t, err)
		return strings.Join(got, "\n")
	}
	if diff := cmp.Diff(play(), play()); diff != "" {
		t.Error(diff)
	}
}

// prompts returns real prompts of the bot, by file name.
func prompts(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/prompts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no prompts", err)
	}
	all := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(t, err)
		all[strings.TrimSuffix(filepath.Base(f), ".txt")] = string(data)
	}
	return all
}

func botTools(calls *[]string) []agent.Tool {
	var list []agent.Tool
	for _, n := range []string{"ping_user", "discord_embed", "report_updates", "follow_up_chain", "add_reminder", "list_reminders", "cancel_reminder", "propose_reminder"} {
		list = append(list, agent.Tool{Name: n, Call: func(_ context.Context, args json.RawMessage) agent.ToolResult {
			if calls != nil {
				*calls = append(*calls, n+string(args))
			}
			return agent.ToolResult{Text: "ok"}
		}})
	}
	return list
}

func TestPromptsOfRunsAreUnderstood(t *testing.T) {
	for name, prompt := range prompts(t) {
		got := read(prompt)
		want := message{tag: "reminder", background: true, body: "Then tell me the three that matter."}
		if strings.HasPrefix(name, "bg-routine") {
			want.tag = "routine"
		}
		if strings.Contains(prompt, "RECENT BACKGROUND UPDATES") {
			want.updates = []string{"Morning email triage: 2 items need attention (15 minutes ago)", "CI webhook: build passed (3 hours ago)"}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(message{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The report that the Stop hook asks for named the script: "```script say hello: looked at it".
func TestTheBodyOfATaskIsWithoutItsScript(t *testing.T) {
	got := read("[2026-11-23 Mon 09:02 AM PT] [reminder-bg:x] You run in the background.\n\nCall the pharmacy.\n\n```script\nsay hello\n\nsay again\n```")
	if got.body != "Call the pharmacy." {
		t.Errorf("the body is %q", got.body)
	}
}

func TestUserMessagesAreUnderstood(t *testing.T) {
	got := read("[2026-11-23 Mon 09:02 AM CET] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) a\n- (2 days ago) b\n\nWhat's up?\n\nReally.")
	if diff := cmp.Diff([]string{"a (just now)", "b (2 days ago)"}, got.updates); diff != "" || got.body != "What's up?\n\nReally." || got.tag != "" {
		t.Error(diff, got)
	}
	if got := read("[2026-11-23 Mon 09:02 AM PT] [routine:x] Say good morning."); got.body != "Say good morning." || got.background {
		t.Errorf("%+v", got)
	}
}

func TestARunWithoutAScriptPingsIfItsTextAsksForIt(t *testing.T) {
	base, _, _ := strings.Cut(prompts(t)["bg-routine-on_ping"], "Look at my tasks.")
	for body, want := range map[string]string{
		"Nudge me to stand up and move, unless I am busy.": `ping_user{"message":"Time to stand up and move."}`,
		"It is time for the medication. Ping me.":          `ping_user{"message":"It is time for the medication."}`,
		"Tell me about my train.":                          `ping_user{"message":"A reminder: your train."}`,
		"This is critical: tell me to leave now.":          `ping_user{"critical":true,"message":"This is critical: tell you to leave now."}`,
		"Sweep the inbox.":                                 "",
		"First this.\n\nThen nudge me to eat.":             `ping_user{"message":"Then nudge you to eat."}`,
	} {
		var calls []string
		s := open(t, Options{}, agent.SessionOptions{Tools: botTools(&calls)})
		_, result, err := turnOf(t.Context(), s, base+body)
		if err != nil || result.IsError || strings.Join(calls, "\n") != want {
			t.Errorf("%q: called %q, want %q, %v", body, calls, want, err)
		}
		calls = nil
		s = open(t, Options{}, agent.SessionOptions{})
		if _, result, err := turnOf(t.Context(), s, base+body); err != nil || result.IsError {
			t.Errorf("%q without tools: %+v, %v", body, result, err)
		}
	}
}

func TestARefusedPingIsNotRepeated(t *testing.T) {
	s := open(t, Options{}, agent.SessionOptions{Tools: []agent.Tool{echo("ping_user", true)}})
	got, _, err := turnOf(t.Context(), s, "[routine-bg:a1b2c3d4] Preamble.\n\nNudge me to move.")
	must(t, err)
	if all := strings.Join(got, "\n"); strings.Count(all, "start mcp__discord__ping_user") != 1 || !strings.Contains(all, thinkRefused) {
		t.Error(all)
	}
}

func TestAnImprovisedRunTakesBelievableTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pace, want := range map[float64][2]time.Duration{1: {3 * time.Second, time.Minute}, 0.1: {300 * time.Millisecond, 6 * time.Second}, 0: {0, 0}} {
			s := open(t, Options{Pace: pace}, agent.SessionOptions{Tools: botTools(nil)})
			begin := time.Now()
			if _, _, err := turnOf(t.Context(), s, prompts(t)["bg-routine-always"]); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(begin); d < want[0] || d > want[1] {
				t.Errorf("pace %v: %s", pace, d)
			}
		}
	})
}

func TestTheUserIsAnswered(t *testing.T) {
	tests := map[string]struct {
		message string
		want    string
		call    string
	}{
		"a greeting":           {"hello!", "Hello", ""},
		"what it is":           {"which model are you?", "offline engine", ""},
		"a reminder":           {"please remind me to water the plants in 20 minutes", "water the plants", `add_reminder{"delay_minutes":20,"description":"Water the plants","prompt":"Remind me to water the plants."}`},
		"a reminder in hours":  {"remind me in 2 hours to call mum", "call mum", `add_reminder{"delay_minutes":120`},
		"one without a time":   {"remind me to water the plants", "When?", ""},
		"the list":             {"which reminders are pending?", "the current list", "list_reminders{}"},
		"a cancelled reminder": {"cancel reminder a1b2c3d4", "cancelled", `cancel_reminder{"reminder_id":"a1b2c3d4"}`},
		"a promise":            {"Ok. I'll call the dentist tomorrow, then.", "Good plan", `propose_reminder{"delay_minutes":1440,"words":"I'll call the dentist tomorrow"}`},
		"one without a day":    {"I’ll write to the bank later", "Good plan", `propose_reminder{"words":"I’ll write to the bank later"}`},
		"a hard day":           {"I am so overwhelmed", "five minutes", ""},
		"a question":           {"What is the capital of France?", "model", ""},
		"anything":             {"The shelf wobbles", "the shelf wobbles", ""},
		"a foreground routine": {"[routine:a1b2c3d4] Remind me to take my pills.", "Time to take your pills.", ""},
		"pending updates": {
			"[2026-11-23 Mon 09:02 AM PT] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (3 hours ago) CI build passed\n\nhi",
			"While you were away: CI build passed (3 hours ago)",
			"",
		},
		"nothing": {"", "this task", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var calls []string
			s := open(t, Options{}, agent.SessionOptions{Tools: botTools(&calls)})
			text := tt.message
			if !strings.HasPrefix(text, "[20") {
				text = "[2026-11-23 Mon 09:02 AM PT] " + text
			}
			got, result, err := turnOf(t.Context(), s, text)
			if err != nil || result.IsError {
				t.Fatal(got, err)
			}
			joined := strings.Join(got, "\n")
			if !strings.Contains(joined, tt.want) {
				t.Errorf("no %q in\n%s", tt.want, joined)
			}
			if strings.Contains(joined, "%!") || strings.Contains(joined, "{model}") {
				t.Errorf("a word was not filled in:\n%s", joined)
			}
			if tt.call != "" && (len(calls) != 1 || !strings.HasPrefix(calls[0], tt.call)) {
				t.Errorf("calls: %q", calls)
			}
		})
	}
}

func TestPropertyNoMessageBreaksATurn(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"[2026-11-23 Mon 09:02 AM PT] ", "[routine-bg:x] ", "RECENT BACKGROUND UPDATES:\n- (", "```script\n", "\n```", "repeat 2\n", "end\n",
				"say x\n", "call ping_user {}\n", "\n\n", "[late:", "CHAIN CONTEXT check 1 of 2", "remind me ", "in 5 min", "Ping budget: 9999999999999999999/5", "\x1b[31m", "\xff",
			}),
		), 0, 8).Draw(rt, "parts")
		s := open(t, Options{}, agent.SessionOptions{Tools: botTools(nil)})
		n := 0
		for ev, err := range s.Send(t.Context(), agent.Message{Text: strings.Join(parts, "")}) {
			if err != nil {
				rt.Fatal(err)
			}
			if _, ok := ev.(agent.Result); ok {
				n++
			}
		}
		if n != 1 {
			rt.Fatalf("%d results", n)
		}
	})
}

func TestTheDemoAnswersTheUsersWordsByScripts(t *testing.T) {
	talk := func(said string) string {
		if strings.Contains(said, "broken") {
			return "sing"
		}
		return "think A good one.\nsay You said: " + said
	}
	s := open(t, Options{Talk: talk}, agent.SessionOptions{})
	got, result, err := turnOf(t.Context(), s, "Did anyone write?")
	must(t, err)
	if len(got) != 3 || got[0] != "think A good one.\n" || got[1] != "text You said: Did anyone write?" || result.IsError {
		t.Errorf("%q", got)
	}
	_, result, err = turnOf(t.Context(), s, "a broken one")
	must(t, err)
	if !result.IsError || !strings.Contains(result.Text, `unknown command "sing"`) {
		t.Errorf("%+v", result)
	}
	asked := ""
	s = open(t, Options{Talk: talk}, agent.SessionOptions{Tools: []agent.Tool{{Name: "add_reminder", Call: func(context.Context, json.RawMessage) agent.ToolResult {
		asked = "a reminder"
		return agent.ToolResult{}
	}}}})
	if _, _, err = turnOf(t.Context(), s, "Remind me to call Dana in 2 minutes."); err != nil || asked == "" {
		t.Errorf("%v: a request for a reminder went to the scripts", err)
	}
}

func TestARefusalEndsAScriptWithItsOwnWords(t *testing.T) {
	source := scripted(`ask Write {"file_path": "/x"}`, "refused Then not.", "say Written.")
	for name, c := range map[string]struct {
		allow bool
		want  string
	}{"allowed": {true, "Written."}, "denied": {false, "Then not."}} {
		s := open(t, Options{}, agent.SessionOptions{Permission: func(_ context.Context, u agent.ToolUse) agent.Decision {
			return agent.Decision{Digest: u.Digest(), Allow: c.allow, Reason: "no"}
		}})
		_, result, err := turnOf(t.Context(), s, source)
		must(t, err)
		if result.Text != c.want || result.IsError {
			t.Errorf("%s: %+v", name, result)
		}
	}
}
