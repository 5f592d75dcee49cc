// Package forks is the dashboard's pane of background runs: the list of running, waiting and finished ones, and below
// it the output of the selected one. It must not stop a run directly: it asks a question whose answer is a command.
package forks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the forks pane. Use New.
type Pane struct {
	book *book
	// visited are the failures that the user has seen; a selected one stays at the top. pinned are the failures at the
	// top; noted are the seen ones not yet reported to the core.
	visited map[string]bool
	pinned  []fork.View
	noted   []string
	wanted  string // a requested run that has to be read first
	awaited string // a task whose next run is shown
	// run is the selected run. chosen means that the user selected it, at moved, so that a starting run does not replace
	// it.
	run    string
	chosen bool
	moved  time.Time
	tail   bool // the tail has the focus
	views  map[string]*widget.TailView
}

// New returns the pane.
func New() *Pane {
	k := &book{snap: &core.Snapshot{}, past: past{known: map[string]*row{}}}
	k.fresh = func(time.Time) bool { return false }
	k.Columns, k.Noun, k.Facts, k.Note, k.Aligned, k.Open = k.columns(), "run", k.facts, k.outcome, true, action.ForksTail
	return &Pane{book: k, views: map[string]*widget.TailView{}, visited: map[string]bool{}}
}

// State implements pane.Pane.
func (p *Pane) State(c pane.Context) string {
	parts := p.book.Order()
	if c.Zoomed {
		parts = append(parts, p.book.All())
	}
	return strings.Trim(strings.Join(append(parts, counts(c.Snap, len(p.Unseen(c.Snap)))), " · "), " ·")
}

// Line implements pane.Pane: the counts, and the state of the first run.
func (p *Pane) Line(c pane.Context, w int) string {
	out := []widget.Span{{Role: theme.Strong, Text: "Runs     "}}
	if p.book.Shown() == 0 {
		out = append(out, widget.Span{Role: theme.Dim, Text: "none"})
	} else {
		r, _ := p.book.Nth(0)
		glyph, role := pane.Look(r.State)
		out = append(out, widget.Span{Role: role, Text: c.Theme.Glyph(glyph) + " "}, widget.Span{Text: r.Title + "  "},
			widget.Span{Role: theme.Dim, Text: counts(c.Snap, len(p.Unseen(c.Snap)))})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	p.visit(c.Snap)
	defer p.visit(c.Snap)
	p.moved = c.Snap.At
	switch id {
	case action.ForksSeen:
		p.see(c.Snap, p.Unseen(c.Snap)...)
		return pane.Answer{}
	case action.ForksState:
		p.book.Filter(states[(slices.Index(states, p.book.Query.Text())+1)%len(states)])
		p.Sync(c)
		return pane.Answer{Zoom: true}
	case action.ForksSort, action.ForksTurn:
		p.book.Do(c, id)
		return pane.Answer{Zoom: true}
	case action.Back:
		if !p.leave() {
			p.chosen = false
		}
		p.read(c)
		return pane.Answer{}
	case action.ForksTail:
		p.tail = !p.tail
		return pane.Answer{}
	case action.ForksStop, action.ForksResume, action.ForksAgain:
		return p.with(c, id)
	case action.TailFilter:
		if !p.tail {
			p.book.Query.Open()
			return pane.Answer{}
		}
	}
	// Movement keys apply to the focused part. Only the keys that scroll by a line, and the search, always apply to the
	// tail.
	tails := []action.ID{action.TailUp, action.TailDown, action.TailFind}
	if !p.tail && !slices.Contains(tails, id) && p.book.Table.Do(id.Verb()) {
		p.follow(c)
		return pane.Answer{}
	}
	v := p.view()
	v.Names = c.Names(action.Forks)
	reply, _ := v.Do(id.Verb())
	p.read(c)
	return pane.Answer{Copy: reply.Copy, Toast: reply.Toast}
}

// Press implements pane.Pane: a click focuses the tail or the list.
func (p *Pane) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if at == widget.Inner && !p.tail {
		return action.ForksTail
	}
	p.moved = c.Snap.At
	was := p.book.run()
	id := p.book.Press(c, at, focused)
	if p.book.run() != was {
		p.tail = false
		p.follow(c)
	}
	return id
}

// Capture implements pane.Pane.
func (p *Pane) Capture() bool { return p.book.Capture() || p.view().Finding() }

// Hint is the help line while the pane takes every key.
func (p *Pane) Hint() []key.Binding {
	if p.book.Capture() {
		return p.book.Hint()
	}
	return p.view().Hint()
}

// Type implements pane.Pane.
func (p *Pane) Type(c pane.Context, msg tea.Msg) pane.Answer {
	p.moved = c.Snap.At
	if p.book.Capture() {
		p.book.Type(c, msg)
		p.follow(c)
	} else {
		p.view().Type(msg)
		p.read(c)
	}
	return pane.Answer{}
}

// End leaves one state at a time, and reports whether there was one: esc leads from a text to its run before it leaves
// the page.
func (p *Pane) End(c pane.Context) bool {
	was := p.leave() || p.book.EndQuery()
	p.Sync(c)
	return was
}

// Filter shows only the runs that a filter keeps.
func (p *Pane) Filter(text string) {
	p.tail = false
	p.book.Filter(text)
}

// Word returns the meaning of keys that the list and the tail share.
func (p *Pane) Word(id action.ID) string {
	switch {
	case p.tail && id == action.ForksUp:
		return "scroll"
	case p.tail && id == action.ForksTail:
		return "list"
	case p.tail && id == action.TailFilter:
		return "filter lines"
	case !p.tail && id == action.TailFollow:
		return "last"
	}
	return ""
}

// Wants implements pane.Loader.
func (p *Pane) Wants(c pane.Context) (a pane.Answer) {
	if len(p.noted) > 0 && !c.ReadOnly {
		a.Do, p.noted = command.MarkSeen{Runs: p.noted}, nil // if saving fails, they count as unseen at the next start
	}
	if k := p.book; (c.Zoomed || k.Query.On()) && (k.hungry() || p.wanted != "" && !k.past.all()) {
		from := k.past.next
		a.Load = func(ctx context.Context, r pane.Reader) pane.Loaded {
			page, err := r.Runs(ctx, from, pageRows)
			return func(c pane.Context) pane.Answer { return p.take(c, page, err) }
		}
	}
	return a
}

// take lists a page of stored runs. It reports an error and damaged lines once.
func (p *Pane) take(c pane.Context, page fork.Page, err error) pane.Answer {
	k := p.book
	if err != nil {
		k.past.whole = true
		return pane.Answer{Toast: err.Error()}
	}
	said := k.past.damaged > 0
	k.past.read(&page)
	p.Sync(c)
	if k.past.damaged > 0 && !said {
		return pane.Answer{Toast: textDamaged}
	}
	return pane.Answer{}
}

// Off returns why an action is disabled for the selected run, or empty if it is not.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	if id == action.ForksSeen && len(p.Unseen(c.Snap)) == 0 {
		return textNoneUnseen
	}
	f, ok := p.selected()
	if a, _ := action.Get(action.Forks, id); !ok && a.Writes {
		return "no run is selected"
	}
	return Off(f, id)
}

// Off returns why a run cannot be stopped, resumed or repeated, or empty if it can.
func Off(f fork.View, id action.ID) string {
	switch {
	case id == action.ForksStop && !f.Live():
		return textEnded
	case id == action.ForksResume && f.Live():
		return textLives
	case id == action.ForksResume && f.Session == "":
		return textNoSession
	case id == action.ForksAgain && f.TaskID == "":
		return textNoTask
	case id == action.ForksAgain && f.Live():
		return textLivesYet
	}
	return ""
}

// with acts on the selected run: it stops it after a question, resumes it in the chat, or fires its task once more.
func (p *Pane) with(c pane.Context, id action.ID) pane.Answer {
	f, _ := p.selected()
	switch id {
	case action.ForksStop:
		return pane.Answer{Ask: StopQuestion(f, c.Snap.At)}
	case action.ForksResume:
		return pane.Answer{Do: command.ResumeFork{Run: p.run}, Focus: action.Chat}
	}
	return pane.Answer{Do: command.FireNow{ID: f.TaskID, Stays: true}}
}

// StopQuestion asks before stopping a run, and names what would be lost.
func StopQuestion(f fork.View, now time.Time) *pane.Question {
	return &pane.Question{Text: stopText(f, now), Yes: "stop it", No: leaveWords(f), Do: command.StopFork{Run: f.ID}}
}

const (
	// tailMost is the number of tail lines below a list on a page, if the list has the keys and could use more. A short
	// tail leaves room to the list in steps of tailStep lines, so that one that grows seldom moves it.
	tailMost, tailStep = 10, 6
	// ruled is the height from which there is more than one part of the list, or of the tail.
	ruled = 6
)

// Draw implements pane.Pane: the list and the output of the selected run.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	k := p.book
	k.NoHeads = !c.Zoomed
	if k.Len() == 0 {
		return widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textEmpty, textTeach)...)
	}
	list := func(w, h int) []widget.Row {
		k.fit(c, w)
		return k.Draw(c.Theme, w, h, focused && !p.tail)
	}
	lines, tail := k.Lines(), (p.view().Len()/tailStep+1)*tailStep
	switch {
	case h < 3 || c.Zoomed && h < ruled:
		return list(w, h)
	case h < ruled:
		lines = 1
	case c.Zoomed && p.tail:
		tail = h
	case c.Zoomed:
		tail = min(tail, tailMost)
	}
	if above := min(k.pins+3, 2*h/3); h >= ruled { // the rows above the rule stay visible
		tail = min(tail, h-1-above)
	}
	detail := func(w, h int) pane.Detail { return p.detail(c, w, h, focused) }
	return pane.Duo{List: list, Detail: detail, Lines: lines, Most: tail}.Draw(c, w, h)
}

// detail returns the output of the selected run, or the reason why there is none. A pointer marks it while it has the
// keys.
func (p *Pane) detail(c pane.Context, w, h int, focused bool) (d pane.Detail) {
	f, ok := p.selected()
	if !ok {
		d.Rows = widget.Rows(widget.Inner, widget.Brush{Theme: c.Theme}.Empty(w, h, textNoneShown)...)
		return d
	}
	name, v, k := widget.Span{Role: theme.Dim, Text: "tail: "}, p.view(), p.book
	if focused && p.tail {
		name = widget.Span{Role: theme.Focus, Text: c.Theme.Glyph(theme.Pointer) + " tail: "}
	}
	d.Title = []widget.Span{name, {Role: theme.Strong, Text: widget.Cut(f.Title, max(8, w/2))}}
	state := widget.Span{Role: theme.Dim}
	if v.Len() == 0 {
		d.Rows = widget.Rows(widget.Inner, silence(c, f, w, h)...)
	} else {
		v.Names = c.Names(action.Forks)
		d.Rows = widget.Rows(widget.Inner, v.Lines(c.Theme, w, h, focused)...)
		if state.Text = v.State(); !v.Following() {
			state.Role = theme.Warn
		}
	}
	if k.Shown() > k.pins+k.Height && !c.Zoomed { // not all runs are visible
		more := strings.TrimSuffix(fmt.Sprintf("run %d of %d · %s", k.At()+1, k.Shown(), state.Text), " · ")
		if widget.Width(d.Title)+widget.Cells(more)+10 <= w {
			state.Text = more
		}
	}
	d.State = []widget.Span{state}
	return d
}

// Tail is the output of a run in the box of another list. The zero Tail is ready to use.
type Tail struct {
	run  string
	view *widget.TailView
}

// Draw draws the newest output of a run in h rows of w cells, or the reason why there is none.
func (t *Tail) Draw(c pane.Context, f fork.View, w, h int) []widget.Row {
	if t.run != f.ID || t.view == nil {
		t.run, t.view = f.ID, widget.NewTailView(f.ID, true)
	}
	t.view.Twelve, t.view.Now, t.view.Names = c.Snap.TwelveHours, c.Snap.At, c.Names(action.Forks)
	t.view.Sync(c.Tail, f.Lines, c.Snap.Zone)
	if t.view.Len() == 0 {
		return widget.Rows(widget.Nowhere, silence(c, f, w, h)...)
	}
	return widget.Rows(widget.Nowhere, t.view.Lines(c.Theme, w, h, false)...)
}

// silence returns why a run has no tail.
func silence(c pane.Context, f fork.View, w, h int) []string {
	b := widget.Brush{Theme: c.Theme}
	switch {
	case f.State == fork.Waiting:
		return b.Empty(w, h, queued(c.Snap, f)+".", textWaits)
	case f.Error != "":
		return b.Empty(w, h, f.Error)
	case find(c.Snap.Forks, f.ID) < 0:
		return b.Empty(w, h, textForgotten)
	}
	return b.Empty(w, h, "No output yet.")
}

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
		p.run = cmp.Or(p.newest(), first.ID)
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
