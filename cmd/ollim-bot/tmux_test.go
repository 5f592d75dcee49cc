package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInARealTerminal drives the dashboard in tmux, which is a terminal that we
// have not written. OLLIM_REQUIRE_TMUX=1 makes a missing tmux a failure.
func TestInARealTerminal(t *testing.T) {
	path, err := exec.LookPath("tmux")
	if err != nil {
		if os.Getenv("OLLIM_REQUIRE_TMUX") == "1" {
			t.Fatal(err)
		}
		t.Skip("no tmux")
	}
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
	sees := func(text string) {
		t.Helper()
		deadline := time.After(patience)
		tick := time.NewTicker(20 * time.Millisecond)
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
			}
		}
	}
	keys := func(keys ...string) { t.Helper(); tmux(append([]string{"send-keys", "-t", "0"}, keys...)...) }

	tmux("-u", "new-session", "-d", "-x", "120", "-y", "40", "sh")
	defer tmux("kill-server") // ours alone: it listens on a socket in our directory
	keys(built(t)+" run --engine script --data-dir "+filepath.Join(dir, "data")+"; echo it ended with $?", "Enter")
	sees("Welcome")
	keys("Enter")
	sees("4 Forks")
	keys("C-p")
	sees("Actions")
	keys("Escape")
	sees("ctrl+p actions") // before the next key, with which it would be one
	keys("2")
	sees("▸ 2 Schedule")
	keys("z")
	sees("zoomed")
	tmux("resize-window", "-t", "0", "-x", "50", "-y", "12")
	keys("z")
	sees("4  Forks")
	tmux("resize-window", "-t", "0", "-x", "120", "-y", "40")
	sees("ctrl+p actions")
	keys("q")
	sees("it ended with 0") // on the shell's own screen, as it was
	if strings.Contains(tmux("capture-pane", "-p", "-t", "0"), "Ping budget") {
		t.Error("the dashboard left something on the screen")
	}
}
