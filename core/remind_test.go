package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

const (
	dentistID   = "dddd0001"
	dentistFile = "reminders/dddd0001.md"
)

// dentist is a reminder that repeats every half hour until it is done.
func dentist(extra string) file {
	return remind(dentistID, 10*time.Second, "until: done\n"+extra, `call ping_user {"message":"Call the dentist."}`, `call report_updates {"message":"Pinged."}`)
}

// cards returns the pings with cards, oldest first.
func (w *world) cards() (list []transcript.Entry) {
	for _, e := range w.Snapshot().Chat {
		if e.Role == transcript.Ping && e.Embed != nil {
			list = append(list, e)
		}
	}
	return list
}

// press clicks the button with a label on a card.
func (w *world) press(e transcript.Entry, label string) (command.Outcome, error) {
	w.Helper()
	for _, button := range e.Embed.Buttons {
		if button.Label == label {
			return w.Do(w.Context(), command.Click{Message: e.ID, ID: button.Action})
		}
	}
	w.Fatalf("no button %q on %+v", label, e.Embed)
	return command.Outcome{}, nil
}

// presses clicks a button whose answer contains words.
func (w *world) presses(e transcript.Entry, label, words string) command.Outcome {
	w.Helper()
	out, err := w.press(e, label)
	w.needs(err == nil && strings.Contains(out.Message, words), label+" answers", out.Message, err)
	return out
}

// due returns the reminder of these stories.
func (w *world) due() *routines.Reminder {
	w.Helper()
	r, ok := w.index.Set().ReminderByID(dentistID)
	w.needs(ok, "the reminder is gone")
	return r
}

// count is how often it has come, how many runs there were, and how many returns the file counts, if there is one.
func (w *world) count() string {
	text := fmt.Sprintf("%d pings, %d runs", len(w.cards()), len(w.Snapshot().Forks))
	if r, ok := w.index.Set().ReminderByID(dentistID); ok {
		return fmt.Sprintf("%s, return %d", text, r.ChainDepth)
	}
	return text + ", gone"
}

func TestAReminderReturnsUntilItIsDone(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
		first := w.cards()
		w.needs(len(first) == 1 && len(first[0].Embed.Buttons) == 4, "the first", first)
		w.is("the first", first[0].Text+" "+first[0].Embed.Footer, "Call the dentist. repeats until it is done")
		w.sleep(time.Hour)
		w.is("an hour later", w.count(), "3 pings, 3 runs, return 3")
		all := w.cards()
		w.shows("the third", all[2].Embed.Footer, "for the third time")
		w.holds(w.due().MaxChain == routines.DefaultRounds && !w.due().FirstAt.IsZero(), "the reminder", w.due())
		prompt := w.preview(dentistID)
		w.shows("the next prompt", prompt, "check 4 of 6", "reached them 3 times since")
		out := w.presses(all[2], "Done", "is done")
		w.holds(!w.has(dentistFile), "its file is still there")
		w.shows("updates", w.pending(), `marked the reminder "Task dddd0001" (dddd0001) as done`, "3 times")
		w.sleep(5 * time.Hour)
		w.is("after Done", w.count(), "3 pings, 3 runs, gone")
		last := w.cards()[2]
		w.is("the pressed message", len(last.Embed.Buttons), 0)
		w.shows("the pressed message", last.Text+" "+last.Embed.Footer, "Call the dentist.", "is done")
		ping := w.Snapshot().Budget.Pings[2]
		w.holds(ping.How == budget.Pressed && !ping.Answered.IsZero(), "the ping was not answered", ping)
		_, err := w.press(all[0], "Later")
		fails(w, "a press on an old message of a reminder that is done", err, "is not pending")
		w.is("buttons of the old message", len(w.cards()[0].Embed.Buttons), 0)
		w.do(out.Undo)
		w.holds(w.has(dentistFile), "undo does not restore the file")
		w.lacks("updates after undo", w.pending(), "as done")
	})
}

func TestAReminderStopsAtItsLimitWithALastWord(t *testing.T) {
	story(t, []file{dentist("max-chain: 1\nagain: 5\n")}, func(w *world) {
		w.sleep(9 * time.Minute)
		all := w.cards()
		w.needs(len(all) == 2 && all[1].At.Sub(all[0].At) <= 6*time.Minute && w.due().LastWord, "it came", all, w.due())
		w.lacks("it ended without time for an answer", w.pending(), "stopped")
		w.is("buttons while it waits", len(all[1].Embed.Buttons), 4)
		w.sleep(time.Hour)
		w.is("in the end", w.count(), "2 pings, 2 runs, gone")
		w.holds(!w.has(dentistFile), "its file is still there")
		w.shows("updates", w.pending(), "has stopped coming back: it reached the user 2 times since")
		w.is("buttons in the end", len(w.cards()[1].Embed.Buttons), 0)
	})
}

func TestLaterAndNotTodayPutAReminderOff(t *testing.T) {
	story(t, []file{dentist("max-chain: 1\n")}, func(w *world) {
		w.sleep(40 * time.Minute) // the last repetition
		before := *w.due()
		out := w.presses(w.cards()[0], "Later", "") // on the previous message
		later := w.due()
		w.is("after Later it is due", later.RunAt, w.now().Add(time.Hour).Truncate(time.Second))
		w.holds(later.ChainDepth == 0 && !later.LastWord && later.FirstAt.Equal(before.FirstAt), "after Later", later)
		w.do(out.Undo)
		w.is("undone it is due", w.due().RunAt, before.RunAt)
		until := w.now().Add(3 * time.Hour)
		w.do(command.Remind{ID: dentistID, Word: command.Later, Until: until})
		w.sleep(3*time.Hour + time.Minute)
		all := w.cards()
		w.needs(len(all) == 3 && strings.HasSuffix(all[2].Embed.Footer, "for the third time") && !all[2].At.Before(until), "after three hours", all)
		w.shows("updates", w.pending(), "put the reminder", "propose it")
		w.presses(all[2], "Not today", "")
		w.is("not today", w.due().RunAt, before.First().AddDate(0, 0, 1).Truncate(time.Minute))
		for words, c := range map[string]command.Remind{
			"in the past":     {ID: dentistID, Word: command.Later, Until: w.now().Add(-time.Minute)},
			"year away":       {ID: dentistID, Word: command.Later, Until: w.now().AddDate(2, 0, 0)},
			"does not answer": {ID: dentistID, Word: "never"},
			"is not pending":  {ID: "nobody", Word: command.Done},
			"use done, later": {ID: dentistID},
		} {
			w.refuses(words, c)
		}
		w.sleep(24 * time.Hour)
		w.is("pings until the next day", len(w.cards()), 5)
	})
}

// While a ping cannot go out, there is no run, and nothing is counted.
func TestAReminderThatReturnsKeepsToBudgetAndQuiet(t *testing.T) {
	story(t, []file{dentist("max-chain: 2\n")}, func(w *world) {
		w.sleep(time.Minute)
		mute := w.now().Add(2 * time.Hour).Truncate(time.Second)
		w.do(command.MuteUntil{Until: mute})
		w.sleep(90 * time.Minute)
		w.is("muted", w.count(), "1 pings, 1 runs, return 1")
		w.is("muted it is due", w.due().RunAt.Equal(mute), true)
		w.sleep(31 * time.Minute)
		w.is("after the mute", w.count(), "2 pings, 2 runs, return 2")
		out := w.do(command.SetBudget{Capacity: new(0)})
		w.sleep(5 * time.Hour)
		w.is("without a budget", w.count(), "2 pings, 2 runs, return 2")
		w.do(out.Undo)
		w.sleep(10 * time.Minute)
		w.is("pings with a budget again", len(w.cards()), 3)
	})
	const empty = `{"capacity": 1, "available": 1.0, "refill_rate_minutes": 90, "last_refill": "2000-01-01T00:00:00Z", ` +
		`"critical_used": 0, "critical_reset_date": "2000-01-01", "daily_used": 0, "daily_used_reset": "2000-01-01"}`
	story(t, []file{dentist(""), {"state/ping_budget.json", empty}}, func(w *world) {
		w.sleep(80 * time.Minute)
		w.is("without a token", w.count()+"; "+w.runs(), "1 pings, 1 runs, return 1; dddd0001 done pinged reported")
		w.sleep(15 * time.Minute)
		w.is("pings with a token", len(w.cards()), 2)
	})
}

// A failed or silent run counts as a repetition; a run that asks for another time gets it. Of a reminder that can return no more,
// nothing is left.
func TestAReminderReturnsAfterWhateverItsRunDid(t *testing.T) {
	story(t, []file{
		remind(dentistID, time.Second, "until: done\n", `call follow_up_chain {"minutes_from_now": 240}`, `call ping_user {"message":"Four hours?"}`,
			`call report_updates {"message":"r"}`),
		remind("dddd0002", time.Second, "until: done\nmax-chain: 1\nupdate-main-session: freely\n", `fail no luck`),
		remind("dddd0003", time.Second, "until: done\n", `call cancel_reminder {"reminder_id": "dddd0003"}`),
		remind("dddd0004", time.Second, "until: done\nallow-ping: false\n", `say quiet`),
	}, func(w *world) {
		w.sleep(time.Minute)
		w.holds(w.due().ChainDepth == 1 && w.due().RunAt.Sub(w.now()) >= 230*time.Minute, "the agent's own time", w.due())
		r, ok := w.index.Set().ReminderByID("dddd0002")
		w.holds(ok && r.ChainDepth == 1, "after a run that failed", r)
		w.holds(!w.has("reminders/dddd0003.md") && !w.has("reminders/dddd0004.md"), "a cancelled one, or one without pings, returned")
		w.sleep(2 * time.Hour)
		w.shows("updates", w.pending(), "it never reached the user")
	})
}

func TestTheUsersHandOnTheFileWins(t *testing.T) {
	story(t, []file{
		dentist(""),
		remind("dddd0002", 10*time.Second, "until: done\n", `call ping_user {"message":"Two."}`, `wait 20m`, `call report_updates {"message":"r"}`),
		remind("dddd0003", 10*time.Second, "until: done\n", `wait 20m`),
	}, func(w *world) {
		w.sleep(time.Minute)
		// Two runs are in progress. In the meantime one is answered, the other deleted.
		w.do(command.Remind{ID: "dddd0002", Word: command.Later})
		at := w.now().Add(time.Hour).Truncate(time.Second)
		testkit.Must(w, os.Remove(filepath.Join(w.root, "reminders/dddd0003.md")))
		// The third may repeat only once more.
		text := w.read(dentistFile)
		w.shows("its file", text, "until: done\n", "first-at:")
		w.write(dentistFile, strings.Replace(text, "until: done\n", "", 1))
		w.Schedule().Refresh(dentistFile, "reminders/dddd0003.md")
		w.sleep(40 * time.Minute)
		set := w.index.Set()
		_, returned := set.ReminderByID(dentistID)
		_, deleted := set.ReminderByID("dddd0003")
		w.holds(!returned, "without until it returned")
		w.holds(!deleted && !w.has("reminders/dddd0003.md"), "the deleted one returned")
		r, ok := set.ReminderByID("dddd0002")
		w.holds(ok && r.RunAt.Equal(at) && r.ChainDepth == 0, "the answer of a running one did not count", r)
	})
}

func TestTwoPressesAtOnceAreOneAnswer(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
		card := w.cards()[0]
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			all.Go(func() {
				_, errs[i] = w.Do(w.Context(), command.Click{Message: card.ID, ID: card.Embed.Buttons[i%2].Action})
			})
		}
		all.Wait()
		done := 0
		for i := 0; i < len(errs); i += 2 {
			if errs[i] == nil {
				done++
			}
		}
		w.holds(done == 1 && !w.has(dentistFile), "of four answers say that it is done", done, errs)
		w.is("updates about it", strings.Count(w.pending(), "(dddd0001)"), 1)
	})
}

// The bot may be off when a repetition is due or an answer is given.
func TestAReminderOutlivesTheProgram(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
	}, func(w *world) {
		w.sleep(time.Minute)
		w.is("at once", w.count(), "1 pings, 1 runs, return 1")
		w.sleep(30 * time.Minute)
		all := w.cards()
		w.needs(len(all) == 2 && strings.HasSuffix(all[1].Embed.Footer, "for the second time"), "after the restart", all)
		w.presses(all[0], "Done", "") // a button from before the restart
		w.holds(!w.has(dentistFile), "a button of before did nothing")
	})
	late := []file{
		remind(dentistID, -4*time.Hour, "until: done\nchain-depth: 1\nmax-chain: 2\nfirst-at: \""+dayOne.Add(-5*time.Hour).Format(time.RFC3339)+"\"\n",
			`call ping_user {"message":"Late."}`, `call report_updates {"message":"r"}`),
		remind("dddd0002", -4*time.Hour, "until: done\nchain-depth: 2\nmax-chain: 2\nlast-word: true\n", `call ping_user {"message":"No."}`),
	}
	story(t, late, func(w *world) { // due while the bot was off
		w.sleep(time.Minute)
		w.is("runs", w.runs()+"; "+w.count(), "dddd0001 done late pinged reported; 1 pings, 1 runs, return 2")
		w.holds(!w.has("reminders/dddd0002.md"), "it waits for an answer that cannot come")
		w.shows("updates", w.pending(), "(dddd0002) was not done")
	})
}

// A reminder written by the agent keeps the agent's rights when the program moves it.
func TestAMovedReminderKeepsTheRightsOfItsWriter(t *testing.T) {
	story(t, nil, func(w *world) {
		book := w.tasks.Book(policy.Writer{Kind: "background", Alone: true})
		r, err := book.Add(w.Context(), routines.Reminder{RunAt: w.now().Add(10 * time.Second), UntilDone: true, Task: routines.Task{
			ID: dentistID, Background: true, Thinking: true, Mode: routines.Freely, AllowPing: true, Body: "Ask.\n\n" + plays("say hm"),
		}})
		testkit.Must(w, err)
		w.sleep(time.Minute)
		moved := w.due()
		o, known := w.guard.Provenance().Find(moved.Path, moved.Digest)
		w.holds(moved.Digest != r.Digest && known && o.Writer.Alone, "moved, its writer is", moved.Digest, o, known)
	})
}

func TestADashboardAddsAReminderUntilDone(t *testing.T) {
	story(t, nil, func(w *world) {
		add := command.AddTask{At: w.now().Add(time.Hour), Message: "Call.", UntilDone: true}
		w.do(add)
		all := w.Snapshot().Schedule.Tasks
		w.holds(len(all) == 1 && all[0].UntilDone && all[0].Label == "Reminder until done", "tasks", all)
		add.Silent = true
		w.refuses("must run in the background and be allowed to ping", add)
	})
}

// A held reminder does not repeat, but can be answered.
func TestAHeldReminderCanBeAnswered(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
		w.do(command.Pause{ID: dentistID, Paused: true})
		w.sleep(2 * time.Hour)
		w.is("paused", len(w.cards()), 1)
		w.do(command.Remind{ID: dentistID, Word: command.Done})
		w.holds(!w.has(dentistFile), "its file is still there")
	})
}

// However it is answered and however long it is ignored, it pings at most as often as its repetitions allow, never once it is done, and
// always sends a final notice.
func TestPropertyAReminderEnds(t *testing.T) {
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			story(t, []file{dentist(fmt.Sprintf("max-chain: %d\nagain: %d\n", seed%3, 10+seed))}, func(w *world) {
				allowed := seed%3 + 1
				for step := range 4 {
					time.Sleep(time.Duration(7+step*seed) * time.Minute)
					w.do(command.SetBudget{Capacity: new(5)})
					if _, pending := w.index.Set().ReminderByID(dentistID); !pending {
						break
					}
					if step+seed == 5 {
						w.do(command.Remind{ID: dentistID, Word: command.Later})
						allowed += seed%3 + 1
					}
				}
				w.sleep(8 * time.Hour)
				n := len(w.cards())
				w.holds(n > 0 && n <= allowed && !w.has(dentistFile), "it did not end, or came too often", n, allowed)
				w.shows("updates", w.pending(), "has stopped coming back")
			})
		})
	}
}

// W2, S2: a fire by hand was announced but ran nothing while no ping could go out; it moved the reminder and used up a repetition.
func TestAFireByHandRunsAndLeavesTheScheduleAlone(t *testing.T) {
	for name, c := range map[string]struct {
		says   string
		hinder command.Value
	}{
		"freely":                {},
		"in quiet hours":        {"; its pings are refused until 23:59", command.SetConfig{Key: "quiet_hours", Value: "00:00-23:59"}},
		"while muted":           {"; its pings are refused until 10:01", command.MuteUntil{Until: dayOne.Add(9*time.Hour + time.Minute)}},
		"without a budget":      {"; its pings are refused: the capacity is 0", command.SetBudget{Capacity: new(0)}},
		"during a conversation": {"", command.Say{Text: "wait 3h"}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, []file{dentist("")}, func(w *world) {
				w.sleep(time.Minute)
				before := *w.due()
				if c.hinder != nil {
					w.do(c.hinder)
				}
				for n := 2; n <= 3; n++ {
					out := w.do(command.FireNow{ID: dentistID})
					w.holds(out.Message == "Task dddd0001 starts now"+c.says && out.Undo == nil, "it answers", out)
					w.sleep(2 * time.Minute)
					w.is("runs", len(w.Snapshot().Forks), n)
				}
				w.is("due, and returns", fmt.Sprint(w.due().RunAt, w.due().ChainDepth), fmt.Sprint(before.RunAt, 1))
			})
		})
	}
	// Firing a reminder that awaits its last answer asks once more and does not end it.
	story(t, []file{dentist("max-chain: 1\nagain: 20\n")}, func(w *world) {
		w.sleep(25 * time.Minute)
		before := *w.due()
		w.needs(before.LastWord, "it is not at its end", before)
		w.do(command.FireNow{ID: dentistID})
		w.sleep(2 * time.Minute)
		w.holds(len(w.cards()) == 3 && w.due().LastWord && w.due().RunAt.Equal(before.RunAt), "after the fire", w.count(), w.due())
	})
}

// The answer said that a queued run had started.
func TestAFireByHandSaysThatItsRunWaitsForAPlace(t *testing.T) {
	files := []file{{"state/settings.json", `{"max_background_forks": 1}`}}
	for _, id := range []string{"aaaa0001", "aaaa0002", "aaaa0003"} {
		files = append(files, routine(id, "0 9 1 1 *", "", "wait 10m"))
	}
	story(t, files, func(w *world) {
		for _, c := range [][2]string{
			{"aaaa0001", "Task aaaa0001 starts now"},
			{"aaaa0002", "Task aaaa0002 waits for a free place, first in the queue"},
			{"aaaa0003", "Task aaaa0003 waits for a free place, second in the queue"},
		} {
			w.is("it answers", w.do(command.FireNow{ID: c[0]}).Message, c[1])
			w.sleep(time.Second)
		}
	})
}
