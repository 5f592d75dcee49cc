package tui

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/undo"
)

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
