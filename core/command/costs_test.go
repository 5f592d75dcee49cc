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
	"ollimbot/core/fork"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// Nothing is counted twice or lost: the tasks add up to the whole, and each
// stands where its cost puts it.
func TestTheCostsOfTasksAddUpToTheWhole(t *testing.T) {
	since := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		views := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) fork.View {
			v := fork.View{
				Kind: routines.KindRoutine, TaskID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "task"),
				State: rapid.SampledFrom([]fork.State{fork.Done, fork.Failed, fork.Running}).Draw(rt, "state"),
				Ended: since.Add(time.Duration(rapid.IntRange(-10, 30).Draw(rt, "ended")) * time.Hour),
				Usage: agent.Usage{InputTokens: rapid.IntRange(0, 1e6).Draw(rt, "tokens"), CostUSD: rapid.Float64Range(0, 2).Draw(rt, "cost")},
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
		list, total := sumCosts(views, since)
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
	dir, now := dataDir(t), time.Now()
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
	} {
		fmt.Fprintf(&lines, `{"id":"0000000%d","task":%q,"kind":"routine","title":%q,"state":"done","ended":%q,"tokens":%d,"cost_usd":%v}`+"\n",
			i, c.task, strings.ReplaceAll(c.title, "\x1b", ""), now.Add(-c.age).Format(time.RFC3339), c.tokens, c.cost)
	}
	if err := dir.Write("state/fork_runs.jsonl", []byte(lines.String()+"garbage\n{}\n")); err != nil {
		t.Fatal(err)
	}
	out, err := Costs{}.Compare(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	const want = `last 7 days: 3 runs, 1.2M tokens, $6.00

 runs tokens     cost  per run share
all
    3   1.2M    $6.00    $2.00 100 %
Weekly[2J review (aaaa0003)
    1   1.2M    $4.50    $4.50  75 %
Email 📬 sweep (aaaa0002)
    2    46k    $1.50    $0.75  25 %
`
	if out.Body != want || out.Message != strings.SplitN(want, "\n", 2)[0] {
		t.Errorf("body:\n%s\nwant:\n%s", out.Body, want)
	}
	if out, err = (Costs{Days: 30}).Compare(dir, now); err != nil || !strings.Contains(out.Message, "the runs that are known begin on") || !strings.Contains(out.Body, "Forgotten") {
		t.Errorf("over a month: %s\n%s", out.Message, out.Body)
	}
}

func TestWithoutRunsTheCostsSaySo(t *testing.T) {
	if out, err := (Costs{Days: 1}).Compare(dataDir(t), time.Now()); err != nil || out.Message != "no run has ended in the last 1 day" || out.Body == "" {
		t.Errorf("%+v %v", out, err)
	}
}

func dataDir(t *testing.T) *store.Dir {
	dir, err := store.At(t.TempDir())
	if err == nil {
		err = dir.Prepare()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
