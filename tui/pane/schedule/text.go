package schedule

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/routines"
	"ollimbot/tui/widget"
)

const (
	textTitle        = "Schedule"
	textName         = "Schedule "
	textReadOnly     = "read-only: tasks cannot be fired here"
	textNothing      = "nothing is scheduled"
	textProblemFirst = "this file has to be repaired first: enter shows how"

	textEmpty      = "Nothing is scheduled."
	textTeach      = "Save a file in routines/ or reminders/ and it appears here at once."
	textQuietDay   = "Nothing fires in the next hours."
	textQuietTeach = "What is due later appears here in time."

	textSilent     = "silent"
	textForeground = "foreground"
	textJustFired  = "just fired"
	textTomorrow   = "tomorrow"
)

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
		parts = append(parts, widget.Count(uint64(errors), "error"))
	}
	if n := len(problems) - errors; n > 0 {
		parts = append(parts, widget.Count(uint64(n), "warning"))
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

// details is the page of an entry.
func details(s *core.Snapshot, e routines.Entry) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			b.WriteString(widget.Fit(name, 12) + value + "\n")
		}
	}
	at := e.FireTime.In(zone(s))
	row("What", title(e))
	row("Kind", kindWords(e))
	row("Fires", at.Format("Monday 2 January 2006, 15:04 MST")+" ("+widget.Until(e.FireTime.Sub(s.At))+")")
	row("State", strings.Join(marks(s, e), ", "))
	row("File", e.FilePath)
	row("Id", e.ID)
	if e.Description != "" && e.Description != title(e) {
		b.WriteString("\n" + e.Description + "\n")
	}
	b.WriteString("\nf fires it now, beside its schedule; p shows the exact prompt that the agent would be sent.\n")
	return b.String()
}

func kindWords(e routines.Entry) string {
	words := string(e.Kind)
	if e.Foreground {
		return words + " in the main conversation"
	}
	return words + " in the background"
}

// title is what people call the task: the words on it, not its label, unless
// there are none.
func title(e routines.Entry) string {
	if e.Description != "" {
		return strings.ReplaceAll(e.Description, "\n", " ")
	}
	if e.Label != "" {
		return e.Label
	}
	return e.ID
}

// marks are the words on an entry, the most telling first.
func marks(s *core.Snapshot, e routines.Entry) []string {
	var out []string
	if e.Tag != "" {
		out = append(out, e.Tag)
	} else if !e.FireTime.After(s.At) {
		out = append(out, textJustFired)
	}
	if chain := chain(e); chain != "" {
		out = append(out, chain)
	}
	if e.Foreground {
		out = append(out, textForeground)
	}
	if e.Silent {
		out = append(out, textSilent)
	}
	if e.FireTime.After(s.At) && !widget.SameDay(e.FireTime, s.At, zone(s)) {
		out = append(out, textTomorrow)
	}
	return out
}

// chain is "check 2/5" for a link of a chain, from its label.
func chain(e routines.Entry) string {
	rest, ok := strings.CutPrefix(e.Label, "Chain reminder (")
	if !ok {
		return ""
	}
	return "check " + strings.TrimSuffix(rest, ")")
}

func zone(s *core.Snapshot) *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}
