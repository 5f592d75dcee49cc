package dialog

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/settings"
)

// thing is what the palette finds beside actions: a task with what can be done with
// it, a run, an update, a setting. "fire tea" is one of them.
type thing struct {
	kind   string // "task"
	does   string // what enter does: "fires it now, beside its schedule"
	off    string // why it cannot be done; empty where it can
	answer pane.Answer
}

// add lists a thing that a query may name beside actions.
func (p *Palette) add(id action.ID, name string, t thing) {
	a := action.Action{ID: id, Title: name, Short: t.kind}
	p.things = append(p.things, &item{action: a, name: name, thing: &t, all: strings.ToLower(name + "\n" + t.kind + "\n" + string(id))})
}

// fillThings lists tasks, runs, updates and settings.
func (p *Palette) fillThings(c pane.Context) {
	for i := range c.Snap.Schedule.Tasks {
		taskThings(c, &c.Snap.Schedule.Tasks[i], p.add)
	}
	p.addRuns(c, c.Snap.Failures)
	p.addRuns(c, c.Snap.Forks)
	for i := range c.Snap.Updates {
		u := &c.Snap.Updates[i]
		body := c.Snap.Sourced(*u)
		p.add("update", textUpdateName+clean.Cut(clean.Line(body), 60), thing{
			kind: textAnUpdate, does: textOpensUpdate, answer: pane.Answer{Focus: action.Updates, Show: &pane.Page{Title: textUpdateTitle, Body: body}},
		})
	}
	for _, s := range settings.Find(c) {
		words := strings.ReplaceAll(s.Key, "_", " ")
		p.add(action.ID("setting "+words), s.Name, thing{kind: textASetting, does: textOpensSetting, answer: pane.Answer{Setting: s.Key}})
	}
}

// addRuns lists runs, each once.
func (p *Palette) addRuns(c pane.Context, runs []fork.View) {
	for i := range runs {
		f := &runs[i]
		if !p.runs[f.ID] {
			p.runs[f.ID] = true
			p.add("run", runName(c, f), thing{kind: textARun, does: textOpensRun, answer: pane.Answer{Window: f.ID, Zoom: true}})
		}
	}
}

// taskThings are what can be done with a task, by verb and name.
func taskThings(c pane.Context, t *schedule.TaskView, add func(action.ID, string, thing)) {
	name := t.Title
	if name == "" {
		name = t.Path
	}
	writes := ""
	if c.ReadOnly {
		writes = textReadOnlyHere
	}
	verb := func(id action.ID, title, does, off string, a pane.Answer) {
		add(id, fmt.Sprintf(title, name), thing{kind: textATask, does: does, off: off, answer: a})
	}
	verb("task", textVerbOpen, textDoesOpen, "", pane.Answer{Task: t.ID})
	fire := pane.Answer{Do: command.FireNow{ID: t.ID}}
	if t.Kind == routines.KindReminder {
		fire = pane.Answer{Ask: &pane.Question{Text: fmt.Sprintf(textFireReminder, name), Yes: textFireYes, No: textFireNo, Do: command.FireNow{ID: t.ID}}}
	}
	verb(action.ScheduleFire, textVerbFire, textDoesFire, writes, fire)
	if t.Paused {
		verb(action.SchedulePause, textVerbGoOn, textDoesGoOn, writes, pane.Answer{Do: command.Pause{ID: t.ID}})
	} else {
		verb(action.SchedulePause, textVerbPause, textDoesPause, writes, pane.Answer{Do: command.Pause{ID: t.ID, Paused: true}})
	}
	verb(action.ScheduleSnooze, textVerbSnooze, textDoesSnooze, writes, pane.Answer{
		Until: &pane.Until{Title: fmt.Sprintf(textSnoozeUntil, name), For: command.Snooze{ID: t.ID}, Now: t.Snoozed},
	})
	verb(action.SchedulePreview, textVerbPreview, textDoesPreview, "", pane.Answer{Show: &pane.Page{Title: name, Load: command.Preview{ID: t.ID}}})
	verb(action.ScheduleEdit, textVerbEdit, textDoesEdit, writes, pane.Answer{Task: t.ID, Form: true})
	verb(action.ScheduleDelete, textVerbDelete, textDoesDelete, writes, pane.Answer{Do: command.DeleteTask{ID: t.ID}})
	verb(action.ScheduleOpen, textVerbOpenFile, textDoesOpenFile, writes, pane.Answer{Edit: &pane.Edit{File: t.Path}})
}

// runName is a run as one looks for it: its task, what became of it, when.
func runName(c pane.Context, f *fork.View) string {
	at := f.Ended
	if at.IsZero() {
		at = f.Started
	}
	name := f.Title + textRunIs + string(f.State)
	if at.IsZero() {
		return name
	}
	layout := "15:04"
	if c.Snap.At.Sub(at) > 20*time.Hour {
		layout = "2 Jan 15:04"
	}
	return name + " " + c.Snap.Clock(at, layout)
}
