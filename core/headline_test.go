package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	duetimes "ollimbot/routines/account"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
)

// quietDay is a snapshot of a bot with one task ahead and two pings left.
func quietDay(at time.Time, e schedule.Entry) Snapshot {
	st := budget.State{
		Capacity: 5, Available: 2, RefillRateMinutes: 90, DailyUsed: 3, DailyUsedReset: "2026-03-10", CriticalResetDate: "2026-03-10", LastRefill: at,
	}
	s := Snapshot{At: at, Zone: time.UTC, Budget: BudgetView{State: st, NextAt: at.Add(90 * time.Minute), FiresUntil: at.Add(24 * time.Hour)}}
	s.Schedule.Entries = []schedule.Entry{e}
	return s
}

// All sentences of the headline and the outlook, as shown to people.
func TestTheSentencesAboutNow(t *testing.T) {
	at := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	in := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	tea := schedule.Entry{ID: "t", Description: "Tea break", FireTime: in(25)}
	day := func() Snapshot { return quietDay(at, tea) }
	failed := func(state fork.State) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Failures = append(s.Failures, fork.View{ID: "f", Title: "Rent", State: state, Ended: in(-1), Error: "no skill has the name rent."})
		}
	}
	broken := func(file string) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{File: file, Severity: routines.Error, Message: "there is no cron"})
		}
	}
	edit := func(s *Snapshot) {
		s.Schedule.Tasks = append(s.Schedule.Tasks, schedule.TaskView{ID: "m", Title: "Medication", Proposed: routines.Proposal{Version: "2", Why: "it may use Bash"}})
	}
	fires := func(rate float64) func(*Snapshot) {
		return func(s *Snapshot) {
			for i := range 3 {
				s.Budget.Fires = append(s.Budget.Fires, budget.Fire{At: in(25 + i), Title: "Tea break", Rate: rate})
			}
		}
	}
	tools := []routines.Problem{{File: "mcp__weather", Waits: true, Proposed: routines.Proposal{Version: "v", Why: "1 tool changed", What: "change of weather's tools"}}}
	empty := func(s *Snapshot) { s.Budget.State.Available = 0 }
	var got strings.Builder
	for _, changes := range [][]func(*Snapshot){
		{},
		{func(s *Snapshot) { s.Schedule.Entries = nil }},
		{func(s *Snapshot) { s.Busy = true }},
		{func(s *Snapshot) { s.Forks = []fork.View{{State: fork.Running}, {State: fork.Running}} }},
		{func(s *Snapshot) {
			s.Forks = []fork.View{{State: fork.Running}, {State: fork.Running}, {State: fork.Waiting}}
		}},
		{func(s *Snapshot) { // B4
			s.Forks, s.Money.Reserved = []fork.View{{State: fork.Running}, {State: fork.Waiting, Title: "Rent", Aside: true}}, 0.3
		}},
		{func(s *Snapshot) { s.Approvals = []policy.Approval{{Tool: "Bash", Label: "Run this command? ls"}} }},
		{func(s *Snapshot) { s.Approvals = []policy.Approval{{Label: "which one?"}, {}} }},
		{func(s *Snapshot) { s.Fork = &chat.Banner{Asks: true} }},
		{edit},
		{edit, func(s *Snapshot) { s.Schedule.Problems = []routines.Problem{{File: "skills/x/SKILL.md", Waits: true}} }},
		{func(s *Snapshot) { s.Schedule.Problems = []routines.Problem{{File: "skills/x/SKILL.md", Waits: true}} }},
		{func(s *Snapshot) { s.Schedule.Problems = tools[:1] }},
		{edit, func(s *Snapshot) { s.Schedule.Problems = tools }},
		{func(s *Snapshot) { s.Schedule.Problems = append(tools[:1:1], tools...) }},
		{failed(fork.Failed)},
		{failed(fork.TimedOut)},
		{failed(fork.NoReport)},
		{failed(fork.Failed), failed(fork.Failed)},
		{broken("routines/gym.md")},
		{broken("routines/gym.md"), broken("routines/tea.md"), broken("routines/tea.md")},
		{func(s *Snapshot) {
			s.Schedule.Entries = []schedule.Entry{{ID: "m", Description: "Medication", FireTime: in(9), Held: true, Money: true, Cost: 1}, tea}
			s.Money.Today = money.Span{Spent: money.Total(money.Row{Used: agent.Usage{CostUSD: 5}}), Cap: 5, Ends: in(598)}
		}},
		{func(s *Snapshot) { s.Surface = SurfaceStatus{Name: "Discord", State: "no token: set DISCORD_TOKEN"} }},
		{func(s *Snapshot) { s.Engine = EngineStatus{Name: "claude", State: "not logged in"} }},
		{func(s *Snapshot) { s.Google = "the login has expired" }},
		{func(s *Snapshot) { s.Engine.Offline = true }},
		{func(s *Snapshot) { s.Budget.State.Capacity = 0 }},
		{func(s *Snapshot) { s.Budget.Muted = in(60) }},
		{empty, func(s *Snapshot) { s.Budget.Quiet = in(60) }},
		{empty},
		{empty, fires(1)},
		{empty, fires(0.1)},
		{fires(1)},
		{fires(0.1)},
	} {
		s := day()
		for _, change := range changes {
			change(&s)
		}
		o := s.Outlook()
		got.WriteString(s.Headline().Text() + "\n")
		if len(changes) == 0 { // shorter ways to say it
			got.WriteString("  " + strings.Join(s.nextText()[1:], " | ") + "\n")
		}
		if len(changes) == 0 || s.Headline().Kind == Quiet && o.Kind != PingsEnough {
			got.WriteString("  " + o.Word + " | " + o.Text + o.Tail + "\n")
		}
	}
	if got.String() != sentences {
		t.Errorf("the sentences are\n%s", got.String())
	}
}

const sentences = `All quiet. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
  Next: Tea break in 25 min; 2 pings left, +1 at 15:32. | Next: Tea break in 25 min; 2 pings left. | Next: Tea break in 25 min; 2 pings. | Next: Tea break in 25 min. | Next 14:27.
  enough | enough until Wed 14:02, even if every task pings
All quiet. 3 pings today. Nothing is due within a day; 2 pings left, +1 at 15:32.
The bot is answering. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 runs under way. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 runs under way, 1 waiting. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
1 run under way. Rent waits: $0.30 is set aside for runs under way. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
The agent asks: Run this command? ls.
The agent asks (1 of 2): which one?
The agent asks: save the fork that you are in?
An edit of Medication waits for you: it may use Bash. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 files by the agent wait for you, the first is an edit of Medication. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
skills/x/SKILL.md waits for you. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
A change of weather's tools waits for you: 1 tool changed. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 decisions wait for you, the first is an edit of Medication. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 decisions wait for you, the first is a change of weather's tools. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Rent failed at 14:01: no skill has the name rent. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Rent timed out at 14:01: no skill has the name rent. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Rent ended without its report at 14:01: no skill has the name rent. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 runs failed, the last Rent at 14:01: no skill has the name rent. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
gym.md has an error: there is no cron. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
2 files need fixing, the first gym.md: there is no cron. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Medication is held for money until Wed 00:00: $5.00 of the daily cap of $5.00 is spent. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Discord is not connected: no token: set DISCORD_TOKEN. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
claude cannot answer: not logged in. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
Google is not connected: the login has expired. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
No model is connected: scripted replies answer. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
All quiet. 3 pings today. Next: Tea break in 25 min; critical pings only.
  muted | muted: the capacity is 0; only critical pings get through
All quiet. 3 pings today. Next: Tea break in 25 min; muted until 15:02.
  muted | muted until 15:02: only critical pings get through
All quiet. 3 pings today. Next: Tea break in 25 min; quiet until 15:02.
  quiet | quiet until 15:02: only critical pings get through, others from 15:32
All quiet. 3 pings today. Next: Tea break in 25 min; no ping until 15:32.
  empty until 15:32 | the next ping can go at 15:32
All quiet. 3 pings today. Next: Tea break in 25 min; no ping until 15:32.
  empty until 15:32 | the next ping can go at 15:32; at 14:27 a ping is likely refused: Tea break
All quiet. 3 pings today. Next: Tea break in 25 min; no ping until 15:32.
  empty until 15:32 | the next ping can go at 15:32; at 14:27 a ping would be refused: Tea break
All quiet. 3 pings today. Next: Tea break in 25 min; 2 pings left, likely none at 14:29.
  out by 14:29 | likely out of pings at 14:29: Tea break
All quiet. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
  likely enough | likely enough until Wed 14:02; if every task pings, out at 14:29: Tea break
`

func TestTheStatusAndTheCardOfABusyBotSayEverything(t *testing.T) {
	at := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	s := quietDay(at, schedule.Entry{ID: "t", Description: "Tea break", FireTime: at.Add(25 * time.Minute)})
	s.Routines, s.Reminders, s.Started, s.Busy, s.Google = 3, 1, at.Add(-time.Hour), true, "the login has expired"
	s.Engine, s.Surface = EngineStatus{Name: "claude", Model: "opus", State: "ready", OK: true}, SurfaceStatus{Name: "Discord", State: "(up)", OK: true}
	s.Updates = []updates.Update{{Dropped: 2}, {Message: "one"}, {Message: "two"}}
	s.Forks = []fork.View{{State: fork.Running, Title: "Mail", Started: at.Add(-time.Minute)}, {State: fork.Waiting}}
	s.Failures, s.Attached = []fork.View{{Title: "Rent", State: fork.Failed, Ended: at}}, []string{"a.png"}
	s.Schedule.Tasks = []schedule.TaskView{{ID: "t", Title: "Tea break", When: "every day"}}
	s.Schedule.Problems = []routines.Problem{{File: "a.md", Severity: routines.Error, Message: "there is no cron"}, {File: "b.md", Severity: routines.Warning}}
	s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{Description: "Rent", Money: true, Held: true, Tag: "held", Cost: 1})
	s.Money.Lifted, s.Money.Today = true, money.Span{Spent: money.Total(money.Row{Used: agent.Usage{CostUSD: 2}}), Cap: 5}
	s.Budget.Muted = at.Add(time.Hour)
	card := s.Card()
	got := append(s.Status(), "", string(card.Color), card.Description)
	for _, f := range card.Fields {
		got = append(got, f.Name+": "+f.Value)
	}
	for _, b := range card.Buttons {
		got = append(got, b.Label+" "+b.Action)
	}
	s.Budget.State.LastRefill = at.Add(1500 * time.Millisecond)
	s.Servers = []mcp.State{{Name: "weather", Where: "npx weather", Status: "ready", Tools: 2, Calls: []mcp.Call{
		{At: at.Add(-2 * time.Minute), Tool: "get", Took: 1500 * time.Millisecond}, {At: at.Add(-time.Minute), Tool: "set", Took: 20 * time.Millisecond, Text: "no such place"},
	}}}
	got = append(got, fmt.Sprintf("%+v", card.Selects), s.ServersText(), string(must(json.Marshal(s.Budget))(t)), fmt.Sprint(s.ClockCells()))
	checks{t}.is("the status, and the card", strings.Join(got, "\n"), busyStatus)
}

const busyStatus = `Rent failed at 14:02. Next: Tea break in 25 min; muted until 15:02.
schedule: 3 routines, 1 reminder
engine: claude opus, ready
messages: to Discord, up
problems: 1 error in files
google: the login has expired
budget: 2 of 5 pings left, one comes back every 90 min, the next at 15:32; 3 pings today; muted until 15:02: only critical pings get through
today: $2.00 of $5.00
caps: lifted until midnight
held: Rent: held, would cost about $1.00
failed: 1 run that you have not looked at
updates: 2 pending updates
runs: 1 run under way, 1 run in the queue
now: the bot is answering
attached: 1 file for your next message

yellow
Rent failed at 14:02. Next: Tea break in 25 min; muted until 15:02.
Next: 14:27 Tea break
Running: Mail, since 14:01
Pings: 2 of 5 pings left, one comes back every 90 min, the next at 15:32; 3 pings today; muted until 15:02: only critical pings get through
Today: $2.00 of $5.00
End the mute card_mute:off
+1 ping card_capacity:6
Day as a picture card_picture:day
New reminder remind_new:
Ping budget budget_type:5.90
[{Action:card_run: Hint:Run… Choices:[{Label:Tea break Value:t About:every day Chosen:false}]}]
weather: ready, 2 tools (npx weather)
14:01 set, 20ms: no such place
14:00 get, 1.5s
{"capacity":5,"available":2,"refill_rate_minutes":90,"last_refill":"2026-03-10T14:02:01Z","daily_used":3,"critical_used":0,"quiet_used":0,"quiet_limit":0,` +
	`"essential_used":0,"next_refill_minutes":90,"full_at":"0001-01-01T00:00:00Z","status":""}
5`

// The first characters of a prompt end within a word, as models see them; people see its title.
func TestAFireIsCalledAsItsTaskIs(t *testing.T) {
	for want, e := range map[string]schedule.Entry{
		"Check the machine, and again…": {Title: "Check the machine, and again…", Description: "Check the machine, and again i...", Label: "Reminder", ID: "a"},
		"Tea break":                     {Description: "Tea break", Label: "Routine", ID: "a"},
		"Reminder":                      {Label: "Reminder", ID: "a"},
		"Laundry, check 2 of 3":         {Description: "Laundry", Label: "Chain reminder (2/3)", ID: "a"},
		"Chain reminder (":              {Label: "Chain reminder (", ID: "a"},
	} {
		if got := TitleOf(e); got != want {
			t.Errorf("%+v is called %q", e, got)
		}
	}
}

func TestAGlanceCountsTheDayOfTheUsersZone(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, zone) // 23:00 of the previous day in UTC
	s := Snapshot{At: now, Zone: zone, Approvals: []policy.Approval{{}}, Budget: BudgetView{State: budget.State{DailyUsed: 2, CriticalUsed: 1}}}
	s.Engine.Today.CostUSD = 1.09
	s.Budget.State.LastRefill = now
	s.Budget.Pings = []budget.Ping{{At: now.Add(-9 * time.Hour), Refused: "yesterday"}, {At: now, Refused: "no token"}, {At: now, ID: "a", Answered: now}}
	s.Ended = []fork.View{
		{State: fork.Failed, Ended: now.Add(-9 * time.Hour)}, // yesterday
		{State: fork.TimedOut, Ended: now.Add(-7 * time.Hour)},
		{State: fork.Done, Ended: now.Add(-time.Hour)},
		{State: fork.Stopped, Ended: now},
	}
	s.Schedule.Day = []schedule.Entry{
		{ID: "past", FireTime: now}, {ID: "held", Held: true, FireTime: now.Add(time.Minute)}, {ID: "next", FireTime: now.Add(time.Hour)},
	}
	g := s.Glance()
	checks{t}.holds(g.Next != nil && g.Next.ID == "next", "next", g.Next)
	g.Next = nil
	checks{t}.is("a glance", g, Glance{Runs: 3, Failed: 1, Pings: 3, Critical: 1, Answered: 1, Refused: 1, CostUSD: 1.09, Asks: 1})
}

// Q4: four routines at one minute left updates whose source was guessed from their times, or not known.
func TestTheSourceOfAnUpdateIsTheRunThatLeftIt(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	s := Snapshot{Forks: []fork.View{
		{ID: "1", Title: "Red", Reports: 1, Started: at.Add(-time.Minute)}, {ID: "2", Title: "Blue", Reports: 1, Started: at.Add(-time.Minute)},
	}}
	_, err := s.Find(command.Run, "missing")
	checks{t}.fails("a run that is not there", err)
	_, err = s.Find(command.Run, "e")
	checks{t}.fails("what two runs are called", err, "Red (1)", "Blue (2)")
	for _, c := range []struct {
		by          updates.Source
		reporter    string
		text, reads string
	}{
		{updates.Source{Run: "2", From: "Blue"}, "2", "rep", "Blue: rep"},
		{updates.Source{Run: "9", From: "Green"}, "", "rep", "Green: rep"}, // no longer listed
		{updates.Source{From: "Taxes"}, "", "from my fork", "Taxes: from my fork"},
		{updates.Source{}, "", "rep", "rep"},
		{updates.Source{Run: "1", From: "Red"}, "1", "red: rep", "red: rep"}, // is not said twice
	} {
		u := updates.Update{At: at, Message: c.text, Source: c.by}
		by := ""
		if run := s.Reporter(u); run != nil {
			by = run.ID
		}
		checks{t}.is(fmt.Sprintf("%+v", c.by), []string{by, s.Sourced(u)}, []string{c.reporter, c.reads})
	}
}

// A due time is shown with its own run, not with an earlier or later one, nor with another task's.
func TestADueTimeIsShownWithItsRun(t *testing.T) {
	nine := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	runs := []fork.View{
		{ID: "early", Queued: nine.Add(-time.Minute)},
		{ID: "first", Queued: nine.Add(time.Second), Started: nine.Add(time.Hour)},
		{ID: "again", Queued: nine.Add(10 * time.Minute)},
		{ID: "old", Started: nine.Add(2 * time.Hour)}, // earlier versions did not record when a run was queued
	}
	for _, c := range []struct {
		at   time.Duration
		fate duetimes.Fate
		next time.Duration // 0 for none
		want string
	}{
		{0, duetimes.Ran, time.Hour, "first"},
		{0, duetimes.Failed, time.Second / 2, ""},
		{time.Hour, duetimes.Interrupted, 0, "old"},
		{time.Hour, duetimes.Running, time.Hour + time.Minute, ""},
		{3 * time.Hour, duetimes.Ran, 0, ""},
		{0, duetimes.Missed, time.Hour, ""},
		{0, duetimes.Held, 0, ""},
	} {
		var next time.Time
		if c.next > 0 {
			next = nine.Add(c.next)
		}
		f, ok := dueRun(duetimes.Row{ID: "a", Due: nine.Add(c.at), Fate: c.fate}, runs, next)
		checks{t}.is(fmt.Sprintf("%s after %s", c.fate, c.at), []any{f.ID, ok}, []any{c.want, c.want != ""})
	}
}

func TestAListOfHostsCountsAsANetwork(t *testing.T) {
	testkit.Alone(t)
	checks{t}.is("without a sandbox", networked(nil, config.Runtime{}), true)
	box := sandboxtest.Box(t, sandbox.Options{Dir: t.TempDir()})
	for value, wants := range map[string]bool{"": false, "on": true, "api.example.org,localhost:80": true} {
		checks{t}.is(value, networked(box, config.Runtime{SandboxNetwork: value}), wants)
	}
}

func TestOnlyAnAppointmentThatTakesTheUserIsAMeeting(t *testing.T) {
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	hour := func(n int, i google.Item) google.Item {
		i.Start, i.End = at.Add(time.Duration(n)*time.Hour), at.Add(time.Duration(n+1)*time.Hour)
		return i
	}
	checks{t}.is("meetings", meetings([]google.Item{
		hour(0, google.Item{Title: "Dana"}), hour(1, google.Item{Title: "Focus", Free: true}), hour(2, google.Item{Title: "Holiday", AllDay: true}),
		hour(3, google.Item{Tasks: []google.Task{{Title: "Bread"}}}),
	}), []leeway.Busy{{From: at, To: at.Add(time.Hour), Why: busyMeeting}})
}

// A choice takes the conversation, a mute, quiet hours and the habit into account, each as long as it lasts.
func TestAChoiceKnowsWhatTheUserIsDoing(t *testing.T) {
	story(t, moves, func(w *world) {
		u := newUserFacts(w.Bot)
		why := func() string {
			var list []string
			for _, busy := range u.between(w.now(), w.now().Add(3*time.Hour)).Busy {
				list = append(list, busy.Why)
			}
			return strings.Join(list, " ")
		}
		w.is("at the beginning", why(), "")
		w.book.Add(transcript.User, "hello")
		w.sleep(4 * time.Minute)
		w.is("after four minutes", why(), "conversation")
		w.sleep(2 * time.Minute)
		w.is("after six minutes", why(), "")
		w.do(command.MuteUntil{Until: w.now().Add(time.Hour)})
		w.do(command.SetConfig{Key: "quiet_hours", Value: "03:00-04:00"})
		w.shows("muted, with quiet hours ahead", why(), busyMuted, busyQuiet)
		day := time.Date(2000, 1, 3, 8, 0, 0, 0, w.home.zone)
		f := leeway.Fire{Rule: leeway.Rule{Window: leeway.Window{From: 8 * 60, To: 12 * 60}}, Start: day, End: day.Add(4 * time.Hour), Now: day}
		c := leeway.Choose(f, leeway.Facts{Habit: u.between(w.now(), f.End).Habit}, nil)
		at := c.At.In(w.home.zone).Format("15:04")
		w.holds(at >= "09:15" && at <= "09:45" && strings.Contains(c.Why, "usually here"), "with answers at 9:30 it chooses", at, c.Why)
	})
}

// The habit is recomputed after a message or an answer, and after an hour.
func TestAHabitIsKeptUntilSomethingChanges(t *testing.T) {
	story(t, nil, func(w *world) {
		u := newUserFacts(w.Bot)
		first, _ := u.habit(w.now())
		again, _ := u.habit(w.now().Add(time.Minute))
		w.is("the same without a change", again == first, true)
		again, _ = u.habit(w.now().Add(2 * time.Hour))
		w.is("the same two hours later", again == first, false)
		first, _ = u.habit(w.now())
		w.book.Add(transcript.User, "hello")
		again, last := u.habit(w.now())
		w.is("the same after a message", again == first, false)
		w.holds(last.Equal(w.now()), "the last message is of", last)
	})
}

func TestAWindowIsNearBeforeItOpensAndWhileItIsOpen(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		e    schedule.Entry
		want bool
	}{
		{schedule.Entry{FireTime: now.Add(time.Minute)}, false}, // no window
		{schedule.Entry{FireTime: now.Add(9 * time.Minute), Until: now.Add(time.Hour)}, true},
		{schedule.Entry{FireTime: now.Add(11 * time.Minute), Until: now.Add(time.Hour)}, false},
		{schedule.Entry{FireTime: now.Add(time.Minute), Reason: "you are usually here then"}, true},
		{schedule.Entry{FireTime: now.Add(-time.Minute), Until: now.Add(time.Hour)}, true},
	} {
		checks{t}.is(fmt.Sprintf("%+v", c.e), windowNear([]schedule.Entry{c.e}, now), c.want)
	}
}

func TestAFireIsARangeUntilItsMinuteIsChosen(t *testing.T) {
	day := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ from, until, clock, clock12, short, short12 string }{
		{"13h5m", "", "13:05", "1:05pm", "13:05", "1:05pm"},
		{"13h5m", "15h5m", "13:05–15:05", "1:05pm–3:05pm", "13:05–15:05", "1:05–3:05pm"},
		{"9h", "11h", "", "", "09–11", "9–11am"},
		{"9h30m", "11h", "", "", "09:30–11", "9:30–11am"},
		{"11h", "13h", "", "", "11–13", "11am–1pm"},
		{"22h", "24h10m", "", "", "22–00:10", "10pm–12:10am"},
		{"10h1m", "", "", "", "10:01", "10:01am"},
	} {
		s, e := Snapshot{At: day, Zone: time.UTC}, schedule.Entry{}
		for text, at := range map[string]*time.Time{c.from: &e.FireTime, c.until: &e.Until} {
			if d, err := time.ParseDuration(text); err == nil {
				*at = day.Add(d)
			}
		}
		got := []string{s.FireClock(e), "", s.FireClockShort(e), ""}
		s.TwelveHours = true
		got[1], got[3] = s.FireClock(e), s.FireClockShort(e)
		if c.clock == "" {
			got = got[2:]
			checks{t}.is(c.from+" to "+c.until, got, []string{c.short, c.short12})
			continue
		}
		checks{t}.is(c.from+" to "+c.until, got, []string{c.clock, c.clock12, c.short, c.short12})
	}
}
