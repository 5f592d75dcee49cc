// Package ledger keeps what the model has cost: the usage of all turns, summed
// by day in state/usage.json. What a single run has cost is in the ledger of
// runs, which is core/fork's. It must not know sessions or engines.
package ledger

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/store"
)

const (
	fileName = "state/usage.json"
	// keptDays is how many days are remembered.
	keptDays = 400
)

// Options are the parts of a Ledger. Dir is required; Zone tells when a day
// begins, nil is UTC.
type Options struct {
	Dir  *store.Dir
	Zone *time.Location
	Log  *slog.Logger
}

// Day is what one day has used.
type Day struct {
	Date  string `json:"-"` // "2026-11-21"
	Turns int    `json:"turns"`
	agent.Usage
}

// Ledger sums usage by day. Use New; its methods are safe for several goroutines.
type Ledger struct {
	o Options

	// mu guards the fields below and orders the file: it is held over its write.
	mu   sync.Mutex
	days map[string]Day // nil until the file was read
}

// New is the ledger of a data directory. Nothing is read or written yet.
func New(o Options) *Ledger {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Ledger{o: o}
}

// Add counts a turn that ended at now. A turn that used nothing is not counted.
// An error means that the file holds less than what Today answers.
func (l *Ledger) Add(now time.Time, u agent.Usage) error {
	if u.Tokens() == 0 && u.CostUSD == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	date := l.date(now)
	d := l.days[date]
	d.Turns++
	d.Usage = d.Add(u)
	l.days[date] = d
	if over := len(l.days) - keptDays; over > 0 {
		for _, old := range slices.Sorted(maps.Keys(l.days))[:over] {
			delete(l.days, old)
		}
	}
	if err := l.o.Dir.WriteJSON(fileName, l.days); err != nil {
		return fmt.Errorf("write the ledger of usage: %w", err)
	}
	return nil
}

// Today is what the day of now has used so far.
func (l *Ledger) Today(now time.Time) agent.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	return l.days[l.date(now)].Usage
}

// Days are the days with any use, the newest first.
func (l *Ledger) Days() []Day {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	list := make([]Day, 0, len(l.days))
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(l.days))) {
		d := l.days[date]
		d.Date = date
		list = append(list, d)
	}
	return list
}

func (l *Ledger) date(now time.Time) string { return now.In(l.o.Zone).Format(time.DateOnly) }

// read loads the file once; what cannot be read counts as nothing. mu is held.
func (l *Ledger) read() {
	if l.days != nil {
		return
	}
	l.days = map[string]Day{}
	if _, err := l.o.Dir.ReadJSON(fileName, &l.days); err != nil {
		l.o.Log.Warn("the ledger of usage could not be read; it begins anew", "error", err)
	}
	if l.days == nil { // the file held "null"
		l.days = map[string]Day{}
	}
}
