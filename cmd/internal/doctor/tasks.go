package doctor

import (
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/guide"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// taskFiles are the tasks in force, and what is wrong with the user's files.
type taskFiles struct {
	*report
	*routines.Set
	problems []routines.Problem
	waiting  []routines.Problem // files that await approval
	err      error              // why these are unknown
}

func (r *report) taskFiles() taskFiles {
	bot, err := r.p.Bot(r.DataDir)
	if err != nil {
		return taskFiles{report: r, Set: schedule.Files(r.Dir, r.Env.Zone), err: err}
	}
	return taskFiles{report: r, Set: bot.Index().Set(), problems: bot.Problems(r.Now), waiting: bot.Review().Waiting()}
}

// files reports the list of problems that every place shows.
func (t taskFiles) files() {
	if t.err != nil {
		t.fail("files", "%v", t.err)
		return
	}
	for _, p := range t.problems {
		t.add(level(p.Severity), p.Position(), "%s", p.Message)
	}
	if len(t.problems) == 0 {
		t.pass("files", "every file of yours is in order")
	}
}

// waits reports whether a task does not run because it is waiting for approval, and adds
// a warning if so.
func (t taskFiles) waits(task routines.Task) bool {
	if task.Waits != "" {
		t.warn(task.ID, "%s: does not run until you approve it: ollim-bot allow", task.Title())
	}
	return task.Waits != ""
}

func (t taskFiles) routines() {
	for _, routine := range t.Routines {
		if t.waits(routine.Task) {
			continue
		}
		next := routine.Schedule.Next(t.Now.Add(time.Minute).Truncate(time.Minute))
		if ended := routine.Schedule.EndWords(t.Now); ended != "" {
			t.pass(routine.ID, "%s: %s", routine.Title(), ended)
			continue
		}
		if next.IsZero() {
			t.fail(routine.ID, "%s: never fires", routine.Title())
			continue
		}
		t.pass(routine.ID, "%s: next fire %s (%s)", routine.Title(), t.shortTime(next), words.In(next, t.Now))
		for _, note := range routine.Schedule.Notes() {
			t.warn(routine.ID, "cron '%s' (%s): %s", routine.Cron, routine.Schedule.Words(), strings.TrimSuffix(note, "."))
		}
	}
	if len(t.Routines) == 0 {
		t.pass("files", "no routines yet")
	}
}

func (t taskFiles) reminders() {
	for _, reminder := range t.Reminders {
		if t.waits(reminder.Task) {
			continue
		}
		level, when := pass, words.In(reminder.RunAt, t.Now)
		if reminder.RunAt.Before(t.Now) {
			level, when = warn, "due "+when+", fires late when the bot runs"
		}
		t.add(level, reminder.ID, "%s: at %s (%s)", reminder.Title(), t.shortTime(reminder.RunAt), when)
	}
	if len(t.Reminders) == 0 {
		t.pass("files", "no pending reminders")
	}
}

func (t taskFiles) tools() {
	switch {
	case t.err != nil:
		t.fail("rights", "%v", t.err)
	case len(t.waiting) == 0:
		t.pass("rights", "nothing that the agent wrote needs your approval")
	}
	for _, w := range t.waiting {
		t.warn("rights", "%s is waiting: ollim-bot allow %s", w.File, console.Word(w.File))
	}
	checked := 0
	for _, task := range t.Tasks() {
		checked += len(task.Allowed) + len(task.Disallowed)
	}
	agents, _ := guide.Subagents(t.Dir)
	for _, a := range agents {
		checked += len(a.Tools)
	}
	t.pass("patterns", "%s checked", words.Count(checked, "tool pattern"))
}

// level is the level of a problem in a file.
func level(s routines.Severity) string {
	if s == routines.Error {
		return bad
	}
	return warn
}

// shortTime omits the day if it is today.
func (r *report) shortTime(t time.Time) string {
	return cron.Layouts{Today: "15:04", Else: "Mon 2006-01-02 15:04"}.Format(t.In(r.Env.Zone), r.Now)
}
