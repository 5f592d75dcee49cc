package script

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
)

// forkPrompt returns the bot's real prompt for a fork, with its header.
func forkPrompt(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "forks", name+".txt"))
	must(t, err)
	return "[2026-11-23 Mon 09:02 AM PT] " + string(data)
}

func TestTheUsersOwnWordsAreFoundInForkPrompts(t *testing.T) {
	for name, want := range map[string]message{
		"started":     {tag: "fork-started"},
		"topic":       {tag: "fork-started", body: "Plan the\nmove"},
		"reply":       {tag: "fork-started", body: "What about the blue one?"},
		"reply-stale": {tag: "fork-started", body: "What about the blue one?"},
		"button":      {tag: "fork-started", body: "Draft the answer to the landlord"},
		"idle":        {tag: "fork-timeout"},
		"idle-hard":   {tag: "fork-timeout", mustLeave: true},
		"report":      {tag: "system"},
	} {
		got := read(forkPrompt(t, name))
		if got.tag != want.tag || got.body != want.body || got.mustLeave != want.mustLeave {
			t.Errorf("%s: tag %q, body %q, must %v", name, got.tag, got.body, got.mustLeave)
		}
	}
}

func TestAForkIsLeftAsItsPromptsAsk(t *testing.T) {
	for _, tt := range []struct {
		said, prompt string
		want         []string // tools that are called
	}{
		{"", "started", nil},
		{"", "idle", nil},
		{"Sort the boxes", "idle", nil},
		{"", "idle-hard", []string{"exit_fork{}"}},
		{"Sort the boxes", "idle-hard", []string{`report_updates{"message":"Talked in a fork about: sort the boxes."}`}},
		{"Sort the boxes", "report", []string{`report_updates{"message":"Talked in a fork about: sort the boxes."}`}},
		{"", "report", []string{`report_updates{"message":"A fork ended without a message from the user."}`}},
	} {
		t.Run(tt.prompt+" "+tt.said, func(t *testing.T) {
			var calls []string
			var tools []agent.Tool
			for _, n := range []string{"report_updates", "exit_fork"} {
				tools = append(tools, agent.Tool{Name: n, Call: func(_ context.Context, args json.RawMessage) agent.ToolResult {
					calls = append(calls, n+string(args))
					return agent.ToolResult{Text: "ok"}
				}})
			}
			s := open(t, Options{}, agent.SessionOptions{Tools: tools})
			if tt.said != "" {
				if _, _, err := turnOf(t.Context(), s, tt.said); err != nil {
					t.Fatal(err)
				}
			}
			_, result, err := turnOf(t.Context(), s, forkPrompt(t, tt.prompt))
			if err != nil || result.IsError || result.Text == "" && tt.prompt != "idle-hard" {
				t.Errorf("%+v, %v", result, err)
			}
			if strings.Join(calls, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("called %q, want %q", calls, tt.want)
			}
		})
	}
}
