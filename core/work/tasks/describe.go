package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
)

const (
	// describedFires is the number of upcoming fires listed.
	describedFires = 10
	// describedSkips is the number of candidates listed that do not fire.
	describedSkips = 5
	// describedText is the length of the shown part of a task's file, in characters.
	describedText = 100_000
	// longClock is the time format of that list.
	longClock = "Mon 2006-01-02 15:04"
)

// Describe describes a task in force: its settings, its cron in words, its next fires and
// the text of its file.
func (e *Editor) Describe(id string) (string, error) {
	now, set := e.now(), e.o.Index.Set()
	var out strings.Builder
	var task routines.Task
	if r, ok := set.RoutineByID(id); ok {
		task = r.Task
		e.describeTask(&out, task, now)
		describeRoutine(&out, r, e.o.Schedule.Holds().Of(&r.Task), now)
	} else if r, ok := set.ReminderByID(id); ok {
		task = r.Task
		e.describeTask(&out, task, now)
		describeReminder(&out, r, now)
	} else {
		return "", fmt.Errorf(command.TextNoTask, clean.Cut(clean.Line(id), 60))
	}
	for _, p := range slices.Concat(set.Problems, e.o.Lacking()) {
		switch {
		case p.File != task.Path:
		case p.Line == 0:
			row(&out, string(p.Severity), p.Message)
		default:
			row(&out, string(p.Severity), fmt.Sprintf("line %d: %s", p.Line, p.Message))
		}
	}
	data, err := routines.ReadText(e.o.Dir, task)
	if err != nil {
		return "", err
	}
	text := clean.Text(string(data))
	if cut := clean.Cut(text, describedText); cut != text {
		text = cut + "\n" + textCutHere
	}
	out.WriteString("\n" + strings.TrimSpace(text) + "\n")
	if diff := task.Proposed.Diff; diff != "" {
		out.WriteString("\n" + textTheEdit + "\n" + diff + "\n")
	}
	return out.String(), nil
}

// row is one line of a description.
func row(out *strings.Builder, name, value string) {
	fmt.Fprintf(out, "%-9s %s\n", name, value)
}

// describeTask describes the settings that both kinds share.
func (e *Editor) describeTask(out *strings.Builder, t routines.Task, now time.Time) {
	out.WriteString(t.Title() + "\n")
	row(out, string(t.Kind), t.ID+" · "+clean.Line(t.Path))
	where := "in the background"
	switch {
	case !t.Background:
		where = "in the main session"
	case t.Says:
		where = "in the background, without a model"
	case t.Isolated:
		where = "in the background, without the conversation's history"
	}
	if t.Model != "" {
		where += ", with " + t.Model
	}
	if !t.Thinking {
		where += ", without thinking"
	}
	row(out, "runs", where)
	if t.Background {
		ping := "may ping"
		if !t.AllowPing {
			ping = "may not ping"
		}
		row(out, "tells", ping+"; reports: "+strings.ReplaceAll(string(t.Mode), "_", " "))
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"may use", t.Allowed}, {"never", t.Disallowed}, {"skills", t.Skills}} {
		if len(l.list) > 0 {
			row(out, l.name, strings.Join(l.list, ", "))
		}
	}
	for _, s := range skill.Load(e.o.Dir, t.Skills) {
		if why := e.o.Rights.SkillLeft(t, s); why != "" {
			row(out, "without", s.Name+": "+fmt.Sprintf(textWaits, why))
		}
	}
	describeRights(out, t)
	if t.Subagent != "" {
		row(out, "as", t.Subagent)
	}
	if t.Proposed.Version != "" {
		row(out, "edit", fmt.Sprintf(textProposed, t.Proposed.Why))
	}
	if h := e.o.Schedule.Holds().Of(&t); !h.Ended(now) {
		word := "paused, until you let it go on"
		switch {
		case h.Why != "":
			word = fmt.Sprintf(textWaits, h.Why)
		case !h.Paused:
			word = "snoozed until " + cron.DayClock(h.Until.In(now.Location()), now)
		}
		if h.Reason != "" {
			word += ", by its own run: " + h.Reason
		}
		row(out, "held", word)
	}
}

// describeRights describes the extra rights that the user's file gives a task.
func describeRights(out *strings.Builder, t routines.Task) {
	if t.Check != "" {
		row(out, "check", t.Check)
	}
	if t.Says {
		row(out, "says", textSays)
	}
	if t.TrustInput {
		row(out, "trusts", "keeps its tools when it has read what strangers write")
	}
	if t.Critical {
		row(out, "money", "runs above the caps too")
	}
	if t.Essential {
		row(out, "essential", "its first ping is beside the budget, and needs no model")
	}
}

// describeRoutine describes when a routine fires. While it is paused, these are the times
// at which it would fire.
func describeRoutine(out *strings.Builder, r *routines.Routine, h schedule.Hold, now time.Time) {
	row(out, "when", r.Schedule.Words()+" ("+r.Cron+")")
	for _, more := range append([]string{r.Schedule.EndWords(now)}, r.Ours()...) {
		if more != "" {
			row(out, "", more)
		}
	}
	for _, n := range r.Schedule.Notes() {
		row(out, "", n)
	}
	describeLeeway(out, r.Leeway)
	if r.RunMissed {
		row(out, "missed", "made up for, "+routines.LateWords(r.Late))
	}
	name, from := "next", now
	if h.Paused || h.Why != "" {
		name = "would"
	} else if h.Until.After(from) {
		from = h.Until.In(now.Location())
	}
	first := from
	for range describedFires {
		at := r.Schedule.Next(from)
		if at.IsZero() {
			break
		}
		row(out, name, cron.Format(at, longClock)+", "+words.Ahead(at.Sub(now)))
		name, from = "", at.Add(time.Second)
	}
	name = "skipped"
	for _, s := range r.Schedule.Skipped(first, from, describedSkips) {
		row(out, name, cron.Format(s.At, longClock)+", "+s.Why)
		name = ""
	}
}

// describeLeeway describes how far a task's time may vary.
func describeLeeway(out *strings.Builder, r leeway.Rule) {
	if !r.Window.IsZero() {
		row(out, "window", r.Window.String()+": the bot chooses the minute")
	}
	if r.Jitter > 0 {
		row(out, "jitter", "up to "+leeway.FormatJitter(r.Jitter)+" later")
	}
}

func describeReminder(out *strings.Builder, r *routines.Reminder, now time.Time) {
	at := r.RunAt.In(now.Location())
	row(out, "when", cron.Format(at, longClock)+", "+words.Ahead(at.Sub(now)))
	describeLeeway(out, r.Leeway)
	name := "before"
	for _, early := range r.Early() {
		at, text := early.At.In(now.Location()), early.Long()
		if !at.After(now) {
			text += ", has passed"
		}
		if early.Text != "" {
			text += ": " + early.Text
		}
		row(out, name, cron.Format(at, longClock)+", "+text)
		name = ""
	}
	if ours := r.Ours(); ours != "" {
		row(out, "", ours)
	}
	if r.UntilDone {
		row(out, "until", fmt.Sprintf("done; comes back after %d min", r.Again))
	}
	if r.MaxChain > 0 {
		row(out, "chain", fmt.Sprintf("check %d of %d", r.ChainDepth+1, r.MaxChain+1))
	}
}
