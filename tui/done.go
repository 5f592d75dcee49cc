package tui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/undo"
)

const (
	// glanceEvery is how often the dashboard reports that someone is looking: once a minute.
	glanceEvery = 50 * time.Second
	// activeEvery is how often the dashboard reports that the user is active.
	activeEvery = time.Minute
	// leftAlone is how long a terminal without the focus still counts as looked at. It may
	// be on a second screen, or in a session that no one is attached to.
	leftAlone = time.Hour
)

// presence decides how often the dashboard reports the user to the core.
type presence struct {
	glanced time.Time // when it last reported that someone is looking
	active  time.Time // when it last reported that the user is active
	blurred time.Time // since when the terminal has not had the focus
}

// glance reports whether it is time to report that someone is looking.
func (p *presence) glance(now time.Time) bool {
	alone := !p.blurred.IsZero() && now.Sub(p.blurred) > leftAlone
	return !alone && due(&p.glanced, now, glanceEvery)
}

// input reports whether it is time to report that the user is active.
func (p *presence) input(now time.Time) bool { return due(&p.active, now, activeEvery) }

// due reports whether it is time again for what was done last, and notes that it is done.
func due(last *time.Time, now time.Time, every time.Duration) bool {
	if now.Sub(*last) < every {
		return false
	}
	*last = now
	return true
}

// done handles the end of a command, and remembers how to undo it.
func (r *root) done(msg doneMsg) tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	r.update(msg.snap)
	if msg.asker != nil && slices.Contains(r.dialogs, msg.asker) { // else it has been closed
		cmd := r.pass(msg.asker, pane.Done{Err: msg.err})
		if msg.err != nil { // the dialog shows it
			return cmd
		}
	}
	switch {
	case silent(msg.command):
		return nil
	case msg.err != nil:
		if q := forAgent(msg.command, msg.err); q != nil {
			return r.answer(pane.Answer{Ask: q})
		}
		r.failed(msg)
		return nil
	}
	if q := Sure(msg.command, msg.outcome); q != nil {
		return r.answer(pane.Answer{Ask: q})
	}
	switch c := msg.command.(type) {
	case command.FireNow:
		r.panes[action.Forks].(*forks.Pane).Await(r.context(action.Forks), c.ID)
	case command.AddTask:
		if undo, ok := msg.outcome.Undo.(command.RemoveTask); ok { // what was just made is selected
			r.panes[action.Schedule].(shower).Show(r.context(action.Schedule), undo.ID)
		}
	case command.Line:
		if msg.outcome.Undo == nil && strings.Contains(msg.outcome.Printed, "\n") {
			return r.answer(pane.Answer{Open: dialog.NewPage(c.Text, msg.outcome.Printed)})
		}
	case command.SetLook:
		r.choose(map[string]string{c.Name: c.Value})
		r.worn()
	}
	r.succeeded(msg)
	return nil
}

// forAgent offers to send a line that is no command to the agent, if it is a sentence; otherwise it is nil.
func forAgent(c command.Value, err error) *pane.Question {
	text := ""
	switch c := c.(type) {
	case command.Say:
		text = strings.TrimPrefix(strings.TrimSpace(c.Text), "/")
	case command.Line:
		text = strings.TrimSpace(c.Text)
	}
	if no := new(command.NoLineError); !errors.As(err, &no) || !strings.Contains(text, " ") {
		return nil
	}
	return &pane.Question{Text: fmt.Sprintf(textForAgent, err), Yes: "send it", No: "leave it", Do: command.Say{Text: text}}
}

// readMore starts what panes want to read beyond the snapshot, one thing at a time for
// each, without holding up the frame.
func (r *root) readMore() tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, p := range action.AllPanes {
		loader, ok := r.panes[p].(pane.Loader)
		if !ok || r.reading[p] {
			continue
		}
		a := loader.Wants(r.context(p))
		if a.Load != nil {
			r.reading[p] = true
			cmds = append(cmds, r.queue.load(a.Load, func(got pane.Loaded) tea.Cmd {
				delete(r.reading, p)
				return r.answer(got(r.context(p)))
			}))
		}
		if a.Do != nil {
			cmds = append(cmds, r.send(a.Do, nil))
		}
	}
	return tea.Batch(cmds...)
}

// present records input, and reports to the core that the user is active.
func (r *root) present() tea.Cmd {
	r.presence.blurred = time.Time{} // not every terminal reports its focus
	if r.o.ReadOnly || !r.presence.input(time.Now()) {
		return nil
	}
	return r.queue.start(doneMsg{command: command.UserActive{}})
}

// walk is an undo or a redo.
type walk struct {
	way  undo.Way
	sure bool // the user has been asked whether a file may go
}

// take undoes or redoes the next change, or asks first.
func (w walk) take(r *root) tea.Cmd {
	way := w.way
	c, ok := r.changes.Next(way)
	if !ok { // it was done while a question was open
		return nil
	}
	if q := r.removal(c.Step); q != nil && !w.sure {
		id := map[undo.Way]action.ID{undo.Back: action.Undo, undo.Forward: action.Redo}[way]
		a, _ := action.Get(action.Everywhere, id)
		q.Do = nil
		r.open(dialog.Ask(*q, pane.Answer{Run: &a}))
		return nil
	}
	c, _ = r.changes.Take(way)
	if c.Step == nil {
		before := r.chosen(c.Look)
		r.choose(c.Look)
		r.worn()
		r.walked(way, c, undo.Change{Look: before})
		return nil
	}
	step := c.Step
	if q := r.removal(step); q != nil { // the user is sure
		step = q.Do
	}
	return r.queue.add(doneMsg{command: step, change: &c, way: way})
}

// removal is the question before a command removes a file that the user may have written;
// nil if it removes none.
func (d *dashboard) removal(c command.Value) *pane.Question {
	return Removal(d.snap, c, d.names().Name(action.Undo))
}

// Removal is that question, with the name of undo.
func Removal(s *core.Snapshot, c command.Value, undo string) *pane.Question {
	q := &pane.Question{Yes: "delete the file", No: "keep it", Do: c}
	var t schedule.TaskView
	switch c := c.(type) {
	case command.DeleteTask:
		t = taskOf(s, c.ID)
		q.Text = fmt.Sprintf(textDelete, cmp.Or(t.Title, c.ID), t.Path, undo)
	case command.RemoveTask:
		t = taskOf(s, c.ID)
		q.Text = fmt.Sprintf(textUndoMade, t.Path)
		if t.Version != "" && t.Version != c.Version { // edited since it was made
			q.Text = fmt.Sprintf(textUndoEdited, t.Path)
			q.Do = command.DeleteTask{ID: c.ID} // it can be brought back as it is now
		}
	}
	if t.Path == "" { // the bot says that there is no such task
		return nil
	}
	return q
}

// Sure asks before a command is carried out whose outcome says what follows; nil if it has been carried out.
func Sure(c command.Value, o command.Outcome) *pane.Question {
	q := &pane.Question{Text: o.Follows + ".", Yes: "carry it out", No: "leave it", Do: command.Sure(c)}
	if _, setting := c.(command.SetConfig); setting {
		q.Yes, q.No = "set it", "leave it unchanged"
	}
	if o.Follows == "" {
		return nil
	}
	return q
}

// taskOf is a task of a snapshot; the zero one if there is none.
func taskOf(s *core.Snapshot, id string) (t schedule.TaskView) {
	if i := slices.IndexFunc(s.Schedule.Tasks, func(t schedule.TaskView) bool { return t.ID == id }); i >= 0 {
		t = s.Schedule.Tasks[i]
	}
	return t
}
