package main

import (
	"context"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
)

// TestTheFirstStartKeepsTheConversation is D1 in the built program: with an empty home, the
// conversation, a fork, a background run and the next start all know what was said first.
func TestTheFirstStartKeepsTheConversation(t *testing.T) {
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
			bot.says("say " + claudetest.Script(claudetest.Step{Text: "It is a quince."}))
			bot.sees("bot: It is a quince.")
			bot.says("say /fork")
			bot.says("say what fruit, fork?")
			w.knows("what fruit, fork?")
			bot.says("say /fork exit")
			bot.says("new reminder in 1 minutes what fruit, run?")
			bot.sees("added")
			bot.says("fire what fruit")
			w.knows("what fruit, run?")
			bot.says("say what fruit, now?")
			w.knows("what fruit, now?")
			bot.quits()

			bot = w.plain()
			bot.says("say what fruit, later?")
			w.knows("what fruit, later?")
			bot.quits()
			if strings.Contains(bot.out.String(), "no longer knows") {
				t.Errorf("the second start lost the conversation:\n%s", bot.out.String())
			}
		})
	}
}

// setenv sets a variable of everything that is started from now on.
func (w *claudeWorld) setenv(name, value string) {
	w.env = append(slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, name+"=") }), name+"="+value)
}

// knows waits for a request with this prompt, whose history has what was said first.
func (w *claudeWorld) knows(prompt string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	asked := false
	err := w.api.Wait(ctx, func(list []claudetest.Request) bool {
		for _, r := range list {
			if !strings.Contains(r.Prompt(), prompt) {
				continue
			}
			asked = true
			for _, m := range r.Messages {
				if m.Role == "assistant" && strings.Contains(m.Text, "It is a quince.") {
					return true
				}
			}
		}
		return false
	})
	if err != nil {
		w.t.Fatalf("%q was asked: %v, but never with the history: %v", prompt, asked, err)
	}
}

// plainBot is the program in plain mode.
type plainBot struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *output
}

func (w *claudeWorld) plain() *plainBot {
	w.t.Helper()
	b := &plainBot{t: w.t, cmd: exec.Command(built(w.t), "run", "--plain", "--engine", "claude"), out: &output{}}
	b.cmd.Env, b.cmd.Stdout, b.cmd.Stderr = w.env, b.out, b.out
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	check(w.t, b.cmd.Start())
	return b
}

func (b *plainBot) says(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatalf("%v\n%s", err, b.out.String())
	}
}

func (b *plainBot) sees(text string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !strings.Contains(b.out.String(), text) {
		select {
		case <-tick.C:
		case <-late:
			_ = b.cmd.Process.Kill()
			b.t.Fatalf("%q is not in\n%s", text, b.out.String())
		}
	}
}

func (b *plainBot) quits() {
	b.t.Helper()
	b.says("quit")
	_ = b.in.Close() // it ends all the same
	if err := b.cmd.Wait(); err != nil {
		b.t.Errorf("it ended with %v\n%s", err, b.out.String())
	}
}
