package script

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

func TestTheSamePromptGivesTheSameTurn(t *testing.T) {
	play := func() string {
		s := open(t, Options{}, agent.SessionOptions{Tools: botTools(nil)})
		got, _, err := turnOf(t.Context(), s, prompts(t)["bg-reminder-chain-mid"])
		testkit.Must(t, err)
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
		testkit.Must(t, err)
		all[strings.TrimSuffix(filepath.Base(f), ".txt")] = string(data)
	}
	return all
}

// forkPrompt returns the bot's real prompt for a fork, with its header.
func forkPrompt(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "forks", name+".txt"))
	testkit.Must(t, err)
	return "[2026-11-23 Mon 09:02 AM PT] " + string(data)
}

func botTools(calls *[]string) []agent.Tool {
	var list []agent.Tool
	for _, n := range []string{"ping_user", "discord_embed", "report_updates", "follow_up_chain", "add_reminder", "list_reminders", "cancel_reminder", "propose_reminder"} {
		list = append(list, agent.Tool{Name: n, Call: func(_ context.Context, a agent.Approved) agent.ToolResult {
			if calls != nil {
				*calls = append(*calls, n+string(a.Input()))
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

// S8: the report of a task that is only a script named the last of the bot's sections before it.
func TestOfATaskThatIsOnlyAScriptNothingOfThePromptIsShown(t *testing.T) {
	for name, prompt := range prompts(t) {
		before, _, _ := strings.Cut(prompt, "Look at my tasks.")
		if got := read(before + "```script\nsay hello\n```"); got.body != "" || !got.background {
			t.Errorf("%s: the body is %q", name, got.body)
		}
	}
	before, _, _ := strings.Cut(prompts(t)["bg-routine-on_ping"], "Look at my tasks.")
	var calls []string
	s := open(t, Options{}, agent.SessionOptions{Tools: botTools(&calls), Hooks: agent.Hooks{Stop: func(_ context.Context, again bool) string {
		if again {
			return ""
		}
		return "call report_updates first"
	}}})
	_, _, err := turnOf(t.Context(), s, before+"```script\nsay hello\n```")
	if want := `report_updates{"message":"The script: done."}`; err != nil || strings.Join(calls, "\n") != want {
		t.Errorf("called %q, %v, want %s", calls, err, want)
	}
}

func TestUserMessagesAreUnderstood(t *testing.T) {
	got := read("[2026-11-23 Mon 09:02 AM CET] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) a\n- (2 days ago) b\n\nWhat's up?\n\nReally.")
	if got != (message{body: "What's up?\n\nReally."}) {
		t.Errorf("%+v", got)
	}
	if got := read("[2026-11-23 Mon 09:02 AM PT] [routine:x] Say good morning."); got.body != "Say good morning." || got.background {
		t.Errorf("%+v", got)
	}
}

func TestATaskWithoutAScriptPingsInItsOwnWordsOrNotAtAll(t *testing.T) {
	base, _, _ := strings.Cut(prompts(t)["bg-routine-on_ping"], "Look at my tasks.")
	for body, words := range map[string]string{
		"Nudge me to stand up.": "Nudge me to stand up.", "First this.\n\nThen remind me to eat.": "Then remind me to eat.", "Sweep the inbox.": "",
	} {
		want := ""
		if words != "" {
			want = `ping_user{"message":"` + words + sayOwnWords + `"}`
		}
		var calls []string
		s := open(t, Options{}, agent.SessionOptions{Tools: botTools(&calls)})
		_, result, err := turnOf(t.Context(), s, base+body)
		if err != nil || result.Text != sayNoModel || strings.Join(calls, "\n") != want {
			t.Errorf("%q: called %q, want %q, says %q, %v", body, calls, want, result.Text, err)
		}
		s = open(t, Options{}, agent.SessionOptions{})
		if _, result, err := turnOf(t.Context(), s, base+body); err != nil || result.Text != sayNoModel {
			t.Errorf("%q without tools: %+v, %v", body, result, err)
		}
	}
}

func TestWithoutAScriptTheUserHearsThatThereIsNoModel(t *testing.T) {
	s := open(t, Options{Offline: "Connect one."}, agent.SessionOptions{Tools: botTools(nil)})
	for _, c := range []struct{ text, want string }{
		{"hello!", "Connect one."},
		{"remind me to water the plants in 20 minutes", sayNoModel},
		{"[routine:a1b2c3d4] Take your pills.", "Take your pills.\n" + sayNoModel},
		{forkPrompt(t, "idle"), sayNoModel},
		{"", sayNoModel},
	} {
		_, result, err := turnOf(t.Context(), s, "[2026-11-23 Mon 09:02 AM PT] "+c.text)
		if err != nil || result.IsError || result.Text != c.want {
			t.Errorf("%q: %q, want %q, %v", c.text, result.Text, c.want, err)
		}
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
	testkit.Must(t, err)
	if len(got) != 3 || got[0] != "think A good one.\n" || got[1] != "text You said: Did anyone write?" || result.IsError {
		t.Errorf("%q", got)
	}
	_, result, err = turnOf(t.Context(), s, "a broken one")
	testkit.Must(t, err)
	if !result.IsError || !strings.Contains(result.Text, `unknown command "sing"`) {
		t.Errorf("%+v", result)
	}
	for prompt, said := range map[string]string{"started": "[fork-started]", "topic": "Plan the\nmove", "idle": "[fork-timeout]", "report": "[system]"} {
		asked := ""
		s = open(t, Options{Talk: func(text string) string { asked = text; return "say Yes." }}, agent.SessionOptions{})
		if _, _, err = turnOf(t.Context(), s, forkPrompt(t, prompt)); err != nil || asked != said {
			t.Errorf("%s: asked %q, want %q, %v", prompt, asked, said, err)
		}
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
		testkit.Must(t, err)
		if result.Text != c.want || result.IsError {
			t.Errorf("%s: %+v", name, result)
		}
	}
}
