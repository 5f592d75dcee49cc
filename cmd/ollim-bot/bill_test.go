package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// bill is the whole program, with an API that keeps a bill. It bills the same for each request, so that
// any sum of it is a number of requests.
type bill struct {
	*siege
	model   string
	in, out int     // tokens of a request
	one     float64 // its dollars
}

func newBill(t *testing.T, engine string) *bill {
	t.Helper()
	s := newSiege(t, engine, "no sandbox")
	s.file("state/settings.json", `{"sandbox": "off"}`)
	s.file("prices.yaml", "haiku: 0.1 0.5 0.01 0.125\n")
	b := &bill{siege: s, model: "haiku", in: 5000, out: 1000}
	s.api.Answer(func(r claudetest.Request) (claudetest.Step, bool) {
		step := b.billed(claudetest.Step{Text: "<summary>\nWe talked.\n</summary>"})
		return step, !strings.Contains(r.Prompt(), "@@[") // a compaction, or a fork's first words
	})
	return b
}

func (b *bill) billed(s claudetest.Step) claudetest.Step {
	s.In, s.Out = b.in, b.out
	return s
}

// start runs the program with the model.
func (b *bill) start() {
	b.t.Helper()
	b.file("state/config.json", fmt.Sprintf(`{"model_main": %q, "model_fork": %[1]q}`, b.model))
	b.siege.start()
}

// turn has a turn of the conversation with a number of requests.
func (b *bill) turn(requests int) {
	b.t.Helper()
	b.said++
	end := fmt.Sprintf("That was turn %d.", b.said)
	steps := b.loop(requests - 1)
	b.asks("say go. "+claudetest.Script(append(steps, b.billed(claudetest.Step{Text: end}))...), "bot: "+end)
}

// loop are requests that each call a harmless tool with another input.
func (b *bill) loop(n int) (steps []claudetest.Step) {
	for i := range n {
		steps = append(steps, b.billed(call("Read", map[string]any{"file_path": "IDENTITY.md", "offset": i + 1})))
	}
	return steps
}

// run fires a task with a number of requests and waits for its end.
func (b *bill) run(id string, requests int) {
	b.t.Helper()
	steps := append(b.loop(requests-1), b.billed(claudetest.Step{Text: "Done."}))
	b.file("reminders/"+id+".md", taskNow(id, "model: \"haiku\"\n", steps...))
	b.runsEnded(id, 1)
}

// costs are what `costs --json` says.
type costs struct {
	Money struct {
		Today   float64 `json:"today_usd"`
		Month   float64 `json:"month_usd"`
		Unknown int     `json:"unknown_requests"`
	}
	Days, Purposes []struct {
		For     string
		Dollars float64 `json:"usd"`
	}
	Usage struct {
		In  int     `json:"input_tokens"`
		Out int     `json:"output_tokens"`
		USD float64 `json:"cost_usd"`
	}
}

func (b *bill) costs() (c costs) {
	b.t.Helper()
	testkit.Must(b.t, json.Unmarshal([]byte(b.runs("costs", "--json")), &c))
	return c
}

// finished counts the requests that the API has billed.
func (b *bill) finished() (n int) {
	for _, r := range claudetest.ForModel(b.api.Requests()) {
		if r.Status == 200 && r.Ended && !r.Left {
			n++
		}
	}
	return n
}

// agrees compares every figure with the bill.
func (b *bill) agrees(when string) {
	b.t.Helper()
	n := 0
	var c costs
	b.untilAsked("the bill of "+when, func() bool {
		n, c = b.finished(), b.costs()
		return c.Usage.In == n*b.in && n == b.finished()
	})
	if b.one == 0 {
		b.one = c.Usage.USD / float64(n)
	}
	want, sum := float64(n)*b.one, 0.0
	for _, p := range c.Purposes {
		sum += p.Dollars
	}
	for name, got := range map[string]float64{
		"today": c.Money.Today, "this month": c.Money.Month, "the usage": c.Usage.USD, "all purposes": sum, "the day": c.Days[len(c.Days)-1].Dollars,
	} {
		if math.Abs(got-want) > 0.000001 {
			b.t.Errorf("%s: %s is $%.6f, billed were %d requests, $%.6f: %+v", when, name, got, n, want, c)
		}
	}
	if c.Usage.In != n*b.in || c.Usage.Out != n*b.out {
		b.t.Errorf("%s: %d and %d tokens, billed were %d and %d", when, c.Usage.In, c.Usage.Out, n*b.in, n*b.out)
	}
}

// part returns the dollars that were for something, as a number of requests.
func (b *bill) part(what string) float64 {
	b.t.Helper()
	for _, p := range b.costs().Purposes {
		if p.For == what {
			return math.Round(1000*p.Dollars/b.one) / 1000
		}
	}
	return 0
}

// B1, B3: what is shown is what the API has billed, whatever happens in between.
func TestWhatIsShownIsWhatWasBilled(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for _, engine := range []string{choice.Claude, choice.Messages} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			b := newBill(t, engine)
			b.start()
			b.turn(3)
			b.agrees("a chat")
			b.stops() // B1: only a process that ends by itself leaves its totals to the next
			b.start()
			b.turn(2)
			b.agrees("a restart")
			b.types("/fork taxes")
			b.turn(2)
			b.types("/exit")
			b.agrees("a fork")
			if b.part("fork") < 2 || b.part("conversation") != 5 {
				t.Errorf("5 requests of a chat and 2 or more of a fork are booked as %v and %v", b.part("conversation"), b.part("fork"))
			}
			runs := []int{1, 2, 3}
			if engine == choice.Claude { // whose every run starts the command
				runs = []int{6}
			}
			for i, n := range runs {
				b.run(fmt.Sprintf("bbbb000%d", i), n)
			}
			b.agrees("runs")
			if booked := b.part("run"); booked != 6 {
				t.Errorf("runs with 6 requests are booked as %v", booked)
			}
			before := b.finished()
			b.types("/compact")
			b.until("a compaction", func() bool { return b.finished() > before })
			b.agrees("a compaction")
			if b.part("compaction") == 0 {
				t.Error("no compaction is booked")
			}
			b.types("say go. " + claudetest.Script(append(b.loop(2), claudetest.Step{Text: "never", Hold: "the end"})...))
			n := b.finished() + 2
			b.until("two of three requests", func() bool { return b.finished() >= n && len(claudetest.ForModel(b.api.Requests())) > n })
			if n := b.costs().Money.Unknown; n != 0 {
				t.Errorf("%d requests are unknown before the kill", n)
			}
			b.kill()
			b.agrees("a kill")
			b.start()
			// The message is answered once more. Until that has begun, another one would go to the model together with it.
			b.until("two of three requests again", func() bool { return b.finished() >= n+2 && len(claudetest.ForModel(b.api.Requests())) > n+3 })
			b.turn(1)
			b.agrees("the start after the kill")
			if c := b.costs(); c.Money.Unknown != 1 || !strings.Contains(b.runs("costs"), "and 1 request of unknown cost") {
				t.Errorf("the request that the kill cut off is not unknown: %+v", c.Money)
			}
		})
	}
}

// B2: ten runs that loop stop at the cap, with at most one request beyond it for each run that was under way.
func TestTenLoopingRunsStopAtTheCap(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	loopingRuns(t, choice.Messages)
}

func TestTenLoopingRunsOfTheRealCommandStopAtTheCap(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	testkit.Campaign(t, "claude")
	loopingRuns(t, choice.Claude)
}

func loopingRuns(t *testing.T, engine string) {
	for _, limit := range []float64{1, 3, 10} {
		t.Run(fmt.Sprintf("$%v", limit), func(t *testing.T) {
			t.Parallel()
			b := newBill(t, engine)
			b.file("prices.yaml", "haiku: 40 200 1 1\n") // $0.40 a request, if the bot prices it
			if engine == choice.Claude {                 // which has its own prices
				b.model, b.in, b.out = "opus", 30_000, 10_000
			}
			b.file("state/settings.json", fmt.Sprintf(`{"sandbox": "off", "daily_cap": %v, "turn_cap": 1000}`, limit))
			b.start()
			b.turn(1)
			b.one = b.costs().Usage.USD
			for i := range 10 {
				id := fmt.Sprintf("cccc000%d", i)
				b.file("reminders/"+id+".md", taskNow(id, "model: \""+b.model+"\"\nisolated: true\n", b.loop(60)...))
			}
			open := map[string]bool{}
			b.until("the end of what was under way", func() bool {
				for _, l := range ledgerLines(b.read("state/fork_runs.jsonl")) {
					open[l.Task] = l.State == "running"
				}
				busy := slices.Contains(slices.Collect(maps.Values(open)), true)
				return len(open) > 0 && !busy && b.costs().Money.Today >= limit-1e-9
			})
			spent, most := b.costs().Money.Today, limit+float64(min(len(open), runsAtOnce))*b.one
			if billed := float64(b.finished()) * b.one; math.Abs(billed-spent) > 1e-6 || spent > most+1e-9 {
				t.Errorf("$%.4f are shown and $%.4f billed of a cap of $%.4f; at most $%.4f in %d runs", spent, billed, limit, most, len(open))
			}
		})
	}
}

// runsAtOnce is how many runs are under way at once.
const runsAtOnce = 4
