package dialog

import (
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// The texts of the form.
const (
	textFormTitle = "A new routine or reminder"
	textLeaveForm = "Esc again discards; any other key keeps editing"

	textKindRoutine   = "repeats on a schedule"
	textKindReminder  = "fires once, then its file is deleted"
	textKindUntilDone = "repeats until you press Done, Later or Not today on its ping"
	textWhenRoutine   = "every weekday at 9, daily 8:15, or cron: 0 9 * * 1-5"
	textWhenReminder  = "18:30, tonight, next monday 9am, in 2 hours, or 24 dec"

	textPastMoment = "that is in the past; choose a later time"
	textFarMoment  = "that is more than a year away"
	textNeverFires = "no month has such a day, so it would never fire"
	textHasEnded   = "it has %s; choose a later end"
)

// The texts about an edit by the agent.
const (
	textReviewKey = "%s allows the edit, %s refuses it and restores the file, %s decides later."
)

// The texts of the form of an existing task.
const (
	textYes        = "yes"
	textNo         = "no"
	textUsual      = "(default)"
	textNoField    = "%s has no field %s; edit and the task alone lists its fields"
	textFieldTakes = "%s takes one of: %s"
	textOverwrite  = "Enter overwrites it with your changes, Esc keeps the file"
	textLongPrompt = "%s: edit them in the file"
	textBoth       = "%s is %s in the file and %s here"
	textOtherPart  = "a part that no field shows"
)

// The fields of both forms of a task, as docs/routines.md names them.
const (
	fieldKind     = "Kind"
	fieldWhen     = "When"
	fieldWindow   = "Window"
	fieldJitter   = "Jitter"
	fieldTitle    = "Title"
	fieldPrompt   = "Prompt"
	fieldPings    = "Pings"
	fieldMissed   = "If missed"
	fieldLate     = "Late"
	fieldUntil    = "Until"
	fieldAhead    = "Ahead"
	fieldRuns     = "Runs"
	fieldReports  = "Reports"
	fieldCheck    = "Check"
	fieldMessage  = "Message"
	fieldModel    = "Model"
	fieldThinking = "Thinking"
	fieldIsolated = "Isolated"
	fieldCritical = "Above limits"
	fieldAllowed  = "May use"
	fieldDenied   = "May not use"
	fieldSkills   = "Skills"
	fieldTrusts   = "Trusts input"
	fieldRepeats  = "Repeats"

	fieldOtherModel = "Another"
	textOtherModel  = "a name, such as local/qwen3"
)

// fieldNotes explain the fields.
var fieldNotes = map[string]string{
	fieldWindow:   "optional, such as 9:00-11:00: the bot chooses the minute in it",
	fieldJitter:   "optional: fires up to this much later, such as 10m",
	fieldTitle:    "optional: a few words for lists and the schedule",
	fieldPrompt:   "what the bot should do, in your words",
	fieldPings:    "whether it may send you messages",
	fieldMissed:   "what happens when the bot was off at the time",
	fieldLate:     "optional: how late it may then still run, such as at most 2 hours late; usually 12 hours",
	fieldAhead:    "optional: what it says before, such as 1 day: The dentist is tomorrow; 1 hour: Leave now",
	fieldUntil:    "whether it comes back until you press Done on its ping",
	fieldRuns:     "in the background, or as a turn of the conversation that you see",
	fieldReports:  "when its report joins the conversation: on_ping means after a ping",
	fieldCheck:    "optional: a command that decides before each fire whether it runs",
	fieldMessage:  "what the check prints is sent as it is, without a model and its cost",
	fieldModel:    "for background runs; the default is in the settings",
	fieldThinking: "thinks before it answers: better, but slower and dearer",
	fieldIsolated: "starts without the conversation: cheaper, but knows nothing of it",
	fieldCritical: "also runs when a spending limit is reached",
	fieldAllowed:  "tools to allow, separated by ; such as WebFetch(domain:example.com)",
	fieldDenied:   "tools to forbid, separated by ;",
	fieldSkills:   "folders in skills/ to add to the prompt, separated by ;",
	fieldTrusts:   "keeps all its tools after reading web pages, mail or downloads",
	fieldRepeats:  "how many follow-ups it may schedule, 0 to 10000",
}

// The choices of the form.
const (
	textRoutine    = "routine"
	textReminder   = "reminder"
	textUntilDone  = "reminder until it is done"
	textBackground = "in the background"
	textForeground = "in the main conversation"
	textMayPing    = "when it has something to say"
	textNeverPings = "never"
)

// reminderYear is the maximum distance of a reminder: a later time is probably a typo.
const reminderYear = 366 * 24 * time.Hour

// cronOf is the cron expression of a text, which may be words.
func cronOf(c pane.Context, text string) string {
	if s, err := c.Snap.Times().Schedule(text); err == nil {
		return s.String()
	}
	return strings.TrimSpace(text)
}

// readMoment parses the time of a reminder; wrong is what is wrong with it.
func readMoment(text string, read when.Reader) (at time.Time, wrong string, ok bool) {
	at, err := read.Moment(text)
	switch {
	case err != nil:
		return time.Time{}, err.Error(), false
	case at.Sub(read.Now) > reminderYear:
		return time.Time{}, textFarMoment, false
	}
	return at, "", true
}

// dayWords is a moment with its day and the time until then.
func dayWords(s *core.Snapshot, at time.Time) string {
	clock := s.When(at, cron.Layouts{Today: "today at 15:04", Else: "Monday 2 January at 15:04"})
	return clock + " (" + words.Until(at, s.At) + ")"
}

// The texts of the dialog that asks until when.
const (
	textNoClock = "type a time, such as 18:30"

	textMuteEnds    = "pings are delivered again at once"
	textMuteNothing = "no task that may ping fires until then; critical pings are still delivered"
	textMuteCut     = "no task that may ping fires until %s; the schedule is not known further ahead"
	textSnoozeEnds  = "it fires on its schedule again"
	textSnoozeCut   = "it would not have fired before %s; the schedule is not known further ahead"

	textSnoozeNothing = "it would not have fired before then"
	textMuted         = "%s without pings: %s. Critical pings are still delivered."
	textNoChange      = "changes nothing: it fires at "
	textSkips         = "skips %s, the first at %s"
)

// clockWords is a moment, with its weekday if it is not today, and its date if it is after
// this week.
func clockWords(s *core.Snapshot, t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Week: "Mon 15:04", Year: "Mon 2 January 15:04", Else: "Mon 2 January 2006 15:04"})
}

// The texts of the welcome. On a small screen, an answer ends at its colon.
const (
	textWhatItIs  = "ollim-bot is a personal assistant that reaches out: it runs routines and reminders in the background, and pings you within a budget."
	textWhatShort = "An assistant that reaches out."

	textWriteFirst  = "write your first routine: an example is filled in, Enter saves it"
	textInstall     = "install starter routines: see what they do first"
	textConnect     = "connect a model: Claude or an API key; and Discord"
	textSetUp       = "set it up: four questions about names, time zone and Discord"
	textSeeDemo     = "see it live: a demo day, without an account"
	textEveryKey    = "every key: here and at any time"
	textAround      = "look around"
	textAroundWrite = "%s writes to the bot"
	textAroundBack  = "%s opens this welcome again"

	textFirstForm    = "Your first routine: Enter saves it"
	textFirstMessage = "Ping me with a good morning, and ask for the three things that matter today."

	textStarters = "These files are copied to routines/. What you have there stays unchanged, and each can be edited or deleted in the schedule."

	textConnectName = "Connect a model or Discord"
	textConnectHere = "Or press i in the welcome: it asks the questions of ollim-bot init here."
)

// textConnectRows is the page that explains how to connect.
var textConnectRows = []Row{
	{Text: "Until a model is connected, scripted replies answer, at no cost. Run these in a shell, then start ollim-bot again."},
	{},
	{Text: "Claude, with your Claude account"},
	{"  1", "npm install -g @anthropic-ai/claude-code"},
	{"  2", "ollim-bot auth login"},
	{},
	{Text: "An API key"},
	{"  1", "put the line ANTHROPIC_API_KEY=sk-ant-... into the file .env of the data directory"},
	{"  2", "for other providers: ollim-bot help connect-a-model"},
	{},
	{Text: "Discord, so that pings reach your phone"},
	{"  1", "ollim-bot init"},
	{},
	{Text: "Check it"},
	{"  1", "ollim-bot doctor"},
}

// The texts of the pages, questions and boxes.
const (
	textCopied          = "copied, if the terminal allows it"
	textLoginWait       = "Asking for the address of the login page…"
	textLoginOpen       = "Open this address in a browser and log in there (ctrl+y copies it):"
	textLoginCode       = "Then paste the code that the page shows:"
	textLoginNoCode     = "first paste the code that the page shows"
	textDeliveries      = "Webhooks, newest first"
	textNoDeliveries    = "No deliveries yet. WEBHOOK_PORT and WEBHOOK_SECRET turn webhooks on; a file in webhooks/ defines one."
	textEngineProcesses = "processes: id, use, memory, age, session"
	textACommand        = "command"
	textSetsCapacity    = "sets the capacity of the ping budget"
	textSetsRefill      = "sets how many minutes a token takes"
	textSetsLook        = "changes how the dashboard looks"
	textShowsAccount    = "shows what became of each due time since a day: monday, 30d, 2026-11-23"
	textListsRuns       = "lists runs: a day, a state, words"
	textListUsage       = "tuesday, yesterday, failed …"
	textNoAction        = "no action has that name"
	textIDIs            = "in keys.yaml: "
	textEnter           = "enter "
	textSend            = "Send to the agent: %s"
	textSends           = "enter sends these words as a message"
	textLoading         = "loading…"
	textOf              = " of "
	textQuitYes         = "quit and stop them"
	textQuitBare        = "quit"
	textQuitClicked     = "Quit? The bot stops with its dashboard."
	textDetachClicked   = "Detach? The bot keeps running."
	textQuitNoRuns      = "The forks have ended, so nothing would be stopped."
	textDraftLost       = "Your draft was not sent. Quitting discards it."
	textDropDraft       = "quit and discard it"
	textNoCapacity      = "the capacity is a whole number of tokens; 0 mutes"
	textNoMinutes       = "the refill rate is a whole number of minutes, at least 1"
	textStay            = "stay"

	textBudgetTitle = "Ping budget, exactly"
)

// quitText says what would be lost, the most important first: a small screen cuts the end.
func quitText(running, waiting int) string {
	var parts []string
	if running > 0 {
		parts = append(parts, words.Grouped(uint64(running), "fork")+" still running")
	}
	if waiting > 0 {
		parts = append(parts, strconv.Itoa(waiting)+" waiting")
	}
	return strings.Join(parts, ", ") + ": stopped at once. Reminders among them fire again at the next start."
}

// The texts of the palette about tasks, runs, updates and settings.
const (
	textARun = "run"

	textOpensRun     = "opens it on the runs page"
	textOpensSetting = "opens it on the settings page"

	textPromptOf     = "Prompt of "
	textReadOnlyHere = "the dashboard is read-only"
)

// taskVerbs are the palette's actions for a task, from the schedule.
var taskVerbs = []struct {
	id          action.ID
	title, does string
	paused      bool // for a pause: whether the task must be paused
}{
	{action.ScheduleDetails, "Open %s", "opens its page", false},
	{action.ScheduleFire, "Fire %s", "fires it now; its schedule is unchanged", false},
	{action.SchedulePause, "Resume %s", "resumes it; u undoes", true},
	{action.SchedulePause, "Pause %s", "pauses it; u undoes", false},
	{action.ScheduleSnooze, "Snooze %s", "asks until when", false},
	{action.SchedulePreview, "Preview the prompt of %s", "shows exactly what would be sent", false},
	{action.ScheduleEdit, "Edit %s", "opens its form", false},
	{action.ScheduleDelete, "Delete %s", "deletes its file; u undoes", false},
	{action.ScheduleOpen, "Open the file of %s", "opens its file in your editor", false},
}

// textHelpWords explain the terms and symbols of the panes, and the mouse.
var textHelpWords = []Row{
	{"Words", ""},
	{"ping", "A message from a background run to you. Each costs a token; critical ones are free"},
	{"token", "The price of a ping. The budget refills over time; when it is empty, you are left alone"},
	{"run, fork", "A task that works in the background: ◉ running, ◐ waiting, ✓ done, ✗ failed, ■ stopped"},
	{"update", "A run's report without a ping: it joins the conversation with your next message"},
	{"routine", "A task that repeats; a reminder fires once, or is a chain of checks"},
	{"welcome", "What to do first. The palette opens it again under its name"},
	{"signs", "! needs you or is on hold, ‼ critical, ◆ ping, ◈ refused ping, ◇ likely ping, △ missed, ○ upcoming, ▪ appointment"},
	{"Mouse", ""},
	{"click", "Focus a pane or select a row; on the selected row, same as enter"},
	{"click below", "On a key in the last line: same as that key"},
	{"wheel", "Scroll what is under the pointer"},
}

// The keys of dialogs, with their descriptions in the help line.
var formKeys = struct{ send, save, open, next, pick, moment, name, previous, turn, line, erase, leave, warn key.Binding }{
	send:     binding("enter", "set", "enter", "ctrl+s"),
	save:     binding("ctrl+s", "save", "ctrl+s"),
	open:     binding("enter", "open", "enter", "space", "right"),
	next:     binding("tab", "next field", "tab", "down"),
	pick:     binding("↑/↓", "next"),
	moment:   binding("HH:MM", "type"),
	name:     binding("name", "type"),
	previous: binding("", "", "shift+tab", "up"),
	turn:     binding("space", "change", "space", "left", "right"),
	line:     binding("alt+enter", "new line", "alt+enter", "shift+enter", "ctrl+j"),
	erase:    binding("", "", "backspace", "delete", "ctrl+h", "ctrl+d", "ctrl+w", "ctrl+u", "ctrl+k"),
	leave:    binding("esc", "cancel", "esc"),
	warn:     binding("esc", "leave", "esc"), // it only warns
}

var pageKeys = struct{ shut, find, next, scroll, copied key.Binding }{
	shut:   binding("esc", "close", "esc", "q", "?", "!", "enter"),
	find:   binding("/", "find", "/"),
	next:   binding("n/N", "next, previous", "n"),
	scroll: binding("PgUp/PgDn", "scroll", "pgup", "pgdown"),
	copied: binding("c", "copy", "c", "C"),
}

var loginKeys = struct{ copy, send, leave key.Binding }{
	copy:  binding("ctrl+y", "copy the address", "ctrl+y"),
	send:  binding("enter", "send the code", "enter"),
	leave: binding("esc", "not now", "esc"),
}

var paletteKeys = struct{ run, up, down, shut key.Binding }{
	run:  binding("enter", "run", "enter"),
	up:   binding("", "", "up", "ctrl+p", "shift+tab"),
	down: binding("tab", "next", "down", "ctrl+n", "tab"),
	shut: binding("esc", "close", "esc"),
}

var questionKeys = struct{ chosen, next, previous key.Binding }{
	chosen:   binding("enter", "choose", "enter"),
	next:     binding("", "", "tab", "down", "right", "j", "l"),
	previous: binding("", "", "shift+tab", "up", "left", "k", "h"),
}
