package plain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/recur"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/forks"
	panes "ollimbot/tui/pane/schedule"
	page "ollimbot/tui/pane/task"
	"ollimbot/tui/widget/query"
)

// oftenFires is the number of fires of one task listed as separate lines.
const oftenFires = 4

func (c *console) taskThing(t schedule.TaskView) thing {
	return thing{id: t.ID, title: t.Title, line: taskText(c.snap, t)}
}

// findTask returns the named task.
func findTask(c *console, r request) (schedule.TaskView, bool) {
	return pick(c.finder, r, allTasks, c.snap.Schedule.Tasks, c.taskThing)
}

func printTasks(c *console, r request) {
	tasks := kept(c.printer, c.snap.Schedule.Tasks, r.rest, func(t schedule.TaskView) query.Facts { return panes.TaskFacts(c.snap, t) })
	c.list(allTasks.or(c.noneOf(r, textNoTasks)), each(tasks, c.taskThing))
}

// printDay lists the fires of the next 24 hours and the user's appointments, then today's runs, newest first; for
// another day, everything known about it.
func printDay(c *console, r request) {
	q := query.Parse(r.rest)
	if q.Sentence() {
		c.usage(r.Command)
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, commandTime)
	defer cancel()
	c.core.Look(ctx)
	c.look()
	ahead := c.fires(q)
	var dates []string
	for _, d := range c.snap.Day {
		if d.Start.Before(c.snap.At.Add(24*time.Hour)) && c.onDay(q, query.Facts{At: c.snap.Local(d.Start)}) {
			dates = append(dates, dateText(c.snap, d))
		}
	}
	if r.rest == "" || len(ahead) > 0 {
		c.list(allTasks.or(textNothingToday), ahead)
	}
	if len(dates) > 0 {
		c.read("appointments", dates, "")
	}
	if r.rest == "" {
		q = query.Parse("today")
	}
	if !c.readRuns(q) {
		return
	}
	runs := slices.DeleteFunc(c.runs(), func(f fork.View) bool { return !c.onDay(q, forks.Summarize(c.snap, f).Facts) })
	if len(runs)+len(ahead)+len(dates) == 0 || len(runs) > 0 {
		c.list(allRuns.or(c.noneOf(r, "")), each(runs, c.runThing))
	}
}

// onDay reports whether something is on the day of a query, ignoring the query's words.
func (c *console) onDay(q query.Query, f query.Facts) bool {
	f.Text, f.Now = "", c.now()
	return q.Keeps(f)
}

// fires returns the fires of the next 24 hours on the day of a query. A task that fires often has one line, at its
// first fire.
func (c *console) fires(q query.Query) (list []thing) {
	day := slices.DeleteFunc(slices.Clone(c.snap.Schedule.Day), func(e schedule.Entry) bool { return !c.onDay(q, query.Facts{At: c.snap.Local(e.FireTime)}) })
	fires := map[string]int{}
	for _, e := range day {
		fires[e.ID]++
	}
	for _, e := range day {
		more := ""
		if n := fires[e.ID]; n > oftenFires {
			fires[e.ID] = 0 // the rest is in this line
			more = "and " + words.Some(n-1, "more time", "")
		} else if n == 0 {
			continue
		}
		list = append(list, thing{id: e.ID, line: entryText(c.snap, e, more)})
	}
	return list
}

// printTask prints everything about a task except its file: its properties, its past, its next fires.
func printTask(c *console, r request) {
	t, text, ok := readTask(c, r, c.core.Describe)
	if !ok {
		return
	}
	about, _, _ := strings.Cut(text, "\n\n")
	next := false // its fires are printed below, with their forecasts
	for line := range strings.Lines(about) {
		if next = strings.HasPrefix(line, "next ") || next && strings.HasPrefix(line, " "); !next {
			c.answer(spoken(line))
		}
	}
	if past, ok := call(c.executor, c.core.Past, t.ID); ok {
		c.answer(strings.Join(each(page.Lines(c.snap, &past), spoken), "\n"))
	}
}

// printFile prints the path and the content of a task's file.
func printFile(c *console, r request) {
	if t, text, ok := readTask(c, r, c.core.Describe); ok {
		_, file, _ := strings.Cut(text, "\n\n")
		c.answer(fmt.Sprintf(textFileIs, filepath.Join(c.snap.Root, t.Path)) + "\n" + file)
	}
}

// readTask reads data about the named task.
func readTask(c *console, r request, of func(context.Context, string) (string, error)) (t schedule.TaskView, text string, ok bool) {
	if t, ok = findTask(c, r); ok {
		text, ok = call(c.executor, of, t.ID)
	}
	return t, text, ok
}

// edit changes a field of a task: "TASK FIELD VALUE". Without a field it lists the fields.
func edit(c *console, r request) {
	fields := strings.Fields(r.rest)
	at := slices.IndexFunc(fields, dialog.EditNames)
	value := ""
	if at > 0 {
		r.rest, value = strings.Join(fields[:at], " "), command.SkipWords(r.rest, at+1)
	}
	t, ok := findTask(c, r)
	if !ok {
		return
	}
	past, ok := call(c.executor, c.core.Past, t.ID)
	switch {
	case !ok:
		return
	case at <= 0:
		c.read(fmt.Sprintf("fields of %s", t.Title), rowsText(dialog.EditRows(past.File)), "")
		return
	}
	do, note, ok := dialog.EditField(pane.Context{Snap: c.snap}, past.File, fields[at], strings.TrimSpace(value))
	if !ok {
		c.fail(note)
		return
	}
	if note != "" {
		note = "; " + note
	}
	c.doAndAdd(r, do, note)
}

// waiting is a file that needs the user's decision.
type waiting struct {
	thing
	version, why string
	edit         routines.Proposal // zero if the file is new
}

// waitingFiles returns the files that need a decision.
func waitingFiles(c *console) (all []waiting) {
	for _, t := range c.snap.Schedule.Tasks {
		if t.Waits != "" || t.Proposed.Version != "" {
			all = append(all, waiting{c.taskThing(t), t.Version, t.Waits, t.Proposed})
		}
	}
	for _, p := range c.snap.Untold() {
		if p.Waits {
			all = append(all, waiting{thing{id: p.File, title: p.File, line: problemText(p)}, p.Version, p.Message, p.Proposed})
		}
	}
	return all
}

// findWaiting finds one among them, and prints what an edit would change.
func findWaiting(c *console, r request, all []waiting) (w waiting, ok bool) {
	w, ok = pick(c.finder, r, allTasks.or(textNothingWaits), all, func(w waiting) thing { return w.thing })
	if ok && w.edit.Version != "" {
		c.answer(dialog.ReviewText(w.edit))
	}
	return w, ok
}

// grant approves a task, skill, webhook or edit, after a question that names the requested rights.
func grant(c *console, r request, files []waiting) {
	w, ok := findWaiting(c, r, files)
	switch {
	case !ok:
	case w.edit.Version != "":
		c.ask(r, panes.EditQuestion(w.title, w.edit, command.AllowTask{ID: w.id, Version: w.edit.Version}))
	default:
		c.ask(r, panes.AllowQuestion(w.title, w.why, command.AllowTask{ID: w.id, Version: w.version}))
	}
}

// refuse refuses the agent's pending edit and restores the file.
func refuse(c *console, r request, files []waiting) {
	edits := slices.DeleteFunc(files, func(w waiting) bool { return w.edit.Version == "" })
	if w, ok := findWaiting(c, r, edits); ok {
		c.ask(r, panes.RefuseQuestion(w.title, w.edit, command.RefuseEdit{ID: w.id, Version: w.edit.Version}))
	}
}

// create writes a new task: "routine WHEN MESSAGE" or "reminder WHEN MESSAGE".
func create(c *console, r request) {
	kind, rest := command.CutWord(r.rest)
	var t command.AddTask
	var err error
	more, read := "", c.snap.Times()
	switch {
	case rest == "":
		c.usage(r.Command)
		return
	case strings.EqualFold(kind, "routine"):
		var s recur.Recurrence
		s, rest, err = read.FirstSchedule(rest)
		t = newTask(rest)
		t.Cron = s.String()
		if err == nil {
			more = "; " + s.Words()
			if note, ok := dialog.CheckCron(pane.Context{Snap: c.snap}, t.Cron); !ok {
				err = errors.New(note)
			}
		}
	case strings.EqualFold(kind, "reminder"):
		note := read.Note(rest)
		var at time.Time
		at, rest, err = read.First(rest)
		var ahead []when.Ahead
		if err == nil {
			ahead, rest, err = when.FirstAhead(rest)
		}
		t = newTask(rest)
		t.At, t.Ahead = at, when.AheadLine(ahead)
		if note != "" {
			more = "; " + note
		}
	default:
		c.usage(r.Command)
		return
	}
	switch {
	case err != nil && when.Meant(err):
		c.fail(err.Error())
	case err != nil:
		c.usage(r.Command)
	case t.Message == "":
		c.fail(textNoMessage)
	default:
		c.doAndAdd(r, t, more)
	}
}

// taskWords matches the words that may precede a message: "silent foreground called TITLE:".
var taskWords = lazyregexp.New(`(?is)^((?:\b(?:silent|foreground)\b,?\s*)*)(?:called\s+(.+?))?:\s(.+)$`)

// newTask reads a message and the words before it.
func newTask(text string) command.AddTask {
	parts := taskWords().FindStringSubmatch(text)
	if parts == nil || parts[1]+parts[2] == "" {
		return command.AddTask{Message: strings.TrimSpace(text)}
	}
	how := strings.ToLower(parts[1])
	return command.AddTask{
		Description: strings.Join(strings.Fields(parts[2]), " "), Message: strings.TrimSpace(parts[3]),
		Silent: strings.Contains(how, "silent"), Foreground: strings.Contains(how, "foreground"),
	}
}
