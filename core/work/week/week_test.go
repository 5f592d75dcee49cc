package week

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
	"ollimbot/routines/account"
)

func none(time.Time, time.Time) proposals.Counts { return proposals.Counts{} }

func at(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }

// busy returns the events in and around the week from Monday 23 November 2026.
func busy() Sources {
	s := Sources{
		Pings: []budget.Ping{
			{At: at(22, 23).Add(59*time.Minute + 59*time.Second), Task: "a"},
			{At: at(23, 0), Task: "a", Answered: at(23, 0).Add(2 * time.Minute)},
			{At: at(23, 9), Task: "a", Answered: at(23, 9).Add(time.Minute), How: budget.Useless},
			{At: at(25, 9), Task: "b", Answered: at(25, 9).Add(6 * time.Minute)},
			{At: at(25, 10), Task: "b"},
			{At: at(25, 11), Task: "b", Refused: "no token was left"},
			{At: at(25, 12), Task: "b", Quiet: true},
			{At: at(30, 0), Task: "a"},
		},
		Open: []proposals.Proposal{{Text: "An older question?"}, {Text: "Move Inbox sweep to 9:30?\nYou always answer it then."}},
		Promises: func(from, until time.Time) proposals.Counts {
			if from.Equal(at(23, 0)) && until.Equal(at(30, 0)) {
				return proposals.Counts{Proposed: 9, Accepted: 2, Kept: 3}
			}
			return proposals.Counts{}
		},
	}
	for _, day := range []int{22, 23, 24, 25} {
		row := account.Row{Kind: "routine", ID: "a", Due: at(day, 9), Fate: account.Ran}
		if day == 24 {
			row.Fate, row.Why = account.Missed, account.Asleep
		}
		s.Due = append(s.Due, row)
	}
	for i := range 8 {
		s.Costs.Days = append(s.Costs.Days, command.CostDay{Date: at(18+i, 0), Dollars: 1, Runs: 10})
	}
	s.Costs.Tasks = []command.TaskCost{
		{Title: "Long ago", Days: []float64{9, 9, 9, 9, 9, 0, 0, 0}},
		{Title: "Inbox sweep.", Days: []float64{0, 0, 0, 0, 0, .5, .5, .5}},
		{Title: "Water", Days: []float64{0, 0, 0, 0, 0, 0, 0, .2}},
	}
	return s
}

func lines(now time.Time, ago int, of Sources) string {
	r := Of(now, ago, of)
	return strings.Join(r.Lines(), "\n")
}

func TestAWeekSaysWhatItHasBrought(t *testing.T) {
	if d := cmp.Diff(strings.Join([]string{
		"This week: Monday 23 to Wednesday 25 November",
		"pings: 4 sent, 2 answered (half of them within 4 min), 1 not useful, 1 refused, 1 more without a sound",
		"promises: 2 made, 3 kept",
		"due times: 2 of 3 due times ran; 1 was missed while the machine slept",
		"cost: $3.00, 30 runs, $1.00 a day; the dearest is Inbox sweep, $1.50",
		"suggestion: Move Inbox sweep to 9:30? You always answer it then.",
	}, "\n"), lines(at(25, 14), 0, busy())); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(strings.Join([]string{
		"Last week: Monday 16 to Sunday 22 November 2026",
		"pings: 1 sent, none answered",
		"due times: the only due time ran",
		"cost: $5.00, 50 runs, $0.71 a day; the dearest is Long ago, $45.00",
	}, "\n"), lines(at(25, 14), 1, busy())); d != "" {
		t.Error(d)
	}
}

func TestTheDaysAreThoseOfTheUser(t *testing.T) {
	r := Of(at(25, 14), 0, busy())
	var got []string
	for _, d := range r.Days {
		got = append(got, fmt.Sprintf("%s %d/%d %d/%d %d $%.0f", d.Date.Format("Mon"), d.Answered, d.Sent, d.Ran, d.Due, d.Runs, d.Dollars))
	}
	if d := cmp.Diff([]string{
		"Mon 1/2 1/1 10 $1", "Tue 0/0 0/1 10 $1", "Wed 1/2 1/1 10 $1", "Thu 0/0 0/0 0 $0", "Fri 0/0 0/0 0 $0", "Sat 0/0 0/0 0 $0", "Sun 0/0 0/0 0 $0",
	}, got); d != "" {
		t.Error(d)
	}
	if r.Begun() != 3 {
		t.Errorf("%d days have begun", r.Begun())
	}
	tokyo := time.FixedZone("Tokyo", 9*3600) // there, Monday starts at 15:00 UTC on Sunday
	if r := Of(at(25, 14).In(tokyo), 0, busy()); r.Days[0].Sent != 3 {
		t.Errorf("in Tokyo: %+v", r.Days[0])
	}
}

func TestTheTitleIsThatOfTheWeek(t *testing.T) {
	for _, c := range []struct {
		now  time.Time
		ago  int
		want string
	}{
		{at(23, 0), 0, "This week: Monday 23 November, its first day"},
		{at(23, 23), 0, "This week: Monday 23 November, its first day"},
		{at(24, 0).Add(time.Second), 0, "This week: Monday 23 to Tuesday 24 November"},
		{at(29, 23), 0, "This week: Monday 23 to Sunday 29 November"},
		{time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC), 0, "This week: Monday 30 November to Wednesday 2 December"},
		{time.Date(2027, 1, 6, 9, 0, 0, 0, time.UTC), 1, "Last week: Monday 28 December 2026 to Sunday 3 January 2027"},
		{at(25, 9), 3, "3 weeks ago: Monday 2 to Sunday 8 November 2026"},
	} {
		if r := Of(c.now, c.ago, Sources{Promises: none}); r.Title() != c.want {
			t.Errorf("%s, %d ago: %q, want %q", c.now, c.ago, r.Title(), c.want)
		}
	}
}

func TestAnEmptyWeekSaysSo(t *testing.T) {
	now := at(23, 8)
	if got, want := lines(now, 0, Sources{Promises: none}), "This week: Monday 23 November, its first day\nweek: nothing has happened yet: no ping, nothing due, no cost"; got != want {
		t.Errorf("%q", got)
	}
	if got := lines(now, 1, Sources{Promises: none}); !strings.HasSuffix(got, "\nweek: nothing is known: no ping, nothing due, no cost") {
		t.Errorf("%q", got)
	}
	once := Sources{Promises: none, Pings: []budget.Ping{{At: now, Answered: now.Add(time.Minute)}}}
	if got := lines(now, 0, once); !strings.HasSuffix(got, "\npings: 1 sent, 1 answered (after 1 min)\ndue times: nothing was due\ncost: $0.00, 0 runs") {
		t.Errorf("%q", got)
	}
}

func TestAChangeOfTheClocksIsNamed(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("needs the time zones of the machine")
	}
	for date, want := range map[time.Time]string{
		time.Date(2026, 10, 20, 9, 0, 0, 0, berlin): "clock: Sunday has 25 hours, because the clocks change",
		time.Date(2026, 3, 26, 9, 0, 0, 0, berlin):  "clock: Sunday has 23 hours, because the clocks change",
	} {
		r := Of(date, 0, Sources{Promises: none})
		if got := r.Lines(); !slices.Contains(got, want) {
			t.Errorf("%q", got)
		}
		if r.From.Hour() != 0 || r.From.Weekday() != time.Monday || r.Days[6].Date.Hour() != 0 {
			t.Errorf("it goes from %v to %v", r.From, r.Days[6].Date)
		}
	}
}

func TestTheSumsAreThoseOfTheDays(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		of := Sources{Promises: none}
		for range rapid.IntRange(0, 30).Draw(t, "pings") {
			p := budget.Ping{At: at(9, 0).Add(time.Duration(rapid.IntRange(0, 28*24*60).Draw(t, "at")) * time.Minute)}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				p.Refused = "no"
			case 1:
				p.Answered = p.At.Add(time.Minute)
			}
			of.Pings = append(of.Pings, p)
		}
		now := at(9, 0).Add(time.Duration(rapid.IntRange(0, 28*24).Draw(t, "now")) * time.Hour)
		all := 0
		for ago := range 5 {
			r := Of(now, ago, of)
			sent, answered := 0, 0
			for _, d := range r.Days {
				sent, answered = sent+d.Sent, answered+d.Answered
			}
			if sent != r.Pings.Sent || answered != r.Pings.Answered {
				t.Fatalf("%+v", r)
			}
			all += r.Pings.Sent + r.Pings.Refused
		}
		known := 0
		for _, p := range of.Pings {
			if p.At.Before(Begins(now, -1)) && !p.At.Before(Begins(now, 4)) {
				known++
			}
		}
		if all != known {
			t.Fatalf("%d pings in the weeks, %d in all", all, known)
		}
	})
}

func TestTheReportIsTheSameAfterJSON(t *testing.T) {
	r := Of(at(25, 14), 0, busy())
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Lines(), back.Lines()); d != "" {
		t.Error(d)
	}
}
