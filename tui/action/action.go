// Package action is the table of all actions of the dashboard: name, keys, pane, effect, and the reason if an action
// is disabled. Key handling, help line, help page, palette and docs/keys.md all use this table.
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

// The pages: panes without a box or a number. A focused page fills the whole body.
const (
	Task     Pane = "task"
	Costs    Pane = "costs"
	Away     Pane = "away"
	Week     Pane = "week"
	Settings Pane = "settings"
)

// Day is the day, in rows below the top line: neither a box nor a page. Detail is the box that shows what is selected
// in the focused list; it never has the focus.
const (
	Day    Pane = "day"
	Detail Pane = "detail"
)

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
	Act   string   // the name of the row of command.Table that it carries out; empty if it carries out none
	Title string   // two to four words, for palette and help: "Raise the capacity"; without it, that of the row
	More  string   // more about it, in a few words; may be empty
	Short string   // a word or two for the help line: "capacity"
	Words string   // synonyms, used only by the search
	Keys  []string // as returned by tea.KeyPressMsg.String(): "+", "ctrl+p", "enter"; empty if it is only in the palette
	Pane  Pane
	// Hint returns the effect for the help line, such as "5→6"; empty shows only Short. Nil if the effect never changes.
	Hint func(core.Snapshot) string
	// Off returns why the action is disabled, or empty if it is not. Nil means never disabled.
	Off func(core.Snapshot) string
	// Make returns the action's command. Nil if its pane or the frame handles the action, for example because it needs
	// the selection.
	Make func(core.Snapshot) command.Value
	// Costs marks actions that spend or end something at once: a click on one in the help line, which can happen by
	// accident, asks first.
	Costs bool
	// Writes marks actions that change the bot: --read-only disables them.
	Writes bool
	// Quiet keeps a row out of the help line, which has little room: movement, and keys covered by another row of the
	// line.
	Quiet bool
	// Over marks a row that takes precedence over a later row of its pane with the same keys while it is enabled: "n"
	// denies a pending call, otherwise it goes to the next match.
	Over bool
	// Anywhere marks a row whose keys also work in every other pane that does not use them itself.
	Anywhere bool
	// Pair names the row that shares a place in the help line with this one:
	// "+/- capacity 5→6". The named row must follow this one in the table.
	Pair ID
}

// The actions. IDs are unique within a pane; scrolling actions have the same IDs in all panes.
const (
	// The actions executed by the frame itself.
	GoNext     ID = "go.next"
	GoPrevious ID = "go.previous"

	Zoom    ID = "view.zoom"
	Back    ID = "view.back"
	Help    ID = "view.help"
	Palette ID = "view.palette"
	Notices ID = "view.notices"
	// OpenHeadline opens the subject of the top line.
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
	Demo      ID = "app.demo"   // replaces the dashboard
	SetUp     ID = "app.set-up" // asks the setup questions
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
	Exact        ID = "budget.exact" // the frame opens the form
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
	// UpdatesYes, UpdatesOther and UpdatesNo answer the bot's selected question with its first, middle and last button.
	UpdatesYes   ID = "updates.yes"
	UpdatesOther ID = "updates.other"
	UpdatesNo    ID = "updates.no"

	// The actions of the forks pane, except those of its tail.
	ForksUp   ID = "forks.up"
	ForksDown ID = "forks.down"
	ForksTail ID = "forks.tail"
	ForksStop ID = "forks.stop"
	// ForksResume continues a finished run as an interactive fork.
	ForksResume ID = "forks.resume"
	// ForksAgain fires the task of a run once more, in addition to its schedule.
	ForksAgain ID = "forks.again"
	// ForksSeen marks every failure as seen.
	ForksSeen ID = "forks.seen"
	// ForksState shows runs in another state, ForksSort sorts them by the next column, and ForksTurn reverses the order;
	// all on the runs page.
	ForksState ID = "forks.state"
	ForksSort  ID = "forks.sort"
	ForksTurn  ID = "forks.turn"

	// The actions of the task page.
	TaskRun      ID = "task.run" // opens the selected run
	TaskOlder    ID = "task.older"
	TaskNewer    ID = "task.newer"
	TaskPrevious ID = "task.before"
	TaskNext     ID = "task.behind"
	TaskEdit     ID = "task.edit"
	TaskOpen     ID = "task.open"
	TaskDelete   ID = "task.delete"
	// TaskRestore restores the last removed task.
	TaskRestore ID = "task.restore"
	TaskFire    ID = "task.fire"
	TaskPause   ID = "task.pause"

	// The actions of the week page.
	WeekEarlier ID = "week.earlier"
	WeekLater   ID = "week.later"
	WeekUp      ID = "week.up"
	WeekDown    ID = "week.down"
	WeekOpen    ID = "week.open" // the runs of the selected day

	CostsOpen ID = "costs.open"
	CostsMark ID = "costs.mark"
	CostsLift ID = "costs.lift"

	// The actions of the chat pane, except scrolling.
	ChatWrite ID = "chat.write"
	ChatSend  ID = "chat.send"
	ChatReply ID = "chat.reply" // to the marked message
	// ChatButtons chooses among the buttons of a card.
	ChatButtons ID = "chat.buttons"

	// The answers to a pending tool call, and the exits of the interactive fork; both belong to the chat pane.
	ApprovalAllow  ID = "approval.allow"
	ApprovalDeny   ID = "approval.deny"
	ApprovalAlways ID = "approval.always"
	// ApprovalRead shows the call in full.
	ApprovalRead ID = "approval.read"

	ForkSave   ID = "fork.save"
	ForkReport ID = "fork.report"
	ForkExit   ID = "fork.exit"

	// The actions of everything that scrolls. Each scrolling pane has a row for each: the IDs are the same everywhere,
	// the keys may differ.
	TailFollow   ID = "tail.follow"
	TailUp       ID = "tail.up"
	TailDown     ID = "tail.down"
	TailPageUp   ID = "tail.pgup"
	TailPageDown ID = "tail.pgdn"
	TailHome     ID = "tail.home"
	TailLeft     ID = "tail.left" // with TailRight, if lines are not wrapped
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

	// AwayOpen opens the item of the selected line on the page of missed events; AwayHalf focuses its other half.
	AwayOpen ID = "away.open"
	AwayHalf ID = "away.half"

	// SettingsEdit edits the value of the selected setting; SettingsNext and SettingsPrevious select an adjacent choice.
	SettingsEdit     ID = "settings.edit"
	SettingsNext     ID = "settings.next"
	SettingsPrevious ID = "settings.previous"
)

// Get finds the row of an ID in a pane, with the default keys.
func Get(p Pane, id ID) (Action, bool) { return Keys{}.Get(p, id) }

// Verb returns the ID without its pane: "capacity-up" of "budget.capacity-up".
func (id ID) Verb() string {
	_, verb, _ := strings.Cut(string(id), ".")
	return verb
}

// Name returns the pane's name for people.
func (p Pane) Name() string { return paneNames[p] }

// Page reports whether the pane is a page, without a box.
func (p Pane) Page() bool { return slices.Contains(Pages, p) }

// ID returns the pane's action with this verb: "schedule.up".
func (p Pane) ID(verb string) ID { return ID(string(p) + "." + verb) }

// Go returns the action that focuses the pane.
func (p Pane) Go() ID { return ID("go." + p) }

// KeyName returns a key's name for people: "PgDn", "↑".
func KeyName(key string, ascii bool) string {
	if sign := arrows[key]; sign != "" && !ascii {
		return sign
	}
	return cmp.Or(keyNames[key], key)
}

// KeyNames lists the key names of a row, separated by spaces.
func (a Action) KeyNames(ascii bool) string {
	names := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		names[i] = KeyName(k, ascii)
	}
	return strings.Join(names, " ")
}
