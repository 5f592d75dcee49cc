package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

const (
	textName    = "Schedule "
	textRow     = "row"
	textNothing = "nothing is scheduled"

	textEmpty    = "Nothing is scheduled."
	textTeach    = "%s creates a routine or reminder; a file saved in routines/ or reminders/ appears here at once."
	textQuietDay = "Nothing fires in the next hours."
	textQuietAll = "Nothing fires within 24 hours."

	textDayView    = "24 h"
	textAllView    = "all tasks "
	textNever      = "never"
	textNotWaiting = "it is not waiting for approval"
	textReminder   = "once"
	textNoTask     = "this file is not a task"

	textSilent     = "silent"
	textForeground = "foreground"
	textTomorrow   = "tomorrow"

	textAllDay  = "all day"
	textNoTitle = "(no title)"
	// textMore ends a day with too many fires to list.
	textMore         = "more after %s (%s: all tasks)"
	textProblemFirst = "fix this file first: %s shows how"
	textQuietTeach   = "Later tasks appear here in time; %s shows 24 hours, then all tasks."
	textQuietMore    = "%s shows all tasks, %s creates a new one."

	textAtGoogle = "this is in your Google account: change it there, or ask the agent to"
)

// dateTitle is what people call an appointment, or the tasks of a day.
func dateTitle(d google.Item) string {
	if d.Tasks == nil {
		return cmp.Or(d.Title, textNoTitle)
	}
	names := make([]string, len(d.Tasks))
	for i, t := range d.Tasks {
		names[i] = cmp.Or(t.Title, textNoTitle)
	}
	return words.Count(len(names), "task") + " due: " + strings.Join(names, ", ")
}

// dateText is all that is known of an appointment, or the tasks that are due, and beneath
// an appointment those of its day.
func dateText(s *core.Snapshot, d google.Item) string {
	if d.Tasks != nil {
		return tasksText(d)
	}
	last, layout := d.End, "Mon 2 Jan 15:04"
	if d.AllDay {
		last, layout = d.End.AddDate(0, 0, -1), "Mon 2 Jan"
	}
	when := s.Clock(d.Start, layout)
	switch {
	case !d.AllDay:
		when += " to " + moment(s, d.End)
	case last.After(d.Start):
		when += " to " + s.Clock(last, layout)
	}
	lines := slices.DeleteFunc([]string{when, d.Place, d.Link, "calendar " + d.Calendar}, func(l string) bool { return l == "" })
	if d.Text != "" {
		lines = append(lines, "", d.Text)
	}
	for _, other := range s.Day {
		if other.Tasks != nil && words.SameDay(other.Start, d.Start, s.Local(s.At).Location()) {
			lines = append(lines, "", tasksText(other))
		}
	}
	return strings.Join(lines, "\n")
}

// tasksText lists the tasks that are due on a day.
func tasksText(d google.Item) string {
	lines := []string{"Due on " + d.Start.Format("Mon 2 Jan") + ":"}
	for _, t := range d.Tasks {
		lines = append(lines, "- "+cmp.Or(t.Title, textNoTitle))
	}
	return strings.Join(lines, "\n")
}

// empty are the sentences of a view without anything in it.
func (v view) empty(s *core.Snapshot, n action.Names) []string {
	switch {
	case s.Routines+s.Reminders == 0:
		return []string{textEmpty, fmt.Sprintf(textTeach, n.Opening(action.ScheduleNew))}
	case v == window:
		return []string{textQuietDay, fmt.Sprintf(textQuietTeach, n.Name(action.ScheduleView))}
	}
	return []string{textQuietAll, fmt.Sprintf(textQuietMore, n.Opening(action.ScheduleView), n.Name(action.ScheduleNew))}
}

// moment is when something fires: the time, with the day when it is another.
func moment(s *core.Snapshot, t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan"})
}

// AllowQuestion asks whether a file that the agent wrote may do what it says.
func AllowQuestion(title, why string, do command.AllowTask) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf("Approve %q? It %s. The approval applies until the agent changes it again.", title, why),
		Yes:  "allow it", No: "let it wait", Do: do,
	}
}

// EditQuestion asks whether an edit of the agent's, which the user has been shown, comes into
// force.
func EditQuestion(title string, do command.AllowTask) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf("Allow this edit of %q? The approval applies until the agent changes it again.", title),
		Yes:  "allow it", No: "let it wait", Do: do,
	}
}

// RefuseQuestion asks whether such an edit is refused.
func RefuseQuestion(title string, do command.RefuseEdit) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf("Refuse this edit of %q? Its file is restored to the text in force.", title),
		Yes:  "refuse it", No: "let it wait", Do: do,
	}
}

// problemCount is "1 error · 2 warnings".
func problemCount(problems []routines.Problem) string {
	errors := 0
	for _, p := range problems {
		if p.Severity == routines.Error {
			errors++
		}
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, words.Grouped(uint64(errors), "error"))
	}
	if n := len(problems) - errors; n > 0 {
		parts = append(parts, words.Grouped(uint64(n), "warning"))
	}
	return strings.Join(parts, " · ")
}

// Place is "routines/a.md:3:7", as far as it is known.
func Place(p routines.Problem) string {
	switch {
	case p.Line <= 0:
		return p.File
	case p.Column <= 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func problemText(p routines.Problem) string {
	then := "The file is in use; this is only a hint."
	if p.Severity == routines.Error {
		then = "The last good version of the file, if any, stays in use until you fix it. " +
			"Save the file to apply it at once."
	}
	return string(p.Severity) + " in " + Place(p) + "\n\n" + p.Message + "\n\n" + then
}

// chain is "check 2/5" for a link of a chain, from its label.
func chain(label string) string {
	rest, ok := strings.CutPrefix(label, "Chain reminder (")
	if !ok {
		return ""
	}
	return "check " + strings.TrimSuffix(rest, ")")
}

// TaskWords are a task in words: what people call it, then its marks.
func TaskWords(s *core.Snapshot, t schedule.TaskView) []string { return ofTask(s, t).words(s) }

// FireWords are a fire in words: what people call it, then its marks.
func FireWords(s *core.Snapshot, e schedule.Entry) []string { return ofFire(e).words(s) }

// DateWords are an appointment, or the tasks of a day, in words.
func DateWords(s *core.Snapshot, d google.Item) []string { return ofDate(s, &d).words(s) }

func (i item) words(s *core.Snapshot) []string { return append([]string{i.title()}, i.marks(s)...) }
