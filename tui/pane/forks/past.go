package forks

import (
	"slices"
	"strconv"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/routines"
)

// row is a run as the page of runs keeps it: ten thousand of them take a megabyte or
// two. Words that many runs have in common are kept once.
type row struct {
	id             uint32
	state          fork.State
	title, task    string
	why            string // why it failed, or what it does
	started, ended int64  // seconds; 0 for never
	tools, pings   int32
	critical       int32
	refused        int32
	reports        int32
	tokens         int32
	cost           float32 // dollars
	late, talks    bool    // it fired late; it has a session
	warned         bool    // its tools are off
}

// past are the runs that have ended, as far as they were read, newest first.
type past struct {
	rows    []row
	known   map[uint32]bool
	words   map[string]string
	next    command.Mark
	damaged int
	whole   bool // there is nothing more to read, or reading has failed
	version uint64
	found   int // where the run stood that was looked for last
}

// pageRows is how many runs are read at once, mostRows how many are kept.
const (
	pageRows = 250
	mostRows = 50_000
)

// all reports that there is nothing more to read.
func (p *past) all() bool { return p.whole || len(p.rows) >= mostRows }

// runID is a run's id as a number.
func runID(id string) (uint32, bool) {
	n, err := strconv.ParseUint(id, 16, 32)
	return uint32(n), err == nil && len(id) == 8
}

// pack keeps what the page shows of a run.
func (p *past) pack(f *fork.View) (row, bool) {
	id, ok := runID(f.ID)
	r := row{
		id: id, state: f.State, title: p.word(f.Title), task: p.word(f.TaskID), why: f.Error,
		tools: int32(f.Tools), pings: int32(f.Pings), critical: int32(f.Critical), refused: int32(f.Refused), reports: int32(f.Reports),
		tokens: int32(f.Usage.Tokens()), cost: float32(f.Usage.CostUSD), late: f.Late, talks: f.Session != "",
	}
	if !f.Started.IsZero() {
		r.started = f.Started.Unix()
	}
	if !f.Ended.IsZero() {
		r.ended = f.Ended.Unix()
	}
	if d := detail(*f); r.why == "" {
		r.why, r.warned = d.Text, f.Tainted != "" && !f.Trusted
	}
	return r, ok
}

func (p *past) word(s string) string {
	if w, ok := p.words[s]; ok {
		return w
	}
	if p.words == nil {
		p.words = map[string]string{}
	}
	p.words[s] = s
	return s
}

// view is the run of a row, as far as it is kept.
func (r row) view() fork.View {
	f := fork.View{
		ID: r.name(), Title: r.title, TaskID: r.task, State: r.state, Error: r.why, Late: r.late,
		Tools: int(r.tools), Pings: int(r.pings), Critical: int(r.critical), Refused: int(r.refused), Reports: int(r.reports),
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

// name is the run's id.
func (r row) name() string {
	s := strconv.FormatUint(uint64(r.id), 16)
	return "00000000"[len(s):] + s
}

// ended takes over runs of a snapshot that have ended, newest first, which are newer
// than what was read.
func (p *past) ended(runs []fork.View) {
	var fresh []row
	for i := range runs {
		f := &runs[i]
		if id, ok := runID(f.ID); f.Live() || !ok || p.known[id] {
			continue
		}
		if r, ok := p.add(f); ok {
			fresh = append(fresh, r)
		}
	}
	if len(fresh) > 0 {
		p.rows = append(fresh, p.rows...)
	}
}

func (p *past) add(f *fork.View) (row, bool) {
	r, ok := p.pack(f)
	if !ok || p.known[r.id] {
		return row{}, false
	}
	if p.known == nil {
		p.known = map[uint32]bool{}
	}
	p.known[r.id] = true
	p.version++
	return r, true
}

// read takes over a page of the ledger.
func (p *past) read(page *fork.Page) {
	p.next, p.whole, p.damaged = page.Next, page.All, p.damaged+page.Damaged
	for i := range page.Runs {
		if r, ok := p.add(&page.Runs[i]); ok {
			p.rows = append(p.rows, r)
		}
	}
}

// find is the run of an id among them.
func (p *past) find(id string) (fork.View, bool) {
	n, ok := runID(id)
	if !ok || !p.known[n] {
		return fork.View{}, false
	}
	if p.found >= len(p.rows) || p.rows[p.found].id != n {
		p.found = slices.IndexFunc(p.rows, func(r row) bool { return r.id == n })
	}
	if p.found >= 0 {
		return p.rows[p.found].view(), true
	}
	p.found = 0
	return fork.View{}, false
}

// Task is the id of the task whose run is selected; empty where there is none.
func (p *Pane) Task() string {
	f, ok := p.selected()
	if !ok || f.Kind == routines.KindWebhook {
		return ""
	}
	return f.TaskID
}
