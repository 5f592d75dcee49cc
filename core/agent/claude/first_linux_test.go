package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/config"
)

// TestTheFirstSessionOfAnEmptyHomeIsKept is D1: without the folder of its settings, claude wrote
// its sessions to a folder that was removed with the sandbox.
func TestTheFirstSessionOfAnEmptyHomeIsKept(t *testing.T) {
	testkit.Alone(t)
	fences := map[string]func(testing.TB, sandbox.Options) *sandbox.Box{
		"bubblewrap": sandboxtest.Box, "Landlock": sandboxtest.Landlock, "no sandbox": nil,
	}
	folders := map[string]func(home string) []string{
		"the usual folder": func(string) []string { return nil },
		"CLAUDE_CONFIG_DIR": func(home string) []string {
			return []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "of", "claude")}
		},
	}
	for fence, box := range fences {
		for folder, set := range folders {
			t.Run(fence+", "+folder, func(t *testing.T) {
				dir, home := t.TempDir(), t.TempDir()
				r := newRig(t, func(o *Options) {
					o.Env = slices.DeleteFunc(o.Env, func(v string) bool {
						return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "CLAUDE_CONFIG_DIR=")
					})
					o.Env = append(o.Env, append(set(home), "HOME="+home)...)
					if box != nil {
						o.Sandbox = box(t, sandbox.Options{Dir: dir, Home: home, ConfigDir: config.Lookup(o.Env, "CLAUDE_CONFIG_DIR")}).Engine
					}
				})
				r.dir = dir
				keepsItsHistory(t, r)
			})
		}
	}
}

// keepsItsHistory talks, forks while the session is open, and resumes after it has ended, as /fork,
// background runs and a restart of the bot do.
func keepsItsHistory(t *testing.T, r *rig) {
	t.Helper()
	knows := func(s agent.Session, what string) {
		t.Helper()
		say(t, s, "what fruit?").result(t)
		if q := r.requests(); !strings.Contains(string(q[len(q)-1].Raw), "a quince") {
			t.Errorf("%s does not know what was said", what)
		}
	}
	s := r.open()
	id := s.ID()
	say(t, s, claudetest.Script(claudetest.Step{Text: "It is a quince."})).result(t)
	late := time.After(patience)
	for tick := time.NewTicker(20 * time.Millisecond); !r.engine.HasSession(id); { // older versions write a moment later
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("no file has the session")
		}
	}
	fork := r.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = id, true })
	knows(fork, "a fork")
	testkit.Must(t, fork.Close())
	testkit.Must(t, s.Close())
	again := r.open(func(o *agent.SessionOptions) { o.Resume = id })
	knows(again, "the session after a restart")
}

func TestASettingsFolderThatCannotBeWrittenIsSaid(t *testing.T) {
	testkit.Alone(t)
	home := t.TempDir()
	file := filepath.Join(home, "a file")
	testkit.Must(t, os.WriteFile(file, nil, 0o600))
	for name, env := range map[string][]string{
		"claude cannot keep sessions in " + file: {"HOME=" + home, "CLAUDE_CONFIG_DIR=" + file},
		"set HOME, or CLAUDE_CONFIG_DIR":         nil,
		"claude cannot keep sessions in /proc/":  {"HOME=/proc/1"},
	} {
		e := New(Options{Path: claudetest.RequireCLI(t), Env: append(env, "PATH=/usr/bin:/bin")})
		runEngine(t, e)
		if _, err := e.Open(t.Context(), agent.SessionOptions{Dir: home}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("it says %v, not %s", err, name)
		}
	}
}
