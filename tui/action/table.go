package action

import (
	"slices"

	"ollimbot/core"
)

// table is every action once, in the order of the help line and the help page:
// the panes first, each with what matters most at the front, then what works
// everywhere.
var table = slices.Concat(
	dayRows, budgetRows, scheduleRows, updatesRows, forksRows, chatRows, logsRows, taskRows, costsRows, awayRows, settingsRows, everywhereRows,
)

var budgetRows = []Action{
	{
		ID: CapacityUp, Pane: Budget, Keys: []string{"+", "="}, Title: "Raise the capacity by one", Short: "capacity",
		Hint: capacityHint(+1), Make: stepCapacity(+1), Writes: true, Pair: CapacityDown,
	},
	{
		ID: CapacityDown, Pane: Budget, Keys: []string{"-", "_"}, Title: "Lower the capacity by one", Short: "capacity",
		Hint: capacityHint(-1), Make: stepCapacity(-1), Off: capacityFloor, Writes: true, Quiet: true,
	},
	{
		ID: RefillDown5, Pane: Budget, Keys: []string{"["}, Title: "Refill faster by 5 minutes", Short: "refill",
		Hint: refillHint(-5), Make: stepRefill(-5), Off: refillFloor, Writes: true, Pair: RefillUp5,
	},
	{
		ID: RefillUp5, Pane: Budget, Keys: []string{"]"}, Title: "Refill slower by 5 minutes", Short: "refill",
		Hint: refillHint(+5), Make: stepRefill(+5), Writes: true, Quiet: true,
	},
	{ID: Exact, Pane: Budget, Keys: []string{"e"}, Title: "Enter capacity and refill rate exactly", Short: "exact", Writes: true},
	{ID: Mute, Pane: Budget, Keys: []string{"m"}, Title: "Mute pings until a time, or end that", Short: "mute", Hint: muteHint, Writes: true},
	{
		ID: RefillDown1, Pane: Budget, Keys: []string{"{"}, Title: "Refill faster by 1 minute", Short: "by 1",
		Hint: refillHint(-1), Make: stepRefill(-1), Off: refillFloor, Writes: true, Pair: RefillUp1,
	},
	{
		ID: RefillUp1, Pane: Budget, Keys: []string{"}"}, Title: "Refill slower by 1 minute", Short: "by 1",
		Hint: refillHint(+1), Make: stepRefill(+1), Writes: true, Quiet: true,
	},
}

var dayRows = []Action{
	{ID: DayOpen, Pane: Day, Keys: []string{"enter"}, Title: "Show what stands there: a run, or the task that is to come", Short: "open"},
	{ID: DayEarlier, Pane: Day, Keys: []string{"left"}, Title: "Go to what was before", Short: "walk", Pair: DayLater},
	{ID: DayLater, Pane: Day, Keys: []string{"right"}, Title: "Go to what comes after", Short: "walk", Quiet: true},
	{ID: DayNow, Pane: Day, Keys: []string{"home"}, Title: "Go to what comes next", Short: "now"},
}

var scheduleRows = []Action{
	{
		ID: ScheduleAllow, Pane: Schedule, Keys: []string{"y"}, Title: "Allow all that the selected task asks for, which the agent wrote",
		Short: "allow", Hint: waitsHint, Off: nothingWaits, Writes: true,
	},
	{
		ID: ScheduleFire, Pane: Schedule, Keys: []string{"f"}, Title: "Fire the selected task now, beside its schedule", Short: "fire now",
		Off: noSchedule, Costs: true, Writes: true,
	},
	{
		ID: SchedulePreview, Pane: Schedule, Keys: []string{"p"}, Title: "Preview the exact prompt of the selected task", Short: "preview prompt",
		Off: noSchedule,
	},
	{
		ID: ScheduleDetails, Pane: Schedule, Keys: []string{"enter"}, Title: "Open the page of the selected task: its runs, its pings, its prompt", Short: "details",
		Off: noSchedule,
	},
	{
		ID: ScheduleView, Pane: Schedule, Keys: []string{"v"}, Title: "Go on to the next view: what agents see, 24 hours, every task",
		Short: "view",
	},
	{
		ID: ScheduleNew, Pane: Schedule, Keys: []string{"n"}, Title: "Write a new routine or reminder", Short: "new", Writes: true,
	},
	{
		ID: ScheduleSnooze, Pane: Schedule, Keys: []string{"s"}, Title: "Snooze the selected task until a time, or end that", Short: "snooze",
		Off: noSchedule, Writes: true,
	},
	{
		ID: SchedulePause, Pane: Schedule, Keys: []string{"P"}, Title: "Pause the selected task, or let it go on", Short: "pause",
		Off: noSchedule, Writes: true,
	},
	{
		ID: ScheduleOpen, Pane: Schedule, Keys: []string{"o"}, Title: "Open the selected file in your editor", Short: "edit",
		Off: noFiles, Writes: true,
	},
	{ID: ScheduleFind, Pane: Schedule, Keys: []string{"/"}, Title: "Show only tasks that hold some words", Short: "filter", Off: noSchedule},
	{
		ID: ScheduleUp, Pane: Schedule, Keys: []string{"up", "k"}, Title: "Select the task above", Short: "select",
		Off: noSchedule, Pair: ScheduleDown,
	},
	{
		ID: ScheduleDown, Pane: Schedule, Keys: []string{"down", "j"}, Title: "Select the task below", Short: "select",
		Off: noSchedule, Quiet: true,
	},
	{
		ID: SchedulePgUp, Pane: Schedule, Keys: []string{"pgup", "ctrl+b"}, Title: "Select a page further up", Short: "page up",
		Off: noSchedule, Quiet: true,
	},
	{
		ID: SchedulePgDn, Pane: Schedule, Keys: []string{"pgdown", "ctrl+f"}, Title: "Select a page further down", Short: "page down",
		Off: noSchedule, Quiet: true,
	},
	{
		ID: ScheduleTop, Pane: Schedule, Keys: []string{"home", "g"}, Title: "Select the first task", Short: "first",
		Off: noSchedule, Quiet: true,
	},
	{
		ID: ScheduleBottom, Pane: Schedule, Keys: []string{"end", "G"}, Title: "Select the last task", Short: "last",
		Off: noSchedule, Quiet: true,
	},
}

var updatesRows = []Action{
	{ID: UpdatesRead, Pane: Updates, Keys: []string{"enter"}, Title: "Read the selected update in full", Short: "read", Off: noUpdates},
	{
		ID: UpdatesDiscard, Pane: Updates, Keys: []string{"x"}, Title: "Discard the selected update", Short: "discard",
		Off: noUpdates, Writes: true,
	},
	{
		ID: UpdatesDeliver, Pane: Updates, Keys: []string{"d"}, Title: "Hand all updates to the main session now; it answers at once",
		Short: "deliver now", Hint: deliverHint, Make: deliver, Off: noDelivery, Costs: true, Writes: true,
	},
	{ID: UpdatesFind, Pane: Updates, Keys: []string{"/"}, Title: "Show only updates that hold some words", Short: "filter", Off: noUpdates},
	{
		ID: UpdatesUp, Pane: Updates, Keys: []string{"up", "k"}, Title: "Select the update above", Short: "select",
		Off: noUpdates, Pair: UpdatesDown,
	},
	{
		ID: UpdatesDown, Pane: Updates, Keys: []string{"down", "j"}, Title: "Select the update below", Short: "select",
		Off: noUpdates, Quiet: true,
	},
	{
		ID: UpdatesTop, Pane: Updates, Keys: []string{"home", "g"}, Title: "Select the first update", Short: "first",
		Off: noUpdates, Quiet: true,
	},
	{
		ID: UpdatesBottom, Pane: Updates, Keys: []string{"end", "G"}, Title: "Select the last update", Short: "last",
		Off: noUpdates, Quiet: true,
	},
}

var forksRows = slices.Concat([]Action{
	{ID: ForksUp, Pane: Forks, Keys: []string{"up", "k"}, Title: "Select the run above", Short: "select", Off: noForks, Pair: ForksDown},
	{ID: ForksDown, Pane: Forks, Keys: []string{"down", "j"}, Title: "Select the run below", Short: "select", Off: noForks, Quiet: true},
	{ID: ForksTail, Pane: Forks, Keys: []string{"enter"}, Title: "Move between the list and the tail", Short: "tail", Off: noForks},
	{
		ID: ForksStop, Pane: Forks, Keys: []string{"x"}, Title: "Stop the selected run", Short: "stop",
		Off: noLiveFork, Danger: true, Writes: true,
	},
	{
		ID: ForksResume, Pane: Forks, Keys: []string{"r"}, Title: "Resume the selected run in the chat", Short: "resume",
		Off: noResume, Writes: true,
	},
}, offWithout(noForks, tailRows(Forks, []string{"shift+up"}, []string{"shift+down"})), []Action{
	{
		ID: ForksAgain, Pane: Forks, Keys: []string{"a"}, Title: "Run the task of the selected run again, beside its schedule", Short: "again",
		Off: noForks, Costs: true, Writes: true,
	},
	{ID: ForksCosts, Pane: Forks, Keys: []string{"c"}, Title: "Go to what the runs of each task have cost", Short: "costs"},
	{
		ID: ForksState, Pane: Forks, Keys: []string{"v"}, Title: "Show only runs that failed, pinged, are done, were stopped, or all again", Short: "state",
		Off: noForks,
	},
	{
		ID: ForksSort, Pane: Forks, Keys: []string{"s"}, Title: "Sort the page of runs by the next column; a click on its head does it, too", Short: "sort",
		Off: noForks, Quiet: true,
	},
	{ID: ForksTurn, Pane: Forks, Keys: []string{"S"}, Title: "Sort the page of runs the other way round", Short: "turn", Off: noForks, Quiet: true},
})

// approvalRows stand over "y" and "n" of the chat while something waits.
var approvalRows = []Action{
	{
		ID: ApprovalAllow, Pane: Chat, Keys: []string{"y"}, Title: "Allow the tool call that waits", Short: "allow",
		Off: noApproval, Costs: true, Writes: true, Over: true,
	},
	{
		ID: ApprovalDeny, Pane: Chat, Keys: []string{"n"}, Title: "Deny the tool call that waits", Short: "deny",
		Off: noApproval, Writes: true, Over: true,
	},
	{
		ID: ApprovalAlways, Pane: Chat, Keys: []string{"a"}, Title: "Allow the tool of the call that waits from now on", Short: "always",
		Hint: alwaysHint, Off: noAlways, Costs: true, Writes: true,
	},
	{ID: ApprovalRead, Pane: Chat, Keys: []string{"v"}, Title: "Read the whole tool call that waits", Short: "read all", Off: noApproval, Quiet: true},
}

var exitRows = []Action{
	{ID: ForkSave, Pane: Chat, Keys: []string{"S"}, Title: "Save the fork as the main conversation", Short: "save", Off: noSave, Costs: true, Writes: true},
	{
		ID: ForkReport, Pane: Chat, Keys: []string{"R"}, Title: "Leave the fork with a report to the main conversation", Short: "report",
		Off: noFork, Costs: true, Writes: true,
	},
	{ID: ForkExit, Pane: Chat, Keys: []string{"X"}, Title: "Leave the fork and keep nothing", Short: "exit", Off: noFork, Danger: true, Writes: true},
}

var chatRows = slices.Concat(approvalRows, exitRows, []Action{
	{ID: ChatWrite, Pane: Chat, Keys: []string{"i"}, Title: "Write a message", Short: "write", Writes: true},
	{ID: ChatSend, Pane: Chat, Keys: []string{"enter"}, Title: "Send what you wrote", Short: "send", Writes: true, Quiet: true},
}, scrollRows(Chat, []string{"up", "k"}, []string{"down", "j"}), []Action{
	{ID: ChatReply, Pane: Chat, Keys: []string{"r"}, Title: "Reply to the marked message, or to the newest", Short: "reply", Off: noMessage, Writes: true},
	{ID: ChatButtons, Pane: Chat, Keys: []string{"b"}, Title: "Choose a button of the marked or newest card", Short: "buttons", Off: noButtons, Writes: true},
	{ID: TailCopyLine, Pane: Chat, Keys: []string{"y"}, Title: "Copy the marked message", Short: "copy", Quiet: true},
	{ID: TailCopyAll, Pane: Chat, Keys: []string{"Y"}, Title: "Copy the newest messages", Short: "copy all", Quiet: true},
})

var logsRows = append(tailRows(Logs, []string{"up", "k"}, []string{"down", "j"}),
	Action{ID: TailLevel, Pane: Logs, Keys: []string{"l"}, Title: "Leave out lines below a level: info, warnings, errors", Short: "level"})

var taskRows = []Action{
	{ID: TaskRun, Pane: Task, Keys: []string{"enter"}, Title: "Open the run that is looked at", Short: "open run", Off: noSchedule},
	{ID: TaskOlder, Pane: Task, Keys: []string{"left"}, Title: "Look at the run before", Short: "run", Off: noSchedule, Pair: TaskNewer},
	{ID: TaskNewer, Pane: Task, Keys: []string{"right"}, Title: "Look at the run behind", Short: "run", Off: noSchedule, Quiet: true},
	{
		ID: TaskFire, Pane: Task, Keys: []string{"f"}, Title: "Fire the task now, beside its schedule; a reminder stays", Short: "fire now",
		Off: noSchedule, Costs: true, Writes: true,
	},
	{ID: TaskEdit, Pane: Task, Keys: []string{"e"}, Title: "Edit every field of the task in a form", Short: "edit", Off: noSchedule, Writes: true},
	{
		ID: TaskDelete, Pane: Task, Keys: []string{"D"}, Title: "Delete the file of the task; undo brings it back", Short: "delete",
		Off: noSchedule, Costs: true, Writes: true,
	},
	{
		ID: TaskRestore, Pane: Task, Keys: []string{"U"}, Title: "Bring back the task that was deleted, or has run, last", Short: "bring back",
		Writes: true, Quiet: true,
	},
	{ID: TaskOpen, Pane: Task, Keys: []string{"o"}, Title: "Open the file of the task in your editor", Short: "open file", Off: noSchedule, Writes: true},
	{ID: TaskPause, Pane: Task, Keys: []string{"P"}, Title: "Pause the task, or let it go on", Short: "pause", Off: noSchedule, Writes: true},
	{ID: TaskBefore, Pane: Task, Keys: []string{"["}, Title: "Go to the page of the task before", Short: "task", Off: noSchedule, Pair: TaskBehind},
	{ID: TaskBehind, Pane: Task, Keys: []string{"]"}, Title: "Go to the page of the task behind", Short: "task", Off: noSchedule, Quiet: true},
	{ID: TaskUp, Pane: Task, Keys: []string{"up", "k"}, Title: "Scroll the prompt up", Short: "scroll", Off: noSchedule, Pair: TaskDown, Quiet: true},
	{ID: TaskDown, Pane: Task, Keys: []string{"down", "j"}, Title: "Scroll the prompt down", Short: "scroll", Off: noSchedule, Quiet: true},
	{ID: TaskPgUp, Pane: Task, Keys: []string{"pgup", "ctrl+b"}, Title: "Scroll the prompt up by a page", Short: "page up", Off: noSchedule, Quiet: true},
	{ID: TaskPgDn, Pane: Task, Keys: []string{"pgdown", "ctrl+f"}, Title: "Scroll the prompt down by a page", Short: "page down", Off: noSchedule, Quiet: true},
	{ID: TaskTop, Pane: Task, Keys: []string{"home", "g"}, Title: "Go to the beginning of the prompt", Short: "first", Off: noSchedule, Quiet: true},
	{ID: TaskBottom, Pane: Task, Keys: []string{"end", "G"}, Title: "Go to the end of the prompt", Short: "last", Off: noSchedule, Quiet: true},
}

var costsRows = []Action{
	{ID: CostsOpen, Pane: Costs, Keys: []string{"enter"}, Title: "Open the page of the selected task", Short: "open"},
	{ID: CostsMark, Pane: Costs, Keys: []string{"space"}, Title: "Mark the selected task: the bars show the marked ones alone", Short: "mark"},
	{
		ID: CostsLift, Pane: Costs, Keys: []string{"l"}, Title: "Lift the caps on money until midnight, or let them hold again", Short: "lift caps",
		Hint: liftHint, Make: lift, Off: noCaps, Writes: true,
	},
	{ID: CostsFind, Pane: Costs, Keys: []string{"/"}, Title: "Show only the tasks that hold a word", Short: "filter"},
	{ID: CostsSort, Pane: Costs, Keys: []string{"s"}, Title: "Sort the costs by the next column; a click on its head does it, too", Short: "sort"},
	{ID: CostsTurn, Pane: Costs, Keys: []string{"S"}, Title: "Sort the costs the other way round", Short: "turn", Quiet: true},
	{ID: CostsUp, Pane: Costs, Keys: []string{"up", "k"}, Title: "Select the task above", Short: "select", Pair: CostsDown},
	{ID: CostsDown, Pane: Costs, Keys: []string{"down", "j"}, Title: "Select the task below", Short: "select", Quiet: true},
	{ID: CostsPgUp, Pane: Costs, Keys: []string{"pgup", "ctrl+b"}, Title: "Select a page further up", Short: "page up", Quiet: true},
	{ID: CostsPgDn, Pane: Costs, Keys: []string{"pgdown", "ctrl+f"}, Title: "Select a page further down", Short: "page down", Quiet: true},
	{ID: CostsTop, Pane: Costs, Keys: []string{"home", "g"}, Title: "Select the first task", Short: "first", Quiet: true},
	{ID: CostsBottom, Pane: Costs, Keys: []string{"end", "G"}, Title: "Select the last task", Short: "last", Quiet: true},
}

// scrollRows are the rows of a pane that scrolls.
func scrollRows(p Pane, up, down []string) []Action {
	return []Action{
		{ID: TailFind, Pane: p, Keys: []string{"/"}, Title: "Find in the text", Short: "find"},
		{ID: TailNext, Pane: p, Keys: []string{"n"}, Title: "Go to the next match", Short: "next", Quiet: true},
		{ID: TailPrevious, Pane: p, Keys: []string{"N"}, Title: "Go to the previous match", Short: "previous", Quiet: true},
		{ID: TailFollow, Pane: p, Keys: []string{"end", "G"}, Title: "Follow the newest lines", Short: "follow"},
		{ID: TailUp, Pane: p, Keys: up, Title: "Scroll up by a line", Short: "scroll", Pair: TailDown, Quiet: p == Forks},
		{ID: TailDown, Pane: p, Keys: down, Title: "Scroll down by a line", Short: "scroll", Quiet: true},
		{ID: TailPageUp, Pane: p, Keys: []string{"pgup", "ctrl+b"}, Title: "Scroll up by a page", Short: "page", Quiet: true},
		{ID: TailPageDown, Pane: p, Keys: []string{"pgdown", "ctrl+f"}, Title: "Scroll down by a page", Short: "page", Quiet: true},
		{ID: TailHome, Pane: p, Keys: []string{"home", "g"}, Title: "Go to the oldest line", Short: "oldest", Quiet: true},
	}
}

// tailRows are scrollRows and what only lines can do: the chat's messages are
// always wrapped.
func tailRows(p Pane, up, down []string) []Action {
	return append(scrollRows(p, up, down), []Action{
		{ID: TailFilter, Pane: p, Keys: []string{"&"}, Title: "Show only the lines that hold a word; with ! in front those that do not", Short: "filter"},
		{ID: TailTime, Pane: p, Keys: []string{"t"}, Title: "Show or hide the column of times", Short: "times", Quiet: true},
		{ID: TailWrap, Pane: p, Keys: []string{"w"}, Title: "Wrap long lines, or cut them", Short: "wrap"},
		{ID: TailLeft, Pane: p, Keys: []string{"left"}, Title: "Show what is to the left, where lines are cut", Short: "left", Quiet: true},
		{ID: TailRight, Pane: p, Keys: []string{"right"}, Title: "Show what is to the right, where lines are cut", Short: "right", Quiet: true},
		{ID: TailCopyLine, Pane: p, Keys: []string{"y"}, Title: "Copy the marked line", Short: "copy", Quiet: p != Logs},
		{ID: TailCopyAll, Pane: p, Keys: []string{"Y"}, Title: "Copy everything that is kept", Short: "copy all", Quiet: true},
	}...)
}

// AwayOpen opens what the selected line of the page of what was missed stands for;
// AwayHalf gives its other half the keys.
const (
	AwayOpen ID = "away.open"
	AwayHalf ID = "away.half"
)

var awayRows = append([]Action{
	{ID: AwayOpen, Pane: Away, Keys: []string{"enter"}, Title: "Open the run of the selected task, or the selected decision", Short: "open"},
	{ID: AwayHalf, Pane: Away, Keys: []string{"l"}, Title: "Move between what happened and the audit log", Short: "other half"},
}, listRows(Away, "line")...)

// SettingsEdit writes a new value of the selected setting; SettingsNext and
// SettingsPrevious take the one of its choices that is next.
const (
	SettingsEdit     ID = "settings.edit"
	SettingsNext     ID = "settings.next"
	SettingsPrevious ID = "settings.previous"
)

var settingsRows = append([]Action{
	{ID: SettingsEdit, Pane: Settings, Keys: []string{"enter"}, Title: "Write a new value of the selected setting", Short: "change", Writes: true},
	{
		ID: SettingsPrevious, Pane: Settings, Keys: []string{"left"}, Title: "Set the selected setting to the choice before", Short: "choice",
		Writes: true, Pair: SettingsNext,
	},
	{
		ID: SettingsNext, Pane: Settings, Keys: []string{"right", "space"}, Title: "Set the selected setting to the next choice", Short: "choice",
		Writes: true, Quiet: true,
	},
}, listRows(Settings, "setting")...)

// listRows are the rows of a page with a table. Their ids are the page's.
func listRows(p Pane, noun string) []Action {
	id := func(verb string) ID { return ID(string(p) + "." + verb) }
	return []Action{
		{ID: id("up"), Pane: p, Keys: []string{"up", "k"}, Title: "Select the " + noun + " above", Short: "select", Pair: id("down")},
		{ID: id("down"), Pane: p, Keys: []string{"down", "j"}, Title: "Select the " + noun + " below", Short: "select", Quiet: true},
		{ID: id("find"), Pane: p, Keys: []string{"/"}, Title: "Show only what holds some words", Short: "filter"},
		{ID: id("sort"), Pane: p, Keys: []string{"s"}, Title: "Sort by the next column; a click on its head does it, too", Short: "sort"},
		{ID: id("turn"), Pane: p, Keys: []string{"S"}, Title: "Sort the other way round", Short: "turn", Quiet: true},
		{ID: id("pgup"), Pane: p, Keys: []string{"pgup", "ctrl+b"}, Title: "Select a page further up", Short: "page", Quiet: true},
		{ID: id("pgdn"), Pane: p, Keys: []string{"pgdown", "ctrl+f"}, Title: "Select a page further down", Short: "page", Quiet: true},
		{ID: id("top"), Pane: p, Keys: []string{"home", "g"}, Title: "Select the first " + noun, Short: "first", Quiet: true},
		{ID: id("bottom"), Pane: p, Keys: []string{"end", "G"}, Title: "Select the last " + noun, Short: "last", Quiet: true},
	}
}

// offWithout switches rows off where there is nothing for them.
func offWithout(off func(core.Snapshot) string, rows []Action) []Action {
	for i := range rows {
		rows[i].Off = off
	}
	return rows
}

var everywhereRows = []Action{
	{ID: Help, Keys: []string{"?"}, Title: "Show every key", Short: "keys"},
	{ID: Palette, Keys: []string{"ctrl+p"}, Title: "Find and run an action by name", Short: "actions"},
	{ID: Quit, Keys: []string{"q"}, Title: "Quit; asks while forks run", Short: "quit", Costs: true},
	{ID: GoBudget, Keys: []string{"1"}, Title: "Go to the ping budget", Short: "budget", Quiet: true},
	{ID: GoSchedule, Keys: []string{"2"}, Title: "Go to the schedule", Short: "schedule", Quiet: true},
	{ID: GoUpdates, Keys: []string{"3"}, Title: "Go to the updates", Short: "updates", Quiet: true},
	{ID: GoForks, Keys: []string{"4"}, Title: "Go to the forks", Short: "forks", Quiet: true},
	{ID: GoChat, Keys: []string{"5"}, Title: "Go to the chat", Short: "chat", Quiet: true},
	{ID: GoLogs, Keys: []string{"6"}, Title: "Go to the logs", Short: "logs", Quiet: true},
	{ID: GoTask, Keys: []string{"K"}, Title: "Go to the page of the task of the selected run, or of the one that was looked at last", Short: "task", Quiet: true},
	{ID: GoCosts, Keys: []string{"$"}, Title: "Go to what everything has cost", Short: "costs", Quiet: true},
	{ID: GoAway, Keys: []string{"A"}, Title: "Go to what happened while you were away", Short: "away", Quiet: true},
	{ID: GoSettings, Keys: []string{","}, Title: "Go to the settings", Short: "settings", Quiet: true},
	{ID: GoDay, Keys: []string{"0"}, Title: "Go to the day", Short: "day", Quiet: true},
	{ID: GoNext, Keys: []string{"tab"}, Title: "Go to the next pane", Short: "next pane", Quiet: true},
	{ID: GoPrevious, Keys: []string{"shift+tab"}, Title: "Go to the previous pane", Short: "previous pane", Quiet: true},
	{ID: Zoom, Keys: []string{"z"}, Title: "Give the pane the whole screen, or take it back", Short: "zoom", Quiet: true},
	{ID: Back, Keys: []string{"esc"}, Title: "Go back: out of a dialog, a search, a zoom", Short: "back", Quiet: true},
	{
		ID: Login, Keys: []string{"L"}, Title: "Log in to Claude", Short: "log in", Off: noLogin, Writes: true,
	},
	{ID: Deliveries, Keys: []string{"H"}, Title: "Show what came in over webhooks", Short: "webhooks", Quiet: true},
	{ID: Engine, Keys: []string{"E"}, Title: "Show the engine: version, processes, memory, what today has cost", Short: "engine", Quiet: true},
	// Whether either is offered, and why not, is the frame's to say.
	{ID: Demo, Title: "See the demo in the place of this dashboard", Short: "demo", Quiet: true},
	{ID: SetUp, Title: "Set the bot up: names, time zone, Discord", Short: "set up", Writes: true, Quiet: true},
	{ID: Undo, Keys: []string{"u"}, Title: "Undo the last change", Short: "undo", Writes: true},
	{ID: Notices, Keys: []string{"!"}, Title: "Show past notices", Short: "notices", Quiet: true},
	{ID: Interrupt, Keys: []string{"ctrl+c"}, Title: "Interrupt the main turn; without one, quit", Short: "interrupt", Quiet: true},
	{ID: Suspend, Keys: []string{"ctrl+z"}, Title: "Stop the program and go to the shell; fg goes on", Short: "suspend", Quiet: true},
	{ID: Mouse, Keys: []string{"M"}, Title: "Take or release the mouse", Short: "mouse", Quiet: true},
	{ID: ThemeNext, Keys: []string{"T"}, Title: "Go on to the next theme: as the terminal, dark, light, high contrast, 16 colours", Short: "theme", Quiet: true},
	{ID: LayoutNext, Keys: []string{"V"}, Title: "Go on to the next layout: balanced, more room for chat, forks or schedule", Short: "layout", Quiet: true},
	{ID: Wider, Keys: []string{">"}, Title: "Make the focused pane wider", Short: "wider", Quiet: true},
	{ID: Narrower, Keys: []string{"<"}, Title: "Make the focused pane narrower", Short: "narrower", Quiet: true},
	{ID: Taller, Keys: []string{")"}, Title: "Make the focused pane taller", Short: "taller", Quiet: true},
	{ID: Shorter, Keys: []string{"("}, Title: "Make the focused pane shorter", Short: "shorter", Quiet: true},
	{ID: Redraw, Keys: []string{"ctrl+l"}, Title: "Draw the screen anew", Short: "redraw", Quiet: true},
}
