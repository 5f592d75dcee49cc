package money

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	// Ledger is the file of the ledger of money: what each request has cost, a row when it is known.
	Ledger = "state/spending.jsonl"
	// ledgerMax is the size in bytes at which the rows of a run on one day become one row.
	ledgerMax = 4 << 20
	// ledgerEnd is a size that the ledger never reaches: a year has less than a tenth of it.
	ledgerEnd = 1 << 30
)

// Purpose is what a request was for.
type Purpose string

// The purposes. Before are the sums of days before there was a ledger.
const (
	Conversation Purpose = "conversation"
	Fork         Purpose = "fork"
	OfRun        Purpose = "run"
	Subagent     Purpose = Purpose(agent.Subagent)
	Compaction   Purpose = Purpose(agent.Compaction)
	Screening    Purpose = "screening"
	Transcribing Purpose = "transcription" // of voice messages
	Before       Purpose = "before"
)

// Account is what requests are booked on.
type Account struct {
	For    Purpose `json:"for"`
	Task   Task    `json:"task,omitzero"`   // of a run
	Run    string  `json:"run,omitempty"`   // id of the run
	Ticket Ticket  `json:"ticket,omitzero"` // its reservation
}

// Row is a row of the ledger: one request, or several that are known only together.
type Row struct {
	At time.Time `json:"at"` // when its usage was known; of several, the last
	Account
	Model    string      `json:"model,omitempty"`
	Used     agent.Usage `json:"usage"`
	Requests int         `json:"requests,omitempty"`
	// About counts the requests that broke off, whose usage is estimated, and Unknown those whose cost
	// is not known: the program was killed, or the model has no price, which Unpriced says.
	About    int  `json:"about,omitempty"`
	Unknown  int  `json:"unknown,omitempty"`
	Unpriced bool `json:"unpriced,omitempty"`
	// Plan means that a subscription paid.
	Plan bool `json:"plan,omitempty"`
	// NotExact means that an earlier version of the program booked it, perhaps more than once. It
	// never counts against a cap.
	NotExact bool `json:"not_exact,omitempty"`
}

// Sum is what rows of the ledger come to. Only Total makes one, so every amount that is shown,
// compared with a cap or predicted from comes from the ledger.
type Sum struct {
	used                     agent.Usage
	requests, about, unknown int
	unpriced                 []string // models, in order
	plan, notExact           float64
}

// Total adds rows.
func Total(rows ...Row) (s Sum) {
	for _, r := range rows {
		s.requests, s.about, s.unknown = s.requests+r.Requests, s.about+r.About, s.unknown+r.Unknown
		if r.NotExact {
			s.notExact += r.Used.CostUSD
			continue
		}
		s.used = s.used.Add(r.Used)
		if r.Plan {
			s.plan += r.Used.CostUSD
		}
		if r.Unpriced {
			s.unpriced = merge(s.unpriced, []string{cmp.Or(r.Model, textNoModel)})
		}
	}
	return s
}

// Dollars returns what the rows cost, without those that are not exact.
func (s Sum) Dollars() float64 { return s.used.CostUSD }

// NotExact returns the dollars that an earlier version booked.
func (s Sum) NotExact() float64 { return s.notExact }

// Used returns the tokens and their cost.
func (s Sum) Used() agent.Usage { return s.used }

// Requests returns the number of requests.
func (s Sum) Requests() int { return s.requests }

// About returns how many requests broke off and are estimated.
func (s Sum) About() int { return s.about }

// Unknown returns how many requests are not in the dollars because their cost is not known.
func (s Sum) Unknown() int { return s.unknown }

// Unpriced returns the models without a price, whose requests are among the unknown ones.
func (s Sum) Unpriced() []string { return s.unpriced }

// Plan reports whether a subscription paid for all of it: the dollars are what it would have cost.
func (s Sum) Plan() bool { return s.plan > 0 && s.plan >= s.used.CostUSD-tiny }

// Text returns the sum in words, with what is not in it.
func (s Sum) Text() string {
	text := words.Dollars(s.Dollars())
	if s.unknown > 0 {
		text += fmt.Sprintf(textUnknown, words.Count(s.unknown, "request"))
	}
	if len(s.unpriced) > 0 {
		text += fmt.Sprintf(textUnpriced, strings.Join(s.unpriced, ", "))
	}
	if s.notExact > 0 {
		text += fmt.Sprintf(textNotExact, words.Dollars(s.notExact))
	}
	if s.Plan() {
		text += textPlan
	}
	return text
}

// sane returns a row as a ledger may contain it. ok is false for one that cannot be counted.
func (r Row) sane() (_ Row, ok bool) {
	u := &r.Used
	for _, n := range []*int{&u.InputTokens, &u.OutputTokens, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &r.Requests, &r.About, &r.Unknown} {
		*n = max(0, *n)
	}
	if u.CostUSD < 0 || math.IsNaN(u.CostUSD) || math.IsInf(u.CostUSD, 0) {
		u.CostUSD = 0
	}
	return r, !r.At.IsZero() && r.For != ""
}

// Book writes down what requests have used. An error means that the file lacks some of what the
// purse counts.
func (p *Purse) Book(now time.Time, a Account, c agent.Charge) error {
	if c.Part != agent.Main {
		a.For = Purpose(c.Part)
	}
	used, priced := p.o.Prices.Priced(c.Model, c.Used)
	r := Row{At: now, Account: a, Model: c.Model, Plan: c.Plan, Used: used, Requests: 1, Unpriced: !priced && used.Tokens() > 0}
	if c.About {
		r.About = 1
	}
	if c.Unknown || r.Unpriced {
		r.Unknown = 1
	}
	r, ok := r.sane()
	if !ok || !c.Unknown && r.Used.Tokens() == 0 && r.Used.CostUSD == 0 {
		return nil
	}
	return p.change(now, func(*Day) bool {
		p.enter(r)
		p.fresh = append(p.fresh, r)
		return false
	})
}

// rowKey are the rows that are one in memory: those of a run, or of a purpose, on one day.
type rowKey struct {
	date string
	Account
	plan, notExact bool
	unpriced       string // the model without a price
}

// enter adds a row to those in memory; mu is held.
func (p *Purse) enter(r Row) {
	k := rowKey{date: p.date(r.At), Account: r.Account, plan: r.Plan, notExact: r.NotExact}
	if r.Unpriced {
		k.unpriced = cmp.Or(r.Model, textNoModel)
	}
	i, known := p.places[k]
	if !known {
		p.places[k] = len(p.rows)
		p.rows = append(p.rows, r)
	} else {
		one := &p.rows[i]
		one.Used, one.Requests = one.Used.Add(r.Used), one.Requests+r.Requests
		one.About, one.Unknown = one.About+r.About, one.Unknown+r.Unknown
		if r.At.After(one.At) {
			one.At = r.At
		}
		if one.Model != r.Model {
			one.Model = ""
		}
	}
	day := p.sums[k.date]
	p.sums[k.date] = day.plus(Total(r))
	if r.Ticket != "" {
		p.drawn[r.Ticket] += r.Used.CostUSD
	}
}

func (s Sum) plus(t Sum) Sum {
	return Sum{
		s.used.Add(t.used), s.requests + t.requests, s.about + t.about, s.unknown + t.unknown, merge(s.unpriced, t.unpriced),
		s.plan + t.plan, s.notExact + t.notExact,
	}
}

// merge returns the names in either list, in order, without changing the lists.
func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func (p *Purse) ledger() jsonl.Log[Row] {
	return jsonl.Log[Row]{Dir: p.o.Dir, Rel: Ledger, Limit: ledgerEnd, Keep: ledgerEnd / 2}
}

// readLedger reads the rows; mu is held.
func (p *Purse) readLedger() {
	list, damaged, err := p.ledger().Newest(ledgerEnd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.o.Log.Error("the ledger of money could not be read; counting from zero", "error", err)
	}
	for _, r := range list {
		if r, ok := r.sane(); ok {
			p.enter(r)
			continue
		}
		damaged++
	}
	if damaged > 0 {
		p.o.Log.Warn("lines of the ledger of money cannot be read and do not count", "lines", damaged)
	}
}

// readBefore takes the sums of days before there was a ledger into the rows; mu is held.
func (p *Purse) readBefore() {
	for date, d := range p.days {
		e := d.Earlier
		if e == (Earlier{}) && d.Cut == 0 {
			continue
		}
		at, _ := time.ParseInLocation(time.DateOnly, date, p.o.Zone) // read keeps only dates
		used := agent.Usage{
			InputTokens: e.Input, OutputTokens: e.Output, CacheRead: e.CacheRead, CacheWrite: e.CacheWrite,
			CostUSD: max(0, e.Dollars) + max(0, d.Cut),
		}
		if r, ok := (Row{At: at.Add(12 * time.Hour), Account: Account{For: Before}, Used: used, NotExact: true}).sane(); ok {
			p.enter(r)
		}
	}
}

// save appends the new rows to the file; mu is held. Rows that could not be written are written
// with the next ones.
func (p *Purse) save() error {
	if len(p.fresh) == 0 {
		return nil
	}
	if err := p.ledger().Append(p.fresh...); err != nil {
		return fmt.Errorf("write what was spent: %w", err)
	}
	p.fresh = nil
	return nil
}

// tidy rewrites a large ledger with the rows of memory, without those that are too old; mu is held.
func (p *Purse) tidy(now time.Time) error {
	if info, err := os.Stat(p.o.Dir.Path(Ledger)); err != nil || info.Size() < ledgerMax {
		return nil //nolint:nilerr // there is nothing to shorten
	}
	since := now.AddDate(0, 0, -keptDays)
	var out []byte
	for _, r := range p.rows {
		if r.For == Before || r.At.Before(since) {
			continue
		}
		line, err := store.JSONLine(r)
		if err != nil {
			return fmt.Errorf("shorten the ledger of money: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	if err := p.o.Dir.Write(Ledger, out); err != nil {
		return fmt.Errorf("shorten the ledger of money: %w", err)
	}
	return nil
}

// Books returns the state at now and the ledger behind it, oldest first, with the requests of a run on one day in one row.
func (p *Purse) Books(now time.Time) (State, []Row) {
	p.mu.Lock()
	p.read()
	state, list := p.state(now), slices.Clone(p.rows)
	p.mu.Unlock()
	slices.SortStableFunc(list, func(a, b Row) int { return a.At.Compare(b.At) })
	return state, list
}

// Today returns what the day of now has cost so far.
func (p *Purse) Today(now time.Time) Sum { return p.State(now).Today.Spent }

// Run returns what a run has cost so far.
func (p *Purse) Run(id string) Sum {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	var s Sum
	for i := len(p.rows) - 1; i >= 0; i-- {
		if p.rows[i].Run == id {
			s = s.plus(Total(p.rows[i]))
		}
	}
	return s
}

// month adds the days of a month, given as "2006-01"; mu is held.
func (p *Purse) month(name string) (s Sum) {
	for date, day := range p.sums {
		if strings.HasPrefix(date, name) {
			s = s.plus(day)
		}
	}
	return s
}

// past returns the cost of the runs in the ledger, oldest first; mu is held.
func (p *Purse) past() []Run {
	type ran struct {
		Run
		at time.Time
	}
	var list []ran
	place := map[string]int{}
	for _, r := range p.rows {
		if r.Run == "" || r.Task == (Task{}) {
			continue
		}
		i, known := place[r.Run]
		if !known {
			i = len(list)
			place[r.Run] = i
			list = append(list, ran{Run: Run{Task: r.Task}})
		}
		list[i].Dollars += r.Used.CostUSD
		if r.At.After(list[i].at) {
			list[i].at = r.At
		}
	}
	slices.SortStableFunc(list, func(a, b ran) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	runs := make([]Run, len(list))
	for i := range list {
		runs[i] = list[i].Run
	}
	return runs
}
