// Package task is the page of one routine or reminder: its runs, the answers to its pings, its next fires, and its
// prompt. It owns which task and which run is shown, and must not compute the rest: it reads a report.
package task

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Page is the page of one task. The zero Page is ready to use.
type Page struct {
	pane.Still
	id string // of the task; empty means the first one

	past   *command.TaskPast
	prompt string
	failed string         // the error of a read
	seen   seen           // the state for which past and prompt were read
	asked  bool           // the prompt was requested too
	run    int            // index of the shown run
	text   *widget.Reader // the prompt; nil until it was drawn
}

// seen changes when the page must be reloaded: another task or version of it, an ended run, a ping, a new minute.
type seen struct {
	id, version  string
	ended, pings int
	minute       time.Time
}

// Show shows the task with an ID.
func (p *Page) Show(_ pane.Context, id string) {
	if p.id != id {
		*p = Page{id: id}
	}
}

// task returns the shown task, or nil.
func (p *Page) task(c pane.Context) *schedule.TaskView {
	tasks := c.Snap.Schedule.Tasks
	if i := p.place(c); i >= 0 {
		return &tasks[i]
	}
	return nil
}

// place returns the index of the shown task, or -1 if it was deleted or there is none.
func (p *Page) place(c pane.Context) int {
	tasks := c.Snap.Schedule.Tasks
	i := slices.IndexFunc(tasks, func(t schedule.TaskView) bool { return t.ID == p.id })
	if i < 0 && len(tasks) > 0 && p.id == "" {
		return 0
	}
	return i
}

// Wants implements pane.Loader: it loads the past of the task, and then its prompt.
func (p *Page) Wants(c pane.Context) pane.Answer {
	t := p.task(c)
	if !c.Zoomed || t == nil {
		return pane.Answer{}
	}
	now := seen{t.ID, t.Version, len(c.Snap.Ended), len(c.Snap.Budget.Pings), c.Snap.At.Truncate(time.Minute)}
	switch {
	case now != p.seen:
		p.Show(c, now.id)
		p.seen, p.asked = now, false
		return pane.Answer{Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
			past, err := r.Past(ctx, now.id)
			return p.read(now.id, err, func() { p.take(past) })
		}}
	case !p.asked:
		p.asked = true
		return pane.Answer{Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
			text, err := r.Preview(ctx, now.id)
			return p.read(now.id, err, func() { p.prompt = clean.Text(text) })
		}}
	}
	return pane.Answer{}
}

// read applies a result about a task, unless another task is shown by now.
func (p *Page) read(id string, err error, take func()) pane.Loaded {
	return func(pane.Context) pane.Answer {
		switch {
		case p.id != id:
		case err != nil:
			p.failed = clean.Line(err.Error())
		default:
			take()
		}
		return pane.Answer{}
	}
}

// take shows a loaded past, and keeps showing the newest run.
func (p *Page) take(past command.TaskPast) {
	last := p.past == nil || p.run >= len(p.past.Runs)-1
	p.past, p.failed = &past, ""
	if p.run = min(p.run, len(past.Runs)-1); last {
		p.run = len(past.Runs) - 1
	}
}

// selected returns the shown run, or nil.
func (p *Page) selected() *fork.View {
	if p.past == nil || p.run < 0 || p.run >= len(p.past.Runs) {
		return nil
	}
	return &p.past.Runs[p.run]
}

// State implements pane.Pane: the task's file.
func (p *Page) State(c pane.Context) string {
	if t := p.task(c); t != nil {
		return clean.Line(t.Path)
	}
	return ""
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.TaskRestore:
		return pane.Answer{Do: command.RestoreTask{}}
	case action.TaskRun:
		return pane.Answer{Focus: action.Forks, Item: p.selected().ID}
	case action.TaskOlder:
		p.run = max(0, p.run-1)
	case action.TaskNewer:
		if p.past != nil {
			p.run = min(p.run+1, len(p.past.Runs)-1)
		}
	case action.TaskPrevious, action.TaskNext: // in the order of their next fires
		by := map[action.ID]int{action.TaskPrevious: -1, action.TaskNext: +1}[id]
		if i, tasks := p.place(c)+by, c.Snap.Schedule.Tasks; i >= 0 && i < len(tasks) {
			p.Show(c, tasks[i].ID)
		}
	case action.TaskFire, action.TaskPause, action.TaskEdit, action.TaskDelete, action.TaskOpen:
		return dialog.OnTask(c, *p.task(c), id)
	default:
		if p.text != nil {
			p.text.Do(id.Verb())
		}
	}
	return pane.Answer{}
}

// Off returns why an action is disabled for the shown task.
func (p *Page) Off(c pane.Context, id action.ID) string {
	t := p.task(c)
	switch {
	case id == action.TaskRestore:
	case t == nil:
		return "there is no task"
	case id == action.TaskRun && p.selected() == nil:
		return textNoRun
	}
	return ""
}

// Press implements pane.Pane: a click on the lines of a run opens it.
func (p *Page) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	if at == widget.Inner && focused && p.selected() != nil {
		return action.TaskRun
	}
	return ""
}

const (
	textGone  = "This task no longer exists: it has run, or its file was removed."
	textNoRun = "no finished runs yet"

	textRuns       = "runs"
	textCost       = "cost"
	textPings      = "pings"
	textNext       = "next"
	textAlso       = "also sent"
	textSkips      = "skipped"
	textNever      = "it never fires again"
	textBackground = "in the background, may ping"
	textSays       = "sends what its check prints, without a model"
	textSilent     = "in the background, never pings"
	textForeground = "in the conversation"
	textBringBack  = "%s restores the last deleted task."
)

func textLast(n, of int) string {
	if of > n {
		return fmt.Sprintf("the last %d of %s", n, words.Grouped(uint64(of), "run"))
	}
	return words.Count(n, "run")
}
