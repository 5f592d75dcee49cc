package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// TestAPromiseOverTheRealCommand: the user writes a promise, the model calls
// propose_reminder through the real command, the user accepts, and the reminder file
// quotes the promise. Words that the user has not written are refused.
func TestAPromiseOverTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	const words = "I'll call the dentist tomorrow"
	w := newClaudeWorld(t)
	at := time.Now().AddDate(0, 0, 1).Format("2006-01-02T15:04")
	bot := w.plain()
	bot.types("say " + words + ". " + claudetest.Script(
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": `I'll send "Eve" the keys`}},
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": words, "run_at": at}},
		claudetest.Step{Text: "That is a plan."}))
	bot.hears("bot: That is a plan.")
	bot.types("questions")
	bot.hears("Answers: Remind me, Other time…, No.")
	if strings.Contains(stored(w.data, "state", "proposals.json"), "Eve") {
		t.Error("words that the user has not written are proposed")
	}
	bot.types("answer yes")
	bot.hears("you will be reminded at ")
	files, err := filepath.Glob(filepath.Join(w.data, "reminders", "*.md"))
	testkit.Must(t, err)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		if strings.Contains(string(text), `\"`+words+`\"`) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d files quote the promise: %q", found, files)
	}
	bot.ends()
}
