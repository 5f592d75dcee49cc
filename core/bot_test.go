package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

// berlin is the zone of the stories: a real one, so that nobody gets away with UTC.
func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	return zone
}

// home is a data directory for a story.
type home struct {
	t    *testing.T
	root string
	zone *time.Location
}

func newHome(t *testing.T) home {
	t.Helper()
	root := t.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "ollim-core-"); err == nil { // where a sync costs nothing
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
		root = memory
	}
	return home{t: t, root: filepath.Join(root, "data"), zone: berlin(t)}
}

func (h home) write(rel, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, rel)
	must(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(h.t, os.WriteFile(path, []byte(text), 0o600))
}

func (h home) has(rel string) bool {
	_, err := os.Stat(filepath.Join(h.root, rel))
	return err == nil
}

// reminder writes a background reminder that is due in d and plays a script.
func (h home) reminder(id string, d time.Duration, extra string, lines ...string) {
	h.write("reminders/"+id+".md", fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: true\ndescription: \"Task %s\"\n%s---\nDo it.\n\n```script\n%s\n```\n",
		id, time.Now().In(h.zone).Add(d).Format(time.RFC3339Nano), id, extra, strings.Join(lines, "\n")))
}

func (h home) bot(e agent.Engine) *Bot {
	h.t.Helper()
	return h.make(h.t, e)
}

func (h home) make(t testing.TB, e agent.Engine) *Bot {
	t.Helper()
	dir := storetest.At(t, h.root)
	b, err := New(Options{Dir: dir, Env: config.Env{Zone: h.zone}, Engine: e, EngineName: "script", Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
	b.watchFiles, b.versions = idle, idle
	return b
}

// running runs a story inside a bubble with a running bot.
func running(t *testing.T, prepare func(h home), story func(h home, b *Bot)) {
	t.Helper()
	lives(t, 0, prepare, story)
}

func liveWith(t *testing.T, engine func() agent.Engine, prepare func(h home), story func(h home, b *Bot)) {
	t.Helper()
	livesWith(t, engine, 0, prepare, story)
}

// lives lives through several starts of the bot over one directory, with a gap before
// each but the first.
func lives(t *testing.T, gap time.Duration, prepare func(h home), stories ...func(h home, b *Bot)) {
	t.Helper()
	livesWith(t, func() agent.Engine { return script.New(script.Options{Pace: 1}) }, gap, prepare, stories...)
}

func livesWith(t *testing.T, engine func() agent.Engine, gap time.Duration, prepare func(h home), stories ...func(h home, b *Bot)) {
	t.Helper()
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		prepare(h)
		for i, story := range stories {
			if i > 0 {
				time.Sleep(gap)
			}
			b := h.bot(engine())
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- b.Run(ctx) }()
			synctest.Wait()
			story(h, b)
			stop()
			if err := <-done; err != nil {
				t.Errorf("Run ended with %v", err)
			}
		}
	})
}

func pings(s Snapshot) (n int) {
	for _, e := range s.Chat {
		if e.Role == transcript.Ping {
			n++
		}
	}
	return n
}

func TestAReminderPingsReportsAndIsRemoved(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0001", 10*time.Second, "", `call ping_user {"message":"Stand up, please."}`,
			`call report_updates {"message":"Pinged about standing up."}`)
	}, func(h home, b *Bot) {
		before := b.Snapshot()
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if pings(s) != 1 {
			t.Errorf("the user got %d pings, want 1: %+v", pings(s), s.Chat)
		}
		spent := before.Budget.State.Available - s.Budget.State.Available
		if before.Budget.State.Available != 5 || spent < 0.9 || spent > 1 {
			t.Errorf("tokens went from %v to %v, want one less", before.Budget.State.Available, s.Budget.State.Available)
		}
		if len(s.Updates) != 1 || s.Updates[0].Message != "Pinged about standing up." {
			t.Errorf("updates are %+v", s.Updates)
		}
		if h.has("reminders/aaaa0001.md") {
			t.Error("the reminder's file is still there")
		}
		if len(s.Forks) != 1 || s.Forks[0].State != fork.Done || s.Forks[0].Pings != 1 || s.Forks[0].Reports != 1 {
			t.Fatalf("forks are %+v", s.Forks)
		}
		if page := b.Tail(s.Forks[0].ID, 0); len(page.Lines) < 4 {
			t.Errorf("the tail has %d lines", len(page.Lines))
		}
	})
}

func TestASecondPingOfAForkIsRefusedAndCostsNothing(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0002", time.Second, "", `call ping_user {"message":"One."}`, `call ping_user {"message":"Two."}`,
			`call report_updates {"message":"Pinged."}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if pings(s) != 1 || s.Budget.State.DailyUsed != 1 || s.Forks[0].Refused != 1 {
			t.Errorf("pings %d, used %d, refused %d", pings(s), s.Budget.State.DailyUsed, s.Forks[0].Refused)
		}
	})
}

func TestAChainReminderSchedulesItsNextCheck(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0003", time.Second, "max-chain: 2\n", `call follow_up_chain {"minutes_from_now": 5}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		set := b.Index().Set()
		if len(set.Reminders) != 1 {
			t.Fatalf("%d reminders, want the next check alone", len(set.Reminders))
		}
		r := set.Reminders[0]
		if r.ChainDepth != 1 || r.MaxChain != 2 || r.ChainParent != "aaaa0003" {
			t.Errorf("next check is depth %d of %d, parent %q", r.ChainDepth, r.MaxChain, r.ChainParent)
		}
		if e := b.Snapshot().Schedule.Entries; len(e) != 1 || e[0].Label != "Chain reminder (2/3)" {
			t.Errorf("schedule shows %+v", e)
		}
	})
}

func TestAnOverdueReminderFiresAfterFiveSecondsAndSaysItIsLate(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0004", -2*time.Hour, "", `say done`)
	}, func(h home, b *Bot) {
		prompt, err := b.dispatch.Preview(t.Context(), "aaaa0004", time.Time{}, false)
		if err != nil || !strings.Contains(prompt, "[reminder-bg:aaaa0004]") {
			t.Fatalf("preview: %v\n%s", err, prompt)
		}
		time.Sleep(4 * time.Second)
		if len(b.Snapshot().Forks) != 0 {
			t.Error("it fired before the five seconds were over")
		}
		time.Sleep(30 * time.Second)
		s := b.Snapshot()
		if len(s.Forks) != 1 || !s.Forks[0].Late || s.Forks[0].State != fork.Done {
			t.Errorf("forks are %+v", s.Forks)
		}
	})
}

func TestAForegroundReminderSpeaksInTheMainSession(t *testing.T) {
	running(t, func(h home) {
		at := time.Now().In(h.zone).Add(2 * time.Second).Format(time.RFC3339Nano)
		h.write("reminders/fg.md", fmt.Sprintf("---\nid: \"aaaa0005\"\nrun-at: %q\nbackground: false\n---\nStand-up.\n\n```script\nsay Good morning, stand-up in ten.\n```\n", at))
	}, func(h home, b *Bot) {
		if err := b.updates.Append(b.now(), "The build is green."); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		last := s.Chat[len(s.Chat)-1]
		if last.Role != transcript.Bot || !strings.Contains(last.Text, "stand-up in ten") {
			t.Errorf("chat ends with %+v", last)
		}
		if len(s.Updates) != 0 {
			t.Errorf("the delivered update is still pending: %+v", s.Updates)
		}
		if b.sessions.Main() == "" {
			t.Error("the main session's id was not saved")
		}
		if h.has("reminders/fg.md") {
			t.Error("the reminder's file is still there")
		}
	})
}

func TestAnUnfinishedReminderSurvivesTheEndOfTheProgram(t *testing.T) {
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		h.reminder("aaaa0006", time.Second, "", `wait 10m`)
		b := h.bot(script.New(script.Options{Pace: 1}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		time.Sleep(time.Minute)
		if s := b.Snapshot(); len(s.Forks) != 1 || s.Forks[0].State != fork.Running {
			t.Fatalf("forks are %+v", s.Forks)
		}
		began := time.Now()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("stopping took %v", took)
		}
		if !h.has("reminders/aaaa0006.md") {
			t.Error("the reminder's file is gone although it had not finished")
		}
	})
}

func TestABudgetChangeCanBeUndone(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		two := 2
		out, err := b.Do(context.Background(), command.SetBudget{Capacity: &two})
		if err != nil {
			t.Fatal(err)
		}
		if s := b.Snapshot().Budget.State; s.Capacity != 2 || s.Available != 2 {
			t.Errorf("after the change: %+v", s)
		}
		if _, err := b.Do(context.Background(), out.Undo); err != nil {
			t.Fatal(err)
		}
		if s := b.Snapshot().Budget.State; s.Capacity != 5 || s.Available != 5 {
			t.Errorf("after undo: %+v", s)
		}
		minus, five := -1, 5
		if same, err := b.Do(context.Background(), command.SetBudget{Capacity: &five}); err != nil || same.Undo != nil || !strings.Contains(same.Message, "as it was") {
			t.Errorf("without a change it says %+v, %v", same, err)
		}
		if said, err := b.Do(context.Background(), command.Slash{Line: "/ping-budget 5"}); err != nil || !strings.HasPrefix(said.Message, "the ping budget is as it was: ") {
			t.Errorf("without a change the command says %+v, %v", said, err)
		}
		if _, err := b.Do(context.Background(), command.SetBudget{Capacity: &minus}); err == nil {
			t.Error("a negative capacity was taken")
		}
		zero := 0
		if _, err := b.Do(context.Background(), command.SetBudget{RefillMinutes: &zero}); err == nil {
			t.Error("a refill rate of 0 was taken")
		}
	})
}

func TestADiscardedUpdateComesBackInItsPlace(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		for _, m := range []string{"first", "second", "third"} {
			if err := b.updates.Append(b.now(), m); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		out, err := b.Do(context.Background(), command.DiscardUpdate{Key: b.Snapshot().Updates[1].Key})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(b.Snapshot().Updates); n != 2 {
			t.Fatalf("%d updates after discarding", n)
		}
		if _, err := b.Do(context.Background(), out.Undo); err != nil {
			t.Fatal(err)
		}
		if u := b.Snapshot().Updates; len(u) != 3 || u[1].Message != "second" {
			t.Errorf("updates are %+v", u)
		}
	})
}

func TestAMessageIsAnsweredAndMakesTheBotBusy(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0007", 3*time.Second, "", `call ping_user {"message":"Now?"}`, `call report_updates {"message":"r"}`)
	}, func(_ home, b *Bot) {
		if _, err := b.Do(context.Background(), command.Say{Text: "hello\n\n```script\nwait 20s\nsay hi there\n```"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if !b.Snapshot().Busy {
			t.Error("the bot is not busy while it answers")
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if s.Busy {
			t.Error("the bot is still busy")
		}
		if pings(s) != 0 || s.Forks[0].Refused != 1 || s.Budget.State.DailyUsed != 0 {
			t.Errorf("a ping came through in mid-conversation: pings %d, refused %d", pings(s), s.Forks[0].Refused)
		}
		if e := s.Chat[len(s.Chat)-1]; e.Role != transcript.Bot || !strings.Contains(e.Text, "hi there") {
			t.Errorf("chat ends with %+v", e)
		}
	})
}

func TestAMessageInterruptsTheRunningTurn(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		ctx := context.Background()
		if _, err := b.Do(ctx, command.Say{Text: "one\n\n```script\nwait 1h\nsay too late\n```"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if _, err := b.Do(ctx, command.Say{Text: "two\n\n```script\nsay here I am\n```"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if e := s.Chat[len(s.Chat)-1]; !strings.Contains(e.Text, "here I am") {
			t.Errorf("chat ends with %+v", e)
		}
	})
}

// deaf is an engine whose turns never reach the model.
type deaf struct{ broken error }

func (d deaf) Open(context.Context, agent.SessionOptions) (agent.Session, error) {
	return deaf{d.broken}, nil
}
func (deaf) ID() string { return "5f4dcc3b-0000-4000-8000-000000000000" }
func (d deaf) Send(context.Context, agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) { yield(nil, d.broken) }
}
func (deaf) Interrupt(context.Context) error                 { return nil }
func (deaf) Configure(context.Context, agent.Settings) error { return nil }
func (deaf) Close() error                                    { return nil }

// dying is an engine that takes a message and dies before it says a word.
type dying struct{ deaf }

func (dying) HasMessage(context.Context, string, [sha256.Size]byte) (bool, error) { return true, nil }

func TestUpdatesOfATurnThatDiedAfterTheEngineTookThemAreNotSentAgain(t *testing.T) {
	liveWith(t, func() agent.Engine { return dying{deaf{errors.New("ended by SIGKILL")}} }, func(home) {}, func(h home, b *Bot) {
		if err := b.updates.Append(b.now(), "once"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Do(context.Background(), command.Say{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s := b.Snapshot(); len(s.Updates) != 0 || h.has("state/delivery.json") {
			t.Errorf("still pending: %+v", s.Updates)
		}
	})
}

func TestUpdatesOfATurnThatNeverReachedTheEngineStayPending(t *testing.T) {
	liveWith(t, func() agent.Engine { return deaf{errors.New("no engine today")} }, func(home) {}, func(_ home, b *Bot) {
		if err := b.updates.Append(b.now(), "keep me"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Do(context.Background(), command.Say{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if len(s.Updates) != 1 || s.Updates[0].Message != "keep me" {
			t.Errorf("updates are %+v", s.Updates)
		}
		if len(s.Notices) == 0 || s.Notices[len(s.Notices)-1].Level != notice.Alert {
			t.Errorf("the user was not told: %+v", s.Notices)
		}
	})
}

func TestASecondBotOnTheSameDirectoryIsRefused(t *testing.T) {
	running(t, func(home) {}, func(h home, _ *Bot) {
		var running *store.RunningError
		if err := h.bot(script.New(script.Options{})).Run(t.Context()); !errors.As(err, &running) {
			t.Errorf("the second bot ended with %v", err)
		}
	})
}

func TestPreviewSpendsAndWritesNothing(t *testing.T) {
	h := newHome(t)
	h.write("routines/r.md", "---\nid: \"aaaa0008\"\ncron: \"0 9 * * *\"\nbackground: true\ndescription: \"Plan\"\n---\nPlan the day.\n")
	b := h.bot(script.New(script.Options{}))
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, h.zone)
	text, err := b.dispatch.Preview(t.Context(), "aaaa0008", at, true)
	must(t, err)
	for _, want := range []string{"[2026-11-23 Mon 09:00 AM CET] [routine-bg:aaaa0008]", "mid-conversation", "Plan the day.", "[this task]"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(h.root, "state")); err == nil {
		t.Error("a preview created state/")
	}
	if _, err := b.dispatch.Preview(t.Context(), "nobody", at, false); err == nil {
		t.Error("an unknown id was previewed")
	}
}

func TestARoutineRunsAtItsMinutes(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/r.md", "---\nid: \"aaaa0009\"\ncron: \"*/5 * * * *\"\nbackground: true\nupdate-main-session: \"freely\"\n---\nLook.\n\n```script\nsay looked\n```\n")
	}, func(_ home, b *Bot) {
		time.Sleep(16 * time.Minute)
		if n := len(b.Snapshot().Forks); n < 3 || n > 4 {
			t.Errorf("%d runs in sixteen minutes of every five", n)
		}
		if _, err := b.Do(context.Background(), command.FireNow{ID: "aaaa0009"}); err != nil {
			t.Fatal(err)
		}
		before := len(b.Snapshot().Forks)
		time.Sleep(time.Second)
		if n := len(b.Snapshot().Forks); n < before || b.Snapshot().Forks[0].Kind != routines.KindRoutine {
			t.Errorf("fire now started nothing: %d runs", n)
		}
	})
}

func TestAFileThatIsMendedBeforeItWasToldIsNotTold(t *testing.T) {
	running(t, func(h home) { h.write("routines/a.md", "---\nid: a\ncron: never\n---\nDo it.\n") }, func(h home, b *Bot) {
		pending := func() (list []string) {
			for _, u := range b.Snapshot().Updates {
				list = append(list, u.Message)
			}
			return list
		}
		edit := func(rel, text string) {
			h.write(rel, text)
			b.directory.Apply(watch.Batch{Names: []string{rel}})
			time.Sleep(time.Second)
		}
		if got := pending(); len(got) != 1 || !strings.Contains(got[0], "routines/a.md") {
			t.Fatalf("pending: %q", got)
		}
		edit("reminders/b.md", "---\nid: b\nrun-at: soon\n---\nDo it.\n")
		edit("routines/c.md", "no front matter")
		if got := pending(); len(got) != 2 || !strings.Contains(got[1], "routines/a.md") || !strings.Contains(got[1], "routines/c.md") {
			t.Errorf("pending: %q", got)
		}
		edit("routines/a.md", "---\nid: a\ncron: 0 9 * * *\n---\nDo it.\n")
		if got := pending(); len(got) != 2 || strings.Contains(got[1], "routines/a.md") || !strings.Contains(got[1], "routines/c.md") {
			t.Errorf("pending: %q", got)
		}
		edit("reminders/b.md", "---\nid: b\nrun-at: \"2030-01-01T00:00:00Z\"\n---\nDo it.\n")
		edit("routines/c.md", "---\nid: c\ncron: 0 9 * * *\n---\nDo it.\n")
		if got := pending(); len(got) != 0 {
			t.Errorf("all is well, and pending is %q", got)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
