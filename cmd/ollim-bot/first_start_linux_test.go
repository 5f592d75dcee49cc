package main

import (
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// TestTheFirstStartKeepsTheConversation is D1 in the built program: with an empty home, the
// conversation, a fork, a background run and the next start all know what was said first.
func TestTheFirstStartKeepsTheConversation(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for name, prepare := range map[string]func(w *claudeWorld){
		"bubblewrap": func(*claudeWorld) {},
		"Landlock":   func(w *claudeWorld) { w.setenv("PATH", pathWithout(t, "bwrap")) },
		"no sandbox": func(w *claudeWorld) { w.runs("config", "sandbox", "off") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClaudeWorld(t)
			w.setenv("HOME", t.TempDir())
			w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CONFIG_DIR=") })
			prepare(w)

			bot := w.plain()
			bot.asks("say "+claudetest.Script(claudetest.Step{Text: "It is a quince."}), "bot: It is a quince.")
			bot.types("say /fork")
			bot.types("say what fruit, fork?")
			w.knows("what fruit, fork?")
			bot.types("say /fork exit")
			bot.asks("new reminder in 1 minutes what fruit, run?", "added")
			bot.types("fire what fruit")
			w.knows("what fruit, run?")
			bot.types("say what fruit, now?")
			w.knows("what fruit, now?")
			bot.types("quit")
			bot.ends()

			bot = w.plain()
			bot.types("say what fruit, later?")
			w.knows("what fruit, later?")
			bot.types("quit")
			bot.ends()
			if strings.Contains(bot.out.String(), "no longer knows") {
				t.Errorf("the second start lost the conversation:\n%s", bot.out.String())
			}
		})
	}
}

// knows waits for a request with this prompt, whose history has what was said first.
func (w *claudeWorld) knows(prompt string) {
	w.t.Helper()
	w.asked(prompt+" with the history", func(r claudetest.Request) bool {
		return strings.Contains(r.Prompt(), prompt) && slices.ContainsFunc(r.Messages, func(m claudetest.Message) bool {
			return m.Role == "assistant" && strings.Contains(m.Text, "It is a quince.")
		})
	})
}
