package demo

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/messagestest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

// TestADayOfTheDemoRunsOverTheMessagesAPI lives a day of the demo in a bubble, with the engine that speaks the Messages API and the
// offline engine in the place of the model. What must have happened by its end is what happens without that API.
func TestADayOfTheDemoRunsOverTheMessagesAPI(t *testing.T) {
	var model *messagestest.Model
	over := dayOf(t, func(dir *store.Dir, look func() core.Snapshot) (agent.Engine, func()) {
		model = messagestest.New(script.Options{Pace: 1, Talk: Talk(look)})
		return messages.New(messages.Options{
			Dir: dir, Transport: model, Env: []string{"PATH=/usr/bin:/bin"},
			Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string {
				return map[string]string{"ANTHROPIC_API_KEY": "a key of a test"}[name]
			}}),
		}), model.Close
	})
	without := dayOf(t, func(dir *store.Dir, look func() core.Snapshot) (agent.Engine, func()) {
		return script.New(script.Options{Pace: 1, Dir: dir, Talk: Talk(look)}), func() {}
	})
	t.Logf("%+v over the API, %+v without", over, without)
	cached := model.Cached()
	t.Logf("%.1f %% of the input was read from the cache: %+v", 100*cached.Share(), cached)
	if cached.Rewritten > 0 || cached.Share() < 0.93 {
		t.Errorf("%d requests rewrote an earlier one, and %.0f %% of the input was read from the cache", cached.Rewritten, 100*cached.Share())
	}
	// How long an answer takes decides which of the user's words wait for it.
	if over.answers < 10 || without.answers < 10 {
		t.Errorf("%d and %d answers", over.answers, without.answers)
	}
	over.answers = without.answers
	if over != without || over.runs < 50 || over.pings < 5 || over.failed != 1 || over.faults != 1 {
		t.Errorf("the day was %+v over the API and %+v without", over, without)
	}
}

// outcome is what some time of the demo has brought.
type outcome struct{ runs, failed, pings, updates, answers, faults int }

// dayOf plays a day of the demo.
func dayOf(t *testing.T, engine makeEngine) (o outcome) {
	t.Helper()
	play(t, engine, func(bot *core.Bot, dir *store.Dir, log *loud) {
		time.Sleep(dayLong)
		s := bot.Snapshot()
		o.updates = len(s.Updates)
		for i := range s.Chat {
			switch c := &s.Chat[i]; {
			case c.At.Before(s.Started):
			case c.Role == transcript.Ping:
				o.pings++
			case c.Role == transcript.Bot:
				o.answers++
			}
		}
		all, err := fork.Ledger(dir, math.MaxInt)
		testkit.Must(t, err)
		for i := range all {
			if v := &all[i]; v.Started.After(s.Started) {
				o.runs++
				if v.State == fork.Failed {
					o.failed++
				}
			}
		}
		o.faults = len(log.all())
		t.Log(strings.Join(log.all(), ""))
	})
	return o
}

// makeEngine makes an engine, and gives what ends it.
type makeEngine func(*store.Dir, func() core.Snapshot) (agent.Engine, func())

// play plays the demo in a bubble, while watch looks at it.
func play(t *testing.T, engine makeEngine, watch func(*core.Bot, *store.Dir, *loud)) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	if memory, err := os.MkdirTemp("/dev/shm", "ollim-demo-"); err == nil { // where a sync costs nothing
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
		root = filepath.Join(memory, "data")
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(9*time.Hour + 20*time.Minute) // from midnight
		dir, err := store.At(root)
		testkit.Must(t, err)
		home := Home{Dir: dir, Now: time.Now().UTC()}
		testkit.Must(t, Furnish(home))
		var bot *core.Bot
		e, end := engine(dir, func() core.Snapshot { return bot.Snapshot() })
		defer end()
		worse := &loud{}
		log := slog.New(slog.NewTextHandler(worse, &slog.HandlerOptions{Level: slog.LevelWarn}))
		bot, err = core.New(core.Options{
			Dir: dir, Env: config.Env{Zone: time.UTC}, Engine: e, EngineName: "messages", Log: log, Still: true, Demo: true,
			Shown: make(chan struct{}), // a slow start: no scene may be lost to it
		})
		testkit.Must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return bot.Run(ctx) })
		synctest.Wait()
		g.Go(func() error {
			d := newDriver(bot, home, log, 1)
			d.saved = (&eyes{bot: bot, known: map[string]bool{}}).look
			return d.run(ctx)
		})
		time.Sleep(time.Second) // the bot waits that long for a frame
		synctest.Wait()
		watch(bot, dir, worse)
		stop()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// eyes see which files were saved, in a bubble in which nothing watches them.
type eyes struct {
	bot   *core.Bot
	known map[string]bool // versions of files
}

// look gives each new version to the schedule, as an edit of the text below the script.
func (e *eyes) look() {
	first := len(e.known) == 0
	for _, task := range e.bot.Index().Set().Tasks() {
		e.known[task.Digest] = e.known[task.Digest] || first
	}
	e.bot.Index().Scan()
	for _, task := range e.bot.Index().Set().Tasks() {
		if e.known[task.Digest] {
			continue
		}
		body := task.Body + "\n\nSeen."
		_, err := e.bot.Do(context.Background(), command.EditTask{ID: task.ID, Version: task.Digest, Edit: routines.Edit{Body: &body}})
		if again, ok := e.bot.Index().Set().Find(task.ID); ok && err == nil {
			e.known[again.Digest] = true
		}
	}
}

// loud collects what is worse than a note.
type loud struct {
	mu    sync.Mutex
	lines []string
}

func (l *loud) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

func (l *loud) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}
