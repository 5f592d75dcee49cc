// Package money keeps what the model has cost and what it may: the usage of all
// turns, summed by day, what is set aside for runs under way, the user's caps and
// their word for a day above them, all in state/usage.json; and the prices of
// models. What a single run has cost is in the ledger of runs, which is
// core/work/fork's. It must not know sessions, engines or the schedule.
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
	// keptDays is how many days are remembered.
	keptDays = 400
)

// Options are the parts of a Purse. All but Prices are required.
type Options struct {
	Dir  *store.Dir
	Zone *time.Location // tells when a day begins
	// Prices are those of models; nil is the table alone.
	Prices *Prices
	Log    *slog.Logger
	// Caps are those in force.
	Caps func() Caps
	// Past are the runs of which the ledger knows, oldest first: what a task's next
	// run costs is told from them. It is asked once.
	Past func() []Run
	// Notice is told once a day and once a month that most of a cap is spent.
	Notice func(text string)
	// Changed is called when there may be more or less money than before. It must not
	// block.
	Changed func()
}

// Task is what a run is a run of.
type Task struct {
	Kind routines.Kind `json:"kind"`
	ID   string        `json:"id"`
}

// Run is what one run has cost, in dollars.
type Run struct {
	Task
	Dollars float64
}

// Day is what one day has used, and what was decided on it.
type Day struct {
	Date  string `json:"-"` // "2026-11-21"
	Turns int    `json:"turns"`
	agent.Usage
	// Unknown is what runs may have cost that were cut off before they could tell, in
	// dollars: what was set aside for them.
	Unknown float64 `json:"unknown_usd,omitempty"`
	// Reserved is what is set aside for runs that began on this day, by ticket.
	Reserved map[Ticket]Reservation `json:"reserved,omitempty"`
	// Told are the caps of which most was spent when the user was told: "day", "month".
	Told []string `json:"told,omitempty"`
	// Lifted says that the user has lifted the caps for this day.
	Lifted bool `json:"lifted,omitempty"`
	// Talk is the user's answer whether the conversation may continue above a cap.
	Talk Talk `json:"talk,omitempty"`
}

// Spent is what counts against the caps, in dollars.
func (d Day) Spent() float64 { return d.CostUSD + d.Unknown }

// Purse is what was spent, what is promised, and what may be. Use New; its methods
// are safe for several goroutines. One process writes the file: the bot, or a
// command where no bot runs.
type Purse struct {
	o Options

	// mu guards the fields below and orders the file: it is held over its write.
	mu    sync.Mutex
	days  map[string]Day // nil until the file was read
	means map[Task][]float64
}

// New is the purse of a data directory. Nothing is read or written yet.
func New(o Options) *Purse {
	o.Prices = cmp.Or(o.Prices, NewPrices(o.Dir, nil))
	return &Purse{o: o}
}

// Prices are those of the models.
func (p *Purse) Prices() *Prices { return p.o.Prices }

// Add counts a turn that ended at now; the ticket, empty for the conversation's, is
// that of its run. A turn that used nothing is not counted. An error means that the
// file holds less than what Today answers.
func (p *Purse) Add(now time.Time, t Ticket, u agent.Usage) error {
	return p.change(now, func(d *Day) bool {
		known := p.find(t, func(_ *Day, r *Reservation) {
			r.Told, r.Drawn = true, r.Drawn+u.CostUSD
		})
		if u.Tokens() == 0 && u.CostUSD == 0 {
			return known
		}
		if date := p.date(now); known {
			d.Reserved = p.days[date].Reserved // it may be of this day
		}
		d.Turns++
		d.Usage = d.Add(u)
		return true
	})
}

// change alters the day of now, writes the file where that says so, and tells what
// there is to tell.
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

// Today is what the day of now has used so far.
func (p *Purse) Today(now time.Time) Day {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	return p.days[p.date(now)]
}

// Days are the days of which there is something to tell, the newest first.
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

// read loads the file once; what cannot be read counts as nothing. mu is held.
func (p *Purse) read() {
	if p.days != nil {
		return
	}
	p.days = map[string]Day{}
	if _, err := p.o.Dir.ReadJSON(fileName, &p.days); err != nil {
		p.o.Log.Warn("the spending record could not be read; starting from zero", "error", err)
	}
	if p.days == nil { // the file held "null"
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

// Words for people.
const textMost = "%s of your %s cap for %s is used; at the cap, background runs are held and the conversation asks you"

var textSpans = map[string]string{"day": "today", "month": "this month"}

const (
	problemLine = "not a price: write dollars for a million tokens of input, output, read and written cache, " +
		"and of cache written for an hour where that differs, such as sonnet: 2 10 0.1 2.5 4"
	problemNumber = "%q is not a price: write dollars for a million tokens, 0 or more"
	problemTwice  = "%q already has a price on line %d; remove one of the two"
	problemFile   = "cannot read the file: %v; using the built-in prices"
)
