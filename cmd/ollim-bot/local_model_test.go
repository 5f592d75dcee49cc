package main

import (
	"strings"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/base/testkit"
)

// E1: with a server that speaks Ollama's interface and no account, the tutorial is all that a person needs: init finds
// the model, and a conversation, a reminder and a routine work.
func TestTheTutorialWorksWithALocalModel(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	server := dialecttest.Start(t, dialecttest.Options{
		Models:  []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960}},
		Backend: claudetest.Start(t, claudetest.Options{}).URL(),
	})
	ping := func(words string) string {
		return claudetest.Script(claudetest.Step{Tool: "mcp__discord__ping_user", Input: map[string]any{"message": words}}, claudetest.Step{Text: "Done."})
	}
	bot := newWorld(t, "PATH=/usr/bin:/bin", "OLLIM_TIMEZONE=", "OLLAMA_HOST="+server.URL)
	bot.launch("init", "--timezone", "Europe/Berlin")
	for range 5 { // the values in brackets
		bot.types("")
	}
	bot.hears("The bot uses local/qwen3:8b")
	bot.ends()

	bot.launch("run", "--plain")
	bot.hears("engine messages")
	bot.asks("/model", "local/qwen3:8b: 8.2B, up to 40,960 tokens, runs with 16,384 now, calls tools")
	bot.asks("good morning "+claudetest.Script(claudetest.Step{Text: "Good morning, Ada."}), "bot: Good morning, Ada.")
	bot.asks("reminder add --delay 1 -d Water -m 'Remind me to drink. "+ping("Have a glass of water.")+"'", "-- Water")
	bot.asks("fire water", "ping: Water: Have a glass of water.")
	bot.asks("routine add -d Tea -m 'Nudge me to make tea. "+ping("The kettle waits.")+`' --cron "0 15 * * mon-fri" --background`, "-- Tea")
	bot.asks("fire tea", "ping: Tea: The kettle waits.")
	bot.hears("run: Tea, 1 ping")
	bot.stops()
	if asked := server.Requests(); len(asked) < 5 || asked[0].Path != "/api/chat" || asked[0].Window != 16_384 {
		t.Errorf("%d requests", len(asked))
	}
	if wrong := bot.out.String(); strings.Contains(wrong, "error: ") {
		t.Error("a line failed")
	}
	if log := bot.read("state/bot.log"); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log has errors:\n%s", log)
	}
}
