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

// tmux is a terminal that we have not written, with a shell on it.
type tmux struct {
	t         *testing.T
	path, dir string
}

func startTmux(t *testing.T) *tmux {
	t.Helper()
	x := &tmux{t, testkit.Needs(t, "tmux"), t.TempDir()}
	x.run("-u", "new-session", "-d", "-x", "120", "-y", "40", "sh")
	t.Cleanup(func() { // ours alone: it listens on a socket in our directory
		_ = exec.Command(x.path, "-S", filepath.Join(x.dir, "socket"), "kill-server").Run()
	})
	return x
}

func (x *tmux) run(args ...string) string {
	x.t.Helper()
	cmd := exec.CommandContext(x.t.Context(), x.path, append([]string{"-S", filepath.Join(x.dir, "socket"), "-f", os.DevNull}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "HOME="+x.dir, "XDG_CONFIG_HOME=", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (x *tmux) keys(keys ...string) {
	x.t.Helper()
	x.run(append([]string{"send-keys", "-t", "0"}, keys...)...)
}

// presses keys again and again until a text is seen.
func (x *tmux) presses(text string, every time.Duration, pressed ...string) {
	x.t.Helper()
	screen := ""
	if !eventually(patience, func() bool {
		if screen = x.run("capture-pane", "-p", "-t", "0"); strings.Contains(screen, text) {
			return true
		}
		if len(pressed) > 0 {
			time.Sleep(every)
			x.keys(pressed...)
		}
		return false
	}) {
		x.t.Fatalf("the screen never shows %q:\n%s", text, screen)
	}
}

// shows presses keys and waits for a text.
func (x *tmux) shows(text string, keys ...string) {
	x.t.Helper()
	x.keys(keys...)
	x.sees(text)
}

func (x *tmux) sees(text string) {
	x.t.Helper()
	x.presses(text, 0)
}

// TestAnAttachedDashboardInARealTerminal suspends and edits in the client, whose terminal it is.
func TestAnAttachedDashboardInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t, "")
	put(t, filepath.Join(s.root, "routines", "a.md"), "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	editor := filepath.Join(s.temp, "editor")
	testkit.Program(t, editor, "#!/bin/sh\necho THE-EDITOR on $(tty) for $(cat \"$1\" | wc -l) lines\nread line\n")
	x := startTmux(t)
	stty := func(name string) string {
		file := filepath.Join(s.temp, name)
		x.shows(name+" stored 42", "clear; stty -g > "+file+"; echo "+name+" stored $((40+2))", "Enter") // an older screen may have the words of an earlier one
		return stored(file)
	}
	before := stty("before")
	attach := "VISUAL=" + editor + " " + s.exe + " attach --data-dir " + s.root
	x.keys("clear; sh -c '"+attach+"; echo it ended with $?'", "Enter") // which stops with us
	x.sees("q detach")
	x.sees("Sweep")
	x.shows("suspended until fg; the bot keeps running", "C-z")
	if during := stty("during"); during != before {
		t.Errorf("suspended, the terminal is %s, was %s", during, before)
	}
	x.shows("q detach", "fg", "Enter")
	x.shows("▸ 2 Schedule", "2")
	x.shows("THE-EDITOR on /dev/pts/", "o")
	x.shows("▸ 2 Schedule", "Enter")
	x.run("resize-window", "-t", "0", "-x", "70", "-y", "24")
	x.sees("3 Updates  4 Runs")
	x.run("resize-window", "-t", "0", "-x", "120", "-y", "40")
	x.sees("q detach")
	x.shows("it ended with 0", "q")
	if after := stty("after"); after != before {
		t.Errorf("the terminal is %s, was %s", after, before)
	}
	if got := x.run("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"); got != "001\n" {
		t.Errorf("the terminal is not as it was: %q", got)
	}

	// Of a bot in the background of the same shell, it is the controlling terminal too.
	s.kill()
	x.keys("clear; "+s.exe+" run --headless --engine script --data-dir "+s.root+" >"+filepath.Join(s.temp, "log")+" 2>&1 &", "Enter")
	s.opened()
	x.shows("q detach", "clear; "+attach+"; echo detached $((40+1))", "Enter")
	x.shows("▸ 2 Schedule", "2")
	x.shows("detached 41", "q") // before the shell reads, the dashboard does
	x.shows("it has ended 42", "clear; kill %1; wait; echo it has ended $((40+2))", "Enter")
}

// TestInARealTerminal drives the dashboard in tmux.
func TestInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	x := startTmux(t)
	dir, tmux, keys, presses, sees, shows := x.dir, x.run, x.keys, x.presses, x.sees, x.shows
	exe := built(t)
	put(t, filepath.Join(dir, "data", "providers.yaml"), "# The set-up asks about no server of models on this machine.\n")
	keys("sh -c '"+exe+" run --engine script --data-dir "+filepath.Join(dir, "data")+"; echo it ended with $?'", "Enter") // which stops with us
	sees("Welcome")
	shows("What is your name?", "i") // on the shell's screen, for the set-up
	shows("Press Enter for the dashboard", "Ada", "Enter", "Enter", "Enter", "Enter")
	shows("No model is connected", "Enter") // of a bot that has begun anew
	if env := stored(dir, "data", ".env"); !strings.Contains(env, "OLLIM_USER_NAME=Ada") {
		t.Errorf("the set-up has written %q", env)
	}
	presses("Actions", time.Second, "C-p") // a key before the first reading of the terminal is lost
	shows(": command", "Escape")           // before the next key, with which it would be one
	shows("▸ 2 Schedule", "2")
	shows("zoomed", "z")
	tmux("resize-window", "-t", "0", "-x", "50", "-y", "12")
	shows("4  Runs", "z")
	tmux("resize-window", "-t", "0", "-x", "120", "-y", "40")
	sees(": command")
	// Stopped, by a key and from outside, the shell has its terminal as it was.
	bot := strings.TrimSpace(stored(dir, "data", "state", "bot.pid"))
	for i, stop := range []func(){
		func() { keys("C-z") },
		func() { _ = exec.CommandContext(t.Context(), "kill", "-TSTP", bot).Run() },
	} {
		stop()
		sees("Stopped")
		sees("the bot is paused until fg") // S35: it stops with the screen, and nothing said so
		shows(fmt.Sprintf("shell %d", 40+i), fmt.Sprintf("clear; stty -a | grep -o '[-]*icanon'; echo shell $((40+%d))", i), "Enter")
		if got := tmux("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"); got != "001\n" || strings.Contains(tmux("capture-pane", "-p", "-t", "0"), "-icanon") {
			t.Errorf("stopped, the terminal is not as it was: %q", got)
		}
		shows(": command", "fg", "Enter")
		shows("▸ 3 Updates", "3")
		shows("▸ 2 Schedule", "2")
	}
	shows("it ended with 0", "q") // on the shell's own screen, as it was
	if strings.Contains(tmux("capture-pane", "-p", "-t", "0"), "Ping budget") {
		t.Error("the dashboard left something on the screen")
	}

	// A panic that nobody can catch, as the runtime tells it, leaves the terminal whole.
	shows(": command", "clear; "+exe+" run --engine script --data-dir "+filepath.Join(dir, "data"), "Enter")
	pid := strings.TrimSpace(stored(dir, "data", "state", "bot.pid"))
	if !eventually(patience, func() bool { return exec.CommandContext(t.Context(), "pgrep", "-P", pid, "-x", "sh").Run() == nil }) { // after the first frame
		t.Fatal("no shell watches for a crash")
	}
	testkit.Must(t, exec.CommandContext(t.Context(), "kill", "-ABRT", pid).Run())
	sees("internal fault, the program has ended")
	// The shell's own words may have come before the screen was put back.
	shows("broke 42", "stty -a | grep -o '[-]*icanon'; echo broke $((40+2))", "Enter")
	if screen := tmux("capture-pane", "-p", "-t", "0"); strings.Contains(screen, "Ping budget") || tmux("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}") != "00\n" {
		t.Errorf("the terminal is not as it was:\n%s", screen)
	}
	if words := stored(dir, "data", "state", "crash.log"); !strings.Contains(words, "SIGABRT") {
		t.Errorf("the last words are %.200q", words)
	}

	shows("Welcome", "clear; HOME="+filepath.Join(dir, "new")+" "+exe+" run --engine script; echo the demo ended with $?", "Enter")
	shows("everything is real except the model", "d")
	keys("C-\\\\") // no signal while the dashboard has the terminal
	keys("q")
	presses("the demo ended with 0", 500*time.Millisecond, "y") // forks may run by now
}
