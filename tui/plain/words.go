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
	switch {
	case t.Next.IsZero():
	case t.Next.Before(s.At): // at the next start
		next = "was due " + s.Moment(t.Next)
	default:
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

// The kinds of lines. Those of messages are the roles of the conversation, those
// of notices their levels.
const (
	kindNotice   = "notice"
	kindDenied   = "denied"
	kindQuiet    = "quiet message"
	kindCritical = "critical ping"
	kindRun      = "run"
	kindOutput   = "output"
	kindUpdate   = "update"
	kindBudget   = "budget"
	kindEngine   = "engine"
	kindSurface  = "surface"
	kindProblem  = "problem"
	kindApproval = "approval"
	kindFork     = "fork"
	kindLog      = "log"
	kindButton   = "buttons"
)

// Texts for users, suitable for screen readers: no columns, boxes or arrows.
const (
	textReady       = "ollim-bot in plain mode in %s, %s; help lists the commands"
	textDone        = "done"
	textNoneMatches = "nothing matches %s"
	textError       = "error: "
	textUndoable    = "; undo takes it back"
	textReadOnly    = "this is read-only; restart without --read-only to make changes"
	textAsk         = "%s Type yes to %s, anything else to %s"
	textAsksFirst   = "%s\nThis asks first: type it in plain mode, or after : in the dashboard"
	textQuit        = "%s in progress or queued. They stop at once, and reminders among them fire again at the next start. Type yes to quit, anything else to stay"
	textUnchanged   = "nothing changed"
	textDropped     = "question cancelled, nothing changed"
	textNoQuestion  = "there is no question to answer"

	textContinues = "continues on the next line; a line without a backslash at its end completes it"
	textTooLong   = "this is too long and was ignored: a command can have at most 64 kilobytes"

	textUsage    = "%s takes %s, as in %s; help %s explains it"
	textNothing  = "%s takes nothing after it; help %[1]s explains it"
	textNumbers  = "; use one of these numbers, or more words"
	textSeveral  = "%q matches %s" + textNumbers
	textWords    = "a number names nothing here: use an ID, or words of the title"
	textChoose   = "; choose from"
	textNoMatch  = "no %s matches %q" + textChoose
	textNoList   = "numbers refer to the last list; here it is, repeat the command with one of these"
	textNoNumber = "there is no number %d in the last list, which has %d"
	textGone     = "number %d of the last list no longer exists" + textChoose
	textMore     = "and %s; type more to continue"
	textOlder    = "and %s; narrow the list with a filter, such as a day"

	textNoMessage = "the task has no message; after its time, write what the bot should do"

	textChatMore     = "earlier messages: ollim-bot history finds them"
	textNoMessages   = "no matching message"
	textReplyNotice  = "that message is from the program, which does not reply; give the number of a message from the bot"
	textEntered      = "you are in a fork now: %s; exit leaves it"
	textLeftFork     = "the fork has ended; this is the main conversation again"
	textForkAsks     = "the agent suggests saving the fork: exit save does, exit report and exit do not"
	textNoFork       = "you are not in a fork; /fork starts one"
	textNoSave       = "this fork continues a background run and cannot be saved; exit report keeps a report"
	textWas          = "%s means something else now; what it did before: %s"
	textTasksAre     = "tasks are those of Google Tasks: tasks list. The bot's own routines and reminders: list"
	textNothingToday = "nothing fires in the next 24 hours; list names all tasks"
	textNothingSeen  = "every failed run has been seen"
	textNothingWaits = "nothing is waiting for approval"
	textNoTasks      = "no routines or reminders yet; add creates one"
	textFileIs       = "the file is %s and contains:"
	textNoUpdates    = "no pending updates"
	textNoQuestions  = "the bot asks you nothing"
	textNoRuns       = "no runs yet"
	textNoAnswer     = "there is nothing to interrupt"
	textCallIs       = "number %d waits until %s: %s"
	textCallEnds     = "end of number %d; %s. Type yes to allow it, no to deny it"
	textCallGone     = "number %d is no longer waiting: %s"
	textCallDenied   = "number %d was denied because you did not answer: %s"
	textBlank        = "blank"
	textNoCalls      = "no tool calls are waiting for you"
	textNoProblems   = "no file has a problem"
	textNoButtons    = "no message has a button"

	textFollowed    = "following %s; follow off stops it"
	textFollowOver  = "%s has ended, so it is no longer followed"
	textFollowEnded = "it has ended; tail shows its last lines"
	textSkipped     = "%s arrived too fast and were skipped; tail and log show them"

	textUnknown  = "unknown command %q; help lists the commands"
	textToAgent  = "Type yes to send it to the agent as a message"
	textGroups   = "; the groups of commands are "
	textHelpHead = "Write a command, or a message to the agent. help and a command explains it, help and a group lists the commands of the " +
		"group, help all lists every command; words in square brackets are optional."
	textHelpTail  = "A line that starts with a slash is a command of the conversation; /help lists them."
	textNoSetting = "there is no setting %q; settings lists all"
	textNearest   = "; did you mean %s?"
	textPrefix    = "times are shown before each line"
	textNoPrefix  = "times are hidden"
)
