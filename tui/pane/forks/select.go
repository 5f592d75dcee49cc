package forks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// maxViews is the number of tails that keep their scroll position while others are shown.
const maxViews = 8

// Failures do not scroll away: an unseen one stays above the running runs, and the frame counts it.

// arrange lists running and waiting runs and unseen failures above ended runs.
func (p *Pane) arrange(s *core.Snapshot) {
	held := p.pinned // the selected one of these keeps its position
	p.pinned = nil
	for _, f := range slices.Concat(s.Failures, held) {
		if (f.ID == p.run && find(held, f.ID) >= 0 || !p.visited[f.ID] && find(s.Failures, f.ID) >= 0) && find(p.pinned, f.ID) < 0 {
			p.pinned = append(p.pinned, f)
		}
	}
	slices.SortStableFunc(p.pinned, func(a, b fork.View) int { return b.Ended.Compare(a.Ended) })
	maps.DeleteFunc(p.visited, func(id string, _ bool) bool { return find(s.Failures, id) < 0 })
	p.book.fill(s, p.pinned)
}

// Unseen returns the failures that the user has not seen, newest first.
func (p *Pane) Unseen(s *core.Snapshot) (ids []string) {
	for _, f := range s.Failures {
		if !p.visited[f.ID] {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// visit records that the user sees the selected run. A failure moves to its regular position once another run is
// selected.
func (p *Pane) visit(s *core.Snapshot) {
	p.see(s, p.run)
	p.arrange(s)
	p.book.choose(p.run)
}

// see records that the user has seen failures. Other IDs are ignored.
func (p *Pane) see(s *core.Snapshot, ids ...string) {
	for _, id := range ids {
		if find(s.Failures, id) >= 0 && !p.visited[id] {
			p.visited[id] = true
			p.noted = append(p.noted, id)
		}
	}
}

// Show selects a run, because the user asked for it elsewhere.
func (p *Pane) Show(c pane.Context, id string) {
	p.run, p.wanted, p.chosen, p.tail, p.moved = id, id, true, false, c.Snap.At
	p.book.EndQuery()
	p.visit(c.Snap)
	p.Sync(c)
}

// Await selects the run of a task once it starts, because the user has fired it.
func (p *Pane) Await(c pane.Context, task string) { p.awaited, p.moved = task, c.Snap.At }

// begun selects the awaited run if it has started.
func (p *Pane) begun(c pane.Context) {
	for i := range c.Snap.Forks {
		if f := &c.Snap.Forks[i]; f.TaskID == p.awaited && (f.Live() || f.Ended.After(p.moved)) {
			p.awaited = ""
			p.Show(c, f.ID)
			return
		}
	}
}

// idle is the time after which the user's selection expires.
const idle = time.Minute

// Sync implements pane.Pane: it keeps the selected run, or selects the newest one unless the user has chosen, and
// reads the tail.
func (p *Pane) Sync(c pane.Context) {
	p.arrange(c.Snap)
	if p.awaited != "" && c.Snap.At.Sub(p.moved) < idle {
		p.begun(c)
	}
	_, there := p.selected()
	if there || p.book.past.all() {
		p.wanted = ""
	}
	if !there && p.run != p.wanted || c.Snap.At.Sub(p.moved) >= idle {
		p.chosen = false
	}
	if !there && p.run != p.wanted {
		p.run = ""
	}
	if !p.chosen && !p.reading() && p.book.Shown() > 0 {
		first, _ := p.book.Nth(0)
		p.run = cmp.Or(p.newest(), first.id)
	}
	if !p.book.choose(p.run) && p.wanted == "" { // it is filtered out
		p.run = cmp.Or(p.book.run(), p.run)
	}
	p.read(c)
}

// selected returns the selected run.
func (p *Pane) selected() (fork.View, bool) {
	for _, list := range [][]fork.View{p.book.snap.Forks, p.pinned} {
		if i := find(list, p.run); i >= 0 {
			return list[i], true
		}
	}
	return p.book.past.find(p.run)
}

// Task returns the ID of the selected run's task, or empty.
func (p *Pane) Task() string {
	f, ok := p.selected()
	if !ok || f.Kind == routines.KindWebhook {
		return ""
	}
	return f.TaskID
}

// reading reports whether the user is working in the tail, that is scrolling up, searching or filtering, or is
// filtering the runs. The selection must not change then.
func (p *Pane) reading() bool {
	v := p.view()
	return p.tail || p.book.Query.Shown() || !v.Following() || v.Finding() || v.Filtered()
}

// lingering is how long an ended run still counts as running: long enough to read its last lines.
const lingering = 8 * time.Second

// newest returns the last started of the running runs; empty if there are none.
func (p *Pane) newest() (id string) {
	var at time.Time
	for _, f := range p.book.snap.Forks {
		if f.Started.After(at) && (f.State == fork.Running || !f.Live() && p.book.snap.At.Sub(f.Ended) < lingering) {
			id, at = f.ID, f.Started
		}
	}
	return id
}

// follow applies the list's selection. After the user returns to the newest running run in the box, the selection
// becomes automatic again.
func (p *Pane) follow(c pane.Context) {
	id := p.book.run()
	if id == "" {
		return
	}
	p.run, p.chosen, p.moved = id, c.Zoomed || id != p.newest(), c.Snap.At
	p.visit(c.Snap)
	p.read(c)
}

// leave ends the search or the filter of the tail, else leaves the tail, and reports whether there was one of them.
func (p *Pane) leave() (was bool) {
	if p.view().EndFind() {
		return true
	}
	was, p.tail = p.tail, false
	return was
}

// view returns the tail of the selected run.
func (p *Pane) view() *widget.TailView {
	v := p.views[p.run]
	if v == nil {
		if len(p.views) >= maxViews {
			clear(p.views)
		}
		v = widget.NewTailView(p.run, true)
		p.views[p.run] = v
	}
	return v
}

// read reads the new output of the selected run.
func (p *Pane) read(c pane.Context) {
	if f, ok := p.selected(); ok {
		v := p.view()
		v.Twelve, v.Now = c.Snap.TwelveHours, c.Snap.At
		v.Sync(c.Tail, f.Lines, c.Snap.Zone)
	}
}

// find returns the index of a run, or -1.
func find(forks []fork.View, id string) int {
	return slices.IndexFunc(forks, func(f fork.View) bool { return f.ID == id })
}
