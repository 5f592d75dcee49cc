package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// rowsOf are the rows of the ledger of money of some runs.
func rowsOf(views []fork.View) (rows []money.Row) {
	for i, v := range views {
		if !v.Live() {
			views[i].ID = cmp.Or(v.ID, fmt.Sprintf("%08x", i))
			a := money.Account{For: money.OfRun, Task: money.Task{Kind: v.Kind, ID: v.TaskID}, Run: views[i].ID}
			rows = append(rows, money.Row{At: v.Ended, Account: a, Used: v.Usage, Requests: 1})
		}
	}
	return rows
}

// spent is a row of the conversation.
func spent(date string, dollars float64) money.Row {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return money.Row{At: at.Add(12 * time.Hour), Account: money.Account{For: money.Conversation}, Used: agent.Usage{CostUSD: dollars}, Requests: 1}
}

// Nothing is counted twice or lost: the tasks add up to the total, and each is at the
// position of its cost.
func TestTheCostsOfTasksAddUpToTheWhole(t *testing.T) {
	since := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	testkit.Check(t, func(rt *rapid.T) {
		most := rapid.SampledFrom([]float64{0, 2}).Draw(rt, "most a run costs") // or nothing has a price
		views := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) fork.View {
			v := fork.View{
				Kind: routines.KindRoutine, TaskID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "task"),
				State: rapid.SampledFrom([]fork.State{fork.Done, fork.Failed, fork.Running}).Draw(rt, "state"),
				Ended: since.Add(time.Duration(rapid.IntRange(-10, 30).Draw(rt, "ended")) * time.Hour),
				Usage: agent.Usage{InputTokens: rapid.IntRange(0, 1e6).Draw(rt, "tokens"), CostUSD: rapid.Float64Range(0, most).Draw(rt, "cost")},
			}
			return v
		}), 0, 30).Draw(rt, "runs")
		var wantRuns, wantTokens int
		for _, v := range views {
			if v.State != fork.Running && !v.Ended.Before(since) {
				wantRuns++
				wantTokens += v.Usage.InputTokens
			}
		}
		r := CostReport{Days: []CostDay{{Date: since}}}
		r.sum(views, slices.DeleteFunc(rowsOf(views), func(row money.Row) bool { return row.At.Before(since) }))
		list, total := r.Tasks, r.Total
		var runs, tokens int
		var spent, shares float64
		for _, c := range list {
			runs, tokens, spent, shares = runs+c.Runs, tokens+c.Tokens, spent+c.Dollars, shares+c.Share
		}
		if runs != wantRuns || total.Runs != wantRuns || tokens != wantTokens || total.Tokens != wantTokens || math.Abs(spent-total.Dollars) > 1e-9 {
			rt.Fatalf("tasks %+v, total %+v, want %d runs and %d tokens", list, total, wantRuns, wantTokens)
		}
		if spent+float64(tokens) > 0 && math.Abs(shares-1) > 1e-9 {
			rt.Fatalf("shares add up to %v", shares)
		}
		if !slices.IsSortedFunc(list, func(a, b TaskCost) int { return cmp.Compare(b.Dollars, a.Dollars) }) {
			rt.Fatalf("not by cost: %+v", list)
		}
	})
}

func TestTheTableOfCostsNamesEachTask(t *testing.T) {
	dir, now := storetest.Prepared(t), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i, c := range []struct {
		task, title string
		age         time.Duration
		tokens      int
		cost        float64
	}{
		{"aaaa0001", "Forgotten", 9 * 24 * time.Hour, 1, 50},
		{"aaaa0002", "Email 📬 sweep", 6 * 24 * time.Hour, 1000, 0.5},
		{"aaaa0002", "Email 📬 sweep", time.Hour, 45_000, 1},
		{"aaaa0003", "Weekly\x1b[2J review", 2 * time.Hour, 1_200_000, 4.5},
		{"aaaa0004", "Tide", time.Hour, 0, 0},
	} {
		fmt.Fprintf(&lines, `{"id":"0000000%d","task":%q,"kind":"routine","title":%q,"state":"done","ended":%q,"tokens":%d,"cost_usd":%v,"no_model":%v}`+"\n",
			i, c.task, strings.ReplaceAll(c.title, "\x1b", ""), now.Add(-c.age).Format(time.RFC3339), c.tokens, c.cost, c.title == "Tide")
	}
	storetest.Put(t, dir, "state/fork_runs.jsonl", lines.String()+"garbage\n{}\n")
	runs, err := fork.Ledger(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(runs)
	r := Spending{Runs: runs, Rows: rows}.Report(7, now)
	const want = `last 7 days: 4 runs, 1.2M tokens, $6.00
Weekly[2J review (aaaa0003): 1 run, 1.2M tokens, $4.50, $4.50 a run, 75 % of the runs
Email 📬 sweep (aaaa0002): 2 runs, 46k tokens, $1.50, $0.75 a run, 25 % of the runs
Tide (aaaa0004): 1 run, 0 tokens, $0.00, $0.00 a run, 0 % of the runs, no model
`
	if r.Text() != want || r.Head() != strings.SplitN(want, "\n", 2)[0] {
		t.Errorf("text:\n%s\nwant:\n%s", r.Text(), want)
	}
	if r = (Spending{Runs: runs, Rows: rows}).Report(30, now); r.Head() != "last 30 days: 5 runs, 1.2M tokens, $56.00; the first known run was on Fri 2026-11-13 12:00" || !strings.Contains(r.Text(), "Forgotten") {
		t.Errorf("over a month: %s", r.Text())
	}
}

// The days' bars, the tasks' rows and the expected sum agree with their input, even
// across a clock change.
func TestTheReportOfCostsPutsEachDollarOnItsDay(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 26, 15, 0, 0, 0, zone) // the clock went back the day before
	run := func(id string, cost float64, ended time.Time) fork.View {
		return fork.View{
			Kind: routines.KindRoutine, TaskID: id, ID: "0000000a", Title: id, State: fork.Done, Started: ended.Add(-time.Minute), Ended: ended,
			Usage: agent.Usage{InputTokens: 10, CostUSD: cost},
		}
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 10, day, hour, minute, 0, 0, zone) }
	s := Spending{
		Runs: []fork.View{
			run("aaaa0001", 0.4, at(26, 9, 0)), run("aaaa0001", 0.4, at(26, 0, 0)), run("aaaa0001", 0.2, at(25, 23, 59)), run("aaaa0001", 0.2, at(25, 0, 0)),
			run("aaaa0002", 1, at(24, 12, 0)), run("aaaa0001", 9, at(23, 23, 59)),
		},
		State: money.State{
			Today: money.Span{Spent: money.Total(spent("2026-10-26", 1.4)), Cap: math.Inf(1)}, Month: money.Span{Cap: math.Inf(1)}, Reserved: 0.3,
		},
		Ahead: []schedule.Entry{{Cost: 0.25}, {Cost: 5, Held: true}, {Cost: 0.05}},
	}
	for i := range s.Runs {
		s.Runs[i].ID = fmt.Sprintf("%08x", i)
	}
	s.Rows = append(rowsOf(s.Runs), spent("2026-10-26", 0.6), spent("2026-10-01", 50))
	r := s.Report(3, now)
	for i, want := range []CostDay{
		{Date: at(24, 0, 0), Dollars: 1, Runs: 1}, {Date: at(25, 0, 0), Dollars: 0.4, Runs: 2}, {Date: at(26, 0, 0), Dollars: 1.4, Runs: 2},
	} {
		if got := r.Days[i]; !got.Date.Equal(want.Date) || math.Abs(got.Dollars-want.Dollars) > 1e-9 || got.Runs != want.Runs {
			t.Errorf("day %d: %+v, want %+v", i, got, want)
		}
	}
	if len(r.Days) != 3 || math.Abs(r.Talk-0.6) > 1e-9 || math.Abs(r.Expected-0.3) > 1e-9 || math.Abs(r.Projected-2) > 1e-9 {
		t.Errorf("talk %v, expected %v, projected %v, %d days", r.Talk, r.Expected, r.Projected, len(r.Days))
	}
	one := r.Tasks[slices.IndexFunc(r.Tasks, func(c TaskCost) bool { return c.ID == "aaaa0001" })]
	if math.Abs(one.Mean-0.3) > 1e-9 || math.Abs(one.Trend-1) > 1e-9 {
		t.Errorf("%+v", one)
	}
	if want := []float64{0, 0.4, 0.8}; math.Abs(one.Days[1]-want[1])+math.Abs(one.Days[2]-want[2])+one.Days[0] > 1e-9 {
		t.Errorf("days of the task: %v, want %v", one.Days, want)
	}
}

// A model without a price is named wherever a sum lacks it.
func TestEachPartOfTheReportSaysWhatItLacks(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := money.Task{Kind: routines.KindRoutine, ID: "aaaa0001"}
	row := func(what money.Purpose, dollars float64, unknown int) money.Row {
		return money.Row{At: now, Account: money.Account{For: what}, Model: "far/zeta", Used: agent.Usage{InputTokens: 9, CostUSD: dollars}, Requests: 1, Unknown: unknown, Unpriced: unknown > 0}
	}
	rows := []money.Row{row(money.Conversation, 0.5, 0), row(money.Transcribing, 0, 1), row(money.OfRun, 0, 2)}
	rows[2].Task, rows[2].Run = task, "00000001"
	s := Spending{
		Rows: rows, State: money.State{Today: money.Span{Spent: money.Total(rows...), Cap: 1}, Month: money.Span{Spent: money.Total(rows...), Cap: math.Inf(1)}},
		Runs: []fork.View{{Kind: task.Kind, TaskID: task.ID, ID: "00000001", Title: "Tea", State: fork.Done, Started: now, Ended: now}},
	}
	r := s.Report(3, now)
	if d := r.Days[2]; d.Unknown != 3 || d.Dollars != 0.5 || d.Tokens != 27 || r.Tasks[0].Unknown != 2 || r.Total.Unknown != 2 || r.Talk != 0.5 || r.Projected != 0.5 {
		t.Errorf("%+v, %+v", d, r.Tasks)
	}
	if got := r.Text(); strings.Count(got, ", without 2 requests of unknown cost") != 1 {
		t.Errorf("the table: %s", got)
	}
	want := []string{
		"the conversation: $0.50, 1 request", "runs: $0.00, 1 request, the cost of 2 of them is unknown",
		"transcription of voice messages: $0.00, 1 request, the cost of 1 of them is unknown",
		"no price for far/zeta: a line in the price list gives one, and until then it is in no sum and no cap",
	}
	if got := r.PartLines(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := MoneyLines(s.State)[0]; got != "today:      $0.50 and 3 requests of unknown cost (no price for far/zeta) of $1.00" {
		t.Errorf("%q", got)
	}
}

func TestWithoutRunsTheCostsSaySo(t *testing.T) {
	if r := (Spending{}).Report(1, time.Now()); r.Head() != "no run has ended in the last 1 day" || r.Text() != r.Head() {
		t.Errorf("%q, %q", r.Head(), r.Text())
	}
}

// sweeps returns runs of a routine at 10 cents each, the first quiet of which report
// nothing.
func sweeps(id string, n, quiet int, ended time.Time) (runs []fork.View) {
	for i := range n {
		v := fork.View{
			Kind: routines.KindRoutine, TaskID: id, ID: fmt.Sprintf("%08x", i), Title: "Sweep " + id, State: fork.Done,
			Started: ended, Ended: ended, Reports: 1, Usage: agent.Usage{CostUSD: 0.1},
		}
		if i < quiet {
			v.Reports = 0
		}
		runs = append(runs, v)
	}
	return runs
}

func TestTheCostOfARoutineIsExplainedFromItsRuns(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	const hourly, daily, onlyShare = "0 * * * *", "0 9 * * *", "Sweep r1: 50 % of the costs."
	const cost, saved = "Sweep r1: 50 % of the costs; ", " would have saved up to "
	const half, twoHours, check = "every 2 hours instead of every hour", "\n    cron: \"0 */2 * * *\"   # r1", "\n    check: COMMAND   # r1"
	for name, c := range map[string]struct {
		cron, file  string
		runs, quiet int
		change      func(*fork.View) // of each quiet run
		want        string
		saves       float64
	}{
		"half as often": {cron: hourly, runs: 20, quiet: 2, want: cost + half + saved + "$1.00." + twoHours, saves: 1},
		"a check saves more": {
			cron: hourly, runs: 20, quiet: 18, want: cost + "a check" + saved + "$1.80, because 18 of 20 runs had no ping and no report." + check, saves: 1.8,
		},
		"a check, daily": {cron: daily, runs: 10, quiet: 6, want: cost + "a check" + saved + "$0.60, because 6 of 10 runs had no ping and no report." + check, saves: 0.6},
		"quiet runs are cheap": {
			cron: hourly, runs: 20, quiet: 12, change: func(v *fork.View) { v.Usage.CostUSD = 0.05 },
			want: cost + half + saved + "$0.70." + twoHours, saves: 0.7,
		},
		"twice a day":         {cron: "0 */12 * * *", runs: 20, quiet: 2, want: onlyShare},
		"refused pings":       {cron: daily, runs: 10, quiet: 10, change: func(v *fork.View) { v.Refused = 1 }, want: onlyShare},
		"pings":               {cron: daily, runs: 10, quiet: 10, change: func(v *fork.View) { v.Pings = 1 }, want: onlyShare},
		"failures":            {cron: daily, runs: 10, quiet: 10, change: func(v *fork.View) { v.State = fork.Failed }, want: onlyShare},
		"reminders":           {cron: hourly, runs: 10, quiet: 10, change: func(v *fork.View) { v.Kind = routines.KindReminder }},
		"mostly useful":       {cron: daily, runs: 10, quiet: 5, want: onlyShare},
		"it has a check":      {cron: daily, file: "check: ./x\n", runs: 10, quiet: 10, want: onlyShare},
		"it may not report":   {cron: daily, file: "update-main-session: blocked\n", runs: 10, quiet: 10, want: onlyShare},
		"in the conversation": {cron: daily, file: "background: false\n", runs: 10, quiet: 10, want: onlyShare},
		"too few runs":        {cron: hourly, runs: 4, quiet: 4},
	} {
		if !strings.Contains(c.file, "background") {
			c.file += "background: true\n"
		}
		routine, problems := routines.ParseRoutine("routines/a.md", []byte("---\nid: r1\ncron: \""+c.cron+"\"\n"+c.file+"---\nLook.\n"))
		if routines.HasErrors(problems) {
			t.Fatal(problems)
		}
		runs := sweeps("r1", c.runs, c.quiet, now.Add(-time.Hour))
		for i := range c.quiet {
			if c.change != nil {
				c.change(&runs[i])
			}
		}
		talk := 0.0 // as much as the runs
		for _, v := range runs {
			talk += v.Usage.CostUSD
		}
		r := Spending{
			Runs: runs, Routines: []*routines.Routine{&routine},
			Rows: append(rowsOf(runs), spent("2026-11-23", talk)),
		}.Report(30, now)
		if c.want == "" {
			c.want = "no routine has cost 5 % of what was spent in 5 runs or more: there is nothing to explain yet"
		} else if len(r.Advice) != 1 || math.Abs(r.Advice[0].Saves-c.saves) > 1e-9 {
			t.Errorf("%s: %+v", name, r.Advice)
		}
		if got := strings.Join(r.Explained(), "\n"); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func TestOnlyRoutinesThatCostMuchAreExplainedAndTheDearestChangeIsFirst(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var list []*routines.Routine
	for id, cron := range map[string]string{"small": "0 * * * *", "middle": "0 * * * *", "few": "0 */6 * * *", "large": "0 */8 * * *"} { // the last two fire 4 and 3 times a day
		r, _ := routines.ParseRoutine("routines/"+id+".md", []byte("---\nid: "+id+"\ncron: \""+cron+"\"\nbackground: true\n---\nLook.\n"))
		list = append(list, &r)
	}
	runs := slices.Concat(sweeps("small", 5, 0, now), sweeps("middle", 20, 0, now), sweeps("few", 15, 0, now), sweeps("large", 80, 0, now), sweeps("deleted", 50, 50, now))
	rows := rowsOf(runs)
	r := Spending{Runs: runs, Rows: rows, Routines: list}.Report(1, now)
	got := ""
	for _, a := range r.Advice {
		got += a.ID + " " + a.Change + ", "
	}
	if got != `middle cron: "0 */2 * * *", few cron: "0 */12 * * *", large , ` {
		t.Error(got)
	}
}
