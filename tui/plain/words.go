package plain

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/chat"
	panes "ollimbot/tui/pane/schedule"
)

var (
	signs    = strings.NewReplacer(" → ", " to ", " · ", ", ", " — ", ", ", "…", "...", "×", " times ", "|", " or ", "**", "", "`", "")
	settings = strings.NewReplacer("` `", ", ", " `", " (", "`", ")")
)

// spoken replaces signs that a screen reader spells with words and gaps between columns
// with commas, and drops the marks of markdown. It is for text of the program: what the
// model or the user wrote is left unchanged.
func spoken(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "**") { // a setting and its values
			l = settings.Replace(l)
		}
		parts := strings.Split(signs.Replace(l), "  ")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		lines[i] = strings.ReplaceAll(words.Joined(parts...), ":, ", ": ")
	}
	return strings.Join(lines, "\n")
}

// flat is a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func readyText(s *core.Snapshot) string {
	return fmt.Sprintf(textReady, s.Dir, engineName(s.Engine))
}

// engineName is the engine with its model, where it has one.
func engineName(e core.EngineStatus) string { return flat("engine " + e.Name + " " + e.Model) }

// upDown says whether something works, with its state if that is known.
func upDown(ok bool, state string) string {
	if inner, ok := strings.CutPrefix(state, "("); ok { // from the top line
		state = strings.TrimSuffix(inner, ")")
	}
	if ok {
		return words.Joined("up", state)
	}
	return words.Joined("down", state)
}

func problemText(p routines.Problem) string { return flat(panes.Place(p) + ": " + p.Message) }

// runText is the state of a run.
func runText(s *core.Snapshot, f fork.View) string {
	text := f.Title + " " + string(f.State)
	switch {
	case f.State == fork.Waiting && f.Position > 0:
		text += fmt.Sprintf(", place %d in the queue", f.Position)
	case !f.Live() && !f.Started.IsZero() && f.Ended.After(f.Started):
		text += " after " + words.Long(f.Ended.Sub(f.Started))
	}
	for _, said := range pane.OutcomeOf(s, &f).Full {
		text += ", " + said.Text
	}
	if f.Label != "" && !f.Trusted {
		text += fmt.Sprintf(textLabeled, f.Label)
	}
	if f.Error != "" {
		text += ": " + f.Error
	}
	return text + " (" + f.ID + ")"
}

// messageText is a message with its card, after the task that sent it.
func messageText(m transcript.Entry) string {
	text := chat.MessageText(m)
	if text != "" && m.Source != "" {
		text = m.Source + ":\n" + text
	}
	return text
}

// updateText is an update with its source, or that some were dropped.
func updateText(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return fmt.Sprintf(textOmitted, updates.MaxPending)
	}
	if u.Label != "" {
		return fmt.Sprintf(textUntrusted, s.Sourced(u), u.Label)
	}
	return s.Sourced(u)
}

// statusText is one line about everything that there is.
func statusText(s *core.Snapshot) []string {
	lines := []string{s.Headline().Text(), "it is " + s.Clock(s.At, "Monday 15:04"), engineName(s.Engine) + ", " + upDown(s.Engine.OK, s.Engine.State)}
	if s.Surface.Name != "" {
		lines = append(lines, "messages go to "+s.Surface.Name+", "+upDown(s.Surface.OK, s.Surface.State))
	}
	for _, f := range s.Facts() {
		lines = append(lines, f.Name+": "+f.Text)
	}
	if len(s.Schedule.Entries) > 0 {
		lines = append(lines, "next: "+entryText(s, s.Schedule.Entries[0], ""))
	}
	if s.Busy {
		lines = append(lines, textBusy)
	}
	return append(lines, words.Some(len(s.Attached), "file", " attached to the next message"))
}

// rowsText turns the rows of a page into sentences.
func rowsText(rows []dialog.Row) []string {
	return each(rows, func(r dialog.Row) string {
		if r.Head == "" {
			return spoken(r.Text)
		}
		return spoken(flat(r.Head) + ":  " + r.Text)
	})
}

// entryText is a fire of the schedule.
func entryText(s *core.Snapshot, e schedule.Entry, more string) string {
	return flat(words.Joined(s.Clock(e.FireTime, "15:04")+" "+words.Joined(panes.FireWords(s, e)...), more)) + " (" + e.ID + ")"
}

// dateText is an appointment, or the tasks that are due on a day.
func dateText(s *core.Snapshot, d google.Item) string {
	text := words.Joined(panes.DateWords(s, d)...)
	switch {
	case !d.AllDay:
		return s.Clock(d.Start, "15:04") + " " + text
	case d.Tasks == nil:
		return "all day " + text
	}
	return text
}

// taskText is a routine or reminder in the list of all.
func taskText(s *core.Snapshot, t schedule.TaskView) string {
	next := ""
	if !t.Next.IsZero() {
		next = "next " + s.Moment(t.Next)
	}
	what := panes.TaskWords(s, t)
	return flat(words.Joined(what[0], string(t.Kind), next, words.Joined(what[1:]...))) + " (" + t.ID + ")"
}

// tailText is a line of a run's output or of the log, after its kind.
func tailText(l tail.Line) string {
	if l.Kind == tail.Text || l.Kind == tail.Info {
		return l.Text
	}
	return string(l.Kind) + ": " + l.Text
}

// costsText is what all runs have cost, then a line for each task.
func costsText(r *command.CostReport) []string {
	lines := []string{spoken(r.Head())}
	for _, t := range r.Tasks {
		title := t.Title
		if t.ID != "" {
			title += " (" + t.ID + ")"
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s tokens, %s, %s a run, %.0f percent of all", title, words.Some(t.Runs, "run", ""),
			words.Tokens(t.Tokens), words.Dollars(t.Dollars), words.Dollars(t.Dollars/float64(max(1, t.Runs))), 100*t.Share))
	}
	return lines
}

// buttonsOf are the buttons of a card.
func buttonsOf(e transcript.Entry) (things []thing) {
	if e.Embed == nil {
		return nil
	}
	for _, b := range e.Embed.Buttons {
		label := flat(b.Label)
		things = append(things, thing{id: string(e.ID) + " " + b.Action, title: label, line: words.Joined(label, flat(e.Embed.Title))})
	}
	return things
}
