package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
)

// costly is an engine whose tokens are priced by the table.
func costly() agent.Engine { return script.New(script.Options{Pace: 1, Priced: true}) }

// dear makes each run of the script engine cost some cents, and records the cost of an
// earlier one.
func dear(h home, settings string) {
	h.write("prices.yaml", "opus: 15000 0 0 0\n")
	h.write("state/settings.json", settings)
	h.write(money.Ledger, `{"at":"1999-11-01T00:00:00Z","for":"run","task":{"kind":"routine","id":"old"},"run":"00000001","usage":{"input_tokens":10,"cost_usd":0.15}}`+"\n")
	h.write("state/fork_runs.jsonl", `{"id":"00000001","task":"old","kind":"routine","title":"Old","state":"done","ended":"1999-12-01T00:00:00Z","tokens":10,"cost_usd":0.15}`+"\n")
}

func ended(s Snapshot, id string) (n int) {
	for _, f := range s.Forks {
		if f.TaskID == id && f.State == fork.Done {
			n++
		}
	}
	return n
}

func entryOf(s Snapshot, id string) (e schedule.Entry) {
	for _, one := range s.Schedule.Entries {
		if one.ID == id {
			return one
		}
	}
	return e
}

func TestTenRemindersOfOneMomentStayWithinTheCapAndRunAnotherDay(t *testing.T) {
	liveWith(t, costly(), func(h home) {
		dear(h, `{"daily_cap": "0.5"}`)
		for i := range 10 {
			h.reminder(fmt.Sprintf("cccc000%d", i), 10*time.Minute, "", "say here")
		}
	}, func(_ home, b *Bot) {
		done := func() (n int) {
			for i := range 10 {
				n += ended(b.Snapshot(), fmt.Sprintf("cccc000%d", i))
			}
			return n
		}
		time.Sleep(time.Minute)
		listed := map[string]int{}
		for _, e := range b.Snapshot().Schedule.Entries {
			if listed[e.ID]++; listed[e.ID] > 1 {
				t.Errorf("%s is listed twice before its time", e.ID)
			}
		}
		time.Sleep(time.Hour)
		s := b.Snapshot()
		first, held, seen := done(), 0, map[string]bool{}
		for _, e := range s.Schedule.Entries {
			if e.Money {
				held++
				if seen[e.ID] {
					t.Errorf("%s is listed twice", e.ID)
				}
				seen[e.ID] = true
				if !e.Held || !strings.HasPrefix(e.Tag, schedule.TagMoney) || e.Cost <= 0 {
					t.Errorf("held without words or cost: %+v", e)
				}
			}
		}
		if first != 3 || held != 10-first || s.Money.Today.Spent.Dollars() > 0.5 || s.Money.Reserved != 0 {
			t.Fatalf("%d ran, %d are held, %+v", first, held, s.Money)
		}
		time.Sleep(24 * time.Hour)
		if second := done(); second <= first || second == 10 || b.Snapshot().Money.Today.Spent.Dollars() > 0.5 {
			t.Errorf("the next day %d of 10 have run, %d before; %+v", second, first, b.Snapshot().Money)
		}
		out := do(t, b, command.LiftCaps{})
		time.Sleep(time.Hour)
		if n := done(); n != 10 || out.Undo == nil {
			t.Errorf("with the caps lifted %d of 10 have run", n)
		}
	})
}

// B4: for the seconds in which money was set aside for three runs, the headline said that all others
// were held until the next day.
func TestWhileMoneyIsOnlySetAsideNothingIsHeld(t *testing.T) {
	liveWith(t, costly(), func(h home) {
		dear(h, `{"daily_cap": "0.5"}`)
		for i := range 4 {
			h.reminder(fmt.Sprintf("cccc000%d", i), 10*time.Minute, "", "wait 20s\nsay here")
		}
		h.reminder("dddd0001", 20*time.Hour, "", "say here")
	}, func(_ home, b *Bot) {
		time.Sleep(10*time.Minute + 10*time.Second)
		s := b.Snapshot()
		s.Engine.Offline = false // which is more urgent
		head := s.Headline()
		if s.Money.Today.Spent.Dollars() != 0 || s.Money.Reserved < 0.4 || head.Kind == HeldForMoney || !strings.Contains(head.Text(), "$0.45 is set aside for runs under way") {
			t.Errorf("%q, %+v", head.Text(), s.Money)
		}
		for _, e := range s.Schedule.Entries {
			if e.Money {
				t.Errorf("held: %+v", e)
			}
		}
	})
}

func TestARoutineHeldForMoneyOwesNothingAndGoesOnWhenLifted(t *testing.T) {
	liveWith(t, costly(), func(h home) {
		dear(h, `{"daily_cap": "0"}`)
		h.write("routines/r.md", "---\nid: \"cccc0001\"\ncron: \"*/5 * * * *\"\nmissed: run\nbackground: true\ndescription: \"Look\"\n---\nLook.\n\n```script\nsay looked\n```\n")
		h.write("routines/c.md", "---\nid: \"cccc0002\"\ncron: \"*/5 * * * *\"\nbackground: true\ncritical: true\ndescription: \"Pills\"\n---\nLook.\n\n```script\nsay looked\n```\n")
	}, func(_ home, b *Bot) {
		time.Sleep(31 * time.Minute)
		s := b.Snapshot()
		if ended(s, "cccc0001") != 0 || ended(s, "cccc0002") < 6 || len(s.Updates) != 0 {
			t.Fatalf("held ran %d times, critical %d times; updates %+v", ended(s, "cccc0001"), ended(s, "cccc0002"), s.Updates)
		}
		if v := viewOf(t, s, "cccc0001"); v.Broke.IsZero() || v.Next.Before(s.Money.Today.Ends) || v.Cost <= 0 {
			t.Errorf("the task: %+v", v)
		}
		if e := entryOf(s, "cccc0002"); e.Held || e.Money {
			t.Errorf("the critical one: %+v", e)
		}
		out := do(t, b, command.LiftCaps{})
		time.Sleep(10 * time.Minute)
		if n := ended(b.Snapshot(), "cccc0001"); n != 2 {
			t.Errorf("ten minutes after lifting it has run %d times, want 2", n)
		}
		do(t, b, out.Undo)
		time.Sleep(10 * time.Minute)
		if n := ended(b.Snapshot(), "cccc0001"); n != 2 {
			t.Errorf("with the caps back it has run %d times, want 2", n)
		}
		do(t, b, command.FireNow{ID: "cccc0001"})
		time.Sleep(time.Minute)
		if n := ended(b.Snapshot(), "cccc0001"); n != 3 {
			t.Errorf("fired by hand it has run %d times, want 3", n)
		}
	})
}

func TestWhatIsHeldAheadOfItsTimeIsListedOnceWithItsCost(t *testing.T) {
	liveWith(t, costly(), func(h home) {
		dear(h, `{"daily_cap": "0"}`)
		h.reminder("cccc0003", 2*time.Hour, "", "say here")
		h.foreground("cccc0004", 2*time.Hour, "say here")
		h.reminder("cccc0005", 2*time.Hour, "critical: true\n", "say here")
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		listed := map[string]int{}
		for _, e := range b.Snapshot().Schedule.Entries {
			listed[e.ID]++
			if critical := e.ID == "cccc0005"; e.Money == critical || e.Held == critical || e.Cost <= 0 {
				t.Errorf("%+v", e)
			}
		}
		if len(listed) != 3 || listed["cccc0003"] != 1 || listed["cccc0004"] != 1 || listed["cccc0005"] != 1 {
			t.Errorf("listed %v", listed)
		}
		if told := b.Schedule().Forward(b.now(), "").Entries; len(told) != 1 || told[0].ID != "cccc0005" {
			t.Errorf("agents are told of %+v", told)
		}
	})
}

func TestAHeldReminderRunsAfterMidnightAlsoAfterARestart(t *testing.T) {
	lives(t, 0, func(h home) {
		dear(h, `{"daily_cap": "0"}`)
		h.reminder("cccc0001", 10*time.Minute, "", "say here")
	}, func(_ home, b *Bot) {
		time.Sleep(time.Hour)
		if s := b.Snapshot(); ended(s, "cccc0001") != 0 || !entryOf(s, "cccc0001").Money {
			t.Errorf("%+v", s.Schedule.Entries)
		}
		held := func(e audit.Entry) bool { return e.Action == audit.RunHeld && e.Subject == "cccc0001" }
		if report, err := b.Reads().Away(t.Context()); err != nil || !slices.ContainsFunc(report.Log, held) {
			t.Errorf("nothing says that it was held: %v, %+v", err, report.Log)
		}
	}, func(h home, b *Bot) {
		time.Sleep(30 * time.Hour)
		if ended(b.Snapshot(), "cccc0001") != 0 {
			t.Error("it ran without money")
		}
		type_(t, b, "/config daily_cap 5")
		time.Sleep(5 * time.Minute)
		if s := b.Snapshot(); ended(s, "cccc0001") != 1 || h.has("reminders/cccc0001.md") {
			t.Errorf("with a cap that is high enough: %+v", s.Forks)
		}
	})
}

func TestAtTheCapTheConversationAsksOnceADay(t *testing.T) {
	liveWith(t, costly(), func(h home) { dear(h, `{"daily_cap": "0"}`) }, func(_ home, b *Bot) {
		say := func(word string) []policy.Approval {
			do(t, b, command.Say{Text: script_("say " + word)})
			time.Sleep(10 * time.Second)
			return b.Snapshot().Approvals
		}
		asked := say("first")
		if len(asked) != 1 || asked[0].Question != "Keep going past the cap today?" || spoken(b.Snapshot(), "first") {
			t.Fatalf("asked %+v", asked)
		}
		time.Sleep(2 * policy.Patience)
		if spoken(b.Snapshot(), "first") {
			t.Error("it went on without an answer")
		}
		if asked = say("second"); len(asked) != 1 {
			t.Fatalf("asked %+v again", asked)
		}
		do(t, b, command.Answer{ID: asked[0].ID, Verdict: policy.Deny})
		time.Sleep(time.Second)
		if asked = say("third"); len(asked) != 0 || spoken(b.Snapshot(), "second") || spoken(b.Snapshot(), "third") {
			t.Errorf("after no: asked %+v", asked)
		}
		time.Sleep(24 * time.Hour)
		if asked = say("fourth"); len(asked) != 1 {
			t.Fatalf("the day after: asked %+v", asked)
		}
		do(t, b, command.Answer{ID: asked[0].ID, Verdict: policy.Allow})
		time.Sleep(time.Minute)
		if asked = say("fifth"); len(asked) != 0 || !spoken(b.Snapshot(), "fourth") || !spoken(b.Snapshot(), "fifth") {
			t.Errorf("after yes: asked %+v", asked)
		}
	})
}

func TestACapBelowWhatWasSpentSaysWhatFollowsBeforeItIsTaken(t *testing.T) {
	liveWith(t, costly(), func(h home) {
		dear(h, `{}`)
		h.write(money.Ledger, `{"at":"2000-01-01T00:00:00Z","for":"conversation","usage":{"cost_usd":2.5}}`+"\n")
	}, func(_ home, b *Bot) {
		out := type_(t, b, "/config daily_cap 2")
		if !strings.Contains(out.Message, "today has cost $2.50") || !strings.Contains(out.Message, "sure") || b.Snapshot().Money.Today.Capped() {
			t.Fatalf("%q, %+v", out.Message, b.Snapshot().Money)
		}
		if out, err := b.Do(t.Context(), command.SetConfig{Key: "daily_cap", Value: "2"}); err != nil || !strings.HasSuffix(out.Follows, "the conversation would ask") {
			t.Errorf("who is asked with a key reads %q, %v", out.Follows, err)
		}
		type_(t, b, "/config daily_cap 2 sure")
		if s := b.Snapshot().Money; s.Today.Cap != 2 || s.Until(0).IsZero() {
			t.Errorf("%+v", s)
		}
		for _, bad := range []string{"-1", "five", "1e3", "NaN", "", "0x10", "1.2.3"} {
			if bad == "" {
				continue // this one shows it
			}
			refused(t, b, command.Slash{Line: "/config daily_cap " + bad}, "must be an amount in dollars")
		}
		if s := b.Snapshot().Money; s.Today.Cap != 2 {
			t.Errorf("a refused cap changed it: %+v", s)
		}
	})
}

// W12: without caps, lifting them was recorded as a decision, and so was undoing a lift
// that never happened.
func TestOnlyALiftThatChangesSomethingIsADecision(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		step := func(undo bool, message string, decided bool) {
			t.Helper()
			out := do(t, b, command.LiftCaps{Undo: undo})
			if out.Message != message || (out.Decision.Action != "") != decided || (out.Undo != nil) != decided {
				t.Errorf("undo %v: %+v", undo, out)
			}
		}
		step(false, "there are no caps: /config daily_cap 5 sets one", false)
		step(true, "there are no caps: /config daily_cap 5 sets one", false)
		do(t, b, command.SetConfig{Key: "daily_cap", Value: "5"})
		step(true, "spending caps are active again", false)
		step(false, "the caps are lifted for today", true)
		step(false, "the caps are lifted for today", false)
		step(true, "spending caps are active again", true)
	})
}
