package core

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

// childDir makes the test binary a bot on that directory, to be killed.
const childDir = "OLLIM_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

// child runs a bot until its input closes and prints a line for every change, so that the
// parent can choose a moment by events rather than by a clock.
func child(root string) int {
	dir, err := store.At(root)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	b, err := New(Options{
		Dir: dir, Env: config.Env{Zone: time.UTC}, Engine: script.New(script.Options{Pace: 0.1}),
		EngineName: "script", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, stop := context.WithCancel(context.Background())
	if os.Getenv(childSaves) != "" {
		go saveForks(ctx, b)
	}
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		stop()
	}()
	go func() {
		// The ticker also reports the last state, because a change may be noticed before its
		// data is visible.
		tick := time.NewTicker(100 * time.Millisecond)
		v := b.Viewer(false)
		for {
			select {
			case <-v.Changed():
			case <-tick.C:
			}
			fmt.Println("changed", b.Index().Set().Reminders)
		}
	}()
	if err := b.Run(ctx); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// childSaves makes the child enter and save forks in a loop.
const childSaves = "OLLIM_TEST_CHILD_SAVES"

func saveForks(ctx context.Context, b *Bot) {
	for b.Snapshot().Started.IsZero() {
		runtime.Gosched()
	}
	for ctx.Err() == nil {
		_, err := b.Do(ctx, command.Say{Text: "/fork"})
		for err == nil && b.Snapshot().Fork == nil {
			runtime.Gosched()
		}
		_, _ = b.Do(ctx, command.ExitFork{How: command.ExitSave})
		for b.Snapshot().Fork != nil {
			runtime.Gosched()
		}
		fmt.Println("saved")
	}
}

// TestAForkIsPromotedOnceWhenTheProcessIsKilled kills a bot that saves forks in a loop.
// Whenever it dies, the main session is the previous one or the fork and never anything
// else, and no fork is promoted twice.
func TestAForkIsPromotedOnceWhenTheProcessIsKilled(t *testing.T) {
	testkit.Alone(t)
	t.Setenv(childSaves, "1")
	h := home{t: t, root: filepath.Join(t.TempDir(), "data"), zone: time.UTC}
	promotions := 0
	dice := testkit.Rand(t)
	for range 15 {
		kill(t, h, 2+dice.IntN(60))
		id := ""
		if data, err := os.ReadFile(filepath.Join(h.root, "state", "sessions.json")); err == nil {
			id = string(data)
		}
		entered, promoted := map[string]int{}, map[string]int{}
		data, err := os.ReadFile(filepath.Join(h.root, "state", "session_history.jsonl"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var e struct {
				ID    string `json:"session_id"`
				Event string `json:"event"`
			}
			if json.Unmarshal([]byte(line), &e) != nil {
				continue
			}
			switch e.Event {
			case "interactive_fork":
				entered[e.ID]++
			case "swapped":
				promoted[e.ID]++
			}
		}
		promotions = len(promoted)
		for fork, n := range promoted {
			if n > 1 || entered[fork] != 1 {
				t.Errorf("%s was entered %d times and promoted %d times", fork, entered[fork], n)
			}
		}
		if id != "" && entered[id] == 0 {
			t.Errorf("the main session is %q, which was no fork", id)
		}
		if len(promoted) > 0 && id == "" {
			t.Error("after a promotion there is no main session")
		}
	}
	if promotions == 0 {
		t.Error("no fork was ever promoted: the test looks at nothing")
	}
}

func start(t *testing.T, h home) (*exec.Cmd, *bufio.Scanner, func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), childDir+"="+h.root, "GIT_CONFIG_GLOBAL=/dev/null")
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	return cmd, bufio.NewScanner(out), func() { _ = in.Close() }
}

// kill starts a bot and kills it after a number of changes.
func kill(t *testing.T, h home, changes int) {
	t.Helper()
	cmd, lines, stop := start(t, h)
	defer stop()
	limit := time.AfterFunc(10*time.Second, func() { killAll(cmd) })
	defer limit.Stop()
	for range changes {
		if !lines.Scan() {
			break
		}
	}
	killAll(cmd) // the limit may have been reached first
	_ = cmd.Wait()
}

// killAll kills the child and its children: a git that continues writing would disturb
// the test's cleanup.
func killAll(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// A client that reads the door of a bot that was killed would be refused by the next one,
// whose socket is the same and whose token is not.
func TestTheDoorOfAKilledBotIsGoneOnceTheNextOneHasStarted(t *testing.T) {
	story(t, []file{{DoorFile, `{"socket": "/run/bot.sock", "token": "of the one that was killed"}`}}, func(w *world) {
		w.needs(!w.Snapshot().Started.IsZero(), "the bot has not started")
		w.holds(!w.has(DoorFile), "the door of the killed bot is still there")
	})
}
