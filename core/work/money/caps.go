package money

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
	"ollimbot/routines/cron"
)

// Caps are the maximum amounts per day and month, in dollars; +Inf means no cap.
type Caps struct{ Day, Month float64 }

const (
	// most is the fraction of a cap at which the user is warned.
	most = 0.8
	// meanRuns is how many runs of a task are averaged to predict the next one.
	meanRuns = 20
	// tiny tolerates rounding errors in sums.
	tiny = 1e-9
)

// firstRun is the assumed usage of a run before anything is known.
const firstRunInput, firstRunOutput = 20_000, 1_000

// Ticket identifies the reservation for one run; empty for none.
type Ticket string

// Reservation is the amount set aside for one run, in dollars. It is not spent. One without an amount
// says only that requests are under way.
type Reservation struct {
	For     Purpose `json:"for,omitempty"` // empty for a run
	Task    Task    `json:"task,omitzero"`
	Dollars float64 `json:"usd"`
	Run     string  `json:"run,omitempty"`   // its id, once it has begun
	Firm    bool    `json:"firm,omitempty"`  // no cap holds or ends it
	Begun   bool    `json:"begun,omitempty"` // it has left the queue
}

// Talk is the user's answer to whether the conversation may continue past a cap.
type Talk string

// The answers; empty for none.
const (
	GoOn Talk = "yes"
	Wait Talk = "no"
)

// Span is a day or a month: what it has cost, and its cap in dollars.
type Span struct {
	Spent Sum
	Cap   float64   // +Inf without a cap
	Ends  time.Time // the start of the next one
}

// Capped reports whether there is a cap.
func (s Span) Capped() bool { return !math.IsInf(s.Cap, 1) }

// State is the state of the purse at a moment.
type State struct {
	Today, Month Span
	Reserved     float64 // dollars set aside for runs under way and not spent
	Lifted       bool    // the user lifted the caps for today
	Talk         Talk    // the user's answer today
}

// MarshalJSON implements json.Marshaler: what was spent, is reserved, and may be spent, in dollars. A missing cap is null.
func (s State) MarshalJSON() ([]byte, error) {
	limit := func(of Span) *float64 {
		if !of.Capped() {
			return nil
		}
		return &of.Cap
	}
	month := s.Month.Spent
	return json.Marshal(struct {
		Today    float64  `json:"today_usd"`
		Month    float64  `json:"month_usd"`
		DayCap   *float64 `json:"daily_cap_usd"`
		MonthCap *float64 `json:"monthly_cap_usd"`
		Reserved float64  `json:"reserved_usd"`
		Lifted   bool     `json:"lifted"`
		Unknown  int      `json:"unknown_requests"`
		Unpriced []string `json:"unpriced_models"`
		NotExact float64  `json:"not_exact_usd"`
		Plan     bool     `json:"plan"`
	}{
		s.Today.Spent.Dollars(), month.Dollars(), limit(s.Today), limit(s.Month), s.Reserved, s.Lifted,
		month.Unknown(), append([]string{}, month.Unpriced()...), month.NotExact(), month.Plan(),
	})
}

// Until returns when a run of that cost may start, or the zero time for now. What is set aside for
// others is not spent, and holds nothing back for the day.
func (s State) Until(dollars float64) time.Time { return s.until(0, dollars) }

// Aside reports whether a run of that cost has to wait only for what is set aside.
func (s State) Aside(dollars float64) bool {
	return s.until(0, dollars).IsZero() && !s.until(s.Reserved, dollars).IsZero()
}

func (s State) until(reserved, dollars float64) time.Time {
	switch {
	case s.Lifted:
	case s.Month.over(reserved, dollars):
		return s.Month.Ends
	case s.Today.over(reserved, dollars):
		return s.Today.Ends
	}
	return time.Time{}
}

// Reached returns the cap that is used up, in words; empty if none is.
func (s State) Reached() string {
	for _, one := range []struct {
		name string
		span Span
	}{{"month", s.Month}, {"day", s.Today}} {
		if !s.Lifted && one.span.over(0, 0) {
			return fmt.Sprintf(textReached, words.Dollars(one.span.Spent.Dollars()), words.Dollars(one.span.Cap), textSpans[one.name])
		}
	}
	return ""
}

// over reports whether a cap is reached, or would be exceeded by another dollars.
func (s Span) over(reserved, dollars float64) bool {
	gone := s.Spent.Dollars() + reserved
	return gone >= s.Cap-tiny || gone+dollars > s.Cap+tiny
}

// State returns the state of the purse at now.
func (p *Purse) State(now time.Time) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	return p.state(now)
}

// state is State; mu is held.
func (p *Purse) state(now time.Time) State {
	now = now.In(p.o.Zone)
	caps, date := p.o.Caps(), p.date(now)
	today := p.days[date]
	year, month, _ := now.Date()
	next := time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
	s := State{
		Today:  Span{Spent: p.sums[date], Cap: caps.Day, Ends: cron.Wall(now, 1, 0, 0, p.o.Zone)},
		Month:  Span{Spent: p.month(date[:len("2006-01")]), Cap: caps.Month, Ends: cron.Wall(next, 0, 0, 0, p.o.Zone)},
		Lifted: today.Lifted, Talk: today.Talk,
	}
	for _, day := range p.days {
		for t, r := range day.Reserved {
			if r.Begun {
				s.Reserved += max(0, r.Dollars-p.drawn[t])
			}
		}
	}
	return s
}

// Reserve plans the expected cost of a run of the task, which waits for its turn. If the cap does
// not allow it, the ticket is empty and until is when there will be money. Firm runs get a ticket
// in any case. An error means that the reservation could not be saved.
func (p *Purse) Reserve(now time.Time, t Task, firm bool) (ticket Ticket, until time.Time, err error) {
	err = p.change(now, func(d *Day) bool {
		o := p.outlook(now)
		dollars := o.share(t)
		if until = o.State.Until(dollars); !until.IsZero() && !firm {
			return false
		}
		until, ticket = time.Time{}, Ticket(store.NewID())
		d.set(ticket, Reservation{Task: t, Dollars: dollars, Firm: firm})
		return true
	})
	return ticket, until, err
}

// Start asks again when the run's turn has come, and sets its cost aside. If the cap is used up,
// until is when there will be money. If only what is set aside for other runs is missing, wait is
// true: they end soon. Without a ticket a run starts.
func (p *Purse) Start(now time.Time, t Ticket, run string) (until time.Time, wait bool, err error) {
	p.mu.Lock()
	p.read()
	s, begins := p.state(now), false
	p.find(t, func(_ *Day, r *Reservation) {
		if !r.Firm && !r.Begun {
			until, wait = s.Until(r.Dollars), s.Aside(r.Dollars)
		}
		if begins = until.IsZero() && !wait; begins {
			r.Begun, r.Run = true, run
		}
	})
	if begins {
		err = p.write()
	}
	p.mu.Unlock()
	if begins {
		p.o.Changed()
	}
	return until, wait, err
}

// Begin notes that something else than a run may have a request under way, until it is settled.
func (p *Purse) Begin(now time.Time, what Purpose) (Ticket, error) {
	t := Ticket(store.NewID())
	return t, p.change(now, func(d *Day) bool {
		d.set(t, Reservation{For: what, Begun: true})
		return true
	})
}

// Stop returns why a run must not make another request, or "". It is asked between its requests.
func (p *Purse) Stop(now time.Time, t Ticket) (why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	for _, d := range p.days {
		if d.Reserved[t].Firm {
			return ""
		}
	}
	return p.state(now).Reached()
}

// Settle releases the reservation of what has ended.
func (p *Purse) Settle(t Ticket) error {
	return p.alter(t, func(d *Day, r *Reservation) {
		if dollars, known := p.drawn[t]; known {
			p.learn(Run{r.Task, dollars})
		}
		delete(d.Reserved, t)
	})
}

// Recover releases what was set aside when the program last ended. What was under way may have made
// a request whose cost is not known. Call it once, before anything is reserved.
func (p *Purse) Recover(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	found := false
	for date, d := range p.days {
		for t, r := range d.Reserved {
			if r.Begun {
				row := Row{At: now, Account: Account{For: r.For, Task: r.Task, Run: r.Run}, Requests: 1, Unknown: 1}
				if r.For == "" {
					row.For, row.Ticket = OfRun, t
				}
				p.enter(row)
				p.fresh = append(p.fresh, row)
			}
			found = true
		}
		d.Reserved = nil
		p.days[date] = d
	}
	err := errors.Join(p.save(), p.tidy(now))
	if !found {
		return err
	}
	return errors.Join(err, p.write())
}

// alter changes the reservation of a ticket, whatever day it is from. An unknown ticket
// changes nothing.
func (p *Purse) alter(t Ticket, do func(*Day, *Reservation)) error {
	p.mu.Lock()
	p.read()
	if !p.find(t, do) {
		p.mu.Unlock()
		return nil
	}
	err := p.write()
	p.mu.Unlock()
	p.o.Changed()
	return err
}

// find calls do with the reservation and its day; mu is held.
func (p *Purse) find(t Ticket, do func(*Day, *Reservation)) bool {
	for date, d := range p.days {
		r, ok := d.Reserved[t]
		if !ok {
			continue
		}
		d.set(t, r)
		do(&d, &r)
		if _, still := d.Reserved[t]; still {
			d.Reserved[t] = r
		}
		p.days[date] = d
		return true
	}
	return false
}

// set stores a reservation in a copy of the day's map.
func (d *Day) set(t Ticket, r Reservation) {
	d.Reserved = maps.Clone(d.Reserved)
	if d.Reserved == nil {
		d.Reserved = map[Ticket]Reservation{}
	}
	d.Reserved[t] = r
}

// Lift lifts the caps for the day of now, or restores them, and returns the previous
// setting.
func (p *Purse) Lift(now time.Time, lifted bool) (before bool, err error) {
	err = p.change(now, func(d *Day) bool {
		before, d.Lifted = d.Lifted, lifted
		return before != lifted
	})
	return before, err
}

// Answer records, for the day of now, whether the user lets the conversation continue
// past a cap.
func (p *Purse) Answer(now time.Time, t Talk) error {
	return p.change(now, func(d *Day) bool { d.Talk = t; return true })
}

// tell marks the caps of which most is spent, and returns the warnings that the user has
// not had yet; mu is held.
func (p *Purse) tell(now time.Time, d *Day) (texts []string) {
	s := p.state(now)
	for _, one := range []struct {
		name string
		span Span
	}{{"day", s.Today}, {"month", s.Month}} {
		if one.span.Cap <= 0 || one.span.Spent.Dollars() < most*one.span.Cap-tiny || p.told(one.name, p.date(now)) {
			continue
		}
		d.Told = append(slices.Clip(d.Told), one.name)
		texts = append(texts, fmt.Sprintf(textMost, words.Dollars(one.span.Spent.Dollars()), words.Dollars(one.span.Cap), textSpans[one.name]))
	}
	return texts
}

// told reports whether the user was already warned; for a month, on any of its days.
func (p *Purse) told(name, date string) bool {
	if name == "month" {
		date = date[:len("2006-01")]
	}
	for d, day := range p.days {
		if strings.HasPrefix(d, date) && slices.Contains(day.Told, name) {
			return true
		}
	}
	return false
}

// Outlook is the cost of runs and the available money at one moment.
type Outlook struct {
	State State
	means map[Task]float64
	all   float64
	known bool // at least one run has reported its cost
	first float64
}

// Outlook returns an immutable outlook for now.
func (p *Purse) Outlook(now time.Time) Outlook {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	return p.outlook(now)
}

// outlook is Outlook; mu is held.
func (p *Purse) outlook(now time.Time) Outlook {
	p.recall()
	o := Outlook{State: p.state(now), means: make(map[Task]float64, len(p.means)), known: len(p.means) > 0}
	for t, list := range p.means {
		o.means[t] = mean(list)
		o.all += o.means[t] / float64(len(p.means))
	}
	if !o.known {
		o.first = p.o.Prices.assumed(agent.Usage{InputTokens: firstRunInput, OutputTokens: firstRunOutput})
	}
	return o
}

// Of returns the expected cost of a task's next run: the mean of its newest runs, the
// mean of all tasks if it never ran, and 0 before the very first run. until is when there
// is money for it, or the zero time for now.
func (o Outlook) Of(t Task) (dollars float64, until time.Time) {
	dollars = o.expected(t)
	return dollars, o.State.Until(o.share(t))
}

func (o Outlook) expected(t Task) float64 {
	if dollars, ok := o.means[t]; ok {
		return dollars
	}
	return o.all
}

// share is the amount to reserve for a run of the task: a guess if no run has reported
// its cost.
func (o Outlook) share(t Task) float64 {
	if !o.known {
		return o.first
	}
	return o.expected(t)
}

// recall reads the costs of earlier runs, once; mu is held.
func (p *Purse) recall() {
	if p.means != nil {
		return
	}
	p.means = map[Task][]float64{}
	for _, r := range p.past() {
		p.learn(r)
	}
}

// learn adds a run to its task's mean; mu is held.
func (p *Purse) learn(r Run) {
	if p.means == nil {
		return // it will be read from the ledger
	}
	list := append(p.means[r.Task], r.Dollars)
	p.means[r.Task] = list[max(0, len(list)-meanRuns):]
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
