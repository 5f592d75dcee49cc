package plain

import (
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/forks"
	panes "ollimbot/tui/pane/schedule"
)

var (
	signs  = strings.NewReplacer(" → ", " to ", " · ", ", ", " — ", ", ", "…", "...", "×", " times ", "|", " or ", "**", "", "`", "")
	offers = strings.NewReplacer("` `", ", ", " `", " (", "`", ")")
)

// spoken replaces symbols by words and gaps between columns by commas, for screen readers, and removes Markdown
// marks. It is only for the program's own text: text by the model or the user stays unchanged.
func spoken(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "**") { // a setting and its values
			l = offers.Replace(l)
		}
		parts := strings.Split(signs.Replace(l), "  ")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		lines[i] = strings.ReplaceAll(words.Joined(parts...), ":, ", ": ")
	}
	return strings.Join(lines, "\n")
}

// flat returns a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// engineName returns the engine with its model, if it has one.
func engineName(e core.EngineStatus) string { return flat("engine " + e.Name + " " + e.Model) }

// upDown describes whether something works, with its state if known.
func upDown(ok bool, state string) string {
	if inner, ok := strings.CutPrefix(state, "("); ok { // from the top line
		state = strings.TrimSuffix(inner, ")")
	}
	if ok {
		return words.Joined("up", state)
	}
	return words.Joined("down", state)
}

func problemText(p routines.Problem) string { return flat(p.Position() + ": " + p.Message) }

// runText describes a run's outcome, for use after its title.
func runText(s *core.Snapshot, f fork.View) string {
	sum := forks.Summarize(s, f)
	took := ""
	if !f.Live() && sum.Took > time.Second {
		took = words.Long(sum.Took)
	}
	return flat(words.Joined(f.Title, spoken(sum.Outcome), took, f.Spent()))
}

// messageText returns a message with its card, after the task that sent it.
func messageText(m transcript.Entry) string {
	text := chat.MessageText(m)
	if text != "" && m.Source != "" {
		text = strings.TrimSuffix(m.Source, ".") + ":\n" + text
	}
	return text
}

// waitsText lists the items that need the user, each with its command.
func waitsText(s *core.Snapshot) []string {
	lines := []string{
		words.Some(len(s.Approvals), "tool call", " waiting for your answer; approvals reads them"),
		words.Some(s.Waiting(), "file", " of the agent waiting for approval; allow names them"),
		words.Some(len(s.Failures), "failed run", " that you have not seen; runs is:failed lists them, seen marks them"),
		words.Some(len(s.Schedule.Problems), "problem", " in your files; problems lists them"),
	}
	if s.Fork != nil && s.Fork.Asks {
		lines = append(lines, textForkAsks)
	}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
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

// entryText describes a fire of the schedule.
func entryText(s *core.Snapshot, e schedule.Entry, more string) string {
	return flat(words.Joined(s.FireClock(e)+" "+words.Joined(panes.FireWords(s, e)...), more))
}

// dateText describes an appointment, or the tasks due on a day.
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

// taskText describes a routine or reminder in the list of all tasks.
func taskText(s *core.Snapshot, t schedule.TaskView) string {
	next := ""
	if !t.Next.IsZero() {
		next = "next " + s.Moment(t.Next)
	}
	what := panes.TaskWords(s, t)
	return flat(words.Joined(what[0], string(t.Kind), next, words.Joined(what[1:]...)))
}

// tailText returns a line of a run's output or of the log, after its kind.
func tailText(l tail.Line) string {
	if l.Kind == tail.Text || l.Kind == tail.Info {
		return l.Text
	}
	return string(l.Kind) + ": " + l.Text
}

// buttonsOf returns the buttons of a card.
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
