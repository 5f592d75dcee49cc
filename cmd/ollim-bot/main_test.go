package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ollimbot/core"
	"ollimbot/core/agent/choice"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/sandbox"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "ollim-bot" { // the tests, and not the program that they start
		binarytest.Answer(nil)
		neutral()
		flag.Parse()
		// Most of these tests wait: for a model's command, or for a clock.
		_ = flag.Set("test.parallel", strconv.Itoa(max(12, runtime.GOMAXPROCS(0)))) // it is a flag of package testing, and a number
	}
	testscript.Main(m, map[string]func(){"ollim-bot": main})
}

// built is the program under test: a copy of this test binary by the name under which it is the program, in a folder of its own. It
// is never this binary itself, which Landlock's sandbox would start again by the wrong name (see testbinary).
func built(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ollim-bot") // testscript.Main puts it first on PATH
	testkit.Must(t, err)
	return path
}

// neutral takes out of the environment what a developer's shell may export and the program would obey.
func neutral() {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		ours := strings.HasPrefix(name, "OLLIM_TEST_")
		for _, prefix := range []string{"OLLIM_", "WEBHOOK_", "DISCORD_", "ANTHROPIC_", "CLAUDE_", "TMUX", "EDITOR", "VISUAL", "NO_COLOR", "NO_MOTION", "LC_", "LANG", "TZ"} {
			if strings.HasPrefix(name, prefix) && !ours {
				_ = os.Unsetenv(name)
			}
		}
	}
	_ = os.Setenv("LANG", "C.UTF-8")
}

// TestCommandsDoWhatTheirScriptsSay plays testdata/script with the real binary: commands that do one thing and end.
func TestCommandsDoWhatTheirScriptsSay(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	play(t, "script", ownWorld)
}

// TestABotPlaysItsStories plays testdata/bot, in which a bot runs for a while. .ci/campaign has the race detector in it.
func TestABotPlaysItsStories(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	play(t, "bot", ownWorld)
}

// play plays the stories of a folder. Beside testscript's own commands a story may use
//
//	fixture NAME DIR            copies testdata/fixtures/NAME
//	exits STATUS PROGRAM ARG…   runs a program that must end with that status
//	until PATTERN PROGRAM ARG…  runs a program until its output matches
//	large FILE BYTES            writes a file of that many letters
func play(t *testing.T, folder string, world func(*testscript.Env) error) {
	t.Helper()
	fixtures, err := filepath.Abs(filepath.Join("testdata", "fixtures"))
	testkit.Must(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *goldentest.Update,
		Setup:               world,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, neg bool, args []string) {
				usage(ts, neg, len(args) == 2, "fixture NAME DIR")
				ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o700))
				ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(filepath.Join(fixtures, args[0]))))
			},
			"exits": exits,
			"until": until,
			"large": func(ts *testscript.TestScript, neg bool, args []string) {
				usage(ts, neg, len(args) == 2, "large FILE BYTES")
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte{'x'}, n), 0o600))
			},
			"google": playGoogle,
			"today":  today,
		},
	})
}

// ownWorld gives a story a home and a data directory of its own.
func ownWorld(env *testscript.Env) error {
	home, tmp := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "tmp")
	env.Setenv("HOME", home)
	env.Setenv("TMPDIR", tmp)
	env.Setenv("OLLIM_DATA_DIR", filepath.Join(env.WorkDir, "data"))
	env.Setenv("OLLIM_TIMEZONE", "America/Los_Angeles")
	env.Setenv("NO_COLOR", "1")
	// No story may depend on the machine's git settings, or need any.
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, dir := range []string{home, tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func usage(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "exits STATUS PROGRAM ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}

// until asks again and again, because the bot works beside the story; it ends as soon as the answer is there.
func until(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "until PATTERN PROGRAM ARG…")
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if !asking(patience, func() bool { return ts.Exec(args[1], args[2:]...) == nil && pattern.MatchString(ts.ReadFile("stdout")) }) {
		ts.Fatalf("no answer matched %q in %v", args[0], patience)
	}
}

func TestThisBinaryIsTheProgramByItsNameOnly(t *testing.T) {
	testkit.Alone(t)
	got := shell(t, binarytest.Path(), os.Environ(), sandbox.HelperArg, "{}", "--", "/bin/true")
	if got.status != command.UsageStatus || !strings.Contains(got.out+got.err, "is a test binary and not ollim-bot") {
		t.Errorf("%+v", got)
	}
}

func TestEverySignalOfAnEndLetsTheProgramPutThingsAway(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		ctx, stop := (&process{}).Context()
		testkit.Must(t, syscall.Kill(syscall.Getpid(), sig))
		select {
		case <-ctx.Done():
		case <-time.After(patience):
			t.Errorf("%s does not end the program", sig)
		}
		stop()
	}
}

// A restart takes its time. Who ends the program meanwhile means it.
func TestAFreshStartIsGivenUpWhereTheEndIsAskedForMeanwhile(t *testing.T) {
	testkit.Alone(t)
	for _, ends := range []bool{false, true} {
		p := inProcess([]string{"OLLIM_DATA_DIR=" + t.TempDir()}, "", io.Discard, io.Discard)
		at, err := p.Open()
		testkit.Must(t, err)
		m, err := models{&p.Process, at}.choose(choice.Script, 0)
		testkit.Must(t, err)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		restarts := func(ctx context.Context, bot *core.Bot, _ *slog.Logger) error {
			if _, err := bot.Do(ctx, command.Slash{Line: "/restart"}); err != nil {
				return err
			}
			if ends {
				end()
			}
			return nil
		}
		err = p.serve(ctx, at, serving{uiMode: uiMode{uiFlags: uiFlags{Headless: true}}, model: m, beside: restarts})
		if again := new(restartError); errors.As(err, &again) == ends {
			t.Errorf("an end that was asked for: %v; serve gives %v", ends, err)
		}
	}
}
