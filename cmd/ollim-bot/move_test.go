package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
)

// says lets the bot without a screen hear a line, and waits until the API has been asked
// with all the words in one request.
func (w *claudeWorld) says(line string, words ...string) {
	w.t.Helper()
	bot := w.plain()
	bot.types("say " + line)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	testkit.Must(w.t, w.api.Wait(ctx, func(list []claudetest.Request) bool {
		for _, r := range list {
			all := r.Ended
			for _, word := range words {
				all = all && bytes.Contains(r.Raw, []byte(word))
			}
			if all {
				return true
			}
		}
		return false
	}))
	bot.ends() // when it has answered
}

// runs runs a command of the program's to its end.
func (w *claudeWorld) runs(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(built(w.t), args...)
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestTheConversationGoesOnOnANewMachine: another home, another directory, and the real
// command goes on with what was said on the old one. What is copied is what docs/migrate.md names.
func TestTheConversationGoesOnOnANewMachine(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newClaudeWorld(t)
	w.says("the heron is in the reeds", "the heron is in the reeds")
	old, sessions := w.data, func() string {
		return filepath.Join(sessionfile.ConfigDir(w.env), sessionfile.Projects, sessionfile.Folder(w.data))
	}
	from := sessions()
	fresh := t.TempDir()
	w.data = filepath.Join(fresh, "a new place", "data")
	for name, value := range map[string]string{"HOME": fresh, "CLAUDE_CONFIG_DIR": filepath.Join(fresh, "config"), "OLLIM_DATA_DIR": w.data} {
		w.env = config.With(w.env, name, value)
	}
	testkit.Must(t, errors.Join(os.CopyFS(w.data, os.DirFS(old)), os.CopyFS(sessions(), os.DirFS(from))))
	testkit.Must(t, os.RemoveAll(old))
	w.says("and the reeds are green", "the heron is in the reeds", "and the reeds are green")
	if out := w.runs("history", "search", "heron"); !strings.Contains(out, "the heron is in the reeds") {
		t.Errorf("the history does not know it: %s", out)
	}
}

// A command that is gone says what replaces it, wherever it comes in the line, and does nothing.
func TestARemovedCommandSaysWhatReplacesIt(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	root := t.TempDir()
	for _, line := range []string{"export out", "import --replace out", "--data-dir data export out --secrets"} {
		got := shell(t, built(t), []string{"HOME=" + root, "OLLIM_DATA_DIR=" + root}, strings.Fields(line)...)
		if got.status != exitFailed || !strings.Contains(got.err, "was removed: copy") {
			t.Errorf("%s: %d, %s%s", line, got.status, got.out, got.err)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	testkit.Must(t, err)
	for name := range removed {
		if !strings.Contains(string(page), "| `ollim-bot "+name+"` |") {
			t.Errorf("docs/cli.md does not name the removed %s", name)
		}
	}
}
