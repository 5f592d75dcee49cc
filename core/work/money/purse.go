// Package money tracks what the model has cost and may cost: the usage of all turns by
// day, reservations for current runs, the user's caps and their permission to exceed them
// on a day, all in state/usage.json; and the prices of models. The cost of a single run
// is in the ledger of runs (core/work/fork). It must not know sessions, engines or the
// schedule.
package money

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

const (
	fileName = "state/usage.json"
	// keptDays is the number of days kept.
	keptDays = 400
)

// Options configure a Purse. All but Prices are required.
type Options struct {
	Dir  *store.Dir
	Zone *time.Location // decides when a day starts
	// Prices are the prices of models; nil uses the built-in table.
	Prices *Prices
	Log    *slog.Logger
	// Caps returns the current caps.
	Caps func() Caps
	// Past returns the runs in the ledger, oldest first, to predict the cost of a task's
	// next run. It is called once.
	Past func() []Run
	// Notice is called once per day and once per month when most of a cap is spent.
	Notice func(text string)
	// Changed is called when the available money may have changed. It must not block.
	Changed func()
}

// Task identifies the task of a run.
type Task struct {
	Kind routines.Kind `json:"kind"`
	ID   string        `json:"id"`
}

// Run is the cost of one run, in dollars.
type Run struct {
	Task
	Dollars float64
}

// Day is the usage of one day, and the user's decisions on it.
type Day struct {
	Date  string `json:"-"` // "2026-11-21"
	Turns int    `json:"turns"`
	agent.Usage
	// Unknown is the possible cost of runs that were cut off before they reported it, in
	// dollars: their reservations.
	Unknown float64 `json:"unknown_usd,omitempty"`
	// Reserved is the reservations for runs that began on this day, by ticket.
	Reserved map[Ticket]Reservation `json:"reserved,omitempty"`
	// Told lists the caps whose warning was given: "day", "month".
	Told []string `json:"told,omitempty"`
	// Lifted means that the user lifted the caps for this day.
	Lifted bool `json:"lifted,omitempty"`
	// Talk is the user's answer to whether the conversation may continue past a cap.
	Talk Talk `json:"talk,omitempty"`
}

// Spent returns the amount that counts against the caps, in dollars.
func (d Day) Spent() float64 { return d.CostUSD + d.Unknown }

// Purse tracks spent amounts, reservations and caps. Use New. Its methods are safe for
// concurrent use. Only one process writes the file: the bot, or a command if no bot is
// running.
type Purse struct {
	o Options

	// mu guards the fields below and is held while the file is written, to order the writes.
	mu    sync.Mutex
	days  map[string]Day // nil until the file was read
	means map[Task][]float64
}

// New returns the purse of a data directory without reading or writing anything.
func New(o Options) *Purse {
	o.Prices = cmp.Or(o.Prices, NewPrices(o.Dir, nil))
	return &Purse{o: o}
}

// Prices returns the prices of models.
func (p *Purse) Prices() *Prices { return p.o.Prices }

// Add adds the usage of a turn that ended at now; the ticket is that of its run, empty
// for the conversation. A turn without usage is not counted. An error means that the file
// lacks some of what Today returns.
func (p *Purse) Add(now time.Time, t Ticket, u agent.Usage) error {
	return p.change(now, func(d *Day) bool {
		known := p.find(t, func(_ *Day, r *Reservation) {
			r.Told, r.Drawn = true, r.Drawn+u.CostUSD
		})
		if u.Tokens() == 0 && u.CostUSD == 0 {
			return known
		}
		if date := p.date(now); known {
			d.Reserved = p.days[date].Reserved // the run may be of this day
		}
		d.Turns++
		d.Usage = d.Add(u)
		return true
	})
}

// change alters the day of now, writes the file if do returns true, and gives due
// warnings.
func (p *Purse) change(now time.Time, do func(*Day) bool) error {
	p.mu.Lock()
	p.read()
	date := p.date(now)
	d := p.days[date]
	if !do(&d) {
		p.mu.Unlock()
		return nil
	}
	p.days[date] = d
	texts := p.tell(now, &d)
	p.days[date] = d
	err := p.write()
	p.mu.Unlock()
	p.o.Changed()
	for _, text := range texts {
		p.o.Notice(text)
	}
	return err
}

// write replaces the file; mu is held.
func (p *Purse) write() error {
	if over := len(p.days) - keptDays; over > 0 {
		for _, old := range slices.Sorted(maps.Keys(p.days))[:over] {
			delete(p.days, old)
		}
	}
	if err := p.o.Dir.WriteJSON(fileName, p.days); err != nil {
		return fmt.Errorf("write what was spent: %w", err)
	}
	return nil
}

// Today returns the usage of the day of now so far.
func (p *Purse) Today(now time.Time) Day {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	return p.days[p.date(now)]
}

// Days returns all days with usage, newest first.
func (p *Purse) Days() []Day {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	list := make([]Day, 0, len(p.days))
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(p.days))) {
		d := p.days[date]
		d.Date = date
		list = append(list, d)
	}
	return list
}

func (p *Purse) date(now time.Time) string { return now.In(p.o.Zone).Format(time.DateOnly) }

// read loads the file once. Unreadable content counts as nothing. mu is held.
func (p *Purse) read() {
	if p.days != nil {
		return
	}
	p.days = map[string]Day{}
	if _, err := p.o.Dir.ReadJSON(fileName, &p.days); err != nil {
		p.o.Log.Warn("the spending record could not be read; starting from zero", "error", err)
	}
	if p.days == nil { // the file contained "null"
		p.days = map[string]Day{}
	}
	for date, d := range p.days {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			delete(p.days, date)
			continue
		}
		d.CostUSD, d.Unknown = max(0, d.CostUSD), max(0, d.Unknown)
		p.days[date] = d
	}
}

// User-visible texts.
const textMost = "%s of your %s cap for %s is used; at the cap, background runs are held and the conversation asks you"

var textSpans = map[string]string{"day": "today", "month": "this month"}

const (
	problemLine = "not a price: write dollars for a million tokens of input, output, read and written cache, " +
		"and of cache written for an hour where that differs, such as sonnet: 2 10 0.1 2.5 4"
	problemNumber = "%q is not a price: write dollars for a million tokens, 0 or more"
	problemTwice  = "%q already has a price on line %d; remove one of the two"
	problemFile   = "cannot read the file: %v; using the built-in prices"
)
