package demo

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/messagestest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

// TestADayOfTheDemoRunsOverTheMessagesAPI lives a day of the demo in a bubble, with the
// engine that speaks the Messages API and the offline engine in the place of the
// model. What must have happened by its end is what happens without that API.
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
func dayOf(t *testing.T, engine func(*store.Dir, func() core.Snapshot) (agent.Engine, func())) (over outcome) {
	t.Helper()
	play(t, engine, 1, func(bot *core.Bot, dir *store.Dir, loud *counted) {
		time.Sleep(dayLong)
		s := bot.Snapshot()
		over = sum(s)
		all, err := fork.Ledger(dir, math.MaxInt)
		if err != nil {
			t.Error(err)
		}
		for i := range all {
			if v := &all[i]; v.Started.After(s.Started) {
				over.runs++
				if v.State == fork.Failed {
					over.failed++
				}
			}
		}
		over.faults = loud.count()
		for _, line := range loud.lines {
			t.Log(line)
		}
	})
	return over
}

// play plays the demo in a bubble, while watch looks at it.
func play(t *testing.T, engine func(*store.Dir, func() core.Snapshot) (agent.Engine, func()), speed float64, watch func(*core.Bot, *store.Dir, *counted)) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	if memory, err := os.MkdirTemp("/dev/shm", "ollim-demo-"); err == nil { // where a sync costs nothing
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
		root = filepath.Join(memory, "data")
	}
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.At(root)
		time.Sleep(9*time.Hour + 20*time.Minute) // from midnight
		home := Home{Dir: dir, Now: time.Now().UTC()}
		if err == nil {
			err = Furnish(home)
		}
		if err != nil {
			t.Fatal(err)
		}
		var bot *core.Bot
		e, end := engine(dir, func() core.Snapshot { return bot.Snapshot() })
		defer end()
		var loud counted
		log := slog.New(&loud)
		bot, err = core.New(core.Options{
			Dir: dir, Env: config.Env{Zone: time.UTC}, Engine: e, EngineName: "messages", Log: log, Still: true, Demo: true,
			Shown: make(chan struct{}), // a slow start: no scene may be lost to it
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() {
			if err := bot.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		g.Go(func() {
			d := newDriver(bot, home, log, speed)
			d.saved = (&eyes{bot: bot, known: map[string]bool{}}).look
			if err := d.run(ctx); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second) // the bot waits that long for a frame
		synctest.Wait()
		watch(bot, dir, &loud)
		stop()
		g.Wait()
	})
}

// eyes see which files were saved, in a bubble in which nobody watches them.
type eyes struct {
	bot   *core.Bot
	known map[string]bool // versions of files
}

// look tells the schedule of each new version: it edits the text below the script.
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

func sum(s core.Snapshot) (o outcome) {
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
	return o
}

// counted counts what is worse than a note.
type counted struct {
	mu    sync.Mutex
	lines []string
}

// Enabled is slog.Handler's.
func (*counted) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle is slog.Handler's.
func (c *counted) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool { b.WriteString(" " + a.String()); return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, b.String())
	return nil
}

// WithAttrs is slog.Handler's.
func (c *counted) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup is slog.Handler's.
func (c *counted) WithGroup(string) slog.Handler { return c }

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lines)
}
