package core

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

const (
	dentistID   = "dddd0001"
	dentistFile = "reminders/dddd0001.md"

	aReport = `call report_updates {"message":"r"}`
)

// dentist is a reminder that repeats every half hour until it is done.
func dentist(extra string) file {
	return remind(dentistID, 10*time.Second, "until: done\n"+extra, `call ping_user {"message":"Call the dentist."}`, aReport)
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

// due returns the dentist's reminder.
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

func TestAReminderPingsReportsAndIsRemoved(t *testing.T) {
	plants := remind("aaaa0001", 10*time.Second, "", `call ping_user {"message":"Stand up, please."}`, `call report_updates {"message":"It pinged."}`)
	story(t, []file{plants}, func(w *world) {
		before := w.Snapshot().Budget.State.Available
		w.sleep(time.Minute)
		w.is("pings, updates, runs", []string{w.pings(), w.pending(), w.runs()}, []string{"Stand up, please.", "It pinged.", "aaaa0001 done pinged reported"})
		spent := before - w.Snapshot().Budget.State.Available
		w.holds(before == 5 && spent >= 0.9 && spent <= 1, "tokens", before, spent)
		w.holds(!w.has(plants.rel), "the reminder's file is still there")
		w.shows("the tail", w.output(w.Snapshot().Forks[0].ID), "Stand up, please.")
	})
}

// What a reminder says before it is due is a ping that asks no model, and refused as any other.
func TestAReminderPingsBeforeItIsDue(t *testing.T) {
	card := remind("aaaa0001", 3*time.Hour, "ahead: [\"2 hours: Pack the card\", \"1 hour\", \"10 minutes\"]\n", `call ping_user {"message":"Now."}`)
	story(t, []file{card}, func(w *world) {
		before := w.Snapshot().Budget.State.Available
		w.sleep(time.Hour + time.Minute)
		w.is("two hours ahead", w.pings()+", "+w.runs(), "Pack the card, aaaa0001 done pinged")
		s := w.Snapshot()
		w.holds(before-s.Budget.State.Available >= 0.5 && s.Forks[0].Session == "", "tokens, session", before, s.Budget.State, s.Forks[0])
		w.sleep(time.Hour)
		w.shows("an hour ahead", w.pings(), "Pack the card / Task aaaa0001: 0")
		w.do(command.SetBudget{Capacity: new(0)})
		w.sleep(50 * time.Minute)
		w.is("ten minutes ahead, without a budget", w.runs(), "aaaa0001 done refused, aaaa0001 done pinged, aaaa0001 done pinged")
		w.holds(w.has(card.rel), "its file is gone before it is due")
		w.sleep(20 * time.Minute)
		w.holds(!w.has(card.rel), "the reminder did not fire at its own time")
	})
}

// A kill between the last ledger line of a run and the removal of its reminder.
func TestAReminderWhoseRunIsRecordedAsDoneDoesNotFireAgain(t *testing.T) {
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		reminder := remind("dddd0001", 10*time.Second, "", `call report_updates {"message":"Watered."}`, "wait 1m")
		h.put(reminder)
		engine := &recorder{Engine: offline()}
		end := begin(t, h.bot(engine))
		time.Sleep(40 * time.Second)
		record := h.read("state/schedule.json") // while it runs
		time.Sleep(time.Minute)
		end()
		checks{t}.needs(!h.has(reminder.rel) && len(engine.messages("")) == 1, "it ran", engine.messages(""))
		h.put(reminder, file{"state/schedule.json", record})
		w := h.world(h.bot(engine))
		end = begin(t, w.Bot)
		w.sleep(time.Minute)
		w.is("runs, updates", []any{len(engine.messages("")), w.pending()}, []any{1, "Watered."})
		w.holds(!w.has(reminder.rel), "its file is there again")
		end()
	})
}

func TestAReminderReturnsUntilItIsDone(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
		first := w.cards()
		w.needs(len(first) == 1 && len(first[0].Embed.Buttons) == 4, "the first", first)
		w.is("the first", first[0].Text+" "+first[0].Embed.Footer, "Call the dentist. repeats until it is done")
		w.sleep(time.Hour)
		w.is("an hour later", w.count(), "3 pings, 3 runs, return 3")
		all, before := w.cards(), *w.due()
		w.shows("the third", all[2].Embed.Footer, "for the third time")
		w.shows("the next prompt", w.preview(dentistID), "check 4 of 6", "reached them 3 times since")
		w.do(w.presses(all[0], "Later", "").Undo) // on an earlier message
		w.is("put off and undone, it is due", w.due().RunAt, before.RunAt)
		out := w.do(command.Remind{ID: dentistID, Word: command.NotToday})
		w.is("not today, it is due", w.due().RunAt, before.First().AddDate(0, 0, 1).Truncate(time.Minute))
		w.do(out.Undo)
		w.do(command.Pause{ID: dentistID, Paused: true})
		w.sleep(2 * time.Hour)
		w.is("paused", w.count(), "3 pings, 3 runs, return 0") // an answer restarts the repetitions
		out = w.presses(all[2], "Done", "is done")
		w.holds(!w.has(dentistFile), "its file is still there")
		w.shows("updates", w.pending(), `marked the reminder "Task dddd0001" (dddd0001) as done`, "3 times")
		w.sleep(5 * time.Hour)
		w.is("after Done", w.count(), "3 pings, 3 runs, gone")
		last, ping := w.cards()[2], w.Snapshot().Budget.Pings[2]
		w.is("buttons of the pressed message", len(last.Embed.Buttons), 0)
		w.shows("the pressed message", last.Text+" "+last.Embed.Footer, "Call the dentist.", "is done")
		w.holds(ping.How == budget.Pressed && !ping.Answered.IsZero(), "the ping was not answered", ping)
		_, err := w.press(all[1], "Later")
		w.fails("a press on an old message of a reminder that is done", err, "is not pending")
		w.is("buttons of the old message", len(w.cards()[1].Embed.Buttons), 0)
		w.do(out.Undo)
		w.holds(w.has(dentistFile), "undo does not restore the file")
		w.lacks("updates after undo", w.pending(), "as done")
	})
}

// While a ping cannot go out, there is no run, and nothing is counted.
func TestAReminderThatReturnsKeepsToBudgetAndQuiet(t *testing.T) {
	const empty = `{"capacity": 1, "available": 1.0, "refill_rate_minutes": 90, "last_refill": "2000-01-01T00:00:00Z", ` +
		`"critical_used": 0, "critical_reset_date": "2000-01-01", "daily_used": 0, "daily_used_reset": "2000-01-01"}`
	story(t, []file{dentist(""), {"state/ping_budget.json", empty}}, func(w *world) {
		w.sleep(80 * time.Minute)
		w.is("without a token", w.count()+"; "+w.runs(), "1 pings, 1 runs, return 1; dddd0001 done pinged reported")
		w.sleep(15 * time.Minute)
		w.is("pings with a token", len(w.cards()), 2)
		w.do(command.SetBudget{Capacity: new(5)})
		mute := w.now().Add(2 * time.Hour).Truncate(time.Second)
		w.do(command.MuteUntil{Until: mute})
		w.sleep(90 * time.Minute)
		w.is("muted", w.count(), "2 pings, 2 runs, return 2")
		w.is("muted it is due", w.due().RunAt.Equal(mute), true)
		w.sleep(31 * time.Minute)
		w.is("after the mute", w.count(), "3 pings, 3 runs, return 3")
	})
}

func TestTwoPressesAtOnceAreOneAnswer(t *testing.T) {
	story(t, []file{dentist("")}, func(w *world) {
		w.sleep(time.Minute)
		card := w.cards()[0]
		var all sync.WaitGroup
		var done atomic.Int32
		for i := range 8 {
			all.Go(func() {
				_, err := w.Do(w.Context(), command.Click{Message: card.ID, ID: card.Embed.Buttons[i%2].Action})
				if err == nil && i%2 == 0 {
					done.Add(1)
				}
			})
		}
		all.Wait()
		w.holds(done.Load() == 1 && !w.has(dentistFile), "of four answers say that it is done", done.Load())
		w.is("updates about it", strings.Count(w.pending(), "(dddd0001)"), 1)
	})
}

// The bot may be off when a repetition is due or an answer is given.
func TestAReminderOutlivesTheProgram(t *testing.T) {
	var ends time.Time
	story(t, []file{dentist(""), remind("dddd0002", time.Second, "", `wait 10m`)}, func(w *world) {
		w.sleep(time.Minute)
		w.is("runs", w.runs(), "dddd0002 running, dddd0001 done pinged reported")
		ends = time.Now()
	}, func(w *world) {
		w.holds(time.Since(ends) <= 15*time.Second, "stopping took", time.Since(ends))
		w.holds(w.has("reminders/dddd0002.md"), "the file of one that was cut off is gone")
		w.sleep(time.Minute)
		w.is("at once", len(w.cards()), 1)
		w.sleep(30 * time.Minute)
		all := w.cards()
		w.needs(len(all) == 2 && strings.HasSuffix(all[1].Embed.Footer, "for the second time"), "after the restart", all)
		w.presses(all[0], "Done", "") // a button from before the restart
		w.holds(!w.has(dentistFile), "a button of before did nothing")
	})
	late := []file{
		remind(dentistID, -4*time.Hour, "until: done\nchain-depth: 1\nmax-chain: 2\nfirst-at: \""+dayOne.Add(-5*time.Hour).Format(time.RFC3339)+"\"\n",
			`call ping_user {"message":"Late."}`, aReport),
		remind("dddd0002", -4*time.Hour, "until: done\nchain-depth: 2\nmax-chain: 2\nlast-word: true\n", `call ping_user {"message":"No."}`),
	}
	story(t, late, func(w *world) { // due while the bot was off
		w.sleep(4 * time.Second)
		w.is("runs before five seconds are over", w.runs(), "")
		w.sleep(time.Minute)
		w.is("runs", w.runs()+"; "+w.count(), "dddd0001 done late pinged reported; 1 pings, 1 runs, return 2")
		w.holds(!w.has("reminders/dddd0002.md"), "it waits for an answer that cannot come")
		w.shows("updates", w.pending(), "(dddd0002) was not done")
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
				all := w.cards()
				w.needs(len(all) > 0 && len(all) <= allowed && !w.has(dentistFile), "it did not end, or came too often", len(all), allowed)
				w.is("buttons in the end", len(all[len(all)-1].Embed.Buttons), 0)
				w.shows("updates", w.pending(), "has stopped coming back: it reached the user ")
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
		"freely":                {"", command.MuteUntil{}},
		"in quiet hours":        {"; its pings are refused until 23:59", command.SetConfig{Key: "quiet_hours", Value: "00:00-23:59"}},
		"while muted":           {"; its pings are refused until 10:01", command.MuteUntil{Until: dayOne.Add(9*time.Hour + time.Minute)}},
		"without a budget":      {"; its pings are refused: the capacity is 0", command.SetBudget{Capacity: new(0)}},
		"during a conversation": {"", command.Say{Text: "wait 3h"}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, []file{dentist("")}, func(w *world) {
				w.sleep(time.Minute)
				before := *w.due()
				w.do(c.hinder)
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
		w.is("buttons while it waits", len(w.cards()[1].Embed.Buttons), 4)
		w.do(command.FireNow{ID: dentistID})
		w.sleep(2 * time.Minute)
		w.holds(len(w.cards()) == 3 && w.due().LastWord && w.due().RunAt.Equal(before.RunAt), "after the fire", w.count(), w.due())
	})
}

// The answer said that a queued run had started.
func TestAFireByHandSaysThatItsRunWaitsForAPlace(t *testing.T) {
	files := []file{{"state/settings.json", `{"max_background_forks": 1}`}}
	for n := range 3 {
		files = append(files, routine(fmt.Sprintf("aaaa000%d", n), "0 9 1 1 *", "", "wait 10m"))
	}
	story(t, files, func(w *world) {
		for n, says := range []string{"starts now", "waits for a free place, first in the queue", "waits for a free place, second in the queue"} {
			id := fmt.Sprintf("aaaa000%d", n)
			w.is("it answers", w.do(command.FireNow{ID: id}).Message, "Task "+id+" "+says)
			w.sleep(time.Second)
		}
	})
}
