package core

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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
	"ollimbot/core/talk/session"
)

// childDir makes the test binary a bot on that directory, to be killed.
const childDir = "OLLIM_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// child runs a bot until its input closes and prints a line for every change, so that the
// parent can choose a moment by events rather than by a clock.
func child(root string) {
	dir, err := store.At(root)
	if err != nil {
		panic(err)
	}
	b, err := New(Options{
		Dir: dir, Env: config.Env{Zone: time.UTC}, Engine: script.New(script.Options{Pace: 0.1}),
		EngineName: "script", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go saveForks(ctx, b)
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
		panic(err)
	}
}

// saveForks enters and saves forks in a loop.
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
	h := home{t: t, root: filepath.Join(t.TempDir(), "data"), zone: time.UTC}
	promotions := 0
	dice := testkit.Rand(t)
	text := func(rel string) string {
		data, _ := os.ReadFile(filepath.Join(h.root, rel)) // it may have been killed too early
		return string(data)
	}
	event := regexp.MustCompile(`"session_id": "([^"]+)", "event": "(\w+)"`)
	for range 15 {
		kill(t, h, 2+dice.IntN(60))
		id := text("state/sessions.json")
		entered, promoted := map[string]int{}, map[string]int{}
		for _, e := range event.FindAllStringSubmatch(text("state/session_history.jsonl"), -1) {
			switch e[2] {
			case session.InteractiveFork:
				entered[e[1]]++
			case session.Swapped:
				promoted[e[1]]++
			}
		}
		promotions = len(promoted)
		for fork, n := range promoted {
			checks{t}.holds(n == 1 && entered[fork] == 1, "a fork was entered and promoted", fork, entered[fork], n)
		}
		checks{t}.holds(id == "" || entered[id] > 0, "the main session was no fork", id)
		checks{t}.holds(id != "" || len(promoted) == 0, "after a promotion there is no main session")
	}
	checks{t}.holds(promotions > 0, "no fork was ever promoted: the test looks at nothing")
}

// kill starts a bot and kills it after a number of changes, with its children: a git that continues writing would disturb the
// test's cleanup.
func kill(t *testing.T, h home, changes int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), childDir+"="+h.root, "GIT_CONFIG_GLOBAL=/dev/null")
	in := must(cmd.StdinPipe())(t)
	lines := bufio.NewScanner(must(cmd.StdoutPipe())(t))
	testkit.Must(t, cmd.Start())
	all := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	limit := time.AfterFunc(10*time.Second, all)
	for range changes {
		if !lines.Scan() {
			break
		}
	}
	limit.Stop()
	all() // the limit may have been reached first
	_ = in.Close()
	_ = cmd.Wait()
}

// A client that reads the door of a bot that was killed would be refused by the next one,
// whose socket is the same and whose token is not.
func TestTheDoorOfAKilledBotIsGoneOnceTheNextOneHasStarted(t *testing.T) {
	story(t, []file{{DoorFile, `{"socket": "/run/bot.sock", "token": "of the one that was killed"}`}}, func(w *world) {
		w.needs(!w.Snapshot().Started.IsZero(), "the bot has not started")
		w.holds(!w.has(DoorFile), "the door of the killed bot is still there")
	})
}
