package schedule

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/google"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

const (
	textTitle    = "Schedule"
	textName     = "Schedule "
	textRow      = "row"
	textReadOnly = "read-only: tasks cannot be changed or fired here"
	textNothing  = "nothing is scheduled"

	textEmpty    = "Nothing is scheduled."
	textTeach    = "Save a file in routines/ or reminders/ and it appears here at once."
	textQuietDay = "Nothing fires in the next hours."
	textQuietAll = "Nothing fires within 24 hours."

	textDayView    = "24 h"
	textAllView    = "all tasks "
	textNever      = "never"
	textPaused     = "paused"
	textWaits      = schedule.TagWaits
	textNotWaiting = "it does not wait for you"
	textReminder   = "once"
	textNoTask     = "this file is not a task"

	textSilent     = "silent"
	textForeground = "foreground"
	textTomorrow   = "tomorrow"

	textAllDay   = "all day"
	textNoTitle  = "(no title)"
	textAtGoogle = "this stands in your Google: change it there, or let the agent do it"
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

// dateMarks are the words on an appointment, the most telling first.
func dateMarks(s *core.Snapshot, d google.Item) []string {
	var out []string
	if !d.AllDay {
		out = append(out, "until "+moment(s, d.End))
	}
	if d.Start.After(s.At) && !s.IsToday(d.Start) {
		out = append(out, textTomorrow)
	}
	if d.Place != "" {
		out = append(out, d.Place)
	}
	return out
}

// dateText is all that is known of an appointment, or the tasks that are due, and beneath
// an appointment those of its day.
func dateText(s *core.Snapshot, d google.Item) string {
	if d.Tasks != nil {
		return tasksText(d)
	}
	last := d.End
	layout := "Mon 2 Jan 15:04"
	if d.AllDay {
		last, layout = d.End.AddDate(0, 0, -1), "Mon 2 Jan"
	}
	lines := []string{s.Clock(d.Start, layout)}
	switch {
	case d.AllDay && last.After(d.Start):
		lines[0] += " to " + s.Clock(last, layout)
	case !d.AllDay:
		lines[0] += " to " + moment(s, d.End)
	}
	for _, more := range []string{d.Place, d.Link} {
		if more != "" {
			lines = append(lines, more)
		}
	}
	lines = append(lines, "calendar "+d.Calendar)
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

func textProblemFirst(n action.Names) string {
	return "this file has to be repaired first: " + n.Name(action.ScheduleDetails) + " shows how"
}

// textMore ends a day with too many fires to list.
func textMore(at string, n action.Names) string {
	return "more after " + at + " (" + n.Name(action.ScheduleView) + ": every task)"
}

func textQuietTeach(n action.Names) string {
	return "What is due later appears here in time; " + n.Name(action.ScheduleView) + " shows 24 hours, then every task."
}

func textQuietMore(n action.Names) string {
	return n.Opening(action.ScheduleView) + " goes on to every task, " + n.Name(action.ScheduleNew) + " writes a new one."
}

func textSnooze(title string) string { return "Snooze " + widget.Cut(title, 40) + " until" }

// empty are the sentences of a view without anything in it.
func (v view) empty(s *core.Snapshot, n action.Names) []string {
	switch {
	case s.Routines+s.Reminders == 0:
		return []string{textEmpty, textTeach}
	case v == window:
		return []string{textQuietDay, textQuietTeach(n)}
	}
	return []string{textQuietAll, textQuietMore(n)}
}

// moment is when something fires: the time, with the day when it is another.
func moment(s *core.Snapshot, t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan"})
}

// AllowQuestion asks whether a file that the agent wrote may do what it says.
func AllowQuestion(title, why string, do command.AllowTask) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf("Let %q do what its file says? Now it %s. This counts until the agent changes it again.", title, why),
		Yes:  "allow it", No: "let it wait", Do: do,
	}
}

func textPreview(title string) string { return "Prompt of " + title }

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

// place is "routines/a.md:3:7", as far as it is known.
func place(p routines.Problem) string {
	switch {
	case p.Line <= 0:
		return p.File
	case p.Column <= 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func problemText(p routines.Problem) string {
	then := "The file counts as it is; this is only a hint."
	if p.Severity == routines.Error {
		then = "The last good version of the file, if there is one, stays in force until it is repaired. " +
			"Save it and the schedule follows at once."
	}
	return string(p.Severity) + " in " + place(p) + "\n\n" + p.Message + "\n\n" + then
}

// title is what people call the task: the words on it, not its label, unless
// there are none.
func title(e schedule.Entry) string {
	if e.Description != "" {
		return strings.ReplaceAll(e.Description, "\n", " ")
	}
	if e.Label != "" {
		return e.Label
	}
	return e.ID
}

// stopped reports that a task does not fire by itself for now.
func stopped(v schedule.TaskView) bool { return v.Waits != "" || v.Paused || !v.Snoozed.IsZero() }

// taskMarks are the words on a task, the most telling first.
func taskMarks(s *core.Snapshot, v schedule.TaskView) []string {
	var out []string
	if v.Waits != "" {
		out = append(out, textWaits, v.Waits)
	}
	if v.Paused {
		out = append(out, textPaused)
	} else if !v.Snoozed.IsZero() {
		out = append(out, "snoozed until "+moment(s, v.Snoozed))
	}
	if v.When != "" {
		out = append(out, v.When)
	} else if link := chain(v.Label); link != "" {
		out = append(out, link)
	} else if v.Kind == routines.KindReminder {
		out = append(out, textReminder)
	}
	if v.Foreground {
		out = append(out, textForeground)
	}
	if v.Silent {
		out = append(out, textSilent)
	}
	return out
}

// marks are the words on an entry, the most telling first.
func marks(s *core.Snapshot, e schedule.Entry) []string {
	var out []string
	if e.Tag != "" {
		out = append(out, e.Tag)
		if e.Why != "" {
			out = append(out, e.Why)
		}
	}
	if offset := cron.Offset(s.Local(e.FireTime)); offset != "" { // the clock shows this time twice
		out = append(out, strings.TrimSpace(offset))
	}
	if link := chain(e.Label); link != "" {
		out = append(out, link)
	}
	if e.Foreground {
		out = append(out, textForeground)
	}
	if e.Silent {
		out = append(out, textSilent)
	}
	if e.FireTime.After(s.At) && !s.IsToday(e.FireTime) {
		out = append(out, textTomorrow)
	}
	return out
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
func TaskWords(s *core.Snapshot, v schedule.TaskView) []string {
	return append([]string{item{task: &v}.title()}, taskMarks(s, v)...)
}

// FireWords are a fire in words: what people call it, then its marks.
func FireWords(s *core.Snapshot, e schedule.Entry) []string {
	return append([]string{item{fire: &e}.title()}, marks(s, e)...)
}

// DateWords are an appointment, or the tasks of a day, in words.
func DateWords(s *core.Snapshot, d google.Item) []string {
	return append([]string{dateTitle(d)}, dateMarks(s, d)...)
}
