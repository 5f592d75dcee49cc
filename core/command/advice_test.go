package command

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

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
	for name, c := range map[string]struct {
		cron, file  string
		runs, quiet int
		change      func(*fork.View) // of each quiet run
		want        string
		saves       float64
	}{
		"half as often":      {cron: hourly, runs: 20, quiet: 2, want: "Sweep r1: 50 % of the costs; every 2 hours instead of every hour would have saved up to $1.00.", saves: 1},
		"a check saves more": {cron: hourly, runs: 20, quiet: 18, want: "a check would have saved up to $1.80, because 18 of 20 runs had no ping and no report.", saves: 1.8},
		"a check, daily":     {cron: daily, runs: 10, quiet: 6, want: "a check would have saved up to $0.60, because 6 of 10 runs", saves: 0.6},
		"quiet runs are cheap": {
			cron: hourly, runs: 20, quiet: 12, change: func(v *fork.View) { v.Usage.CostUSD = 0.05 },
			want: "every 2 hours instead of every hour", saves: 0.7,
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
			if len(r.Advice) != 0 || len(r.Explained()) != 1 {
				t.Errorf("%s: %+v", name, r.Advice)
			}
			continue
		}
		if len(r.Advice) != 1 || !strings.Contains(r.Advice[0].Text(), c.want) || math.Abs(r.Advice[0].Saves-c.saves) > 1e-9 {
			t.Errorf("%s: %+v\n%s", name, r.Advice, strings.Join(r.Explained(), "\n"))
		}
	}
}

func TestOnlyRoutinesThatCostMuchAreExplainedAndTheDearestChangeIsFirst(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var list []*routines.Routine
	for _, id := range []string{"small", "middle", "large"} {
		r, _ := routines.ParseRoutine("routines/"+id+".md", []byte("---\nid: "+id+"\ncron: \"0 * * * *\"\nbackground: true\n---\nLook.\n"))
		list = append(list, &r)
	}
	runs := append(sweeps("small", 5, 0, now), append(sweeps("middle", 20, 0, now), append(sweeps("large", 80, 0, now), sweeps("deleted", 50, 50, now)...)...)...)
	rows := rowsOf(runs)
	r := Spending{Runs: runs, Rows: rows, Routines: list}.Report(1, now)
	if a := r.Advice; len(a) != 2 || a[0].ID != "large" || a[1].ID != "middle" || a[0].Change != `cron: "0 */2 * * *"` {
		t.Errorf("%+v", a)
	}
}
