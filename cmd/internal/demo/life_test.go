package demo

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// offline is the engine of the demo.
func offline(dir *store.Dir, look func() core.Snapshot) (agent.Engine, func()) {
	return script.New(script.Options{Pace: 1, Dir: dir, Priced: true, Talk: Talk(look)}), func() {}
}

// life is what is seen of a demo while it is watched.
type life struct {
	empty, looks int             // looks at a bucket without a whole token, of how many
	asked        map[string]bool // approvals, by ID
}

// watch looks at the demo every few seconds.
func (l *life) watch(bot *core.Bot, until time.Time) {
	for time.Now().Before(until) {
		time.Sleep(30 * time.Second)
		s := bot.Snapshot()
		l.looks++
		if s.Budget.State.Whole() < 1 {
			l.empty++
		}
		for _, a := range s.Approvals {
			l.asked[a.ID] = true
		}
	}
}

func TestTheDemoLivesForHours(t *testing.T) {
	play(t, offline, func(bot *core.Bot, dir *store.Dir, log *loud) {
		time.Sleep(time.Second)
		if s := bot.Snapshot(); len(s.Notices) > 0 {
			t.Errorf("the first thing that a newcomer reads: %q", s.Notices[0].Text)
		}
		begin := bot.Snapshot().Started
		l := life{asked: map[string]bool{}}
		for _, after := range []time.Duration{5 * time.Minute, time.Hour, 5 * time.Hour} {
			l.watch(bot, begin.Add(after))
			s := bot.Snapshot()
			sent, answered, refused, ignored := 0, 0, 0, 0
			reminded := map[string]int{} // how often a reminder came that repeats until it is done
			for _, p := range s.Budget.Pings {
				if p.Title == "Call the pharmacy" {
					reminded[p.Task]++
				}
				switch {
				case p.At.Before(begin):
				case p.Refused != "":
					refused++
					if p.Refused != refusedBusy && p.Refused != refusedSecond && p.Refused != refusedEmpty {
						t.Errorf("a refusal without a known rule: %q", p.Refused)
					}
				case p.Answered.IsZero():
					sent++
					if s.At.Sub(p.At) > 10*time.Minute {
						ignored++
					}
				default:
					sent++
					answered++
				}
			}
			failed, runs := 0, map[string]int{}
			list, err := fork.Ledger(dir, math.MaxInt)
			testkit.Must(t, err)
			for _, v := range list {
				if v.Started.Before(begin) {
					continue
				}
				if v.State == fork.Failed {
					failed++
					if v.Error == "" {
						t.Errorf("%s failed without a reason", v.Title)
					}
				}
				if v.Kind == routines.KindReminder && v.Title != "Call the pharmacy" {
					runs[v.TaskID]++
				}
			}
			for id, n := range runs {
				if n > 1 {
					t.Errorf("the reminder %s fired %d times", id, n)
				}
			}
			for id, n := range reminded {
				if n > 2 {
					t.Errorf("%s came %d times: it is put off once, and done", id, n)
				}
			}
			days := math.Max(1, after.Hours()/dayLong.Hours())
			t.Logf("after %v: %d pings, %d answered, %d left open, %d refused, %d runs failed, %d approvals asked, %.1f tokens, $%.2f",
				after, sent, answered, ignored, refused, failed, len(l.asked), s.Budget.State.Available, s.Money.Today.Spent.Dollars())
			if l.empty*20 > l.looks {
				t.Errorf("the budget is empty in %d of %d looks", l.empty, l.looks)
			}
			if refused == 0 || failed == 0 || len(l.asked) == 0 {
				t.Error("a ping refused, a run that fails and a question belong to each day")
			}
			if after > time.Hour && (float64(sent)/days < 5 || float64(sent)/days > 12 || answered*3 < sent*2) {
				t.Errorf("%d pings, of which %d are answered, in %.1f days", sent, answered, days)
			}
			if len(l.asked) > int(math.Ceil(days)) {
				t.Errorf("%d questions in %.1f days", len(l.asked), days)
			}
			sensible(t, &s, begin)
		}
		for _, line := range log.all() {
			if !strings.Contains(line, "mail server") && !strings.Contains(line, "61 9") {
				t.Error(line)
			}
		}
	})
}

// sensible reads the conversation: each question has an answer, and none is about a missing model.
func sensible(t *testing.T, s *core.Snapshot, begin time.Time) {
	t.Helper()
	helpless := regexp.MustCompile(`(?i)without a model|offline|I only know this example`)
	talk := 0
	for i := range s.Chat {
		e := &s.Chat[i]
		if e.At.Before(begin) {
			continue
		}
		if e.Role == transcript.User {
			talk++
		}
		if e.Role == transcript.Bot && helpless.MatchString(e.Text) {
			t.Errorf("%v the bot says %q", e.At, e.Text)
		}
	}
	if talk == 0 {
		t.Error("there is no conversation")
	}
}

func TestTheDemoAnswersWhatItIsAsked(t *testing.T) {
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	full, empty := core.Snapshot{At: noon, Zone: time.UTC}, core.Snapshot{At: noon, Zone: time.UTC}
	full.Budget = core.BudgetView{State: budget.State{Capacity: 5, Available: 3.25}, NextAt: noon.Add(time.Hour), Pings: []budget.Ping{
		{At: noon.Add(-4 * time.Hour), Title: "Tea", Answered: noon},
		{At: noon.Add(-3 * time.Hour), Title: "Mail", Run: "f1", Refused: "no token was left"},
		{At: noon.Add(-2 * time.Hour), Title: "Walk"},
	}}
	full.Forks = []fork.View{{ID: "f1", Reports: 1}}
	full.Ended = []fork.View{{Title: "Rent", State: fork.Failed, Ended: noon.Add(-time.Hour), Error: "no network"}, {Title: "Tea", State: fork.Done}}
	for _, e := range []struct {
		title string
		after time.Duration
		held  bool
	}{{"Past", 0, false}, {"Held", time.Hour, true}, {"Tea", 2 * time.Hour, false}, {"Mail", 3 * time.Hour, false}, {"Bins", 4 * time.Hour, false}, {"Bed", 5 * time.Hour, false}, {"Run", 13 * time.Hour, false}} {
		full.Schedule.Day = append(full.Schedule.Day, schedule.Entry{Description: e.title, FireTime: noon.Add(e.after), Held: e.held})
	}
	refused := full
	refused.Forks = nil
	for _, c := range []struct {
		said string
		of   core.Snapshot
		want string
	}{
		{"What is left?", full, "say Next: Tea at 14:00, Mail at 15:00, Bins at 16:00.\nsay And two letters: the landlord about the boiler, and Dana about Friday. Dana is the smaller one; I would begin there."},
		{"What is left?", empty, "say Nothing is planned any more today.\nsay And two letters: the landlord about the boiler, and Dana about Friday. Dana is the smaller one; I would begin there."},
		{"why not?", full, "say At 09:00 Mail wanted to ping you, and was refused: no token was left. What it had to say came as an update."},
		{"why not?", refused, "say At 09:00 Mail wanted to ping you, and was refused: no token was left."},
		{"why not?", empty, "say Nothing was refused so far."},
		{"what went wrong", full, "say Rent failed at 11:00: no network. Nothing is lost; it can run again with f."},
		{"what went wrong", empty, "say Nothing has failed in the last 24 hours."},
		{"how expensive", empty, "say Today $0.00 so far, this month $0.00, by the price list. In the demo nobody pays it."},
		{"How many pings", full, "say 2 pings today, 1 of them answered. I have 3.2 of 5 tokens left, the next comes at 13:00."},
		{"tokens", empty, "say 0 pings today, 0 of them answered. I have 0.0 of 0 tokens left."},
		{"how was it", full, "say A good day: the letter is begun, Dana has her answer, and the landlord knows about Thursday.\nsay I pinged you 2 times, you answered 1, and 2 runs did the rest in silence."},
		{"[fork-started] x", empty, "say I am here. What is on your mind?"},
		{"[fork-timeout]", empty, "say Are you still there? Send a message to continue; otherwise I will close this fork soon."},
		{"[system] x", empty, "call report_updates {\"message\": \"Talked in a fork; nothing is left open.\"}\nsay Reported to the main session. See you there."},
		{"I'll call the dentist tomorrow", empty, "call propose_reminder {\"words\": \"I'll call the dentist tomorrow\", \"delay_minutes\": 1440}\nwait 200ms\nsay Good plan."},
		{"hi", empty, "say Hello! It is a calm day. Ask me what is left, or tell me what is on your mind."},
		{"what can you do", empty, "say I only know this example day. Ask me what is left, what came in, what was refused, what failed or what it cost; or say: remind me to call Dana in 2 minutes."},
		{"xyz", empty, "say I only know this example day. Ask me what is left, what came in, what was refused, what failed or what it cost; or say: remind me to call Dana in 2 minutes."},
		{"remind me to call Dana in 0 minutes", empty, "say Dana asks whether you come on Friday. A yes or no is enough; shall I draft it?"},
		// S32: an answer that was interrupted after "Set: I will" had set the reminder.
		{"remind me to call Dana in 2 minutes", empty, "say I will remind you to call Dana.\ncall add_reminder {\"prompt\": \"Remind me to call Dana.\\n\\n```script\\ncall ping_user {\\\"message\\\": \\\"Time to call Dana.\\\"}\\ncall report_updates {\\\"message\\\": \\\"Reminded: call Dana.\\\"}\\n```\", \"delay_minutes\": 2, \"description\": \"Call Dana\"}"},
	} {
		if got := Talk(func() core.Snapshot { return c.of })(c.said); got != c.want {
			t.Errorf("%q is answered %s\nwant %s", c.said, got, c.want)
		}
	}
}

// Anyone who watches may answer the question, and hears what became of it.
func TestAQuestionOfTheDemoTakesItsAnswer(t *testing.T) {
	for verdict, want := range map[policy.Verdict]string{policy.Allow: "is on your desktop", policy.Deny: "Then I keep it here"} {
		play(t, offline, func(bot *core.Bot, _ *store.Dir, _ *loud) {
			time.Sleep(3*time.Minute + 25*time.Second)
			s := bot.Snapshot()
			if len(s.Approvals) != 1 {
				t.Fatalf("%d questions", len(s.Approvals))
			}
			_, err := bot.Do(t.Context(), command.Answer{ID: s.Approvals[0].ID, Verdict: verdict})
			testkit.Must(t, err)
			time.Sleep(10 * time.Second)
			s = bot.Snapshot()
			last := ""
			for _, e := range s.Chat {
				if e.Role == transcript.Bot { // the parcel's ping may have come, too
					last = e.Text
				}
			}
			if !strings.Contains(last, want) {
				t.Errorf("%s: the last word is %q", verdict, last)
			}
		})
	}
}
