package forks

import (
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/fork"
)

// row is a run as the list keeps it: ten thousand of them take a megabyte or two. Words
// that many runs have in common are kept once.
type row struct {
	id             string
	state          fork.State
	title, task    string
	why            string // why it failed, or what it does
	started, ended int64  // seconds; 0 for never
	// counts are pings, reports, refused pings and tool calls, as the columns have them.
	counts      [4]int32
	tokens      int32
	cost        float32 // dollars
	late, talks bool    // it fired late; it has a session
	warned      bool    // its tools are off
}

// past are the runs that have ended, as far as they were read, newest first.
type past struct {
	rows    []*row
	known   map[string]*row
	words   map[string]string
	next    command.Mark
	damaged int
	whole   bool // there is nothing more to read, or reading has failed
	version uint64
}

// pageRows is how many runs are read at once, mostRows how many are kept.
const (
	pageRows = 250
	mostRows = 50_000
)

// all reports that there is nothing more to read.
func (p *past) all() bool { return p.whole || len(p.rows) >= mostRows }

// pack keeps what the list shows of a run.
func (p *past) pack(f *fork.View) *row {
	r := &row{
		id: f.ID, state: f.State, title: p.word(f.Title), task: p.word(f.TaskID), why: f.Error,
		counts: [4]int32{int32(f.Pings), int32(f.Reports), int32(f.Refused), int32(f.Tools)},
		tokens: int32(f.Usage.Tokens()), cost: float32(f.Usage.CostUSD), late: f.Late, talks: f.Session != "",
	}
	if !f.Started.IsZero() {
		r.started = f.Started.Unix()
	}
	if !f.Ended.IsZero() {
		r.ended = f.Ended.Unix()
	}
	switch {
	case r.why != "":
	case f.Tainted != "" && !f.Trusted:
		r.why, r.warned = textTainted, true
	case f.State == fork.Running:
		r.why = f.Activity
	}
	return r
}

func (p *past) word(s string) string {
	if w, ok := p.words[s]; ok {
		return w
	}
	p.words[s] = s
	return s
}

// view is the run of a row, as far as it is kept.
func (r *row) view() fork.View {
	f := fork.View{
		ID: r.id, Title: r.title, TaskID: r.task, State: r.state, Error: r.why, Late: r.late,
		Pings: int(r.counts[0]), Reports: int(r.counts[1]), Refused: int(r.counts[2]), Tools: int(r.counts[3]),
		Usage: agent.Usage{InputTokens: int(r.tokens), CostUSD: float64(r.cost)},
	}
	if r.talks {
		f.Session = f.ID // that there is one
	}
	if r.started > 0 {
		f.Started = time.Unix(r.started, 0)
	}
	if r.ended > 0 {
		f.Ended = time.Unix(r.ended, 0)
	}
	return f
}

// ended takes over runs of a snapshot that have ended, newest first, which are newer
// than what was read.
func (p *past) ended(runs []fork.View) {
	var fresh []*row
	for i := range runs {
		if !runs[i].Live() {
			fresh = p.add(fresh, &runs[i])
		}
	}
	if len(fresh) > 0 {
		p.rows = append(fresh, p.rows...)
	}
}

// add adds a run to rows if it was not known.
func (p *past) add(rows []*row, f *fork.View) []*row {
	if p.known[f.ID] != nil {
		return rows
	}
	p.known[f.ID] = p.pack(f)
	p.version++
	return append(rows, p.known[f.ID])
}

// read takes over a page of the ledger.
func (p *past) read(page *fork.Page) {
	p.next, p.whole, p.damaged = page.Next, page.All, p.damaged+page.Damaged
	for i := range page.Runs {
		p.rows = p.add(p.rows, &page.Runs[i])
	}
}

// find is the run of an id among them.
func (p *past) find(id string) (f fork.View, ok bool) {
	r := p.known[id]
	if r == nil {
		return f, false
	}
	return r.view(), true
}
