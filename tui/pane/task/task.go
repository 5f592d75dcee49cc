// Package task is the page of one routine or reminder: how its runs went, how its
// pings are answered, when it fires next, and what it would be told. It owns which
// task and which run is looked at; the rest is read for it.
package task

import (
	"slices"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Page is the page of one task. Use New.
type Page struct {
	pane.Still
	id string // of the task; empty: the first is shown

	past   *command.TaskPast
	prompt string
	failed string // why something could not be read
	// seen is what past and prompt were read for, and asked which of them is next.
	seen  seen
	asked step
	edits bool // the form is to be opened with what is read
	run   int  // which of the runs is looked at
	top   int  // the first line of the prompt in view
	lines int  // of the prompt that are in view
	total int  // lines of the prompt
}

// step is what is being read.
type step uint8

const (
	nothing step = iota
	thePast
	thePrompt
)

// seen is what makes the page look again: another task or version of it, a run that
// has ended, a ping, another minute.
type seen struct {
	id, version string
	ended       int
	pings       int
	minute      time.Time
}

// New returns the page.
func New() *Page { return &Page{} }

// Show shows the task of an id.
func (p *Page) Show(id string) {
	if p.id != id {
		*p = Page{id: id}
	}
}

// task is the one that is shown; nil where there is none.
func (p *Page) task(c pane.Context) *schedule.TaskView {
	tasks := c.Snap.Schedule.Tasks
	if i := p.place(c); i >= 0 {
		return &tasks[i]
	}
	return nil
}

// place is which of the tasks is shown, or -1: there is none, or it is gone.
func (p *Page) place(c pane.Context) int {
	tasks := c.Snap.Schedule.Tasks
	i := slices.IndexFunc(tasks, func(t schedule.TaskView) bool { return t.ID == p.id })
	if i < 0 && len(tasks) > 0 && p.id == "" {
		return 0
	}
	return i
}

func (p *Page) seenNow(c pane.Context, t *schedule.TaskView) seen {
	s := seen{id: t.ID, version: t.Version, minute: c.Snap.At.Truncate(time.Minute)}
	for i := range c.Snap.Forks {
		if f := &c.Snap.Forks[i]; f.TaskID == t.ID && !f.Live() {
			s.ended++
		}
	}
	s.pings = len(c.Snap.Budget.Pings)
	return s
}

// Wants implements pane.Reader: how it went, and then what it would be told.
func (p *Page) Wants(c pane.Context) command.Value {
	t := p.task(c)
	if !c.Zoomed || t == nil {
		p.edits = false
		return nil
	}
	now := p.seenNow(c, t)
	switch {
	case now != p.seen:
		p.Show(now.id)
		p.seen, p.asked = now, thePast
		return command.Past{ID: now.id}
	case p.asked == thePast:
		p.asked = thePrompt
		return command.Preview{ID: now.id}
	}
	return nil
}

// Read implements pane.Reader.
func (p *Page) Read(_ pane.Context, o command.Outcome, err error) pane.Answer {
	switch {
	case err != nil:
		p.edits, p.failed = false, clean.Line(err.Error())
	case o.Past != nil && o.Past.File.ID != p.id: // asked for before another task was shown
	case o.Past != nil && p.edits:
		p.edits, p.past = false, o.Past
		p.run = len(o.Past.Runs) - 1
		return pane.Answer{Open: dialog.EditTask(o.Past.File)}
	case o.Past != nil:
		last := p.past == nil || p.run >= len(p.past.Runs)-1
		p.past, p.failed = o.Past, ""
		if p.run = min(p.run, len(o.Past.Runs)-1); last {
			p.run = len(o.Past.Runs) - 1
		}
	default:
		p.prompt = clean.Text(o.Body)
	}
	return pane.Answer{}
}

// Opens reports that the form is asked for and its file is being read.
func (p *Page) Opens() bool { return p.edits }

// selected is the run that is looked at; nil where there is none.
func (p *Page) selected() *fork.View {
	if p.past == nil || p.run < 0 || p.run >= len(p.past.Runs) {
		return nil
	}
	return &p.past.Runs[p.run]
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	if t := p.task(c); t != nil {
		return textTitle, clean.Line(t.Path)
	}
	return textTitle, ""
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	t := p.task(c)
	if id == action.TaskRestore {
		return pane.Answer{Do: command.RestoreTask{}}
	}
	if t == nil {
		return pane.Answer{}
	}
	switch id {
	case action.TaskRun:
		if r := p.selected(); r != nil {
			return pane.Answer{Window: r.ID}
		}
	case action.TaskOlder:
		p.run = max(0, p.run-1)
	case action.TaskNewer:
		if p.past != nil {
			p.run = min(p.run+1, len(p.past.Runs)-1)
		}
	case action.TaskBefore, action.TaskBehind:
		p.turn(c, map[action.ID]int{action.TaskBefore: -1, action.TaskBehind: +1}[id])
	case action.TaskFire:
		return pane.Answer{Do: command.FireNow{ID: t.ID, Stays: t.Kind == routines.KindReminder}}
	case action.TaskPause:
		return pane.Answer{Do: command.Pause{ID: t.ID, Paused: !t.Paused}}
	case action.TaskEdit:
		if p.past != nil && p.past.File.ID == t.ID {
			return pane.Answer{Open: dialog.EditTask(p.past.File)}
		}
		p.edits, p.seen = true, seen{} // as soon as the file is read
	case action.TaskDelete:
		return pane.Answer{Do: command.DeleteTask{ID: t.ID}}
	case action.TaskOpen:
		return pane.Answer{Edit: &pane.Edit{File: t.Path}}
	default:
		_, verb, _ := strings.Cut(string(id), ".")
		p.scroll(verb)
	}
	return pane.Answer{}
}

// turn goes to the task before or behind, in the order of their next fires.
func (p *Page) turn(c pane.Context, by int) {
	tasks := c.Snap.Schedule.Tasks
	if i := p.place(c) + by; i >= 0 && i < len(tasks) {
		p.Show(tasks[i].ID)
	}
}

// scroll moves the prompt.
func (p *Page) scroll(verb string) {
	l := widget.List{At: p.top}
	if l.Move(verb, max(1, p.total-p.lines+1), p.lines) {
		p.top = l.At
	}
}

// Off says why something cannot be done with the task that is shown.
func (p *Page) Off(c pane.Context, id action.ID) string {
	t := p.task(c)
	switch {
	case id == action.TaskRestore:
	case t == nil:
		return textNone
	case id == action.TaskRun && p.selected() == nil:
		return textNoRun
	}
	return ""
}

// Press implements pane.Pane: a click on what is told of a run opens it.
func (p *Page) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	if at == widget.Inner && focused && p.selected() != nil {
		return action.TaskRun
	}
	return ""
}
