package core

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

// dentist writes a reminder that repeats every half hour until it is done.
func dentist(h home, extra string) {
	h.reminder("dddd0001", 10*time.Second, "until: done\n"+extra, `call ping_user {"message":"Call the dentist."}`, `call report_updates {"message":"Pinged."}`)
}

// cards returns the pings with cards, oldest first.
func cards(b *Bot) (list []transcript.Entry) {
	for _, e := range b.Snapshot().Chat {
		if e.Role == transcript.Ping && e.Embed != nil {
			list = append(list, e)
		}
	}
	return list
}

// press clicks the button with a label on a card.
func press(t *testing.T, b *Bot, e transcript.Entry, label string) (command.Outcome, error) {
	t.Helper()
	for _, button := range e.Embed.Buttons {
		if button.Label == label {
			return b.Do(context.Background(), command.Click{Message: e.ID, ID: button.Action})
		}
	}
	t.Fatalf("no button %q on %+v", label, e.Embed)
	return command.Outcome{}, nil
}

// reminderOf returns the reminder from the schedule.
func reminderOf(t *testing.T, b *Bot) *routines.Reminder {
	t.Helper()
	r, ok := b.Index().Set().ReminderByID("dddd0001")
	if !ok {
		t.Fatal("the reminder is gone")
	}
	return r
}

func told(b *Bot, words string) bool {
	for _, u := range b.Snapshot().Updates {
		if strings.Contains(u.Message, words) {
			return true
		}
	}
	return false
}

func TestAReminderComesBackUntilItIsDone(t *testing.T) {
	running(t, func(h home) { dentist(h, "") }, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		first := cards(b)
		if len(first) != 1 || first[0].Text != "Call the dentist." || first[0].Embed.Footer != "repeats until it is done" || len(first[0].Embed.Buttons) != 4 {
			t.Fatalf("the first: %+v", first)
		}
		time.Sleep(time.Hour)
		all := cards(b)
		if len(all) != 3 || !strings.HasSuffix(all[2].Embed.Footer, "for the third time") {
			t.Fatalf("an hour later: %+v", all)
		}
		if r := reminderOf(t, b); r.ChainDepth != 3 || r.MaxChain != routines.DefaultRounds || r.FirstAt.IsZero() {
			t.Errorf("the reminder is %+v", r)
		}
		prompt, err := b.dispatch.Preview(t.Context(), "dddd0001", time.Time{}, false)
		if err != nil || !strings.Contains(prompt, "check 4 of 6") || !strings.Contains(prompt, "reached them 3 times since") {
			t.Errorf("%v\n%s", err, prompt)
		}
		out, err := press(t, b, all[2], "Done")
		if err != nil || !strings.Contains(out.Message, "is done") || h.has("reminders/dddd0001.md") {
			t.Errorf("Done: %+v, %v", out, err)
		}
		if !told(b, `marked the reminder "Task dddd0001" (dddd0001) as done`) || !told(b, "3 times") {
			t.Errorf("updates: %+v", b.Snapshot().Updates)
		}
		time.Sleep(5 * time.Hour)
		if n := len(cards(b)); n != 3 {
			t.Errorf("it came %d times although it was done", n)
		}
		if last := cards(b)[2]; len(last.Embed.Buttons) != 0 || !strings.Contains(last.Embed.Footer, "is done") || last.Text != "Call the dentist." {
			t.Errorf("the pressed message: %+v", last.Embed)
		}
		if last := b.Snapshot().Budget.Pings[2]; last.How != budget.Pressed || last.Answered.IsZero() {
			t.Errorf("the ping was not answered: %+v", last)
		}
		if _, err = press(t, b, all[0], "Later"); err == nil || !strings.Contains(err.Error(), "is not pending") {
			t.Errorf("a press on an old message of a reminder that is done: %v", err)
		}
		if old := cards(b)[0]; len(old.Embed.Buttons) != 0 {
			t.Error("the old message keeps its buttons")
		}
		do(t, b, out.Undo)
		if !h.has("reminders/dddd0001.md") || told(b, "as done") {
			t.Errorf("after undo: %+v", b.Snapshot().Updates)
		}
	})
}

func TestAReminderStopsAtItsLimitWithALastWord(t *testing.T) {
	running(t, func(h home) { dentist(h, "max-chain: 1\nagain: 5\n") }, func(h home, b *Bot) {
		time.Sleep(9 * time.Minute)
		all := cards(b)
		if len(all) != 2 || all[1].At.Sub(all[0].At) > 6*time.Minute || !reminderOf(t, b).LastWord {
			t.Fatalf("it came %d times, %+v", len(all), reminderOf(t, b))
		}
		if told(b, "stopped") || len(all[1].Embed.Buttons) != 4 {
			t.Error("it ended without time for an answer")
		}
		time.Sleep(time.Hour)
		all = cards(b)
		if len(all) != 2 || h.has("reminders/dddd0001.md") {
			t.Fatalf("it came %d times", len(all))
		}
		if !told(b, "has stopped coming back: it reached the user 2 times since") {
			t.Errorf("updates: %+v", b.Snapshot().Updates)
		}
		if len(all[1].Embed.Buttons) != 0 || len(b.Snapshot().Forks) != 2 {
			t.Errorf("the last message is %+v, %d runs", all[1].Embed, len(b.Snapshot().Forks))
		}
	})
}

func TestLaterAndNotTodayPutAReminderOff(t *testing.T) {
	running(t, func(h home) { dentist(h, "max-chain: 1\n") }, func(h home, b *Bot) {
		time.Sleep(40 * time.Minute) // the last repetition
		r := reminderOf(t, b)
		out, err := press(t, b, cards(b)[0], "Later") // on the previous message
		if now := b.now(); err != nil || !reminderOf(t, b).RunAt.Equal(now.Add(time.Hour).Truncate(time.Second)) {
			t.Errorf("%+v, %v, due %v", out, err, reminderOf(t, b).RunAt)
		}
		if later := reminderOf(t, b); later.ChainDepth != 0 || later.LastWord || !later.FirstAt.Equal(r.FirstAt) {
			t.Errorf("after Later: %+v", later)
		}
		do(t, b, out.Undo)
		if !reminderOf(t, b).RunAt.Equal(r.RunAt) {
			t.Errorf("undone it is due %v, before %v", reminderOf(t, b).RunAt, r.RunAt)
		}
		until := b.now().Add(3 * time.Hour)
		do(t, b, command.Remind{ID: "dddd0001", Word: command.Later, Until: until})
		time.Sleep(3*time.Hour + time.Minute)
		all := cards(b)
		if len(all) != 3 || !strings.HasSuffix(all[2].Embed.Footer, "for the third time") || all[2].At.Before(until) {
			t.Fatalf("after three hours: %+v", all)
		}
		if !told(b, "put the reminder") || !told(b, "propose it") {
			t.Errorf("updates: %+v", b.Snapshot().Updates)
		}
		if _, err := press(t, b, all[2], "Not today"); err != nil {
			t.Fatal(err)
		}
		want := r.First().AddDate(0, 0, 1).Truncate(time.Minute)
		if got := reminderOf(t, b).RunAt; !got.Equal(want) {
			t.Errorf("not today is %v, want %v", got, want)
		}
		for word, c := range map[string]command.Remind{
			"in the past":     {ID: "dddd0001", Word: command.Later, Until: b.now().Add(-time.Minute)},
			"year away":       {ID: "dddd0001", Word: command.Later, Until: b.now().AddDate(2, 0, 0)},
			"does not answer": {ID: "dddd0001", Word: "never"},
			"is not pending":  {ID: "nobody", Word: command.Done},
			"use done, later": {ID: "dddd0001"},
		} {
			refused(t, b, c, word)
		}
		time.Sleep(24 * time.Hour)
		if n := len(cards(b)); n != 5 {
			t.Errorf("it did not come on the next day: %d", n)
		}
	})
}

// While a ping cannot go out, there is no run, and nothing is counted.
func TestAReminderThatComesBackKeepsToBudgetAndQuiet(t *testing.T) {
	running(t, func(h home) { dentist(h, "max-chain: 2\n") }, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		mute := b.now().Add(2 * time.Hour).Truncate(time.Second)
		do(t, b, command.MuteUntil{Until: mute})
		time.Sleep(90 * time.Minute)
		if r := reminderOf(t, b); len(cards(b)) != 1 || len(b.Snapshot().Forks) != 1 || r.ChainDepth != 1 || !r.RunAt.Equal(mute) {
			t.Errorf("muted: %d cards, %d runs, %+v", len(cards(b)), len(b.Snapshot().Forks), r)
		}
		time.Sleep(31 * time.Minute)
		if n := len(cards(b)); n != 2 {
			t.Errorf("after the mute: %d cards", n)
		}
		zero := 0
		out := do(t, b, command.SetBudget{Capacity: &zero})
		time.Sleep(5 * time.Hour)
		if r := reminderOf(t, b); len(b.Snapshot().Forks) != 2 || r.ChainDepth != 2 {
			t.Errorf("without a budget: %d runs, %+v", len(b.Snapshot().Forks), r)
		}
		do(t, b, out.Undo)
		time.Sleep(10 * time.Minute)
		if n := len(cards(b)); n != 3 {
			t.Errorf("with a budget again: %d cards", n)
		}
	})
}

func TestAnEmptyBucketLetsAReminderWaitForItsToken(t *testing.T) {
	running(t, func(h home) {
		dentist(h, "")
		h.write("state/ping_budget.json", `{"capacity": 1, "available": 1.0, "refill_rate_minutes": 90, "last_refill": "`+time.Now().Format(time.RFC3339)+
			`", "critical_used": 0, "critical_reset_date": "2000-01-01", "daily_used": 0, "daily_used_reset": "2000-01-01"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(80 * time.Minute)
		if r := reminderOf(t, b); len(b.Snapshot().Forks) != 1 || r.ChainDepth != 1 || b.Snapshot().Forks[0].Refused != 0 {
			t.Errorf("without a token: %d runs, %+v", len(b.Snapshot().Forks), r)
		}
		time.Sleep(15 * time.Minute)
		if n := len(cards(b)); n != 2 {
			t.Errorf("with a token: %d cards", n)
		}
	})
}

// A failed or silent run counts as a repetition; a run that asks for another time gets
// it.
func TestAReminderComesBackAfterWhateverItsRunDid(t *testing.T) {
	running(t, func(h home) {
		h.reminder("dddd0001", time.Second, "until: done\n", `call follow_up_chain {"minutes_from_now": 240}`, `call ping_user {"message":"Four hours?"}`,
			`call report_updates {"message":"r"}`)
		h.reminder("dddd0002", time.Second, "until: done\nmax-chain: 1\nupdate-main-session: freely\n", `fail no luck`)
		h.reminder("dddd0003", time.Second, "until: done\n", `call cancel_reminder {"reminder_id": "dddd0003"}`)
		h.reminder("dddd0004", time.Second, "until: done\nallow-ping: false\n", `say quiet`)
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		if r := reminderOf(t, b); r.ChainDepth != 1 || r.RunAt.Sub(b.now()) < 230*time.Minute {
			t.Errorf("the agent's own time: %+v", r)
		}
		if r, ok := b.Index().Set().ReminderByID("dddd0002"); !ok || r.ChainDepth != 1 {
			t.Errorf("after a run that failed: %+v", r)
		}
		if h.has("reminders/dddd0003.md") || h.has("reminders/dddd0004.md") {
			t.Error("a cancelled one, or one without pings, came back")
		}
		time.Sleep(2 * time.Hour)
		if !told(b, "it never reached the user") {
			t.Errorf("updates: %+v", b.Snapshot().Updates)
		}
	})
}

func TestTheUsersHandOnTheFileWins(t *testing.T) {
	running(t, func(h home) {
		dentist(h, "")
		h.reminder("dddd0002", 10*time.Second, "until: done\n", `call ping_user {"message":"Two."}`, `wait 20m`, `call report_updates {"message":"r"}`)
		h.reminder("dddd0003", 10*time.Second, "until: done\n", `wait 20m`)
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		// Two runs are in progress. In the meantime one is answered, the other deleted.
		do(t, b, command.Remind{ID: "dddd0002", Word: command.Later})
		at := b.now().Add(time.Hour).Truncate(time.Second)
		testkit.Must(t, os.Remove(filepath.Join(h.root, "reminders/dddd0003.md")))
		// The third may repeat only once more.
		path := filepath.Join(h.root, "reminders/dddd0001.md")
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), "until: done\n") || !strings.Contains(string(data), "first-at:") {
			t.Fatal(err, string(data))
		}
		h.write("reminders/dddd0001.md", strings.Replace(string(data), "until: done\n", "", 1))
		b.Schedule().Refresh("reminders/dddd0001.md", "reminders/dddd0003.md")
		time.Sleep(40 * time.Minute)
		set := b.Index().Set()
		if _, there := set.ReminderByID("dddd0001"); there {
			t.Error("without until it came back")
		}
		if _, there := set.ReminderByID("dddd0003"); there || h.has("reminders/dddd0003.md") {
			t.Error("the deleted one came back")
		}
		if r, ok := set.ReminderByID("dddd0002"); !ok || !r.RunAt.Equal(at) || r.ChainDepth != 0 {
			t.Errorf("the answer of a running one did not count: %+v", r)
		}
	})
}

func TestTwoPressesAtOnceAreOneAnswer(t *testing.T) {
	running(t, func(h home) { dentist(h, "") }, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		card := cards(b)[0]
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = b.Do(context.Background(), command.Click{Message: card.ID, ID: card.Embed.Buttons[i%2].Action})
			})
		}
		wg.Wait()
		done := 0
		for i, err := range errs {
			if err == nil && i%2 == 0 {
				done++
			}
		}
		if done != 1 || h.has("reminders/dddd0001.md") {
			t.Errorf("%d of four were told that it is done: %v", done, errs)
		}
		updates := 0
		for _, u := range b.Snapshot().Updates {
			if strings.Contains(u.Message, "dddd0001") {
				updates++
			}
		}
		if updates != 1 {
			t.Errorf("%d updates: %+v", updates, b.Snapshot().Updates)
		}
	})
}

// The bot may be off when a repetition is due or an answer is given.
func TestAReminderOutlivesTheProgram(t *testing.T) {
	lives(t, 0, func(h home) { dentist(h, "") }, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		all := cards(b)
		if len(all) != 1 {
			t.Fatalf("%d cards at once", len(all))
		}
		time.Sleep(30 * time.Minute)
		if all = cards(b); len(all) != 2 || !strings.HasSuffix(all[1].Embed.Footer, "for the second time") {
			t.Fatalf("after the restart: %+v", all)
		}
		if _, err := press(t, b, all[0], "Done"); err != nil { // a button from before the restart
			t.Error(err)
		}
		if h.has("reminders/dddd0001.md") {
			t.Error("a button of before did nothing")
		}
	})
}

func TestAReminderThatWasDueWhileNobodyWasThereComesLate(t *testing.T) {
	running(t, func(h home) {
		first := time.Now().In(h.zone).Add(-5 * time.Hour).Format(time.RFC3339)
		h.reminder("dddd0001", -4*time.Hour, "until: done\nchain-depth: 1\nmax-chain: 2\nfirst-at: \""+first+"\"\n", `call ping_user {"message":"Late."}`,
			`call report_updates {"message":"r"}`)
		h.reminder("dddd0002", -4*time.Hour, "until: done\nchain-depth: 2\nmax-chain: 2\nlast-word: true\n", `call ping_user {"message":"No."}`)
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		runs := b.Snapshot().Forks
		if len(runs) != 1 || !runs[0].Late || runs[0].State != fork.Done || reminderOf(t, b).ChainDepth != 2 {
			t.Errorf("%+v, %+v", runs, reminderOf(t, b))
		}
		if h.has("reminders/dddd0002.md") || !told(b, "(dddd0002) was not done") {
			t.Errorf("the last word was not said: %+v", b.Snapshot().Updates)
		}
	})
}

// A reminder written by the agent keeps the agent's rights when the program moves it.
func TestAMovedReminderKeepsTheRightsOfItsWriter(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		book := b.tasks.Book(policy.Writer{Kind: "background", Alone: true})
		r, err := book.Add(t.Context(), routines.Reminder{RunAt: b.now().Add(10 * time.Second), UntilDone: true, Task: routines.Task{
			ID: "dddd0001", Background: true, Thinking: true, Mode: routines.Freely, AllowPing: true, Body: "Ask.\n\n```script\nsay hm\n```",
		}})
		testkit.Must(t, err)
		time.Sleep(time.Minute)
		moved := reminderOf(t, b)
		o, known := b.guard.Provenance().Find(moved.Path, moved.Digest)
		if moved.Digest == r.Digest || !known || !o.Writer.Alone {
			t.Errorf("moved %v, its writer is %+v (%v)", moved.Digest != r.Digest, o, known)
		}
	})
}

func TestADashboardAddsAReminderUntilDone(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		add := command.AddTask{At: b.now().Add(time.Hour), Message: "Call.", UntilDone: true}
		do(t, b, add)
		if all := b.Snapshot().Schedule.Tasks; len(all) != 1 || !all[0].UntilDone || all[0].Label != "Reminder until done" {
			t.Errorf("%+v", all)
		}
		add.Silent = true
		refused(t, b, add, "must run in the background and be allowed to ping")
	})
}

// A held reminder does not repeat, but can be answered.
func TestAHeldReminderCanBeAnswered(t *testing.T) {
	running(t, func(h home) { dentist(h, "") }, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		do(t, b, command.Pause{ID: "dddd0001", Paused: true})
		time.Sleep(2 * time.Hour)
		if n := len(cards(b)); n != 1 {
			t.Errorf("a paused one came %d times", n)
		}
		do(t, b, command.Remind{ID: "dddd0001", Word: command.Done})
		if h.has("reminders/dddd0001.md") {
			t.Error("it is still there")
		}
	})
}

// However it is answered and however long it is ignored, it pings at most as often as its
// repetitions allow, never once it is done, and always sends a final notice.
func TestPropertyAReminderEnds(t *testing.T) {
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				dentist(h, fmt.Sprintf("max-chain: %d\nagain: %d\n", seed%3, 10+seed))
				b := h.bot(offline())
				stop := begin(t, b)
				five := 5
				allowed := seed%3 + 1
				for step := range 4 {
					time.Sleep(time.Duration(7+step*seed) * time.Minute)
					do(t, b, command.SetBudget{Capacity: &five})
					if _, pending := b.Index().Set().ReminderByID("dddd0001"); !pending {
						break
					}
					if step+seed == 5 {
						do(t, b, command.Remind{ID: "dddd0001", Word: command.Later})
						allowed += seed%3 + 1
					}
				}
				time.Sleep(8 * time.Hour)
				if n := len(cards(b)); n == 0 || n > allowed {
					t.Errorf("it came %d times, %d are allowed", n, allowed)
				}
				if h.has("reminders/dddd0001.md") || !told(b, "has stopped coming back") {
					t.Errorf("it did not end: %+v", b.Snapshot().Updates)
				}
				stop()
			})
		})
	}
}
