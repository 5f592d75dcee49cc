package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/transcript"
	"ollimbot/routines"
)

// The kinds of lines. Those of messages are the roles of the conversation, those
// of notices their levels.
const (
	kindReady    = "ready"
	kindNotice   = "notice"
	kindCritical = "critical ping"
	kindRun      = "run"
	kindUpdate   = "update"
	kindBudget   = "budget"
	kindEngine   = "engine"
	kindSurface  = "surface"
	kindProblem  = "problem"
	kindApproval = "approval"
	kindFork     = "fork"
	kindSchedule = "schedule"
	kindStatus   = "status"
	kindRead     = "read"
	kindHelp     = "help"
	kindOK       = "ok"
	kindError    = "error"
	kindQuit     = "quit"
)

const (
	textDone        = "done"
	textUndoable    = "; undo takes it back"
	textNoUndo      = "nothing to undo"
	textReadOnly    = "this is read-only; start it without --read-only to change things"
	textSayWhat     = "say what? For example: say what is left today"
	textFireWhat    = "fire what? Give the id of a task; schedule lists them"
	textStopWhat    = "stop what? Give the id of a run; runs lists them"
	textBudgetWhat  = "give a capacity (budget 6, budget +1, budget -1) or a refill rate in minutes (budget refill 60)"
	textMuteWhat    = "give how long, as in mute 2h or mute 30m, or mute off"
	textExitHow     = "exit leaves the fork and keeps nothing, exit save makes it the main conversation, exit report takes a report along"
	textNothingSaid = "nothing has been said yet"
	textLeftFork    = "the fork is over; this is the main conversation again"
	textForkAsks    = "the agent would like to save the fork; exit save does it, exit report and exit do not"
	textNothingNext = "nothing is scheduled in this window"
	textNoUpdates   = "no update is pending"
	textNoRuns      = "no run yet"
	textNoCalls     = "no tool call waits for you"
	textBye         = "ending"

	textHelp = `status: one look at everything
say WORDS: speak to the agent
read: the last message, line by line
schedule: what fires next, with ids
fire ID: run a task now
preview ID: the prompt that a task would send
runs: background runs, with ids
stop ID: end a run
updates: what waits for the main conversation
deliver: hand the updates over now
waits: tool calls that wait for you
allow N, always N, deny N: answer a tool call
budget: the ping budget; budget +1, budget -1, budget 6, budget refill 60 change it
mute 2h, mute off: refuse pings for a while
undo: take the last change back
exit, exit save, exit report: leave the fork that the conversation stands in
interrupt: end the answer that is being given
login, login CODE: log in to Claude
/NAME: a command of the conversation; /help lists them
quit: end; the end of the input does too`
)

func readyText(s *core.Snapshot) string {
	return fmt.Sprintf("ollim-bot without a screen in %s, engine %s %s; help lists the commands", s.Dir, s.Engine.Name, s.Engine.Model)
}

func unknownText(word string) string {
	return fmt.Sprintf("there is no command %q; help lists them, and say WORDS speaks to the agent", word)
}

func upDown(ok bool, state string) string {
	if ok {
		return "up, " + state
	}
	return "down, " + state
}

func mutedText(until time.Time, zone *time.Location) string {
	if until.IsZero() {
		return "pings are not muted any more"
	}
	return "pings are muted until " + until.In(zone).Format("15:04")
}

func enteredText(f *core.Banner) string {
	if f.Topic == "" {
		return "the conversation stands in a fork now; exit leaves it"
	}
	return "the conversation stands in a fork now: " + f.Topic
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
	if !f.Live() {
		if !f.Started.IsZero() && f.Ended.After(f.Started) {
			text += " after " + f.Ended.Sub(f.Started).Round(time.Second).String()
		}
		text += fmt.Sprintf(", %d pings, %d reports", f.Pings, f.Reports)
	}
	if f.Error != "" {
		text += ": " + f.Error
	}
	return text + " (" + f.ID + ")"
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
	}
	if len(parts) == 1 && m.Source != "" {
		return ""
	}
	return strings.Join(parts, "\n")
}

func askText(c call, zone *time.Location) string {
	return fmt.Sprintf("number %d waits until %s: %s. allow %d, always %d or deny %d",
		c.number, c.Until.In(zone).Format("15:04:05"), c.Label, c.number, c.number, c.number)
}

func settledText(c call, now time.Time) string {
	if !c.Until.IsZero() && !now.Before(c.Until) {
		return fmt.Sprintf("number %d was denied, nobody answered: %s", c.number, c.Label)
	}
	return fmt.Sprintf("number %d waits no longer: %s", c.number, c.Label)
}

// waitingText lists the tool calls that wait, by number.
func (e *ear) waitingText() string {
	calls := make([]call, 0, len(e.calls))
	for _, c := range e.calls {
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		return textNoCalls
	}
	slices.SortFunc(calls, func(a, b call) int { return a.number - b.number })
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = askText(c, e.zone)
	}
	return strings.Join(lines, "\n")
}

func statusText(s *core.Snapshot, zone *time.Location) string {
	lines := []string{
		"it is " + s.At.In(zone).Format("Monday 15:04"),
		"engine " + s.Engine.Name + " " + s.Engine.Model + " " + upDown(s.Engine.OK, s.Engine.State),
	}
	if s.Surface.Name != "" {
		lines = append(lines, "messages go to "+s.Surface.Name+", "+upDown(s.Surface.OK, s.Surface.State))
	}
	lines = append(lines, "ping budget "+s.Budget.Status)
	if !s.Budget.Muted.IsZero() {
		lines = append(lines, mutedText(s.Budget.Muted, zone))
	}
	live := 0
	for _, f := range s.Forks {
		if f.Live() {
			live++
		}
	}
	lines = append(lines,
		fmt.Sprintf("%d routines, %d reminders, %d files with problems", s.Routines, s.Reminders, len(s.Schedule.Problems)),
		fmt.Sprintf("%d runs waiting or running, %d updates pending, %d tool calls waiting for you", live, len(s.Updates), len(s.Approvals)))
	if len(s.Schedule.Entries) > 0 {
		e := s.Schedule.Entries[0]
		lines = append(lines, "next: "+entryText(e))
	}
	if s.Busy {
		lines = append(lines, "an answer is being given")
	}
	return strings.Join(lines, "\n")
}

func entryText(e routines.Entry) string {
	text := e.FireTime.Format("15:04") + " " + e.Description
	if e.Tag != "" {
		text += ", " + e.Tag
	}
	if e.Silent {
		text += ", silent"
	}
	if e.Foreground {
		text += ", foreground"
	}
	return text + " (" + e.ID + ")"
}

func scheduleText(s *core.Snapshot) string {
	if len(s.Schedule.Entries) == 0 {
		return textNothingNext
	}
	lines := make([]string, 0, len(s.Schedule.Entries)+1)
	for _, e := range s.Schedule.Entries {
		lines = append(lines, entryText(e))
	}
	if s.Schedule.Refills != "" {
		lines = append(lines, s.Schedule.Refills)
	}
	return strings.Join(lines, "\n")
}

func updatesText(s *core.Snapshot, zone *time.Location) string {
	if len(s.Updates) == 0 {
		return textNoUpdates
	}
	lines := make([]string, len(s.Updates))
	for i, u := range s.Updates {
		lines[i] = u.At.In(zone).Format("15:04") + " " + strings.ReplaceAll(u.Message, "\n", " ")
	}
	return strings.Join(lines, "\n")
}

func runsText(s *core.Snapshot) string {
	if len(s.Forks) == 0 {
		return textNoRuns
	}
	lines := make([]string, len(s.Forks))
	for i, f := range s.Forks {
		lines[i] = runText(f)
	}
	return strings.Join(lines, "\n")
}

func quitText(live int) string {
	return fmt.Sprintf("%d runs are waiting or running; they get 10 seconds to end, then they are stopped. Say quit again to end", live)
}
