package main

import (
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
)

// budgetCmds shows the bucket or changes its two numbers.
type budgetCmds struct {
	Show budgetShowCmd `cmd:"" default:"withargs"`
	Set  budgetSetCmd  `cmd:""`
}

type budgetShowCmd struct {
	At string `placeholder:"TIME" help:"Refill to this moment instead of now. Nothing is written."`
	console.AsJSON
}

// budgetAnswer is the JSON answer; times are RFC 3339 to the second.
type budgetAnswer struct {
	Capacity   int       `json:"capacity"`
	Available  float64   `json:"available"`
	Rate       int       `json:"refill_rate_minutes"`
	LastRefill time.Time `json:"last_refill"`
	Daily      int       `json:"daily_used"`
	Critical   int       `json:"critical_used"`
	Quiet      int       `json:"quiet_used"`
	QuietLimit int       `json:"quiet_limit"`
	Essential  int       `json:"essential_used"`
	Next       *int      `json:"next_refill_minutes"`
	FullAt     time.Time `json:"full_at"`
	Status     string    `json:"status"`
}

// Run shows the bucket. It never writes.
func (c *budgetShowCmd) Run(p *process, at console.DataDir) error {
	now, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	s, _ := budget.NewBucket(at.Dir, at.Env.Zone, p.Log()).State(now)
	beside := budget.NewTally(at.Dir, at.Env.Zone, p.Log()).At(now)
	settings, _, err := config.LoadRuntime(at.Dir)
	if err != nil {
		return err
	}
	answer := answerBudget(s, now)
	answer.Quiet, answer.QuietLimit, answer.Essential = beside.Quiet, settings.QuietMessages, beside.Essential
	return p.Answer(c.JSON, answer, budgetLines(s, beside.Text(settings.QuietMessages), now))
}

func answerBudget(s budget.State, now time.Time) budgetAnswer {
	a := budgetAnswer{
		Capacity: s.Capacity, Available: s.Available, Rate: s.RefillRateMinutes, LastRefill: s.LastRefill.Truncate(time.Second),
		Daily: s.DailyUsed, Critical: s.CriticalUsed, Status: s.Status(now), FullAt: s.FullAt(now).Truncate(time.Second),
	}
	if next := s.NextAt(now); !next.IsZero() {
		minutes := int((next.Sub(now) + time.Minute - 1) / time.Minute) // started ones count, as in the status line
		a.Next = &minutes
	}
	return a
}

func budgetLines(s budget.State, beside string, now time.Time) []string {
	lines := []string{"ping budget: " + words.Joined(s.FullStatus(now), beside)}
	if full := s.FullAt(now); !full.IsZero() {
		lines = append(lines, "full at: "+full.Format(console.MomentLayout))
	}
	return lines
}

type budgetSetCmd struct {
	Capacity *int `placeholder:"N" help:"Tokens that the bucket holds; 0 mutes."`
	Refill   *int `placeholder:"MIN" help:"Minutes to regain one token."`
}

// Run changes the bucket; a running bot sees it at once.
func (c *budgetSetCmd) Run(p *process, at console.DataDir) error {
	if c.Capacity == nil && c.Refill == nil {
		return console.Usagef("budget set needs --capacity N, --refill MIN, or both")
	}
	if err := budget.Validate(c.Capacity, c.Refill); err != nil {
		return console.Usagef("%v", err)
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	bot, err := p.Bot(at)
	if err != nil {
		return err
	}
	before := bot.SnapshotAt(at.Now).Budget.State
	done, err := p.do(bot, command.SetBudget{Capacity: c.Capacity, RefillMinutes: c.Refill})
	if err != nil {
		return err
	}
	after := bot.SnapshotAt(at.Now).Budget.State
	lines := []string{done.Message, "ping budget updated: " + after.Status(at.Now)}
	if done.Undo == nil { // nothing was changed
		lines = []string{done.Message + ": " + after.Status(at.Now)}
	}
	if what := before.Preview(at.Now, after.Capacity, after.RefillRateMinutes); what != "" {
		lines = append(lines, what)
	}
	return p.Lines(lines...)
}
