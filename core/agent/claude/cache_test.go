package claude

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// A morning with the command: turns of the main session, one with tools, and forks in between as
// routines open them. Hardly any request rewrites an earlier one, because everything after the
// change would be paid in full. Commands before 2.1.330 do so once in each fork, near the end of
// its history.
func TestMostOfTheInputIsReadFromThePromptCache(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	prompt := func(o *agent.SessionOptions) {
		o.SystemPrompt = "You are the bot of a test. " + strings.Repeat("It has many rules. ", 500)
		o.Tools = []agent.Tool{whoTool("main")}
	}
	main := r.open(prompt)
	say(t, main, "good morning").result(t)
	const forks = 3
	for hour := range forks {
		fork := r.open(prompt, func(o *agent.SessionOptions) { o.Resume, o.Fork, o.ID = main.ID(), true, store.NewUUID() })
		say(t, fork, fmt.Sprint("the routine of hour ", hour, " ", claudetest.Script(bash("echo mail"), claudetest.Step{Text: "Nothing new."}))).result(t)
		testkit.Must(t, fork.Close())
		say(t, main, fmt.Sprint("hour ", hour, " ", claudetest.Script(bash("echo weather"), claudetest.Step{Text: "It rains."}))).result(t)
	}
	cached := r.api.Cached()
	t.Logf("%.1f %% of the input was read from the cache: %+v", 100*cached.Share(), cached)
	if cached.Rewritten > forks || cached.Share() < 0.8 {
		t.Errorf("%d requests rewrote an earlier one, and %.0f %% of the input was read from the cache", cached.Rewritten, 100*cached.Share())
	}
}
