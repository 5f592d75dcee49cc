// Package forks is the dashboard's pane of background runs: the list of those
// that run, wait and have ended, and below it the tail of the selected one. It
// reads tails by cursor and owns nothing else; stopping a run is answered as a
// question.
package forks

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// maxViews is how many tails keep their place while the user looks at others.
const maxViews = 8

// Pane is the forks pane. Use New.
type Pane struct {
	list widget.List
	runs []fork.View // as the list shows them
	// visited are the failures that somebody has looked at, held the one among them
	// that is selected: it keeps its place at the top meanwhile. pinned are those that
	// stand there; noted, those that the core does not know of yet.
	visited map[string]bool
	held    fork.View
	pinned  []fork.View
	noted   []string
	book    book
	wanted  string // a run that was asked for and has to be read first
	// run is the selected one; chosen says that the user selected it, so that a
	// run that starts does not take the screen away.
	run    string
	chosen bool
	newest time.Time // when the newest run started that was seen
	tail   bool      // the tail has the keys
	views  map[string]*widget.TailView
	recent []string // the views by use, the last used at the end
	listed int      // lines of the list when drawn last
}

// New returns the pane.
func New() *Pane { return &Pane{views: map[string]*widget.TailView{}, visited: map[string]bool{}} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	if !c.Zoomed {
		return textTitle, counts(c.Snap)
	}
	return textPage, strings.Trim(strings.Join(append(p.book.state(), counts(c.Snap)), " · "), " ·")
}

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	return p.draw(c, w, h, focused)
}

// Line implements pane.Pane: the counts and what the first run does.
func (p *Pane) Line(c pane.Context, w int) string {
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if len(p.runs) == 0 {
		out = append(out, widget.Span{Role: theme.Dim, Text: textNone})
	} else {
		f := p.runs[0]
		out = append(out, badge(c.Theme, f, 0)[0], widget.Span{Text: f.Title + "  "}, widget.Span{Role: theme.Dim, Text: counts(c.Snap)})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	p.visit(c.Snap)
	defer p.visit(c.Snap)
	scope, verb, _ := strings.Cut(string(id), ".")
	switch id {
	case action.ForksState, action.ForksSort, action.ForksTurn:
		p.onPage(c, id)
		return pane.Answer{Zoom: true}
	}
	if c.Zoomed {
		if a, ok := p.onPage(c, id); ok {
			return a
		}
	}
	switch {
	case id == action.Back:
		p.back(c)
		return pane.Answer{}
	case id == action.ForksTail:
		p.tail = !p.tail && p.view() != nil
		return pane.Answer{}
	case id == action.ForksStop:
		return p.stop(c)
	case id == action.ForksResume:
		return p.resume(c)
	case id == action.ForksAgain:
		return p.again(c)
	case id == action.ForksCosts:
		return pane.Answer{Focus: action.Costs}
	case scope == "forks" && !p.tail && p.list.Move(verb, len(p.runs), p.listed):
		p.choose(c)
		return pane.Answer{}
	}
	v := p.view()
	if v == nil {
		return pane.Answer{Toast: textNothing}
	}
	v.Names = c.Names(action.Forks)
	reply, _ := v.Do(verb)
	p.read(c)
	return pane.Answer{Copy: reply.Copy, Toast: reply.Toast}
}

// Show selects a run, because the user asked for it elsewhere.
func (p *Pane) Show(c pane.Context, id string) {
	p.run, p.chosen, p.tail = id, true, false
	p.book.table.EndQuery()
	p.book.class = everyRun
	p.arrange(c.Snap)
	if _, ok := p.selected(); !ok {
		p.wanted = id // it is read in a moment
	}
	p.visit(c.Snap)
	p.book.choose(id)
	p.read(c)
}

// Press implements pane.Pane: in the tail it gives the tail the keys, in the list
// it takes them back.
func (p *Pane) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	i := int(at)
	switch column, ok := table.Heading(at); {
	case ok:
		p.book.table.Sort(column)
	case c.Zoomed && i >= 0:
		return p.pressRow(c, i, focused)
	case at == widget.Inner && !p.tail:
		return action.ForksTail
	case i < 0 || i >= len(p.runs):
		return ""
	case i != p.list.At:
		p.list.At, p.tail = i, false
		p.choose(c)
		p.visit(c.Snap)
	case focused:
		return action.ForksTail
	}
	return ""
}

// pressRow selects a row of the page; on the selected one it gives the tail the keys.
func (p *Pane) pressRow(c pane.Context, i int, focused bool) action.ID {
	if k := &p.book; k.table.Row() != i {
		p.tail = false
		k.table.Select(i)
		p.follow(c)
		return ""
	}
	if focused {
		return action.ForksTail
	}
	return ""
}

// Capture implements pane.Pane.
func (p *Pane) Capture() bool {
	if p.book.table.Query.Typing() {
		return true
	}
	v := p.view()
	return v != nil && v.Finding()
}

// Hint is the help line while the pane takes every key.
func (p *Pane) Hint() []key.Binding {
	if q := &p.book.table.Query; q.Typing() {
		return q.Hint()
	}
	if v := p.view(); v != nil {
		return v.Hint()
	}
	return nil
}

// Type implements pane.Pane.
func (p *Pane) Type(c pane.Context, msg tea.Msg) pane.Answer {
	if t := &p.book.table; t.Query.Typing() {
		t.Type(msg)
		p.follow(c)
		return pane.Answer{}
	}
	if v := p.view(); v != nil {
		v.Type(msg)
		p.read(c)
	}
	return pane.Answer{}
}

// Sync implements pane.Pane: the selection follows its run, or the newest one
// while the user has not chosen, and the tail is read.
func (p *Pane) Sync(c pane.Context) {
	p.arrange(c.Snap)
	forks := p.runs
	newest, at := newestRunning(forks)
	started := newest != "" && at.After(p.newest)
	if started {
		p.newest = at
	}
	if _, ok := p.selected(); ok || p.book.past.all() {
		p.wanted = ""
	}
	if _, ok := p.selected(); p.run != p.wanted && (!ok || !c.Zoomed && find(forks, p.run) < 0) {
		p.run, p.chosen = "", false
	}
	if !p.chosen && !p.reading() && (started || p.run == "" || newest != "" && p.stale(c)) {
		if p.run = newest; newest == "" && len(forks) > 0 {
			p.run = forks[0].ID
		}
	}
	p.list.At = max(0, find(forks, p.run))
	if !p.book.choose(p.run) && c.Zoomed && p.wanted == "" { // it is filtered out
		if id := p.book.run(); id != "" {
			p.run = id
		}
	}
	p.read(c)
}

// selected is the selected run.
func (p *Pane) selected() (fork.View, bool) {
	for _, list := range [][]fork.View{p.runs, p.pinned} {
		if i := find(list, p.run); i >= 0 {
			return list[i], true
		}
	}
	return p.book.past.find(p.run)
}

// Word is what keys do while the tail has them.
func (p *Pane) Word(id action.ID) string {
	switch {
	case p.tail && id == action.ForksUp:
		return textScroll
	case p.tail && id == action.ForksTail:
		return textToList
	}
	return ""
}

// reading reports that the user is at work in the tail: scrolled up, searching,
// or behind a filter. Nothing may take it away then.
func (p *Pane) reading() bool {
	v := p.view()
	return v != nil && (p.tail || !v.Following() || v.Finding() || v.Filtered())
}

// lingering is how long a run that has ended stays on the screen while others
// run: long enough to read its last words.
const lingering = 8 * time.Second

// stale reports that the selected run ended a while ago.
func (p *Pane) stale(c pane.Context) bool {
	i := find(p.runs, p.run)
	return i >= 0 && !p.runs[i].Live() && c.Snap.At.Sub(p.runs[i].Ended) >= lingering
}

// choose takes the selection of the list over. Whoever goes back to the newest
// running run lets the pane choose again.
func (p *Pane) choose(c pane.Context) {
	if len(p.runs) == 0 {
		return
	}
	p.run = p.runs[p.list.At].ID
	newest, _ := newestRunning(p.runs)
	p.chosen = p.run != newest
	p.read(c)
}

// back leaves one thing at a time: the search, the tail, the choice.
func (p *Pane) back(c pane.Context) {
	v := p.view()
	switch {
	case v != nil && v.EndFind():
	case p.tail:
		p.tail = false
	default:
		p.chosen = false
	}
	p.read(c)
}

// Off says why an action cannot be used on the selected run; empty means that
// it can.
func (p *Pane) Off(_ pane.Context, id action.ID) string {
	if id != action.ForksStop && id != action.ForksResume && id != action.ForksAgain {
		return ""
	}
	f, ok := p.selected()
	switch {
	case !ok:
		return textNothing
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

// stop asks before a run is ended.
func (p *Pane) stop(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textReadOnly}
	}
	if why := p.Off(c, action.ForksStop); why != "" {
		return pane.Answer{Toast: why}
	}
	f, _ := p.selected()
	return pane.Answer{Ask: &pane.Question{
		Text: stopQuestion(f, c.Snap.At), Yes: textStop, No: leaveWords(f), Do: command.StopFork{Run: f.ID},
	}}
}

// resume goes on in a finished run, in the chat.
func (p *Pane) resume(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textNoResume}
	}
	if why := p.Off(c, action.ForksResume); why != "" {
		return pane.Answer{Toast: why}
	}
	return pane.Answer{Do: command.ResumeFork{Run: p.run}, Focus: action.Chat}
}

// again fires the task of a run that has ended once more.
func (p *Pane) again(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textNoAgain}
	}
	if why := p.Off(c, action.ForksAgain); why != "" {
		return pane.Answer{Toast: why}
	}
	f, _ := p.selected()
	p.chosen = false // the run that starts is what the user waits for
	return pane.Answer{Do: command.FireNow{ID: f.TaskID}}
}

// view is the tail of the selected run, or nil.
func (p *Pane) view() *widget.TailView { return p.views[p.run] }

// read takes over what the selected run has said since.
func (p *Pane) read(c pane.Context) {
	f, ok := p.selected()
	if !ok || c.Tail == nil {
		return
	}
	v := p.views[p.run]
	if v == nil {
		v = widget.NewTailView(p.run, true)
		p.views[p.run] = v
	}
	p.use(p.run)
	v.Sync(c.Tail, f.Lines, c.Snap.Zone)
}

// use makes a view the last used one and forgets those beyond maxViews.
func (p *Pane) use(run string) {
	for i, id := range p.recent {
		if id == run {
			p.recent = append(p.recent[:i], p.recent[i+1:]...)
			break
		}
	}
	p.recent = append(p.recent, run)
	if len(p.recent) > maxViews {
		delete(p.views, p.recent[0])
		p.recent = p.recent[1:]
	}
}

// find is the index of a run, or -1.
func find(forks []fork.View, id string) int {
	for i, f := range forks {
		if f.ID == id {
			return i
		}
	}
	return -1
}

// newestRunning is the run that started last among the running ones, and when;
// empty without any.
func newestRunning(forks []fork.View) (id string, at time.Time) {
	best := -1
	for i, f := range forks {
		if f.State == fork.Running && (best < 0 || f.Started.After(forks[best].Started)) {
			best = i
		}
	}
	if best < 0 {
		return "", time.Time{}
	}
	return forks[best].ID, forks[best].Started
}
