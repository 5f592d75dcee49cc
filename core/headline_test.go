package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// All sentences of the headline and the outlook, as shown to people.
func TestTheSentencesAboutNow(t *testing.T) {
	at := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	in := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	tea := schedule.Entry{ID: "t", Description: "Tea break", FireTime: in(25)}
	day := func() Snapshot {
		st := budget.State{Capacity: 5, Available: 2, RefillRateMinutes: 90, DailyUsed: 3, DailyUsedReset: "2026-03-10", CriticalResetDate: "2026-03-10", LastRefill: at}
		s := Snapshot{At: at, Zone: time.UTC, Budget: BudgetView{State: st, NextAt: in(90), FiresUntil: in(1440)}}
		s.Schedule.Entries = []schedule.Entry{tea}
		return s
	}
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
		if len(changes) == 0 || s.Headline().Kind == Quiet && o.Kind != PingsEnough {
			got.WriteString("  " + o.Word + " | " + o.Text + o.Tail + "\n")
		}
	}
	if got.String() != sentences {
		t.Errorf("the sentences are\n%s", got.String())
	}
}

const sentences = `All quiet. 3 pings today. Next: Tea break in 25 min; 2 pings left, +1 at 15:32.
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
