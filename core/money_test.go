package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
)

// capped plays stories of a bot that has a daily cap, whose runs cost some cents, and that knows the cost of an earlier one.
func capped(t *testing.T, dollars string, files []file, tales ...func(w *world)) {
	t.Helper()
	files = append([]file{
		{"prices.yaml", "opus: 15000 0 0 0\n"},
		{"state/settings.json", `{"daily_cap": "` + dollars + `"}`},
		{money.Ledger, `{"at":"1999-11-01T00:00:00Z","for":"run","task":{"kind":"routine","id":"old"},"run":"00000001",` +
			`"usage":{"input_tokens":10,"cost_usd":0.15}}` + "\n"},
		{"state/fork_runs.jsonl", `{"id":"00000001","task":"old","kind":"routine","title":"Old","state":"done","ended":"1999-12-01T00:00:00Z",` +
			`"tokens":10,"cost_usd":0.15}` + "\n"},
	}, files...)
	setting{engine: script.New(script.Options{Pace: 1, Priced: true}), files: files}.tell(t, tales...)
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

// listed are the rows of the schedule by task, each of which has one.
func (w *world) listed() map[string]schedule.Entry {
	w.Helper()
	rows := map[string]schedule.Entry{}
	for _, e := range w.Snapshot().Schedule.Entries {
		_, twice := rows[e.ID]
		w.holds(!twice, "listed twice", e)
		rows[e.ID] = e
	}
	return rows
}

// B4: for the seconds in which money was set aside for three runs, the headline said that all others were held until the next day.
func TestWhileMoneyIsOnlySetAsideNothingIsHeld(t *testing.T) {
	files := []file{remind("dddd0001", 20*time.Hour, "", "say here")}
	for i := range 4 {
		files = append(files, remind(fmt.Sprintf("cccc000%d", i), 10*time.Minute, "", "wait 20s", "say here"))
	}
	capped(t, "0.5", files, func(w *world) {
		w.sleep(10*time.Minute + 10*time.Second)
		s := w.Snapshot()
		s.Engine.Offline = false // which is more urgent
		head := s.Headline()
		w.holds(s.Money.Today.Spent.Dollars() == 0 && s.Money.Reserved >= 0.4 && head.Kind != HeldForMoney, "money", s.Money, head)
		w.shows("the headline", head.Text(), "$0.45 is set aside for runs under way")
		for _, e := range w.listed() {
			w.holds(!e.Money, "held", e)
		}
	}, func(w *world) { // one of them waited when the bot ended
		w.sleep(time.Hour)
		spent := w.Snapshot().Money.Today.Spent.Dollars()
		w.holds(spent > 0 && spent <= 0.5, "with what was cut off, it has cost", w.runs(), spent)
	})
}

func TestARoutineHeldForMoneyOwesNothingAndContinuesWhenLifted(t *testing.T) {
	capped(t, "0", []file{
		routine("cccc0001", "*/5 * * * *", "missed: run\n", "say looked"),
		routine("cccc0002", "*/5 * * * *", "critical: true\n", "say looked"),
	}, func(w *world) {
		w.sleep(31 * time.Minute)
		w.needs(w.done("cccc0001") == 0 && w.done("cccc0002") >= 6 && w.pending() == "", "the critical one alone runs", w.runs(), w.pending())
		v := w.view("cccc0001")
		w.holds(!v.Broke.IsZero() && !v.Next.Before(w.Snapshot().Money.Today.Ends) && v.Cost > 0, "the held one", v)
		w.is("the critical one is held", w.view("cccc0002").Held, "")
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

func TestAHeldReminderIsListedOnceAndRunsAfterMidnightAlsoAfterARestart(t *testing.T) {
	capped(t, "0", []file{
		remind("cccc0001", 10*time.Minute, "", "say here"),
		remind("cccc0003", 5*time.Hour, "", "say here"), foreground("cccc0004", 5*time.Hour, "say here"),
		remind("cccc0005", 5*time.Hour, "critical: true\n", "say here"),
	}, func(w *world) {
		w.sleep(time.Hour)
		rows := w.listed()
		w.needs(len(rows) == 4, "listed", rows)
		for id, e := range rows {
			critical := id == "cccc0005"
			w.holds(e.Money != critical && e.Held != critical && e.Cost > 0, "its row", e)
		}
		ahead := w.Schedule().Forward(w.now(), "").Entries
		w.holds(len(ahead) == 1 && ahead[0].ID == "cccc0005", "agents plan with", ahead)
		log := must(w.Reads().Away(w.Context()))(w).Log
		held := func(e audit.Entry) bool { return e.Action == audit.RunHeld && e.Subject == "cccc0001" }
		w.holds(slices.ContainsFunc(log, held), "nothing says that it was held", log)
	}, func(w *world) {
		w.sleep(30 * time.Hour)
		w.is("runs without money", w.done("cccc0001"), 0)
		w.say("/config daily_cap 5")
		w.sleep(5 * time.Minute)
		w.holds(w.done("cccc0001") == 1 && !w.has("reminders/cccc0001.md"), "with a cap that is high enough", w.runs())
	})
}

func TestAtTheCapTheConversationAsksOnceADay(t *testing.T) {
	capped(t, "0", nil, func(w *world) {
		// say returns the open questions after a message.
		say := func(word string) []policy.Approval {
			w.do(command.Say{Text: please("say " + word)})
			w.sleep(10 * time.Second)
			return w.Snapshot().Approvals
		}
		asked := say("first")
		w.needs(len(asked) == 1 && asked[0].Question == "Keep going past the cap today?", "asked", asked)
		w.do(command.Answer{ID: asked[0].ID, Verdict: policy.Deny})
		w.is("asked again after no", len(say("second")), 0)
		w.sleep(24 * time.Hour)
		asked = say("third")
		w.needs(len(asked) == 1, "asked the next day", asked)
		w.do(command.Answer{ID: asked[0].ID, Verdict: policy.Allow})
		w.sleep(time.Minute)
		w.is("asked again after yes", len(say("fourth")), 0)
		w.is("answered", []bool{w.spoke("first"), w.spoke("second"), w.spoke("third"), w.spoke("fourth")}, []bool{false, false, true, true})
	})
}

func TestACapBelowWhatWasSpentSaysWhatFollowsBeforeItIsTaken(t *testing.T) {
	spent := file{money.Ledger, `{"at":"2000-01-01T00:00:00Z","for":"conversation","usage":{"cost_usd":2.5}}` + "\n"}
	capped(t, "off", []file{spent}, func(w *world) {
		out := w.say("/config daily_cap 2")
		w.shows("it answers", out.Message, "today has cost $2.50", "sure")
		w.is("it is capped", w.Snapshot().Money.Today.Capped(), false)
		follows := w.do(command.SetConfig{Key: "daily_cap", Value: "2"}).Follows
		w.holds(strings.HasSuffix(follows, "the conversation would ask"), "who is asked with a key reads", follows)
		w.say("/config daily_cap 2 sure")
		s := w.Snapshot().Money
		w.holds(s.Today.Cap == 2 && !s.Until(0).IsZero(), "taken", s)
		w.refuses("must be an amount in dollars", command.Slash{Line: "/config daily_cap five"})
		w.is("the cap after a refused one", w.Snapshot().Money.Today.Cap, 2)
	})
}
