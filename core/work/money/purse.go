// Package money tracks what the model has cost and may cost. The ledger
// (state/spending.jsonl) has a row for each request, written once, when its usage is known;
// every sum takes rows of it. state/usage.json has what is set aside for current runs, and
// the user's permission to exceed a cap on a day. It must not know sessions, engines or the
// schedule.
package money

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

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

// Day is what is remembered of one day besides its spending.
type Day struct {
	// Earlier is what versions without a ledger have booked, and Cut what they added for runs that
	// were cut off. Both are only read.
	Earlier
	Cut float64 `json:"unknown_usd,omitempty"`
	// Reserved is the reservations for runs that were queued on this day, by ticket.
	Reserved map[Ticket]Reservation `json:"reserved,omitempty"`
	// Told lists the caps whose warning was given: "day", "month".
	Told []string `json:"told,omitempty"`
	// Lifted means that the user lifted the caps for this day.
	Lifted bool `json:"lifted,omitempty"`
	// Talk is the user's answer to whether the conversation may continue past a cap.
	Talk Talk `json:"talk,omitempty"`
}

// Earlier is a usage in the form of earlier versions.
type Earlier struct {
	Input      int     `json:"input_tokens,omitempty"`
	Output     int     `json:"output_tokens,omitempty"`
	CacheRead  int     `json:"cache_read_tokens,omitempty"`
	CacheWrite int     `json:"cache_write_tokens,omitempty"`
	Dollars    float64 `json:"cost_usd,omitempty"`
}

// Purse tracks spent amounts, reservations and caps. Use New. Its methods are safe for
// concurrent use. Only one process writes the file: the bot, or a command if no bot is
// running.
type Purse struct {
	o Options

	// mu guards the fields below and is held while the file is written, to order the writes.
	mu    sync.Mutex
	days  map[string]Day // nil until the files were read
	means map[Task][]float64

	rows   []Row // see enter
	places map[rowKey]int
	sums   map[string]Sum // of each day
	drawn  map[Ticket]float64
	fresh  []Row // not yet in the file
}

// New returns the purse of a data directory without reading or writing anything.
func New(o Options) *Purse {
	o.Prices = cmp.Or(o.Prices, NewPrices(o.Dir, nil))
	return &Purse{o: o}
}

// Prices returns the prices of models.
func (p *Purse) Prices() *Prices { return p.o.Prices }

// change alters the day of now, writes what is new, and gives due warnings. do returns whether the
// day has changed.
func (p *Purse) change(now time.Time, do func(*Day) bool) error {
	p.mu.Lock()
	p.read()
	date := p.date(now)
	d := p.days[date]
	changed := do(&d)
	if !changed && len(p.fresh) == 0 {
		p.mu.Unlock()
		return nil
	}
	texts := p.tell(now, &d)
	if changed = changed || texts != nil; changed {
		p.days[date] = d
	}
	err := p.save()
	if changed {
		err = errors.Join(err, p.write())
	}
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
		return fmt.Errorf("write what is set aside: %w", err)
	}
	return nil
}

func (p *Purse) date(now time.Time) string { return now.In(p.o.Zone).Format(time.DateOnly) }

// read loads the files once. Unreadable content counts as nothing. mu is held.
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
	for date := range p.days {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			delete(p.days, date)
		}
	}
	p.places, p.sums, p.drawn = map[rowKey]int{}, map[string]Sum{}, map[Ticket]float64{}
	p.readLedger()
	p.readBefore()
}

// User-visible texts.
const (
	textReached  = "%s of your %s cap for %s is used"
	textUnknown  = " and %s of unknown cost"
	textUnpriced = " (no price for %s)"
	textNoModel  = "a model without a name"
	textNotExact = " and %s that an earlier version booked, not exact"
	textPlan     = " (what it would cost without your plan)"
)

const textMost = "%s of your %s cap for %s is used; at the cap, background runs are held and the conversation asks you"

var textSpans = map[string]string{"day": "today", "month": "this month"}

const (
	problemLine = "not a price: write dollars for a million tokens of input, output, read and written cache, " +
		"and of cache written for an hour where that differs, such as sonnet: 2 10 0.1 2.5 4"
	problemNumber = "%q is not a price: write dollars for a million tokens, 0 or more"
	problemTwice  = "%q already has a price on line %d; remove one of the two"
	problemFile   = "cannot read the file: %v; using the built-in prices"
)
