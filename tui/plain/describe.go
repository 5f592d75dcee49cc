package plain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/chat"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/google"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/core/webhook"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func readyText(s *core.Snapshot) string {
	return fmt.Sprintf("ollim-bot without a screen in %s, %s; help lists the commands", s.Dir, engineName(s.Engine))
}

// engineName is the engine with its model, where it has one.
func engineName(e core.EngineStatus) string { return flat("engine " + e.Name + " " + e.Model) }

// upDown says whether something works, and how it stands where that is known.
func upDown(ok bool, state string) string {
	if inner, ok := strings.CutPrefix(state, "("); ok { // an aside of the top line
		state = strings.TrimSuffix(inner, ")")
	}
	if ok {
		return joined("up", state)
	}
	return joined("down", state)
}

func enteredText(f *chat.Banner) string {
	if f.Topic == "" {
		return "the conversation stands in a fork now; exit leaves it"
	}
	return "the conversation stands in a fork now: " + f.Topic
}

// exitText asks whether a fork is to be dropped.
func exitText(f *chat.Banner) string {
	name := "this fork"
	if f.Topic != "" {
		name += ", " + f.Topic + ","
	}
	keeps := "exit save or exit report keep something"
	if f.Resumed {
		keeps = "exit report takes a report along"
	}
	return "leave " + name + " and keep nothing of it? Say yes to leave it; anything else stays in it, and " + keeps
}

func problemText(p routines.Problem) string {
	where := p.File
	if p.Line > 0 {
		where += fmt.Sprintf(" line %d", p.Line)
		if p.Column > 0 {
			where += fmt.Sprintf(" column %d", p.Column)
		}
	}
	return where + ": " + p.Message
}

// runText is what became of a run.
func runText(f fork.View) string {
	text := f.Title + " " + string(f.State)
	if f.State == fork.Waiting && f.Position > 0 {
		text += fmt.Sprintf(", place %d in the queue", f.Position)
	}
	if !f.Live() && !f.Started.IsZero() && f.Ended.After(f.Started) {
		text += " after " + words.Long(f.Ended.Sub(f.Started))
	}
	text = joined(text, count(f.Pings, "ping"), count(f.Reports, "report"))
	if f.Tainted != "" && !f.Trusted {
		text = joined(text, fmt.Sprintf(textTainted, f.Tainted))
	}
	if f.Refused > 0 {
		text += fmt.Sprintf(", %d refused", f.Refused)
	}
	if f.Error != "" {
		text += ": " + f.Error
	}
	return text + " (" + f.ID + ")"
}

// stopText asks whether a run is to end.
func stopText(f fork.View, now time.Time) string {
	since := "it still waits"
	if !f.Started.IsZero() {
		since = "it has run for " + words.Long(now.Sub(f.Started))
	}
	return fmt.Sprintf("stop %s? %s. Say yes to stop it; anything else leaves it", f.Title, strings.ToUpper(since[:1])+since[1:])
}

// doneText is what is said of a command that says nothing itself.
func doneText(c command.Value) string {
	switch c.(type) {
	case command.Interrupt:
		return textInterrupted
	case command.ExitFork:
		return textLeaving
	}
	return textDone
}

// messageText is a message with its card.
func messageText(m transcript.Entry) string {
	var parts []string
	if m.Source != "" {
		parts = append(parts, m.Source+":")
	}
	if m.Text != "" {
		parts = append(parts, m.Text)
	}
	if e := m.Embed; e != nil {
		for _, t := range []string{e.Title, e.Description} {
			if t != "" {
				parts = append(parts, t)
			}
		}
		for _, f := range e.Fields {
			parts = append(parts, f.Name+": "+f.Value)
		}
	}
	if len(parts) == 1 && m.Source != "" {
		return ""
	}
	return strings.Join(parts, "\n")
}

// buttonsText says how a card's buttons are pressed; empty without any.
func (e *snapshotDiff) buttonsText(m transcript.Entry) string {
	var parts []string
	for _, n := range e.buttonsOf(m) {
		parts = append(parts, fmt.Sprintf("press %d for %s", n, e.buttons[n-1].label))
	}
	return strings.Join(parts, ", ")
}

// statusText is one look at everything. What there is none of is left out.
func statusText(s *core.Snapshot, zone *time.Location) string {
	lines := []string{
		"it is " + s.At.In(zone).Format("Monday 15:04"),
		engineName(s.Engine) + ", " + upDown(s.Engine.OK, s.Engine.State),
	}
	if s.Surface.Name != "" {
		lines = append(lines, "messages go to "+s.Surface.Name+", "+upDown(s.Surface.OK, s.Surface.State))
	}
	if s.Google != "" {
		lines = append(lines, "google does not work: "+s.Google)
	}
	lines = append(lines, "ping budget: "+budgetText(s, zone))
	if !s.Budget.Muted.IsZero() {
		lines = append(lines, mutedText(s.Budget.Muted, s.At, zone))
	}
	running, waiting := fork.Count(s.Forks)
	suffixed := func(text, what string) string {
		if text == "" {
			return ""
		}
		return text + " " + what
	}
	for _, l := range []string{
		joined(count(s.Routines, "routine"), count(s.Reminders, "reminder"), suffixed(count(len(s.Schedule.Problems), "problem"), "with files")),
		joined(suffixed(count(running, "run"), "going on"), suffixed(count(waiting, "run"), "in the queue")),
		suffixed(count(pendingCount(s.Updates), "update"), "pending"),
		suffixed(count(len(s.Approvals), "tool call"), "waiting for you"),
		suffixed(count(len(s.Attached), "file"), "attached to the next message"),
	} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	if len(s.Schedule.Entries) > 0 {
		e := s.Schedule.Entries[0]
		lines = append(lines, "next: "+entryText(e, e.FireTime, s.At, zone))
	}
	if s.Busy {
		lines = append(lines, "an answer is being given")
	}
	return strings.Join(lines, "\n")
}

// pendingCount leaves out the entry that stands for those that were left out.
func pendingCount(list []updates.Update) int {
	n := 0
	for _, u := range list {
		if u.Dropped == 0 {
			n++
		}
	}
	return n
}

// updateText is an update with its source, or how many were left out.
func updateText(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return fmt.Sprintf(textOmitted, count(u.Dropped, "older update"), updates.MaxPending)
	}
	return s.Sourced(u)
}

// entryText is a fire of the schedule.
func entryText(e schedule.Entry, at, now time.Time, zone *time.Location) string {
	text := clockText(at, now, zone) + " " + e.Description
	if e.Tag != "" {
		text = joined(text, e.Tag, e.Why)
	}
	if e.Silent {
		text += ", silent"
	}
	if e.Foreground {
		text += ", foreground"
	}
	return flat(text) + " (" + e.ID + ")"
}

// dateText is an appointment, or the tasks that are due on a day.
func dateText(d google.Item, now time.Time, zone *time.Location) string {
	day := ""
	if !words.SameDay(d.Start, now, zone) && d.Start.After(now) {
		day = " tomorrow"
	}
	names := make([]string, len(d.Tasks))
	for i, t := range d.Tasks {
		names[i] = cmp.Or(t.Title, textNoTitle)
	}
	title := cmp.Or(d.Title, textNoTitle)
	switch {
	case d.Tasks != nil:
		return fmt.Sprintf("%s due%s: %s", count(len(names), "task"), day, strings.Join(names, ", "))
	case d.AllDay:
		return joined("all day"+day+" "+title, d.Place)
	}
	return joined(clockText(d.Start, now, zone)+" "+title, "until "+clockText(d.End, now, zone), d.Place)
}

// oftenText is a task that fires often, with its first and its last fire.
func oftenText(fires []schedule.Entry, now time.Time, zone *time.Location) string {
	first, last := fires[0], fires[len(fires)-1]
	first.Tag = joined(first.Tag, fmt.Sprintf("and %s until %s", count(len(fires)-1, "more time"), clockText(last.FireTime, now, zone)))
	return entryText(first, first.FireTime, now, zone)
}

// taskText is a routine or reminder in the list of all.
func taskText(t schedule.TaskView, now time.Time, zone *time.Location) string {
	next := ""
	if !t.Next.IsZero() {
		next = "next " + clockText(t.Next, now, zone)
	}
	held := ""
	switch {
	case t.Waits != "":
		held = joined(schedule.TagWaits, t.Waits)
	case t.Paused:
		held = "paused"
	case !t.Snoozed.IsZero():
		held = "snoozed until " + clockText(t.Snoozed, now, zone)
	}
	where, silent := "", ""
	if t.Foreground {
		where = "foreground"
	}
	if t.Silent {
		silent = "silent"
	}
	return flat(joined(t.Title, string(t.Kind), t.When, next, held, where, silent)) + " (" + t.ID + ")"
}

// deliveryText is what came in from another program: never what it said.
func deliveryText(d webhook.Delivery, now time.Time, zone *time.Location) string {
	name := flat(d.Webhook)
	if name == "" {
		name = textUnknownHook
	}
	times := ""
	if d.Count > 1 {
		times = count(d.Count, "time")
	}
	return joined(clockText(d.At, now, zone), name, count(d.Size, "byte"), d.Verdict, d.Outcome, times, strings.Join(d.Flagged, ", "))
}

func quitText(live int) string {
	are := "are"
	if live == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s %s waiting or running. They get 10 seconds to end, then they are stopped. Say yes to end; anything else stays", count(live, "run"), are)
}
