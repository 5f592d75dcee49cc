package claude

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/testkit"
)

// tellsVersion returns a command that only prints its version.
func tellsVersion(version string) string { return "#!/bin/sh\necho '" + version + " (Claude Code)'\n" }

func TestACommandThatIsTooOldIsRefusedUntilItIsReplaced(t *testing.T) {
	testkit.Alone(t)
	path := playing(t, tellsVersion("2.1.100"), 0o700)
	e := New(Options{Path: path, Env: append(os.Environ(), "HOME="+t.TempDir(), "CLAUDE_CONFIG_DIR="), Log: testLog(t)})
	players := make(chan *player, 9)
	e.start = func(process.Spec) (child, error) {
		p := newPlayer()
		go p.listen()
		players <- p
		return p, nil
	}
	runEngine(t, e)
	_, err := e.Open(t.Context(), agent.SessionOptions{Dir: "/"})
	if !errors.Is(err, process.ErrTooOld) || len(players) != 0 {
		t.Errorf("an old one gives %v, %d processes", err, len(players))
	}
	oneLine(t, err, "2.1.100", process.Oldest(), "from npm")
	if s := e.Status(); s.Problem != err.Error() || s.Version != "2.1.100" {
		t.Errorf("the status is %+v", s)
	}
	testkit.Program(t, path, tellsVersion("9.0.0"))
	if _, err := e.Open(t.Context(), agent.SessionOptions{Dir: "/"}); err != nil {
		t.Error("a newer one:", err)
	}
	if s := e.Status(); s.Problem != "" || !strings.Contains(s.Warning, "9.0.0 is newer") || !strings.Contains(s.Warning, process.Newest()) {
		t.Errorf("the status is %+v", s)
	}
}

// E3: a command that was replaced or removed while the bot ran was not looked at again.
func TestACommandThatIsReplacedOrRemovedIsNoticedAtTheNextSession(t *testing.T) {
	testkit.Alone(t)
	path := playing(t, tellsVersion(process.Newest()), 0o700)
	e := New(Options{Path: path, Env: append(os.Environ(), "HOME="+t.TempDir(), "CLAUDE_CONFIG_DIR="), Log: testLog(t)})
	e.start = func(process.Spec) (child, error) {
		p := newPlayer()
		go p.listen()
		return p, nil
	}
	runEngine(t, e)
	open := func() error {
		_, err := e.Open(t.Context(), agent.SessionOptions{Dir: "/"})
		return err
	}
	testkit.Must(t, open())
	if s := e.Status(); s.Version != process.Newest() || s.Problem != "" {
		t.Errorf("the status is %+v", s)
	}
	testkit.Program(t, path, tellsVersion("2.1.100"))
	err := open()
	if s := e.Status(); !errors.Is(err, process.ErrTooOld) || s.Version != "2.1.100" || s.Problem == "" {
		t.Errorf("an old one gives %v, the status is %+v", err, s)
	}
	testkit.Must(t, os.Remove(path))
	err = open()
	if missing := (*process.NotFoundError)(nil); !errors.As(err, &missing) || e.Status().Problem != err.Error() {
		t.Errorf("a removed one gives %v, the status is %+v", err, e.Status())
	}
	testkit.Program(t, path, tellsVersion(process.Oldest()))
	testkit.Must(t, open())
	if s := e.Status(); s.Version != process.Oldest() || s.Problem != "" {
		t.Errorf("the status is %+v", s)
	}
}

// E4: a wrapper passed the check outside of the sandbox, and every session failed inside.
func TestAWrapperThatWorksOutsideOfTheSandboxOnlyIsNamed(t *testing.T) {
	testkit.Alone(t)
	inside := []byte("#!/bin/sh\necho 'node: not found' >&2\nexit 127\n")
	broken := playing(t, string(inside), 0o700)
	path := playing(t, tellsVersion(process.Newest()), 0o700)
	e := New(Options{Path: path, Env: append(os.Environ(), "HOME="+t.TempDir(), "CLAUDE_CONFIG_DIR="), Log: testLog(t), Sandbox: func(cmd *exec.Cmd) func() {
		cmd.Path = broken
		return func() {}
	}})
	runEngine(t, e)
	<-e.examined
	if got := e.Status().Problem; !strings.Contains(got, "works outside of the sandbox only") || !strings.Contains(got, "OLLIM_CLAUDE") {
		t.Errorf("the problem is %q", got)
	}
}

// E5: every newer patch release warned at each start.
func TestANewerPatchReleaseIsNamedOnlyIfItGreetsInAnotherWay(t *testing.T) {
	testkit.Alone(t)
	for greeting, warns := range map[string]bool{
		`{"account":{"tokenSource":"none"},"models":[{"value":"default"}]}`: false,
		`{"account":{"tokenSource":"none"},"modelList":[]}`:                 true,
	} {
		path := playing(t, tellsVersion("2.1.99999"), 0o700)
		e := New(Options{Path: path, Env: append(os.Environ(), "HOME="+t.TempDir(), "CLAUDE_CONFIG_DIR="), Log: testLog(t)})
		e.start = func(process.Spec) (child, error) {
			p := newPlayer()
			p.greets = greeting
			go p.listen()
			return p, nil
		}
		runEngine(t, e)
		_, err := e.Open(t.Context(), agent.SessionOptions{Dir: "/"})
		testkit.Must(t, err)
		if s := e.Status(); strings.Contains(s.Warning, "2.1.99999 is newer") != warns {
			t.Errorf("%s: %+v", greeting, s)
		}
	}
}

// TestWhatIsKnownOfTheReleaseIsTrue checks the table of releases against the installed command.
func TestWhatIsKnownOfTheReleaseIsTrue(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t, func(o *Options) {
		o.Process.Extra = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=", "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS="}
	})
	s := r.open(func(o *agent.SessionOptions) { o.Settings.Model = "opus" })
	h := say(t, s, claudetest.Script(claudetest.Step{Tool: "Agent", Input: map[string]any{
		"description": "ask", "subagent_type": "general-purpose", "prompt": claudetest.Script(claudetest.Step{Text: "The subagent speaks."}),
	}}, claudetest.Step{Text: "It spoke."}))
	release := process.Like(r.engine.Status().Version)
	q := r.requests()
	if !strings.HasPrefix(q[0].Model, release.Opus) {
		t.Errorf("opus is %s, not %s", q[0].Model, release.Opus)
	}
	if always := q[0].Thinking.Type != "disabled"; always != release.AlwaysThinks {
		t.Errorf("with thinking off it is asked for %q", q[0].Thinking.Type)
	}
	ends := all[agent.ToolEnd](h)
	if goesOn := len(ends) == 0 || !strings.Contains(ends[0].Text, "The subagent speaks."); goesOn != (release.Version != process.Oldest()) {
		t.Errorf("the subagent goes on: %t; %+v", goesOn, ends)
	}
}
