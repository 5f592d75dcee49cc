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
	deadline := time.After(patience)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		screen := x.run("capture-pane", "-p", "-t", "0")
		if strings.Contains(screen, text) {
			return
		}
		select {
		case <-deadline:
			x.t.Fatalf("the screen never shows %q:\n%s", text, screen)
		case <-tick.C:
			if len(pressed) > 0 {
				x.keys(pressed...)
			}
		}
	}
}

func (x *tmux) sees(text string) {
	x.t.Helper()
	x.presses(text, 20*time.Millisecond)
}

// TestAnAttachedDashboardInARealTerminal suspends and edits in the client, whose terminal it is.
func TestAnAttachedDashboardInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t)
	put(t, filepath.Join(s.root, "routines", "a.md"), "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	editor := filepath.Join(s.temp, "editor")
	testkit.Must(t, os.WriteFile(editor, []byte("#!/bin/sh\necho THE-EDITOR on $(tty) for $(cat \"$1\" | wc -l) lines\nread line\n"), 0o700))
	x := startTmux(t)
	stty := func(name string) string {
		file := filepath.Join(s.temp, name)
		x.keys("clear; stty -g > "+file+"; echo "+name+" stored $((40+2))", "Enter")
		x.sees(name + " stored 42") // an older screen may have the words of an earlier one
		return string(read(t, file))
	}
	before := stty("before")
	attach := "VISUAL=" + editor + " " + s.exe + " attach --data-dir " + s.root
	x.keys("clear; sh -c '"+attach+"; echo it ended with $?'", "Enter") // which stops with us
	x.sees("q detach")
	x.sees("Sweep")
	x.keys("C-z")
	x.sees("suspended until fg; the bot keeps running")
	if during := stty("during"); during != before {
		t.Errorf("suspended, the terminal is %s, was %s", during, before)
	}
	x.keys("fg", "Enter")
	x.sees("q detach")
	x.keys("2")
	x.sees("▸ 2 Schedule")
	x.keys("o")
	x.sees("THE-EDITOR on /dev/pts/")
	x.keys("Enter")
	x.sees("▸ 2 Schedule")
	x.run("resize-window", "-t", "0", "-x", "70", "-y", "24")
	x.sees("3 Updates  4 Runs")
	x.run("resize-window", "-t", "0", "-x", "120", "-y", "40")
	x.sees("q detach")
	x.keys("q")
	x.sees("it ended with 0")
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
	x.keys("clear; "+attach+"; echo detached $((40+1))", "Enter")
	x.sees("q detach")
	x.keys("2")
	x.sees("▸ 2 Schedule")
	x.keys("q")
	x.sees("detached 41") // before the shell reads, the dashboard does
	x.keys("clear; kill %1; wait; echo it has ended $((40+2))", "Enter")
	x.sees("it has ended 42")
}

// TestInARealTerminal drives the dashboard in tmux.
func TestInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	x := startTmux(t)
	dir, tmux, keys, presses, sees := x.dir, x.run, x.keys, x.presses, x.sees
	exe := built(t)
	put(t, filepath.Join(dir, "data", "providers.yaml"), "# The set-up asks about no server of models on this machine.\n")
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
	sees("4  Runs")
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
	testkit.Must(t, exec.CommandContext(t.Context(), "kill", "-ABRT", strings.TrimSpace(string(pid))).Run())
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
	testkit.Must(t, err)
	return data
}
