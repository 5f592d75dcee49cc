package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
)

// costly is an engine whose tokens are priced by the table.
func costly() agent.Engine { return script.New(script.Options{Pace: 1, Priced: true}) }

// dear makes each run of the script engine cost some cents, and records the cost of an earlier one.
func dear(settings string, more ...file) []file {
	return append([]file{
		{"prices.yaml", "opus: 15000 0 0 0\n"},
		{"state/settings.json", settings},
		{money.Ledger, `{"at":"1999-11-01T00:00:00Z","for":"run","task":{"kind":"routine","id":"old"},"run":"00000001",` +
			`"usage":{"input_tokens":10,"cost_usd":0.15}}` + "\n"},
		{"state/fork_runs.jsonl", `{"id":"00000001","task":"old","kind":"routine","title":"Old","state":"done","ended":"1999-12-01T00:00:00Z",` +
			`"tokens":10,"cost_usd":0.15}` + "\n"},
	}, more...)
}

// priced tells a story of a bot whose runs cost something.
func priced(t *testing.T, files []file, tale func(w *world)) {
	t.Helper()
	setting{engine: costly(), files: files}.tell(t, tale)
}

// done counts the runs of tasks that have ended well, by the beginning of their ids.
func (w *world) done(id string) (n int) {
	for run := range strings.SplitSeq(w.runs(), ", ") {
		if strings.HasPrefix(run, id) && strings.Contains(run, " done") {
			n++
		}
	}
	return n
}

func (w *world) entry(id string) (e schedule.Entry) {
	for _, one := range w.Snapshot().Schedule.Entries {
		if one.ID == id {
			return one
		}
	}
	return e
}

// once wants each task listed once, and returns how many are.
func (w *world) once() int {
	w.Helper()
	listed := map[string]int{}
	for _, e := range w.Snapshot().Schedule.Entries {
		listed[e.ID]++
		w.holds(listed[e.ID] == 1, "listed twice", e)
	}
	return len(listed)
}

func tenReminders(n int, lines ...string) (list []file) {
	for i := range n {
		list = append(list, remind(fmt.Sprintf("cccc000%d", i), 10*time.Minute, "", lines...))
	}
	return list
}

func TestTenRemindersOfOneMomentStayWithinTheCapAndRunAnotherDay(t *testing.T) {
	priced(t, dear(`{"daily_cap": "0.5"}`, tenReminders(10, "say here")...), func(w *world) {
		w.sleep(time.Minute)
		w.is("listed", w.once(), 10)
		w.sleep(time.Hour)
		held := w.once()
		for _, e := range w.Snapshot().Schedule.Entries {
			w.holds(e.Money && e.Held && strings.HasPrefix(e.Tag, schedule.TagMoney) && e.Cost > 0, "held without words or cost", e)
		}
		s := w.Snapshot().Money
		w.needs(w.done("cccc") == 3 && held == 7 && s.Today.Spent.Dollars() <= 0.5 && s.Reserved == 0, "ran, and held", w.runs(), held, s)
		w.sleep(24 * time.Hour)
		second := w.done("cccc")
		w.holds(second > 3 && second < 10 && w.Snapshot().Money.Today.Spent.Dollars() <= 0.5, "the next day", second, w.Snapshot().Money)
		out := w.do(command.LiftCaps{})
		w.sleep(time.Hour)
		w.holds(w.done("cccc") == 10 && out.Undo != nil, "with the caps lifted", w.runs())
	})
}

// B4: for the seconds in which money was set aside for three runs, the headline said that all others were held until the next day.
func TestWhileMoneyIsOnlySetAsideNothingIsHeld(t *testing.T) {
	files := append(tenReminders(4, "wait 20s", "say here"), remind("dddd0001", 20*time.Hour, "", "say here"))
	priced(t, dear(`{"daily_cap": "0.5"}`, files...), func(w *world) {
		w.sleep(10*time.Minute + 10*time.Second)
		s := w.Snapshot()
		s.Engine.Offline = false // which is more urgent
		head := s.Headline()
		w.holds(s.Money.Today.Spent.Dollars() == 0 && s.Money.Reserved >= 0.4 && head.Kind != HeldForMoney, "money", s.Money, head)
		w.shows("the headline", head.Text(), "$0.45 is set aside for runs under way")
		for _, e := range s.Schedule.Entries {
			w.holds(!e.Money, "held", e)
		}
	})
}

func TestARoutineHeldForMoneyOwesNothingAndGoesOnWhenLifted(t *testing.T) {
	priced(t, dear(`{"daily_cap": "0"}`,
		routine("cccc0001", "*/5 * * * *", "missed: run\n", "say looked"),
		routine("cccc0002", "*/5 * * * *", "critical: true\n", "say looked"),
	), func(w *world) {
		w.sleep(31 * time.Minute)
		w.needs(w.done("cccc0001") == 0 && w.done("cccc0002") >= 6 && w.pending() == "", "the critical one alone runs", w.runs(), w.pending())
		v, e := w.view("cccc0001"), w.entry("cccc0002")
		w.holds(!v.Broke.IsZero() && !v.Next.Before(w.Snapshot().Money.Today.Ends) && v.Cost > 0, "the held one", v)
		w.holds(!e.Held && !e.Money, "the critical one", e)
		out := w.do(command.LiftCaps{})
		w.sleep(10 * time.Minute)
		w.is("runs ten minutes after lifting", w.done("cccc0001"), 2)
		w.do(out.Undo)
		w.sleep(10 * time.Minute)
		w.is("runs with the caps back", w.done("cccc0001"), 2)
		w.do(command.FireNow{ID: "cccc0001"})
		w.sleep(time.Minute)
		w.is("runs with one by hand", w.done("cccc0001"), 3)
	})
}

func TestWhatIsHeldAheadOfItsTimeIsListedOnceWithItsCost(t *testing.T) {
	priced(t, dear(`{"daily_cap": "0"}`,
		remind("cccc0003", 2*time.Hour, "", "say here"), foreground("cccc0004", 2*time.Hour, "say here"),
		remind("cccc0005", 2*time.Hour, "critical: true\n", "say here"),
	), func(w *world) {
		w.sleep(time.Minute)
		w.is("listed", w.once(), 3)
		for _, e := range w.Snapshot().Schedule.Entries {
			critical := e.ID == "cccc0005"
			w.holds(e.Money != critical && e.Held != critical && e.Cost > 0, "its row", e)
		}
		ahead := w.Schedule().Forward(w.now(), "").Entries
		w.holds(len(ahead) == 1 && ahead[0].ID == "cccc0005", "agents plan with", ahead)
	})
}

func TestAHeldReminderRunsAfterMidnightAlsoAfterARestart(t *testing.T) {
	story(t, dear(`{"daily_cap": "0"}`, remind("cccc0001", 10*time.Minute, "", "say here")), func(w *world) {
		w.sleep(time.Hour)
		w.holds(w.done("cccc0001") == 0 && w.entry("cccc0001").Money, "it is not held", w.Snapshot().Schedule.Entries)
		report, err := w.Reads().Away(t.Context())
		testkit.Must(t, err)
		held := func(e audit.Entry) bool { return e.Action == audit.RunHeld && e.Subject == "cccc0001" }
		w.holds(slices.ContainsFunc(report.Log, held), "nothing says that it was held", report.Log)
	}, func(w *world) {
		w.sleep(30 * time.Hour)
		w.is("runs without money", w.done("cccc0001"), 0)
		w.say("/config daily_cap 5")
		w.sleep(5 * time.Minute)
		w.holds(w.done("cccc0001") == 1 && !w.has("reminders/cccc0001.md"), "with a cap that is high enough", w.runs())
	})
}

func TestAtTheCapTheConversationAsksOnceADay(t *testing.T) {
	priced(t, dear(`{"daily_cap": "0"}`), func(w *world) {
		// say returns the open question after a message; said are all the words that the bot has said.
		say := func(word string, questions int, said string) (open policy.Approval) {
			w.Helper()
			w.do(command.Say{Text: please("say " + word)})
			w.sleep(10 * time.Second)
			asked := w.Snapshot().Approvals
			w.needs(len(asked) == questions, word+": asked", asked)
			var got []string
			for _, one := range []string{"first", "second", "third", "fourth", "fifth"} {
				if w.spoke(one) {
					got = append(got, one)
				}
			}
			w.is("after "+word+" it has said", strings.Join(got, " "), said)
			if questions > 0 {
				open = asked[0]
			}
			return open
		}
		w.is("asked", say("first", 1, "").Question, "Keep going past the cap today?")
		w.sleep(2 * policy.Patience)
		again := say("second", 1, "")
		w.do(command.Answer{ID: again.ID, Verdict: policy.Deny})
		w.sleep(time.Second)
		say("third", 0, "")
		w.sleep(24 * time.Hour)
		w.do(command.Answer{ID: say("fourth", 1, "").ID, Verdict: policy.Allow})
		w.sleep(time.Minute)
		say("fifth", 0, "fourth fifth")
	})
}

func TestACapBelowWhatWasSpentSaysWhatFollowsBeforeItIsTaken(t *testing.T) {
	files := append(dear(`{}`), file{money.Ledger, `{"at":"2000-01-01T00:00:00Z","for":"conversation","usage":{"cost_usd":2.5}}` + "\n"})
	priced(t, files, func(w *world) {
		out := w.say("/config daily_cap 2")
		w.shows("it answers", out.Message, "today has cost $2.50", "sure")
		w.is("it is capped", w.Snapshot().Money.Today.Capped(), false)
		follows := w.do(command.SetConfig{Key: "daily_cap", Value: "2"}).Follows
		w.holds(strings.HasSuffix(follows, "the conversation would ask"), "who is asked with a key reads", follows)
		w.say("/config daily_cap 2 sure")
		s := w.Snapshot().Money
		w.holds(s.Today.Cap == 2 && !s.Until(0).IsZero(), "taken", s)
		for _, bad := range []string{"-1", "five", "1e3", "NaN", "0x10", "1.2.3"} {
			w.refuses("must be an amount in dollars", command.Slash{Line: "/config daily_cap " + bad})
		}
		w.is("the cap after refused ones", w.Snapshot().Money.Today.Cap, 2)
	})
}

// W12: without caps, lifting them was recorded as a decision, and so was undoing a lift that never happened.
func TestOnlyALiftThatChangesSomethingIsADecision(t *testing.T) {
	story(t, nil, func(w *world) {
		for i, step := range []struct {
			undo    bool
			message string
			decided bool
		}{
			{false, "there are no caps: /config daily_cap 5 sets one", false},
			{true, "there are no caps: /config daily_cap 5 sets one", false},
			{true, "spending caps are active again", false}, // from here on there is one
			{false, "the caps are lifted for today", true},
			{false, "the caps are lifted for today", false},
			{true, "spending caps are active again", true},
		} {
			if i == 2 {
				w.do(command.SetConfig{Key: "daily_cap", Value: "5"})
			}
			out := w.do(command.LiftCaps{Undo: step.undo})
			w.holds(out.Message == step.message && (out.Decision.Action != "") == step.decided && (out.Undo != nil) == step.decided, "it answers", step, out)
		}
	})
}
