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
	*world
	exe string
}

func startTmux(t *testing.T) *tmux {
	t.Helper()
	x := &tmux{newWorld(t, "TMUX=", "LC_ALL=C.UTF-8"), testkit.Needs(t, "tmux")}
	x.run("-u", "new-session", "-d", "-x", "120", "-y", "40", "sh")
	t.Cleanup(func() { _ = exec.Command(x.exe, x.args("kill-server")...).Run() }) // ours alone: it listens on a socket in our directory
	return x
}

func (x *tmux) args(args ...string) []string {
	return append([]string{"-S", filepath.Join(x.home, "socket"), "-f", os.DevNull}, args...)
}

func (x *tmux) run(args ...string) string {
	x.t.Helper()
	got := shell(x.t, x.exe, x.env, x.args(args...)...)
	if got.status != 0 {
		x.t.Fatalf("tmux %v: %+v", args, got)
	}
	return got.out
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

// screen is what the terminal shows.
func (x *tmux) screen() string {
	x.t.Helper()
	return x.run("capture-pane", "-p", "-t", "0")
}

// isAsItWas sees to it that a program has taken back what it does with the terminal.
func (x *tmux) isAsItWas() {
	x.t.Helper()
	if got := x.run("display-message", "-p", "-t", "0", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"); got != "001\n" {
		x.t.Errorf("the terminal is not as it was: %q\n%s", got, x.screen())
	}
}

// An attached dashboard suspends and edits in the client, whose terminal it is.
func TestAnAttachedDashboardInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t)
	s.file("routines/a.md", "---\nid: \"aaaa0001\"\ncron: \"0 */2 * * *\"\ndescription: Sweep\n---\nSweep.\n")
	editor := testkit.Program(t, filepath.Join(s.home, "editor"),
		"#!/bin/sh\necho THE-EDITOR on $(tty) for $(cat \"$1\" | wc -l) lines\nread line\n")
	x := startTmux(t)
	stty := func(name string) string {
		file := filepath.Join(s.home, name)
		x.shows(name+" stored 42", "clear; stty -g > "+file+"; echo "+name+" stored $((40+2))", "Enter") // an older screen may have the words of an earlier one
		return stored(file)
	}
	before := stty("before")
	attach := "VISUAL=" + editor + " " + built(t) + " attach --data-dir " + s.data
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
	x.isAsItWas()

	// Of a bot in the background of the same shell, it is the controlling terminal too. Beside it, no command attaches.
	s.kill()
	x.keys("clear; "+built(t)+" run --headless --engine script --data-dir "+s.data+" >"+filepath.Join(s.home, "log")+" 2>&1 &", "Enter")
	s.opened()
	x.shows("q detach", "clear; "+strings.Replace(attach, " attach", "", 1)+"; echo detached $((40+1))", "Enter")
	x.shows("▸ 2 Schedule", "2")
	x.shows("detached 41", "q") // before the shell reads, the dashboard does
	x.shows("it has ended 42", "clear; kill %1; wait; echo it has ended $((40+2))", "Enter")
}

// The dashboard in tmux: a first start, keys, sizes, stops, and a panic.
func TestInARealTerminal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	x := startTmux(t)
	run := built(t) + " run --engine script"
	x.file("providers.yaml", "# The set-up asks about no server of models on this machine.\n")
	x.keys("sh -c '"+run+"; echo it ended with $?'", "Enter") // which stops with us
	x.sees("Welcome")
	x.shows("What is your name?", "i") // on the shell's screen, for the set-up
	x.shows("Press Enter for the dashboard", "Ada", "Enter", "Enter", "Enter", "Enter")
	x.shows("No model is connected", "Enter") // of a bot that has begun again
	if env := x.read(".env"); !strings.Contains(env, "OLLIM_USER_NAME=Ada") {
		t.Errorf("the set-up has written %q", env)
	}
	x.presses("Actions", time.Second, "C-p") // a key before the first reading of the terminal is lost
	x.shows(": command", "Escape")           // before the next key, with which it would be one
	x.shows("▸ 2 Schedule", "2")
	x.shows("zoomed", "z")
	x.run("resize-window", "-t", "0", "-x", "50", "-y", "12")
	x.shows("4  Runs", "z")
	x.run("resize-window", "-t", "0", "-x", "120", "-y", "40")
	x.sees(": command")
	// Stopped, by a key and from outside, the shell has its terminal as it was.
	pid := func() string { return strings.TrimSpace(x.read("state/bot.pid")) }
	for i, stop := range []func(){
		func() { x.keys("C-z") },
		func() { shell(t, "kill", nil, "-TSTP", pid()) },
	} {
		stop()
		x.sees("Stopped")
		x.sees("the bot is paused until fg") // S35: it stops with the screen, and nothing said so
		x.shows(fmt.Sprintf("shell %d", 40+i), fmt.Sprintf("clear; stty -a | grep -o '[-]*icanon'; echo shell $((40+%d))", i), "Enter")
		x.isAsItWas()
		if strings.Contains(x.screen(), "-icanon") {
			t.Errorf("stopped, the shell has a raw terminal:\n%s", x.screen())
		}
		x.shows(": command", "fg", "Enter")
		x.shows("▸ 3 Updates", "3")
		x.shows("▸ 2 Schedule", "2")
	}
	x.shows("it ended with 0", "q") // on the shell's own screen, as it was
	if strings.Contains(x.screen(), "Ping budget") {
		t.Error("the dashboard left something on the screen")
	}

	// A panic that nothing can catch, as the runtime writes it, leaves the terminal whole.
	x.shows(": command", "clear; "+run, "Enter")
	watched(t, pid()) // after the first frame
	shell(t, "kill", nil, "-ABRT", pid())
	x.sees("internal fault, the program has ended")
	// The shell's own words may have come before the screen was put back.
	x.shows("broke 42", "stty -a | grep -o '[-]*icanon'; echo broke $((40+2))", "Enter")
	x.isAsItWas()
	if strings.Contains(x.screen(), "Ping budget") {
		t.Errorf("the dashboard left something on the screen:\n%s", x.screen())
	}
	if words := x.read("state/crash.log"); !strings.Contains(words, "SIGABRT") {
		t.Errorf("the last words are %.200q", words)
	}

	x.shows("Welcome", "clear; HOME="+filepath.Join(x.home, "new")+" "+run+"; echo the demo ended with $?", "Enter")
	x.shows("everything is real except the model", "d")
	x.keys("C-\\\\") // no signal while the dashboard has the terminal
	x.keys("q")
	x.presses("the demo ended with 0", 500*time.Millisecond, "y") // forks may run by now
}
