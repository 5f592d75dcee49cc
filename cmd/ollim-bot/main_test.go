package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

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
	}
	testscript.Main(m, map[string]func(){"ollim-bot": main})
}

// built is the program under test: a copy of this test binary by the name under which it
// is the program, in a folder of its own. It is never this binary itself, which
// Landlock's sandbox would start again by the wrong name (see testbinary).
func built(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ollim-bot") // testscript.Main puts it first on PATH
	testkit.Must(t, err)
	return path
}

// neutral takes out of the environment what a developer's shell may export and
// the program would obey.
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

// TestStories plays testdata/script with the real binary: commands that do one thing and end.
func TestStories(t *testing.T) {
	testkit.Alone(t)
	play(t, "script")
}

// TestABotPlaysItsStories plays testdata/bot, in which a bot runs for a while. .ci/campaign has the race detector in it.
func TestABotPlaysItsStories(t *testing.T) {
	testkit.Alone(t)
	play(t, "bot")
}

// play plays the stories of a folder. Beside testscript's own commands a story may use
//
//	fixture NAME DIR            copies testdata/fixtures/NAME
//	exits STATUS PROGRAM ARG…   runs a program that must end with that status
//	until PATTERN PROGRAM ARG…  runs a program until its output matches
//	large FILE BYTES            writes a file of that many letters
func play(t *testing.T, folder string) {
	t.Helper()
	fixtures, err := filepath.Abs(filepath.Join("testdata", "fixtures"))
	testkit.Must(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *goldentest.Update,
		Setup:               ownWorld,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, neg bool, args []string) {
				usage(ts, neg, len(args) == 2, "fixture NAME DIR")
				ts.Check(copyTree(filepath.Join(fixtures, args[0]), ts.MkAbs(args[1])))
			},
			"exits": exits,
			"until": until,
			"large": func(ts *testscript.TestScript, neg bool, args []string) {
				usage(ts, neg, len(args) == 2, "large FILE BYTES")
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte{'x'}, n), 0o600))
			},
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

// copyTree copies regular files and folders, writable for the story.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
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

// patience is how long a story waits for something that a running bot does.
const patience = 30 * time.Second

// until asks again and again, because the bot works beside the story; it ends
// as soon as the answer is there.
func until(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "until PATTERN PROGRAM ARG…")
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("no answer matched %q in %v", args[0], patience)
		case <-tick.C:
		}
	}
}

func TestANegativeWordIsNoFlag(t *testing.T) {
	for in, want := range map[string]string{
		"config daily_cap 5":               "config daily_cap 5",
		"config daily_cap -3":              "config daily_cap -- -3",
		"config daily_cap -3 --json":       "config daily_cap --json -- -3",
		"config daily_cap -3 --data-dir d": "config daily_cap --data-dir d -- -3",
		"mute -2h":                         "mute -- -2h",
		"demo --speed -2":                  "demo --speed -2",
		"config daily_cap -- -3":           "config daily_cap -- -3",
	} {
		if got := strings.Join(negatives(strings.Fields(in)), " "); got != want {
			t.Errorf("%s is read as %s, not %s", in, got, want)
		}
	}
}

func TestThisBinaryIsTheProgramByItsNameOnly(t *testing.T) {
	testkit.Alone(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binarytest.Path(), sandbox.HelperArg, "{}", "--", "/bin/true")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != command.UsageStatus || !strings.Contains(string(out), "is a test binary and not ollim-bot") {
		t.Errorf("%v: %s", err, out)
	}
}
