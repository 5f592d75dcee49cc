package doctor

import (
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/guide"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// taskFiles are the tasks in force, and the files that are waiting for approval.
type taskFiles struct {
	*report
	*routines.Set
	waiting []routines.Problem
	lacking []routines.Problem // what they need and the bot does not have
	err     error              // why the two are unknown
}

func (r *report) taskFiles() taskFiles {
	bot, err := r.p.Bot(r.DataDir)
	if err != nil {
		return taskFiles{report: r, Set: schedule.Files(r.Dir, r.Env.Zone), err: err}
	}
	return taskFiles{report: r, Set: bot.Index().Set(), waiting: bot.Review().Waiting(), lacking: core.Lacking(bot, r.Now)}
}

// waits reports whether a task does not run because it is waiting for approval, and adds
// a warning if so.
func (t taskFiles) waits(task routines.Task) bool {
	if task.Waits != "" {
		t.warn(task.ID, "%s: does not run until you approve it; see TOOL POLICY", task.Title())
	}
	return task.Waits != ""
}

func (t taskFiles) routines() {
	t.corrupt("routines/")
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
		t.pass(routine.ID, "%s: next fire %s (%s)", routine.Title(), t.shortTime(next), words.Distance(next.Sub(t.Now)))
		for _, note := range routine.Schedule.Notes() {
			t.warn(routine.ID, "cron '%s' (%s): %s", routine.Cron, routine.Schedule.Words(), strings.TrimSuffix(note, "."))
		}
	}
	if len(t.Routines) == 0 {
		t.pass("files", "no routines yet")
	}
}

func (t taskFiles) reminders() {
	t.corrupt("reminders/")
	for _, reminder := range t.Reminders {
		if t.waits(reminder.Task) {
			continue
		}
		level, when := pass, words.Distance(reminder.RunAt.Sub(t.Now))
		if reminder.RunAt.Before(t.Now) {
			level, when = warn, "due "+when+", fires late when the bot runs"
		}
		t.add(level, reminder.ID, "%s: at %s (%s)", reminder.Title(), t.shortTime(reminder.RunAt), when)
	}
	if len(t.Reminders) == 0 {
		t.pass("files", "no pending reminders")
	}
}

// corrupt reports the files of a folder that need the user's attention.
func (t taskFiles) corrupt(folder string) {
	found := false
	for _, pr := range t.Problems {
		if !strings.HasPrefix(pr.File, folder) {
			continue
		}
		found = true
		t.add(level(pr.Severity), pr.Position(), "%s", pr.Message)
	}
	if !found {
		t.pass("files", "every file in %s is in order", folder)
	}
	for _, pr := range t.lacking {
		if strings.HasPrefix(pr.File, folder) {
			t.warn(pr.File, "%s", pr.Message)
		}
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
		t.warn(w.File, "%s (ollim-bot allow %s)", w.Message, console.Word(w.File))
	}
	checked := 0
	for _, task := range t.Tasks() {
		for _, tool := range slices.Concat(task.Allowed, task.Disallowed) {
			checked++
			if severity, why := routines.CheckTool(tool); severity != "" {
				t.add(level(severity), task.ID, "%s: %s", clean.Line(tool), why)
			}
		}
	}
	agents, problems := guide.Subagents(t.Dir)
	for _, a := range agents {
		checked += len(a.Tools)
	}
	for _, problem := range problems {
		t.add(level(problem.Severity), clean.Line(problem.File), "%s", problem.Message)
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
