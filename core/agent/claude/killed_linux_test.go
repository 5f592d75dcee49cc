package claude

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// Variables for the bot that is killed.
const (
	botDir     = "OLLIM_TEST_BOT_DIR"
	botBox     = "OLLIM_TEST_BOT_SANDBOX"
	botPrompt  = "OLLIM_TEST_BOT_PROMPT"
	botCommand = "OLLIM_TEST_BOT_CLAUDE"
)

// TestAKilledBotTakesItsTurnAlong: otherwise the command would continue without the hooks that
// confine it, doing whatever the model says next.
func TestAKilledBotTakesItsTurnAlong(t *testing.T) {
	testkit.Alone(t)
	if dir := os.Getenv(botDir); dir != "" {
		bePlayed(t, dir)
		return
	}
	path := claudetest.RequireCLI(t)
	for name, box := range map[string]string{"alone": "", "in a sandbox": "1"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if box != "" {
				sandboxtest.Box(t, sandbox.Options{Dir: dir})
			}
			api := claudetest.Start(t, claudetest.Options{})
			first := bash("touch made")
			first.Hold, first.HoldAfter, first.Text = "go", 1, "I will do it, and then something else."
			cmd := exec.Command(binarytest.Path(), "-test.run=^"+t.Name()[:strings.IndexByte(t.Name(), '/')]+"$")
			cmd.Env = append(claudetest.CLIEnv(t, api), botDir+"="+dir, botBox+"="+box, botCommand+"="+path, botPrompt+"="+claudetest.Script(first, bash("touch more")))
			testkit.Must(t, cmd.Start())
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			err := api.Wait(ctx, func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) == 1 })
			if killed := cmd.Process.Kill(); err != nil || killed != nil {
				t.Fatal(err, killed)
			}
			_ = cmd.Wait() // it was killed
			// The process is gone once its connection is, so nothing can follow.
			if err := api.Wait(ctx, func(all []claudetest.Request) bool { return claudetest.ForModel(all)[0].Left }); err != nil {
				t.Fatalf("the command lives on: %v", err)
			}
			api.Release("go")
			if n := len(claudetest.ForModel(api.Requests())); n != 1 {
				t.Errorf("%d requests were made", n)
			}
			if _, err := os.Stat(dir + "/made"); err == nil {
				t.Error("a tool was run")
			}
		})
	}
}

// bePlayed acts as a bot in the middle of a turn.
func bePlayed(t *testing.T, dir string) {
	o := Options{Path: os.Getenv(botCommand), Log: slog.New(slog.DiscardHandler)}
	if os.Getenv(botBox) != "" {
		o.Sandbox = sandbox.New(sandbox.Options{Dir: dir, Home: os.Getenv("HOME")}).Engine
	}
	e := New(o)
	runEngine(t, e)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := e.Open(ctx, agent.SessionOptions{
		Dir: dir, SystemPrompt: "A test.", Settings: agent.Settings{Model: "haiku", Thinking: "off", Mode: "default"},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() },
	})
	testkit.Must(t, err)
	for _, err := range s.Send(ctx, agent.Message{Text: os.Getenv(botPrompt)}) {
		if err != nil {
			t.Error(err)
		}
	}
}
