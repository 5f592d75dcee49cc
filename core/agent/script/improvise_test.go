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
)

func TestTheSameSeedAndPromptGiveTheSameTurn(t *testing.T) {
	prompt := prompts(t)["bg-reminder-chain-mid"]
	play := func(seed uint64) string {
		s := open(t, Options{Seed: seed}, agent.SessionOptions{Tools: botTools(nil)})
		got, _, err := turnOf(t.Context(), s, prompt)
		must(t, err)
		return strings.Join(got, "\n")
	}
	if first, second := play(7), play(7); first != second {
		t.Error("two turns of one seed differ")
	}
	seen := map[string]bool{}
	for seed := range uint64(30) {
		seen[play(seed)] = true
	}
	if len(seen) < 2 {
		t.Errorf("thirty seeds gave %d different turns", len(seen))
	}
}

// prompts are real prompts of the bot, by file name.
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
	for _, n := range []string{"ping_user", "discord_embed", "report_updates", "follow_up_chain", "add_reminder", "list_reminders", "cancel_reminder"} {
		list = append(list, agent.Tool{Name: n, Call: func(_ context.Context, args json.RawMessage) agent.ToolResult {
			if calls != nil {
				*calls = append(*calls, n+string(args))
			}
			return agent.ToolResult{Text: "ok"}
		}})
	}
	return list
}

func TestPromptsAreUnderstood(t *testing.T) {
	all := prompts(t)
	tests := map[string]reading{
		"bg-routine-always":          {Tag: "routine-bg", Mode: "always", Ping: true, Tokens: 3},
		"bg-routine-on_ping":         {Tag: "routine-bg", Mode: "on_ping", Ping: true, Tokens: 3},
		"bg-reminder-freely":         {Tag: "reminder-bg", Mode: "freely", Ping: true, Tokens: 3},
		"bg-reminder-blocked-silent": {Tag: "reminder-bg", Mode: "blocked", Tokens: -1},
		"bg-reminder-busy":           {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Busy: true, Tokens: 3},
		"bg-reminder-quiet":          {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Busy: true, Tokens: 3},
		"bg-reminder-muted":          {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Tokens: 0},
		"bg-reminder-chain-mid":      {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Tokens: 3, Chain: true},
		"bg-reminder-chain-final":    {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Tokens: 3},
		"bg-reminder-everything":     {Tag: "reminder-bg", Mode: "on_ping", Ping: true, Busy: true, Tokens: 3, Chain: true, Late: true},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got := read(all[name])
			if got.ID != "a1b2c3d4" || !got.Background || got.Body != "Look at my tasks.\n\nThen tell me the three that matter." {
				t.Errorf("id %q, background %v, body %q", got.ID, got.Background, got.Body)
			}
			chain := strings.Contains(name, "chain") || strings.Contains(name, "everything")
			if chain != (got.Of >= got.Check && got.Check > 1) || len(got.Tools) < 5 {
				t.Errorf("check %d of %d, %d tools", got.Check, got.Of, len(got.Tools))
			}
			if updates := len(got.Updates); updates != 0 && !strings.HasPrefix(got.Updates[0], "Morning email triage") {
				t.Errorf("updates: %q", got.Updates)
			}
			got.ID, got.Background, got.Body, got.Check, got.Of, got.Tools, got.Updates = "", false, "", 0, 0, nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUserMessagesAreUnderstood(t *testing.T) {
	got := read("[2026-11-23 Mon 09:02 AM CET] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) a\n- (2 days ago) b\n\nWhat's up?\n\nReally.")
	if diff := cmp.Diff([]string{"a (just now)", "b (2 days ago)"}, got.Updates); diff != "" || got.Body != "What's up?\n\nReally." || got.Tag != "" {
		t.Error(diff, got)
	}
	if got := read("[2026-11-23 Mon 09:02 AM PT] [routine:x] Say good morning."); got.Body != "Say good morning." || got.Background {
		t.Errorf("%+v", got)
	}
}

// An improvised background run keeps the rules that its preamble tells, calls
// tools with good arguments, and ends with one result, whatever the seed.
func TestImprovisedRunsKeepThePreamblesRules(t *testing.T) {
	bodies := []string{
		"Nudge me to stand up and move for five minutes, unless I am busy.", "It is time for the medication. This one is a health routine: ping.",
		"Lay out the week ahead. Keep it to five lines.\n\n---\n\nA divider.", "Sweep the inbox. Summarise only what needs an answer today.", "x", "",
		"Check whether the laundry is dry. Ask me again in 20 minutes.", "This is critical: tell me to leave now.",
	}
	for name, prompt := range prompts(t) {
		base, _, _ := strings.Cut(prompt, "Look at my tasks.")
		for _, body := range bodies {
			for seed := range uint64(12) {
				var calls []string
				s := open(t, Options{Seed: seed}, agent.SessionOptions{Tools: botTools(&calls)})
				got, result, err := turnOf(t.Context(), s, base+body)
				if err != nil || result.IsError || result.SessionID == "" {
					t.Fatalf("%s %q: %v, %v", name, body, got, err)
				}
				r := read(base + body)
				for _, c := range calls {
					tool, args, _ := strings.Cut(c, "{")
					if !json.Valid([]byte("{" + args)) {
						t.Errorf("%s: arguments %s", tool, args)
					}
					switch {
					case r.Mode == "blocked" && tool == "report_updates", !r.Ping && (tool == "ping_user" || tool == "discord_embed"), !r.Chain && tool == "follow_up_chain":
						t.Errorf("%s called %s", name, tool)
					}
				}
			}
		}
	}
}

func TestWhatTheDemoShowsHappensForMostSeeds(t *testing.T) {
	all := prompts(t)
	tests := map[string]struct{ prompt, body, call string }{
		"a nudge pings":            {"bg-routine-on_ping", "Nudge me to stand up and move.", `ping_user{"message":"Time to stand up and move."}`},
		"a health routine pings":   {"bg-routine-always", "It is time for the medication.", `ping_user{"message":"It is time for the medication."}`},
		"a plan is an embed":       {"bg-routine-on_ping", "Lay out the week ahead.", "discord_embed"},
		"a chain goes on":          {"bg-reminder-chain-mid", "Check whether the laundry is dry.", "follow_up_chain"},
		"a report when it must be": {"bg-routine-always", "Look back over the day.", "report_updates"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			base, _, _ := strings.Cut(all[tt.prompt], "Look at my tasks.")
			hits := 0
			for seed := range uint64(40) {
				var calls []string
				s := open(t, Options{Seed: seed}, agent.SessionOptions{Tools: botTools(&calls)})
				if _, _, err := turnOf(t.Context(), s, base+tt.body); err != nil {
					t.Fatal(err)
				}
				for _, c := range calls {
					if strings.HasPrefix(c, tt.call) {
						hits++
						break
					}
				}
			}
			if hits < 25 {
				t.Errorf("%d of 40 runs called %s", hits, tt.call)
			}
		})
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
		want    []string
		call    string
	}{
		"a greeting":           {"hello!", []string{"Hello", "Hi there"}, ""},
		"what it is":           {"which model are you?", []string{"offline engine"}, ""},
		"a reminder":           {"please remind me to water the plants in 20 minutes", []string{"water the plants"}, `add_reminder{"delay_minutes":20,"description":"Water the plants","prompt":"Remind me to water the plants."}`},
		"a reminder in hours":  {"remind me in 2 hours to call mum", []string{"call mum"}, `add_reminder{"delay_minutes":120`},
		"one without a time":   {"remind me to water the plants", []string{"When?"}, ""},
		"the list":             {"which reminders are pending?", []string{"list as it stands"}, "list_reminders{}"},
		"a cancelled reminder": {"cancel reminder a1b2c3d4", []string{"gone"}, `cancel_reminder{"reminder_id":"a1b2c3d4"}`},
		"a hard day":           {"I am so overwhelmed", []string{"five minutes", "smaller"}, ""},
		"a question":           {"What is the capital of France?", []string{"model"}, ""},
		"anything":             {"The shelf wobbles", []string{"the shelf wobbles"}, ""},
		"a foreground routine": {"[routine:a1b2c3d4] Remind me to take my pills.", []string{"Time to take your pills."}, ""},
		"pending updates": {
			"[2026-11-23 Mon 09:02 AM PT] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (3 hours ago) CI build passed\n\nhi",
			[]string{"While you were away: CI build passed (3 hours ago)"},
			"",
		},
		"nothing": {"", []string{"this task", "What is the smallest", "Noted"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				var calls []string
				s := open(t, Options{Seed: seed}, agent.SessionOptions{Tools: botTools(&calls)})
				text := tt.message
				if !strings.HasPrefix(text, "[20") {
					text = "[2026-11-23 Mon 09:02 AM PT] " + text
				}
				got, result, err := turnOf(t.Context(), s, text)
				if err != nil || result.IsError {
					t.Fatal(got, err)
				}
				joined := strings.Join(got, "\n")
				if !containsAny(joined, tt.want) {
					t.Errorf("seed %d: none of %q in\n%s", seed, tt.want, joined)
				}
				if strings.Contains(joined, "%!") || strings.Contains(joined, "{model}") {
					t.Errorf("a word was not filled in:\n%s", joined)
				}
				if tt.call != "" && (len(calls) != 1 || !strings.HasPrefix(calls[0], tt.call)) {
					t.Errorf("calls: %q", calls)
				}
			}
		})
	}
}

func containsAny(s string, list []string) bool {
	for _, w := range list {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func TestPropertyNoMessageBreaksATurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"[2026-11-23 Mon 09:02 AM PT] ", "[routine-bg:x] ", "RECENT BACKGROUND UPDATES:\n- (", "```script\n", "\n```", "repeat 2\n", "end\n",
				"say x\n", "call ping_user {}\n", "\n\n", "[late:", "CHAIN CONTEXT check 1 of 2", "remind me ", "in 5 min", "Ping budget: 9999999999999999999/5", "\x1b[31m", "\xff",
			}),
		), 0, 8).Draw(rt, "parts")
		s := open(t, Options{Seed: rapid.Uint64().Draw(rt, "seed")}, agent.SessionOptions{Tools: botTools(nil)})
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
