package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget/query"
)

const (
	textNothing = "nothing is scheduled"

	textEmpty    = "Nothing is scheduled."
	textFirst    = "%s: write your first routine"
	textTeach    = "Files saved in routines/ or reminders/ appear here at once."
	textQuietAll = "Nothing fires within 24 hours."

	textAllView    = "all tasks "
	textNotWaiting = "it is not waiting for approval"
	textNoFile     = "there is no file: the tools are the server's"
	textNoTask     = "this file is not a task"

	textSilent   = "silent"
	textTomorrow = "tomorrow"
	textToday    = "today"
	textMissed   = "missed" // the word of package schedule

	textNoTitle = "(no title)"
	// textMore ends a day with too many fires to list.
	textMore         = "not every fire after %s is listed"
	textProblemFirst = "fix this file first: %s shows how"
	textNoTaskNow    = "the task of this run is no longer scheduled"

	textAtGoogle = "this is in your Google account: change it there, or ask the agent to"
)

// dateTitle returns the title of an appointment, or of the tasks of a day.
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

// dateText returns the details of an appointment, followed by the due tasks of its day, or only the due tasks.
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

// dayOf names the day of a moment.
func dayOf(s *core.Snapshot, t time.Time) string {
	zone := s.Local(s.At).Location()
	for _, near := range []struct {
		days int
		word string
	}{{0, textToday}, {1, textTomorrow}, {-1, "yesterday"}} {
		if words.SameDay(t, s.Local(s.At).AddDate(0, 0, near.days), zone) {
			return near.word
		}
	}
	return s.When(t, cron.Layouts{Today: "Monday", Week: "Monday 2 Jan", Year: "Monday 2 Jan", Else: "2 Jan 2006"})
}

// moment returns a fire's time, with the day if it is not today.
func moment(s *core.Snapshot, t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan"})
}

// AllowQuestion asks whether a file that the agent wrote may do what it says.
func AllowQuestion(title, why string, do command.AllowTask) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf("Approve %q? It %s: %s. The approval applies until the agent changes it again.", title, schedule.TagWaits, strings.TrimSuffix(why, ".")),
		Yes:  textAllowIt, No: textLetWait, Do: do,
	}
}

// EditQuestion asks whether what the user has been shown comes into force.
func EditQuestion(title string, edit routines.Proposal, do command.AllowTask) *pane.Question {
	text := fmt.Sprintf("Allow this %s? The approval applies until it is changed again.", edit.Named(strconv.Quote(title)))
	return &pane.Question{Text: text, Yes: textAllowIt, No: textLetWait, Do: do}
}

// RefuseQuestion asks whether that is refused.
func RefuseQuestion(title string, edit routines.Proposal, do command.RefuseEdit) *pane.Question {
	text := fmt.Sprintf("Refuse this %s? What is in force now stays so.", edit.Named(strconv.Quote(title)))
	return &pane.Question{Text: text, Yes: "refuse it", No: textLetWait, Do: do}
}

const (
	textAllowIt = "allow it"
	textLetWait = "let it wait"
)

// problemCount returns "1 error · 2 warnings".
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

func problemText(p routines.Problem) string {
	then := "The file is in use; this is only a hint."
	if p.Severity == routines.Error {
		then = "Save the file to apply it at once."
	}
	return string(p.Severity) + " in " + p.Position() + "\n\n" + p.Message + "\n\n" + then
}

// TaskWords describes a task: its title, then its marks.
func TaskWords(s *core.Snapshot, t schedule.TaskView) []string { return ofTask(s, t).words(s) }

// FireWords describes a fire: its title, then its marks.
func FireWords(s *core.Snapshot, e schedule.Entry) []string { return ofFire(e).words(s) }

// DateWords describes an appointment, or the tasks of a day.
func DateWords(s *core.Snapshot, d google.Item) []string { return ofDate(s, &d).words(s) }

// TaskFacts returns the searchable properties of a task.
func TaskFacts(s *core.Snapshot, t schedule.TaskView) query.Facts {
	return (&Pane{snap: s, view: every}).facts(ofTask(s, t))
}

func (i item) words(s *core.Snapshot) []string { return append([]string{i.title()}, i.marks(s)...) }
