package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// TestInARealTerminal drives the dashboard in tmux, which is a terminal that we
// have not written.
func TestInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	path := testkit.Needs(t, "tmux")
	dir := t.TempDir()
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), path, append([]string{"-S", filepath.Join(dir, "socket"), "-f", os.DevNull}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "HOME="+dir, "XDG_CONFIG_HOME=", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	keys := func(keys ...string) { t.Helper(); tmux(append([]string{"send-keys", "-t", "0"}, keys...)...) }
	// presses keys again and again until a text is seen.
	presses := func(text string, every time.Duration, pressed ...string) {
		t.Helper()
		deadline := time.After(patience)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			screen := tmux("capture-pane", "-p", "-t", "0")
			if strings.Contains(screen, text) {
				return
			}
			select {
			case <-deadline:
				t.Fatalf("the screen never shows %q:\n%s", text, screen)
			case <-tick.C:
				if len(pressed) > 0 {
					keys(pressed...)
				}
			}
		}
	}
	sees := func(text string) { t.Helper(); presses(text, 20*time.Millisecond) }

	tmux("-u", "new-session", "-d", "-x", "120", "-y", "40", "sh")
	defer tmux("kill-server") // ours alone: it listens on a socket in our directory

	exe := built(t)
	keys("sh -c '"+exe+" run --engine script --data-dir "+filepath.Join(dir, "data")+"; echo it ended with $?'", "Enter") // which stops with us
	sees("Welcome")
	keys("i")
	sees("What is your name?") // on the shell's screen, for the set-up
	keys("Ada", "Enter", "Enter", "Enter", "Enter")
	sees("Press Enter for the dashboard")
	keys("Enter")
	sees("No model is connected") // of a bot that has begun anew
	if env, err := os.ReadFile(filepath.Join(dir, "data", ".env")); !strings.Contains(string(env), "OLLIM_USER_NAME=Ada") {
		t.Errorf("the set-up has written %q, %v", env, err)
	}
	presses("Actions", time.Second, "C-p") // a key before the first reading of the terminal is lost
	keys("Escape")
	sees(": command") // before the next key, with which it would be one
	keys("2")
	sees("▸ 2 Schedule")
	keys("z")
	sees("zoomed")
	tmux("resize-window", "-t", "0", "-x", "50", "-y", "12")
	keys("z")
	sees("4  Forks")
	tmux("resize-window", "-t", "0", "-x", "120", "-y", "40")
	sees(": command")
	// Stopped, by a key and from outside, the shell has its terminal as it was.
	bot := strings.TrimSpace(string(read(t, filepath.Join(dir, "data", "state", "bot.pid"))))
	for i, stop := range []func(){
		func() { keys("C-z") },
		func() { _ = exec.CommandContext(t.Context(), "kill", "-TSTP", bot).Run() },
	} {
		stop()
		sees("Stopped")
		sees("the bot is paused until fg") // S35: it stops with the screen, and nothing said so
		keys(fmt.Sprintf("clear; stty -a | grep -o '[-]*icanon'; echo shell $((40+%d))", i), "Enter")
		sees(fmt.Sprintf("shell %d", 40+i))
		if got := tmux("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"); got != "001\n" || strings.Contains(tmux("capture-pane", "-p", "-t", "0"), "-icanon") {
			t.Errorf("stopped, the terminal is not as it was: %q", got)
		}
		keys("fg", "Enter")
		sees(": command")
		keys("3")
		sees("▸ 3 Updates")
		keys("2")
		sees("▸ 2 Schedule")
	}
	keys("q")
	sees("it ended with 0") // on the shell's own screen, as it was
	if strings.Contains(tmux("capture-pane", "-p", "-t", "0"), "Ping budget") {
		t.Error("the dashboard left something on the screen")
	}

	// A panic that nobody can catch, as the runtime tells it, leaves the terminal whole.
	keys("clear; "+exe+" run --engine script --data-dir "+filepath.Join(dir, "data"), "Enter")
	sees(": command")
	pid := read(t, filepath.Join(dir, "data", "state", "bot.pid"))
	check(t, exec.CommandContext(t.Context(), "kill", "-ABRT", strings.TrimSpace(string(pid))).Run())
	sees("internal fault, the program has ended")
	// The shell's own words may have come before the screen was put back.
	keys("stty -a | grep -o '[-]*icanon'; echo broke $((40+2))", "Enter")
	sees("broke 42")
	if screen := tmux("capture-pane", "-p", "-t", "0"); strings.Contains(screen, "Ping budget") || tmux("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}") != "00\n" {
		t.Errorf("the terminal is not as it was:\n%s", screen)
	}
	if words, err := os.ReadFile(filepath.Join(dir, "data", "state", "crash.log")); err != nil || !strings.Contains(string(words), "SIGABRT") {
		t.Errorf("the last words are %.200q, %v", words, err)
	}

	keys("clear; HOME="+filepath.Join(dir, "new")+" "+exe+" run --engine script; echo the demo ended with $?", "Enter")
	sees("Welcome")
	keys("d")
	sees("everything is real except the model")
	keys("C-\\\\") // no signal while the dashboard has the terminal
	keys("q")
	presses("the demo ended with 0", 500*time.Millisecond, "y") // forks may run by now
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	return data
}
