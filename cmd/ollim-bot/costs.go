package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
)

// costDays is how many days the command compares at most: as many as are kept.
const costDays = 366

type costsCmd struct {
	Number  int  `arg:"" optional:"" name:"days" help:"How many days with today, 1 to 366 (30)."`
	Days    int  `hidden:"" default:"30"` // the flag of earlier versions
	Explain bool `help:"What each routine costs and what a change would have saved."`
	console.AsJSON
}

// costsAnswer is the JSON answer; amounts are dollars.
type costsAnswer struct {
	Money     moneyAnswer        `json:"money"`
	Days      []costDayAnswer    `json:"days"` // oldest first
	Tasks     []command.TaskCost `json:"tasks"`
	Talk      float64            `json:"conversation_usd"`
	Expected  float64            `json:"expected_usd"`
	Projected float64            `json:"projected_usd"`
	Ahead     []schedule.Entry   `json:"ahead"`
	Used      agent.Usage        `json:"usage"`
	Advice    []command.Advice   `json:"advice"`
	Parts     []command.PartCost `json:"purposes"`
}

// moneyAnswer is what was spent, is reserved, and may be spent; a missing cap is null.
type moneyAnswer struct {
	Today    float64  `json:"today_usd"`
	Month    float64  `json:"month_usd"`
	DayCap   *float64 `json:"daily_cap_usd"`
	MonthCap *float64 `json:"monthly_cap_usd"`
	Reserved float64  `json:"reserved_usd"`
	Lifted   bool     `json:"lifted"`
	// Unknown counts the requests of this month whose cost is not known, Unpriced names the models
	// without a price that some of them went to; NotExact is what an earlier
	// version booked this month, which counts nowhere. Plan means that a subscription pays.
	Unknown  int      `json:"unknown_requests"`
	Unpriced []string `json:"unpriced_models"`
	NotExact float64  `json:"not_exact_usd"`
	Plan     bool     `json:"plan"`
}

type costDayAnswer struct {
	Date    string  `json:"date"`
	Dollars float64 `json:"usd"`
	Tokens  int     `json:"tokens"`
	Runs    int     `json:"runs"`
	// NotExact is what an earlier version booked, which counts nowhere.
	NotExact float64 `json:"not_exact_usd,omitempty"`
	// Unknown counts the requests whose cost is not in Dollars.
	Unknown int `json:"unknown_requests,omitempty"`
}

// Run shows the costs by day and by task, and the expected cost of today.
func (c *costsCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	days := cmp.Or(c.Number, c.Days)
	if days < 1 || days > costDays {
		return console.Usagef("costs takes a number of days from 1 to %d", costDays)
	}
	r, err := bot.Reads().Costs(context.Background(), days)
	if err != nil {
		return err
	}
	lines := costLines(r)
	if c.Explain {
		lines = append([]string{r.Head()}, r.Explained()...)
	}
	return p.Answer(c.JSON, answerCosts(r), lines)
}

func answerCosts(r command.CostReport) costsAnswer {
	return costsAnswer{
		Money: answerMoney(r.Money), Talk: r.Talk, Expected: r.Expected, Projected: r.Projected,
		Ahead: append([]schedule.Entry{}, r.Ahead...), Used: r.Used,
		Advice: append([]command.Advice{}, r.Advice...), Parts: append([]command.PartCost{}, r.Parts...),
		Days: console.Each(r.Days, func(d command.CostDay) costDayAnswer {
			return costDayAnswer{d.Date.Format(time.DateOnly), d.Dollars, d.Tokens, d.Runs, d.NotExact, d.Unknown}
		}),
		Tasks: append([]command.TaskCost{}, r.Tasks...),
	}
}

func answerMoney(s money.State) moneyAnswer {
	month := s.Month.Spent
	a := moneyAnswer{
		Today: s.Today.Spent.Dollars(), Month: month.Dollars(), Reserved: s.Reserved, Lifted: s.Lifted,
		Unknown: month.Unknown(), Unpriced: append([]string{}, month.Unpriced()...), NotExact: month.NotExact(), Plan: month.Plan(),
	}
	if s.Today.Capped() {
		a.DayCap = &s.Today.Cap
	}
	if s.Month.Capped() {
		a.MonthCap = &s.Month.Cap
	}
	return a
}

// costLines lists the days that cost something, the expected cost of today, and the
// tasks.
func costLines(r command.CostReport) []string {
	lines := command.MoneyLines(r.Money)
	if r.Expected > 0 {
		lines = append(lines, fmt.Sprintf("today is expected to come to %s: %s are scheduled until midnight", words.Dollars(r.Projected), words.Dollars(r.Expected)))
	}
	lines = append(lines, strings.TrimRight(r.Text(), "\n"))
	lines = append(lines, r.PartLines()...)
	if text := command.Blocks(r.Used); text != "" {
		lines = append(lines, text)
	}
	for _, d := range slices.Backward(r.Days) {
		if d.Dollars > 0 || d.Runs+d.Unknown > 0 || d.NotExact > 0 {
			line := fmt.Sprintf("%s  %8s  %6s  %s", d.Date.Format("Mon 2006-01-02"),
				words.Dollars(d.Dollars), words.Tokens(d.Tokens), words.Count(d.Runs, "run"))
			if d.NotExact > 0 {
				line += ", and " + words.Dollars(d.NotExact) + " that is not exact"
			}
			if d.Unknown > 0 {
				line += ", and " + words.Count(d.Unknown, "request") + " of unknown cost"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
