package action

// The actions that the frame carries out itself.
const (
	GoBudget   ID = "go.budget"
	GoSchedule ID = "go.schedule"
	GoUpdates  ID = "go.updates"
	GoForks    ID = "go.forks"
	GoChat     ID = "go.chat"
	GoLogs     ID = "go.logs"
	GoNext     ID = "go.next"
	GoPrevious ID = "go.previous"

	Zoom    ID = "view.zoom"
	Back    ID = "view.back"
	Help    ID = "view.help"
	Palette ID = "view.palette"
	Notices ID = "view.notices"
	Mouse   ID = "view.mouse"
	Redraw  ID = "view.redraw"
	Engine  ID = "view.engine"

	Deliveries ID = "view.deliveries"

	ThemeNext  ID = "view.theme"
	LayoutNext ID = "view.layout"
	Wider      ID = "view.wider"
	Narrower   ID = "view.narrower"
	Taller     ID = "view.taller"
	Shorter    ID = "view.shorter"

	Undo      ID = "app.undo"
	Demo      ID = "app.demo"   // in the place of the dashboard
	SetUp     ID = "app.set-up" // the questions of the set-up
	Login     ID = "app.login"
	Interrupt ID = "app.interrupt"
	Quit      ID = "app.quit"
	Suspend   ID = "app.suspend"
)

// The actions of the budget pane.
const (
	CapacityUp   ID = "budget.capacity-up"
	CapacityDown ID = "budget.capacity-down"
	RefillDown5  ID = "budget.refill-down5"
	RefillUp5    ID = "budget.refill-up5"
	RefillDown1  ID = "budget.refill-down1"
	RefillUp1    ID = "budget.refill-up1"
	Exact        ID = "budget.exact" // the frame opens the entry
	Mute         ID = "budget.mute"
)

// The actions of the schedule pane.
const (
	ScheduleUp      ID = "schedule.up"
	ScheduleDown    ID = "schedule.down"
	ScheduleTop     ID = "schedule.top"
	ScheduleBottom  ID = "schedule.bottom"
	SchedulePgUp    ID = "schedule.pgup"
	SchedulePgDn    ID = "schedule.pgdn"
	ScheduleFire    ID = "schedule.fire"
	SchedulePreview ID = "schedule.preview"
	ScheduleDetails ID = "schedule.details"
	// ScheduleView goes on to the next view: the window, 24 hours, every task.
	ScheduleView   ID = "schedule.view"
	ScheduleSnooze ID = "schedule.snooze"
	ScheduleAllow  ID = "schedule.allow"
	SchedulePause  ID = "schedule.pause"
	ScheduleOpen   ID = "schedule.open"
	ScheduleNew    ID = "schedule.new"
)

// The actions of the updates pane.
const (
	UpdatesUp      ID = "updates.up"
	UpdatesDown    ID = "updates.down"
	UpdatesTop     ID = "updates.top"
	UpdatesBottom  ID = "updates.bottom"
	UpdatesRead    ID = "updates.read"
	UpdatesDiscard ID = "updates.discard"
	UpdatesDeliver ID = "updates.deliver"
)

// The actions of the forks pane beside those of its tail.
const (
	ForksUp   ID = "forks.up"
	ForksDown ID = "forks.down"
	ForksTail ID = "forks.tail"
	ForksStop ID = "forks.stop"
	// ForksResume goes on in a finished run as an interactive fork.
	ForksResume ID = "forks.resume"
	// ForksAgain fires the task of a run once more, beside its schedule.
	ForksAgain ID = "forks.again"
	ForksCosts ID = "forks.costs"
)

// The actions of the chat pane beside its scrolling.
const (
	ChatWrite ID = "chat.write"
	ChatSend  ID = "chat.send"
	ChatReply ID = "chat.reply" // to the marked message
	// ChatButtons chooses among the buttons of a card.
	ChatButtons ID = "chat.buttons"
)

// The answers to a tool call that waits, and the exits of the interactive fork;
// both stand in the chat pane.
const (
	ApprovalAllow  ID = "approval.allow"
	ApprovalDeny   ID = "approval.deny"
	ApprovalAlways ID = "approval.always"
	// ApprovalRead shows the call in full.
	ApprovalRead ID = "approval.read"

	ForkSave   ID = "fork.save"
	ForkReport ID = "fork.report"
	ForkExit   ID = "fork.exit"
)

// The actions of everything that scrolls. A pane that has them has a row for
// each: the ids are the same everywhere, the keys may differ.
const (
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
)
