package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

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

// What a reminder says before it is due is a ping that asks no model, and refused as any other.
func TestAReminderPingsBeforeItIsDue(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0001", 3*time.Hour, "ahead: [\"2 hours: Pack the card\", \"1 hour\", \"10 minutes\"]\n", `call ping_user {"message":"Now."}`)
	}, func(h home, b *Bot) {
		before := b.Snapshot()
		time.Sleep(time.Hour + time.Minute)
		s := b.Snapshot()
		if pings(s) != 1 || s.Chat[len(s.Chat)-1].Text != "Pack the card" || before.Budget.State.Available-s.Budget.State.Available < 0.5 {
			t.Errorf("%d pings, %v tokens: %+v", pings(s), s.Budget.State.Available, s.Chat)
		}
		if !h.has("reminders/aaaa0001.md") || len(s.Forks) != 1 || s.Forks[0].State != fork.Done || s.Forks[0].Session != "" {
			t.Errorf("forks are %+v", s.Forks)
		}
		time.Sleep(time.Hour)
		if s = b.Snapshot(); pings(s) != 2 || !strings.HasPrefix(s.Chat[len(s.Chat)-1].Text, "Task aaaa0001: 0") {
			t.Errorf("%+v", s.Chat)
		}
		none := 0
		if _, err := b.Do(t.Context(), command.SetBudget{Capacity: &none}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Minute)
		if s = b.Snapshot(); pings(s) != 2 || s.Forks[0].State != fork.Done || s.Forks[0].Refused != 1 || !h.has("reminders/aaaa0001.md") {
			t.Errorf("%d pings, forks are %+v", pings(s), s.Forks)
		}
		time.Sleep(20 * time.Minute)
		if h.has("reminders/aaaa0001.md") {
			t.Error("the reminder did not fire at its own time")
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
		testkit.Must(t, b.updates.Append(b.now(), "The build is green."))
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
		b := h.bot(offline())
		stop := begin(t, b)
		time.Sleep(time.Minute)
		if s := b.Snapshot(); len(s.Forks) != 1 || s.Forks[0].State != fork.Running {
			t.Fatalf("forks are %+v", s.Forks)
		}
		began := time.Now()
		stop()
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
		testkit.Must(t, err)
		if s := b.Snapshot().Budget.State; s.Capacity != 2 || s.Available != 2 {
			t.Errorf("after the change: %+v", s)
		}
		do(t, b, out.Undo)
		if s := b.Snapshot().Budget.State; s.Capacity != 5 || s.Available != 5 {
			t.Errorf("after undo: %+v", s)
		}
		minus, five := -1, 5
		if same, err := b.Do(context.Background(), command.SetBudget{Capacity: &five}); err != nil || same.Undo != nil || !strings.Contains(same.Message, "unchanged") {
			t.Errorf("without a change it says %+v, %v", same, err)
		}
		if said, err := b.Do(context.Background(), command.Slash{Line: "/ping-budget 5"}); err != nil || !strings.HasPrefix(said.Message, "the ping budget is unchanged: ") {
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
			testkit.Must(t, b.updates.Append(b.now(), m))
			time.Sleep(time.Second)
		}
		out, err := b.Do(context.Background(), command.DiscardUpdate{Key: b.Snapshot().Updates[1].Key})
		testkit.Must(t, err)
		if n := len(b.Snapshot().Updates); n != 2 {
			t.Fatalf("%d updates after discarding", n)
		}
		do(t, b, out.Undo)
		if u := b.Snapshot().Updates; len(u) != 3 || u[1].Message != "second" {
			t.Errorf("updates are %+v", u)
		}
	})
}

func TestAMessageIsAnsweredAndMakesTheBotBusy(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0007", 3*time.Second, "", `call ping_user {"message":"Now?"}`, `call report_updates {"message":"r"}`)
	}, func(_ home, b *Bot) {
		do(t, b, command.Say{Text: "hello\n\n```script\nwait 20s\nsay hi there\n```"})
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

func TestASecondBotOnTheSameDirectoryIsRefused(t *testing.T) {
	running(t, func(home) {}, func(h home, _ *Bot) {
		var running *store.RunningError
		if err := h.bot(script.New(script.Options{})).Run(t.Context()); !errors.As(err, &running) {
			t.Errorf("the second bot ended with %v", err)
		}
	})
}

func TestARoutineRunsAtItsMinutes(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/r.md", "---\nid: \"aaaa0009\"\ncron: \"*/5 * * * *\"\nbackground: true\nupdate-main-session: \"freely\"\n---\nLook.\n\n```script\nsay looked\n```\n")
	}, func(_ home, b *Bot) {
		time.Sleep(16 * time.Minute)
		if n := len(b.Snapshot().Forks); n < 3 || n > 4 {
			t.Errorf("%d runs in sixteen minutes of every five", n)
		}
		do(t, b, command.FireNow{ID: "aaaa0009"})
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
