package week

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a zone with a summer time, wherever the tests run

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
		{Title: "Just as dear", Days: []float64{0, 0, 0, 0, 0, 0, 0, 1.5}},
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

func TestAWeekIsEmptyIfNothingOfItIsKnown(t *testing.T) {
	wednesday, costs := at(25, 8), func(of command.CostDay) command.CostReport { return command.CostReport{Days: []command.CostDay{of}} }
	promised := func(accepted, kept int) func(time.Time, time.Time) proposals.Counts {
		return func(time.Time, time.Time) proposals.Counts { return proposals.Counts{Accepted: accepted, Kept: kept} }
	}
	ping := func(p budget.Ping) []budget.Ping { p.At = wednesday; return []budget.Ping{p} }
	const unsent, undue, free = "pings: none was sent; ", "due times: nothing was due; ", "cost: $0.00, 0 runs"
	for name, c := range map[string]struct {
		now  time.Time
		ago  int
		of   Sources
		want string
	}{
		"nothing yet":       {wednesday, 0, Sources{}, "week: nothing has happened yet: no ping, nothing due, no cost"},
		"nothing known":     {wednesday, 1, Sources{}, "week: nothing is known: no ping, nothing due, no cost"},
		"an answer":         {wednesday, 0, Sources{Pings: ping(budget.Ping{Answered: at(25, 9)})}, "pings: 1 sent, 1 answered (after 1 h); " + undue + free},
		"a refusal":         {wednesday, 0, Sources{Pings: ping(budget.Ping{Refused: "no token left"})}, "pings: 0 sent, 1 refused; " + undue + free},
		"a quiet one":       {wednesday, 0, Sources{Pings: ping(budget.Ping{Quiet: true})}, "pings: 0 sent, 1 more without a sound; " + undue + free},
		"a due time":        {wednesday, 0, Sources{Due: []account.Row{{Due: wednesday, Fate: account.Ran}}}, unsent + "due times: the only due time ran; " + free},
		"a run":             {wednesday, 0, Sources{Costs: costs(command.CostDay{Date: at(23, 0), Runs: 1})}, unsent + "due times: none is recorded; cost: $0.00, 1 run"},
		"a promise":         {wednesday, 0, Sources{Promises: promised(1, 0)}, unsent + "promises: 1 made; " + undue + free},
		"one that is kept":  {wednesday, 0, Sources{Promises: promised(0, 1)}, unsent + "promises: 1 kept; " + undue + free},
		"a cost of one day": {at(23, 8), 0, Sources{Costs: costs(command.CostDay{Date: at(23, 0), Dollars: 21})}, unsent + undue + "cost: $21.00, 0 runs"},
		"a cost of 3 days":  {wednesday, 0, Sources{Costs: costs(command.CostDay{Date: at(23, 0), Dollars: 21})}, unsent + undue + "cost: $21.00, 0 runs, $7.00 a day"},
	} {
		if c.of.Promises == nil {
			c.of.Promises = none
		}
		r := Of(c.now, c.ago, c.of)
		if got := strings.Join(r.Lines()[1:], "; "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
	if r := Of(wednesday, 0, Sources{Promises: none, Open: []proposals.Proposal{{Text: "Only one?"}}}); r.Suggestion != "Only one?" {
		t.Errorf("the only open question is not shown: %+v", r)
	}
	if CostDays(0) != 7 || CostDays(2) != 21 {
		t.Errorf("%d and %d days of costs", CostDays(0), CostDays(2))
	}
}

func TestAChangeOfTheClocksIsNamed(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
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

func TestTheReportHasAllOfItsDaysInJSON(t *testing.T) {
	data, err := json.Marshal(Of(at(25, 14), 0, busy()))
	testkit.Must(t, err)
	var days []string
	for i, of := range []string{
		`"pings":2,"answered":1,"due_times":1,"due_times_ran":1,"runs":10,"usd":1`, `"pings":0,"answered":0,"due_times":1,"due_times_ran":0,"runs":10,"usd":1`,
		`"pings":2,"answered":1,"due_times":1,"due_times_ran":1,"runs":10,"usd":1`, nothing, nothing, nothing, nothing,
	} {
		days = append(days, fmt.Sprintf(`{"date":"2026-11-%dT00:00:00Z","hours":24,%s}`, 23+i, of))
	}
	want := `{"weeks_ago":0,"from":"2026-11-23T00:00:00Z","until":"2026-11-25T14:00:00Z","days":[` + strings.Join(days, ",") + `],` +
		`"pings":{"sent":4,"answered":2,"not_useful":1,"refused":1,"quiet":1,"median_answer_seconds":240},"promises":{"made":2,"kept":3},` +
		`"due_times":3,"due_times_ran":2,"due_times_summary":"2 of 3 due times ran; 1 was missed while the machine slept","runs":30,"usd":3,` +
		`"dearest":{"title":"Inbox sweep.","usd":1.5},"suggestion":"Move Inbox sweep to 9:30?\nYou always answer it then."}`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
}

const nothing = `"pings":0,"answered":0,"due_times":0,"due_times_ran":0,"runs":0,"usd":0`
