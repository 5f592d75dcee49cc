package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

// habit is the daily activity of an example routine.
type habit struct {
	id, title, text string // text of its pings; empty if it sends none
	hours           []int
	tokens          int
	long            time.Duration
	report          bool
}

var habits = []habit{
	{"a11ce001", "Morning plan", "Three things for today; the tax letter is the first.", []int{8}, 31_000, 24 * time.Second, true},
	{"a11ce002", "Medication", "Time for your medication.", []int{8, 20}, 9_000, 3 * time.Second, false},
	{"a11ce003", "Inbox sweep", "", []int{9, 13, 18}, 64_000, 95 * time.Second, true},
	{"a11ce004", "Move a little", "Stretch for two minutes?", []int{11, 15}, 8_000, 4 * time.Second, false},
	{"a11ce006", "Good night", "Screens off; tomorrow is planned.", []int{22}, 12_000, 8 * time.Second, false},
}

const (
	pastDays     = 30     // days of history, including today
	pingedDays   = 7      // days with pings in the journal
	tokenDollars = 0.6e-6 // dollars for a token
)

// pastRun is a line of the ledger of runs.
type pastRun struct {
	fork.View
	Tokens  int     `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	text    string  // of its ping
}

// furnishPast writes the bot's history of the last month: runs with their costs, and the
// pings of the last days with their answers. It returns the number of pings sent today.
func furnishPast(h Home) (today int, err error) {
	dice := rand.New(rand.NewPCG(7, 30)) //nolint:gosec // an example, the same each time
	var ledger bytes.Buffer
	days := map[string]money.Day{}
	var pings []budget.Ping
	for ago := pastDays - 1; ago >= 0; ago-- {
		midnight := time.Date(h.Now.Year(), h.Now.Month(), h.Now.Day()-ago, 0, 0, 0, 0, h.Now.Location())
		// The day's conversation, which is not a run.
		day := money.Day{Turns: 1 + dice.IntN(5), Usage: agent.Usage{InputTokens: 40_000, OutputTokens: 3_000, CostUSD: 0.05 + 0.2*dice.Float64()}}
		for _, v := range dayOf(dice, midnight, h.Now.Add(-10*time.Minute)) {
			line, err := json.Marshal(v)
			if err != nil {
				return 0, fmt.Errorf("write the demo's past: %w", err)
			}
			ledger.Write(append(line, '\n'))
			day.Turns++
			answer := v.Tokens / 20
			day.InputTokens, day.OutputTokens = day.InputTokens+v.Tokens-answer, day.OutputTokens+answer
			day.CostUSD += v.CostUSD
			if ago == 0 {
				today += v.Pings
			}
			if v.Pings+v.Refused > 0 && ago < pingedDays {
				pings = append(pings, pingOf(dice, v))
			}
		}
		days[midnight.Format(time.DateOnly)] = day
	}
	if err := h.Dir.Write("state/fork_runs.jsonl", ledger.Bytes()); err != nil {
		return 0, err
	}
	if err := h.Dir.WriteJSON("state/usage.json", days); err != nil {
		return 0, err
	}
	return today, keepPings(h, pings)
}

// dayOf are the runs of a day that ended before now, by their end.
func dayOf(dice *rand.Rand, midnight, now time.Time) (runs []pastRun) {
	for _, h := range habits {
		for _, hour := range h.hours {
			if v := fireOf(dice, h, midnight.Add(time.Duration(hour)*time.Hour)); v.Ended.Before(now) {
				runs = append(runs, v)
			}
		}
	}
	slices.SortFunc(runs, func(a, b pastRun) int { return a.Ended.Compare(b.Ended) })
	return runs
}

// fireOf is one run. Most succeed; a few fail or have their ping refused.
func fireOf(dice *rand.Rand, h habit, start time.Time) pastRun {
	start = start.Add(time.Duration(dice.IntN(90)) * time.Second)
	size := 0.6 + 0.8*dice.Float64()
	v := pastRun{text: h.text, Tokens: int(float64(h.tokens) * size), View: fork.View{
		ID: fmt.Sprintf("%08x", dice.Uint32()), Kind: routines.KindRoutine, TaskID: h.id, Title: h.title, State: fork.Done,
		Queued: start, Started: start, Ended: start.Add(time.Duration(float64(h.long) * size)), Tools: 1 + dice.IntN(5),
	}}
	v.CostUSD = float64(v.Tokens) * tokenDollars
	switch luck := dice.IntN(40); {
	case luck == 0:
		v.State, v.Error = fork.Failed, "the command ended with status 1"
		return v
	case h.text == "":
	case luck < 4:
		v.Refused = 1
	default:
		v.Pings = 1
	}
	if h.report {
		v.Reports = 1
	}
	return v
}

// pingOf is the ping of a run. Three in four were answered.
func pingOf(dice *rand.Rand, v pastRun) budget.Ping {
	p := budget.Ping{At: v.Ended, ID: v.ID + "-1", Task: v.TaskID, Title: v.Title, Kind: "ping", Run: v.ID, Text: v.text}
	if v.Refused > 0 {
		p.Refused = "no token was left"
		return p
	}
	if dice.IntN(4) > 0 {
		p.Answered = v.Ended.Add(time.Duration(1+dice.IntN(30)) * time.Minute)
	}
	return p
}

// keepPings writes pings with their answers into the journal.
func keepPings(h Home, pings []budget.Ping) error {
	journal := budget.NewJournal(h.Dir, h.Now.Location(), nil)
	for _, p := range pings {
		answered := p.Answered
		p.Answered = time.Time{}
		if err := journal.Append(p); err != nil {
			return err
		}
		if answered.IsZero() || answered.After(h.Now) {
			continue
		}
		if err := journal.Answer(budget.Move{At: answered}); err != nil {
			return err
		}
	}
	return nil
}
