// Package action holds every action of the dashboard once: its name, its keys,
// where it applies, what it would do and why it is off. Keys, help line, help
// page, palette and docs/keys.md all come from this table.
package action

import (
	"cmp"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/command"
)

// ID names an action: "budget.capacity-up".
type ID string

// Pane names a pane. Everywhere is not a pane: it marks global actions.
type Pane string

// The panes in the order of their number keys, and Everywhere.
const (
	Everywhere Pane = ""
	Budget     Pane = "budget"
	Schedule   Pane = "schedule"
	Updates    Pane = "updates"
	Forks      Pane = "forks"
	Chat       Pane = "chat"
	Logs       Pane = "logs"
)

// The pages: panes without a box and without a number. Each has the whole body while
// it has the focus.
const (
	Task     Pane = "task"
	Costs    Pane = "costs"
	Away     Pane = "away"
	Week     Pane = "week"
	Settings Pane = "settings"
)

// Day is the day in its rows below the top line: no box, no page.
const Day Pane = "day"

// Panes lists the panes; the pane at index i has the number key i+1. Pages lists the
// pages, AllPanes both and the day.
var (
	Panes    = []Pane{Budget, Schedule, Updates, Forks, Chat, Logs}
	Pages    = []Pane{Task, Costs, Away, Week, Settings}
	AllPanes = slices.Concat([]Pane{Day}, Panes, Pages)
)

// Action is one row of the table.
type Action struct {
	ID    ID
	Title string   // two to four words, for palette and help: "Raise the capacity"
	More  string   // what else there is to know, in a few words; may be empty
	Short string   // a word or two for the help line: "capacity"
	Words string   // what people type for it that it is not called; only the search knows them
	Keys  []string // as tea.KeyPressMsg.String() gives them: "+", "ctrl+p", "enter"; none where the palette alone has it
	Pane  Pane
	// Hint says the effect for the help line, such as "5→6"; empty shows Short
	// alone. Nil when the effect never changes.
	Hint func(core.Snapshot) string
	// Off says why the action cannot be used now; empty means that it can. Nil
	// means always.
	Off func(core.Snapshot) string
	// Make is the command that the action stands for; nil where its pane or the frame
	// knows it, such as for what is selected.
	Make func(core.Snapshot) command.Value
	// Costs marks what spends something or ends something at once: a click on its word
	// in the help line, which is easily made by accident, asks first.
	Costs bool
	// Writes marks what changes the bot: --read-only switches it off.
	Writes bool
	// Quiet keeps a row out of the help line, which has little room: moving
	// about, and keys that another row of the line already stands for.
	Quiet bool
	// Over marks a row that takes its keys from a later row of its pane, for as
	// long as it is not off: "n" denies what waits, else it goes to the next match.
	Over bool
	// Anywhere marks a row of a pane whose keys work in every pane that has no use of its
	// own for them.
	Anywhere bool
	// Pair names the row that shares a place in the help line with this one:
	// "+/- capacity 5→6". The named row must follow this one in the table.
	Pair ID
}

// The actions. Ids are unique in a pane; those of what scrolls are the same in all.
const (
	// The actions that the frame carries out itself.
	GoNext     ID = "go.next"
	GoPrevious ID = "go.previous"

	Zoom    ID = "view.zoom"
	Back    ID = "view.back"
	Help    ID = "view.help"
	Palette ID = "view.palette"
	Notices ID = "view.notices"
	// OpenHeadline shows what the top line is about.
	OpenHeadline ID = "view.headline"
	Mouse        ID = "view.mouse"
	Redraw       ID = "view.redraw"
	Engine       ID = "view.engine"

	Deliveries ID = "view.deliveries"
	Servers    ID = "view.servers"
	Account    ID = "view.account"

	ThemeNext  ID = "view.theme"
	LayoutNext ID = "view.layout"
	Wider      ID = "view.wider"
	Narrower   ID = "view.narrower"
	Taller     ID = "view.taller"
	Shorter    ID = "view.shorter"

	Undo      ID = "app.undo"
	Redo      ID = "app.redo"
	Welcome   ID = "app.welcome"
	Demo      ID = "app.demo"   // in the place of the dashboard
	SetUp     ID = "app.set-up" // the questions of the set-up
	Login     ID = "app.login"
	Interrupt ID = "app.interrupt"
	Quit      ID = "app.quit"
	Suspend   ID = "app.suspend"

	// The actions of the day.
	DayEarlier ID = "day.earlier"
	DayLater   ID = "day.later"
	DayFirst   ID = "day.first"
	DayLast    ID = "day.last"
	DayNow     ID = "day.now"
	DayLeave   ID = "day.leave"
	DayOpen    ID = "day.open"

	// The actions of the budget pane.
	CapacityUp   ID = "budget.capacity-up"
	CapacityDown ID = "budget.capacity-down"
	RefillDown5  ID = "budget.refill-down5"
	RefillUp5    ID = "budget.refill-up5"
	RefillDown1  ID = "budget.refill-down1"
	RefillUp1    ID = "budget.refill-up1"
	Exact        ID = "budget.exact" // the frame opens the entry
	Mute         ID = "budget.mute"

	// The actions of the schedule pane.
	ScheduleFire    ID = "schedule.fire"
	SchedulePreview ID = "schedule.preview"
	ScheduleDetails ID = "schedule.details"
	ScheduleView    ID = "schedule.view" // shows the next view
	ScheduleSnooze  ID = "schedule.snooze"
	ScheduleAllow   ID = "schedule.allow"
	SchedulePause   ID = "schedule.pause"
	ScheduleEdit    ID = "schedule.edit"
	ScheduleDelete  ID = "schedule.delete"
	ScheduleOpen    ID = "schedule.open"
	ScheduleNew     ID = "schedule.new"

	// The actions of the updates pane.
	UpdatesRead    ID = "updates.read"
	UpdatesDiscard ID = "updates.discard"
	UpdatesDeliver ID = "updates.deliver"
	// UpdatesYes, UpdatesOther and UpdatesNo answer the selected question of the bot by its
	// first button, the one in the middle, and the last.
	UpdatesYes   ID = "updates.yes"
	UpdatesOther ID = "updates.other"
	UpdatesNo    ID = "updates.no"

	// The actions of the forks pane beside those of its tail.
	ForksUp   ID = "forks.up"
	ForksDown ID = "forks.down"
	ForksTail ID = "forks.tail"
	ForksStop ID = "forks.stop"
	// ForksResume continues a finished run as an interactive fork.
	ForksResume ID = "forks.resume"
	// ForksAgain fires the task of a run once more, beside its schedule.
	ForksAgain ID = "forks.again"
	// ForksSeen marks every failure as seen.
	ForksSeen ID = "forks.seen"
	// ForksState shows runs of another state, ForksSort sorts them by the next column,
	// ForksTurn the other way round; all on the page of runs.
	ForksState ID = "forks.state"
	ForksSort  ID = "forks.sort"
	ForksTurn  ID = "forks.turn"

	// The actions of the page of a task.
	TaskRun      ID = "task.run" // opens the run that is looked at
	TaskOlder    ID = "task.older"
	TaskNewer    ID = "task.newer"
	TaskPrevious ID = "task.before"
	TaskNext     ID = "task.behind"
	TaskEdit     ID = "task.edit"
	TaskOpen     ID = "task.open"
	TaskDelete   ID = "task.delete"
	// TaskRestore brings back the task that was removed last.
	TaskRestore ID = "task.restore"
	TaskFire    ID = "task.fire"
	TaskPause   ID = "task.pause"

	// The actions of the page of costs.
	WeekEarlier ID = "week.earlier"
	WeekLater   ID = "week.later"

	CostsOpen ID = "costs.open"
	CostsMark ID = "costs.mark"
	CostsLift ID = "costs.lift"

	// The actions of the chat pane beside its scrolling.
	ChatWrite ID = "chat.write"
	ChatSend  ID = "chat.send"
	ChatReply ID = "chat.reply" // to the marked message
	// ChatButtons chooses among the buttons of a card.
	ChatButtons ID = "chat.buttons"

	// The answers to a tool call that waits, and the exits of the interactive fork;
	// both belong to the chat pane.
	ApprovalAllow  ID = "approval.allow"
	ApprovalDeny   ID = "approval.deny"
	ApprovalAlways ID = "approval.always"
	// ApprovalRead shows the call in full.
	ApprovalRead ID = "approval.read"

	ForkSave   ID = "fork.save"
	ForkReport ID = "fork.report"
	ForkExit   ID = "fork.exit"

	// The actions of everything that scrolls. A pane that has them has a row for
	// each: the ids are the same everywhere, the keys may differ.
	TailFollow   ID = "tail.follow"
	TailUp       ID = "tail.up"
	TailDown     ID = "tail.down"
	TailPageUp   ID = "tail.pgup"
	TailPageDown ID = "tail.pgdn"
	TailHome     ID = "tail.home"
	TailLeft     ID = "tail.left" // with TailRight, where lines are not wrapped
	TailRight    ID = "tail.right"
	TailFind     ID = "tail.find"
	TailNext     ID = "tail.next"
	TailPrevious ID = "tail.prev"
	TailWrap     ID = "tail.wrap"
	TailCopyLine ID = "tail.copy-line"
	TailCopyAll  ID = "tail.copy-all"
	TailFilter   ID = "tail.filter"
	TailTime     ID = "tail.time"
	TailLevel    ID = "tail.level" // of the log

	// AwayOpen opens what the selected line of the page of what was missed stands for;
	// AwayHalf gives its other half the keys.
	AwayOpen ID = "away.open"
	AwayHalf ID = "away.half"

	// SettingsEdit writes a new value of the selected setting; SettingsNext and
	// SettingsPrevious take the one of its choices that is next.
	SettingsEdit     ID = "settings.edit"
	SettingsNext     ID = "settings.next"
	SettingsPrevious ID = "settings.previous"
)

// Get finds the row of an id in a pane, with the table's own keys.
func Get(p Pane, id ID) (Action, bool) { return Keys{}.Get(p, id) }

// Verb is what an id says behind its pane: "capacity-up" of "budget.capacity-up".
func (id ID) Verb() string {
	_, verb, _ := strings.Cut(string(id), ".")
	return verb
}

// Name is the pane as people call it.
func (p Pane) Name() string { return paneNames[p] }

// Page reports that the pane has no box of its own.
func (p Pane) Page() bool { return slices.Contains(Pages, p) }

// ID is the action of the pane that is called so: "schedule.up".
func (p Pane) ID(verb string) ID { return ID(string(p) + "." + verb) }

// Go is the action that gives the pane the focus.
func (p Pane) Go() ID { return ID("go." + p) }

// KeyName is a key as people read it: "PgDn", "↑".
func KeyName(key string, ascii bool) string {
	if sign := arrows[key]; sign != "" && !ascii {
		return sign
	}
	return cmp.Or(keyNames[key], key)
}

// KeyNames lists the keys of a row as people read them, separated by spaces.
func (a Action) KeyNames(ascii bool) string {
	names := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		names[i] = KeyName(k, ascii)
	}
	return strings.Join(names, " ")
}
