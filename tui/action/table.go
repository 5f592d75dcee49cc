package action

import (
	"slices"
	"sync"
)

// table is every action once, in the order of the help line and the help page:
// the panes first, each with what it alone does at the front and moving about at the
// end, then what works everywhere.
var table = sync.OnceValue(func() []Action {
	return slices.Concat(
		in(Day, dayRows), in(Budget, budgetRows),
		in(Schedule, scheduleRows), offWithout(noSchedule, listRows(Schedule, "task")),
		in(Updates, updatesRows), offWithout(noUpdates, listRows(Updates, "update")),
		in(Forks, forksRows), offWithout(noForks, tailRows(Forks, []string{"shift+up"}, []string{"shift+down"})),
		in(Chat, chatRows), in(Chat, findRows()), in(Chat, scrollRows(Chat, []string{"up", "k"}, []string{"down", "j"})),
		in(Logs, logsRows), tailRows(Logs, []string{"up", "k"}, []string{"down", "j"}),
		in(Task, taskRows), offWithout(noSchedule, scrolled(Task)),
		in(Costs, costsRows), listRows(Costs, "task"), sortRows(Costs),
		in(Away, awayRows), listRows(Away, "line"), sortRows(Away),
		in(Settings, settingsRows), listRows(Settings, "setting"), sortRows(Settings),
		everywhereRows,
	)
})

var budgetRows = []Action{
	budgetStep(+1, 0, Action{
		ID: CapacityUp, Keys: []string{"+", "="}, Title: "Raise the capacity by one",
		Short: "capacity", Words: "increase", Pair: CapacityDown,
	}),
	budgetStep(-1, 0, Action{
		ID: CapacityDown, Keys: []string{"-", "_"}, Title: "Lower the capacity by one",
		Short: "capacity", Words: "decrease reduce", Off: capacityFloor, Quiet: true,
	}),
	budgetStep(0, -5, Action{ID: RefillDown5, Keys: []string{"["}, Title: "Refill faster by 5 minutes", Short: "refill", Off: refillFloor, Pair: RefillUp5}),
	budgetStep(0, +5, Action{ID: RefillUp5, Keys: []string{"]"}, Title: "Refill slower by 5 minutes", Short: "refill", Quiet: true}),
	{ID: Exact, Keys: []string{"e"}, Title: "Enter capacity and refill rate exactly", Short: "exact", Words: "limit rate", Writes: true},
	{ID: Mute, Keys: []string{"m"}, Title: "Mute pings until a time, or unmute them", Short: "mute", Words: "silence quiet dnd", Hint: muteHint, Writes: true},
	budgetStep(0, -1, Action{ID: RefillDown1, Keys: []string{"{"}, Title: "Refill faster by 1 minute", Short: "by 1", Off: refillFloor, Pair: RefillUp1}),
	budgetStep(0, +1, Action{ID: RefillUp1, Keys: []string{"}"}, Title: "Refill slower by 1 minute", Short: "by 1", Quiet: true}),
}

var dayRows = []Action{
	{ID: DayOpen, Keys: []string{"enter"}, Title: "Show the run or upcoming task", Short: "open"},
	{ID: DayEarlier, Keys: []string{"left"}, Title: "Go to the previous event", Short: "walk", Pair: DayLater},
	{ID: DayLater, Keys: []string{"right"}, Title: "Go to the event after it", Short: "walk", Quiet: true},
	{ID: DayNow, Keys: []string{"home"}, Title: "Go to the next upcoming task", Short: "now"},
}

var scheduleRows = []Action{
	{
		ID: ScheduleAllow, Keys: []string{"y"}, Title: "Approve the selected task, which the agent wrote",
		Short: "allow", Words: "trust permit grant approve", Hint: waitsHint, Off: nothingWaits, Writes: true,
	},
	{
		ID: ScheduleFire, Keys: []string{"f"}, Title: "Fire the selected task now; its schedule stays",
		Short: "fire now", Words: "fire start trigger", Off: noSchedule, Costs: true, Writes: true,
	},
	{ID: SchedulePreview, Keys: []string{"p"}, Title: "Preview the exact prompt of the selected task", Short: "preview prompt", Words: "prompt", Off: noSchedule},
	{ID: ScheduleDetails, Keys: []string{"enter"}, Title: "Open the page of the selected task: runs, pings, prompt", Short: "details", Off: noSchedule},
	{ID: ScheduleView, Keys: []string{"v"}, Title: "Next view: what agents see, 24 hours, every task", Short: "view"},
	{ID: ScheduleNew, Keys: []string{"n"}, Title: "Write a new routine or reminder", Short: "new", Words: "add create reminder routine task", Writes: true},
	{
		ID: ScheduleSnooze, Keys: []string{"s"}, Title: "Snooze the selected task until a time, or end the snooze",
		Short: "snooze", Words: "delay postpone later", Off: noSchedule, Writes: true,
	},
	{
		ID: SchedulePause, Keys: []string{"P"}, Title: "Pause or resume the selected task",
		Short: "pause", Words: "resume disable enable", Off: noSchedule, Writes: true,
	},
	{
		ID: ScheduleEdit, Keys: []string{"e"}, Title: "Edit every field of the selected task in a form",
		Short: "edit", Words: "change form rename", Off: noSchedule, Writes: true,
	},
	{
		ID: ScheduleDelete, Keys: []string{"D"}, Title: "Delete the file of the selected task; undo brings it back",
		Short: "delete", Words: "remove trash", Off: noSchedule, Costs: true, Writes: true,
	},
	{
		ID: ScheduleOpen, Keys: []string{"o"}, Title: "Open the selected file in your editor",
		Short: "open file", Words: "open editor file vim", Off: noFiles, Writes: true,
	},
}

var updatesRows = []Action{
	{ID: UpdatesRead, Keys: []string{"enter"}, Title: "Read the selected update in full", Short: "read", Words: "open", Off: noUpdates},
	{ID: UpdatesDiscard, Keys: []string{"x"}, Title: "Discard the selected update", Short: "discard", Words: "delete remove", Off: noUpdates, Writes: true},
	{
		ID: UpdatesDeliver, Keys: []string{"d"}, Title: "Hand all updates to the main session now; it answers at once",
		Short: "deliver now", Words: "deliver send", Hint: deliverHint, Make: deliver, Off: noDelivery, Costs: true, Writes: true,
	},
}

var forksRows = []Action{
	{ID: ForksTail, Keys: []string{"enter"}, Title: "Move between the list and the tail", Short: "tail", Off: noForks},
	{ID: ForksStop, Keys: []string{"x"}, Title: "Stop the selected run", Short: "stop", Words: "kill abort cancel", Off: noLiveFork, Writes: true},
	{ID: ForksResume, Keys: []string{"r"}, Title: "Resume the selected run in the chat", Short: "resume", Words: "continue", Off: noResume, Writes: true},
	{
		ID: ForksAgain, Keys: []string{"a"}, Title: "Fire the task of the run again; its schedule stays",
		Short: "again", Words: "restart rerun repeat retry", Off: noForks, Costs: true, Writes: true,
	},
	{ID: ForksCosts, Keys: []string{"c"}, Title: "Show what the runs of each task have cost", Short: "costs", Words: "cost money spent spending price"},
	{ID: ForksState, Keys: []string{"v"}, Title: "Show only runs that failed, pinged, are done, were stopped, or all again", Short: "state", Off: noForks},
	{ID: ForksSort, Keys: []string{"s"}, Title: "Sort runs by the next column; a click on its head does too", Short: "sort", Off: noForks, Quiet: true},
	{ID: ForksTurn, Keys: []string{"S"}, Title: "Reverse the sort order of the runs", Short: "turn", Off: noForks, Quiet: true},
	{ID: ForksUp, Keys: []string{"up", "k"}, Title: "Select the run above", Short: "select", Off: noForks, Pair: ForksDown},
	{ID: ForksDown, Keys: []string{"down", "j"}, Title: "Select the run below", Short: "select", Off: noForks, Quiet: true},
}

// chatRows begin with those that stand over "y" and "n" while something waits.
var chatRows = []Action{
	{
		ID: ApprovalAllow, Keys: []string{"y"}, Title: "Allow the waiting tool call",
		Short: "allow", Words: "approve accept permit", Off: noApproval, Costs: true, Writes: true, Over: true,
	},
	{
		ID: ApprovalDeny, Keys: []string{"n"}, Title: "Deny the waiting tool call",
		Short: "deny", Words: "reject refuse forbid", Off: noApproval, Writes: true, Over: true,
	},
	{
		ID: ApprovalAlways, Keys: []string{"a"}, Title: "Always allow the tool of the waiting call",
		Short: "always", Words: "trust", Hint: alwaysHint, Off: noAlways, Costs: true, Writes: true,
	},
	{ID: ApprovalRead, Keys: []string{"v"}, Title: "Read the waiting tool call in full", Short: "read all", Off: noApproval, Quiet: true},
	{ID: ForkSave, Keys: []string{"S"}, Title: "Save the fork as the main conversation", Short: "save", Words: "keep", Off: noSave, Costs: true, Writes: true},
	{
		ID: ForkReport, Keys: []string{"R"}, Title: "Leave the fork with a report to the main conversation",
		Short: "report", Words: "summary", Off: noFork, Costs: true, Writes: true,
	},
	{ID: ForkExit, Keys: []string{"X"}, Title: "Leave the fork and keep nothing", Short: "exit", Words: "discard abandon", Off: noFork, Writes: true},
	{ID: ChatWrite, Keys: []string{"i"}, Title: "Write a message", Short: "write", Words: "message type compose", Writes: true},
	{ID: ChatSend, Keys: []string{"enter"}, Title: "Send what you wrote", Short: "send", Words: "submit", Writes: true, Quiet: true},
	{ID: ChatReply, Keys: []string{"r"}, Title: "Reply to the marked message, or to the newest", Short: "reply", Words: "answer", Off: noMessage, Writes: true},
	{ID: ChatButtons, Keys: []string{"b"}, Title: "Choose a button of the marked or newest card", Short: "buttons", Off: noButtons, Writes: true},
	{ID: TailCopyLine, Keys: []string{"y"}, Title: "Copy the marked message", Short: "copy", Words: "yank clipboard", Quiet: true},
	{ID: TailCopyAll, Keys: []string{"Y"}, Title: "Copy the newest messages", Short: "copy all", Quiet: true},
}

var logsRows = []Action{
	{ID: TailLevel, Keys: []string{"l"}, Title: "Hide lines below a level: info, warnings, errors", Short: "level", Words: "debug severity"},
}

var taskRows = []Action{
	{ID: TaskRun, Keys: []string{"enter"}, Title: "Open the run that is shown", Short: "open run", Off: noSchedule},
	{
		ID: TaskFire, Keys: []string{"f"}, Title: "Fire the task now; its schedule and a reminder stay",
		Short: "fire now", Off: noSchedule, Costs: true, Writes: true,
	},
	{ID: TaskEdit, Keys: []string{"e"}, Title: "Edit every field of the task in a form", Short: "edit", Off: noSchedule, Writes: true},
	{ID: TaskDelete, Keys: []string{"D"}, Title: "Delete the file of the task; undo brings it back", Short: "delete", Off: noSchedule, Costs: true, Writes: true},
	{ID: TaskRestore, Keys: []string{"U"}, Title: "Restore the task that was deleted or has run last", Short: "bring back", Writes: true, Quiet: true},
	{ID: TaskOpen, Keys: []string{"o"}, Title: "Open the file of the task in your editor", Short: "open file", Off: noSchedule, Writes: true},
	{ID: TaskPause, Keys: []string{"P"}, Title: "Pause or resume the task", Short: "pause", Off: noSchedule, Writes: true},
	{ID: TaskOlder, Keys: []string{"left"}, Title: "Show the previous run", Short: "run", Off: noSchedule, Pair: TaskNewer},
	{ID: TaskNewer, Keys: []string{"right"}, Title: "Show the next run", Short: "run", Off: noSchedule, Quiet: true},
	{ID: TaskBefore, Keys: []string{"["}, Title: "Go to the page of the previous task", Short: "task", Off: noSchedule, Pair: TaskBehind},
	{ID: TaskBehind, Keys: []string{"]"}, Title: "Go to the page of the next task", Short: "task", Off: noSchedule, Quiet: true},
}

var costsRows = []Action{
	{ID: CostsOpen, Keys: []string{"enter"}, Title: "Open the page of the selected task", Short: "open"},
	{ID: CostsMark, Keys: []string{"space"}, Title: "Mark the selected task; the bars show only marked tasks", Short: "mark"},
	{
		ID: CostsLift, Keys: []string{"l"}, Title: "Lift the spending caps until midnight, or restore them",
		Short: "lift caps", Hint: when(lifted, effectLifted), Make: lift, Off: noCaps, Writes: true,
	},
}

// findRows are the rows of a pane with a long text.
func findRows() []Action {
	return []Action{
		{ID: TailFind, Keys: []string{"/"}, Title: "Find in the text", Short: "find", Words: "search grep"},
		{ID: TailNext, Keys: []string{"n"}, Title: "Go to the next match", Short: "next", Quiet: true},
		{ID: TailPrevious, Keys: []string{"N"}, Title: "Go to the previous match", Short: "previous", Quiet: true},
		{ID: TailFollow, Keys: []string{"end", "G"}, Title: "Follow the newest lines", Short: "follow", Words: "newest bottom"},
	}
}

// scrollRows are how one moves in it.
func scrollRows(p Pane, up, down []string) []Action {
	return []Action{
		{ID: TailUp, Keys: up, Title: "Scroll up by a line", Short: "scroll", Pair: TailDown, Quiet: p == Forks},
		{ID: TailDown, Keys: down, Title: "Scroll down by a line", Short: "scroll", Quiet: true},
		{ID: TailPageUp, Keys: []string{"pgup", "ctrl+b"}, Title: "Scroll up by a page", Short: "page", Quiet: true},
		{ID: TailPageDown, Keys: []string{"pgdown", "ctrl+f"}, Title: "Scroll down by a page", Short: "page", Quiet: true},
		{ID: TailHome, Keys: []string{"home", "g"}, Title: "Go to the oldest line", Short: "oldest", Words: "top", Quiet: true},
	}
}

// tailRows are those rows of a pane, and what only lines can do: the chat's messages are
// always wrapped.
func tailRows(p Pane, up, down []string) []Action {
	return in(p, slices.Concat(findRows(), []Action{
		{ID: TailFilter, Keys: []string{"&"}, Title: "Show only lines with a word; with ! in front, lines without it", Short: "filter", Words: "grep"},
		{ID: TailTime, Keys: []string{"t"}, Title: "Show or hide the column of times", Short: "times", Words: "timestamps", Quiet: true},
		{ID: TailWrap, Keys: []string{"w"}, Title: "Wrap long lines, or cut them", Short: "wrap"},
		{ID: TailLeft, Keys: []string{"left"}, Title: "Scroll left where lines are cut", Short: "left", Quiet: true},
		{ID: TailRight, Keys: []string{"right"}, Title: "Scroll right where lines are cut", Short: "right", Quiet: true},
		{ID: TailCopyLine, Keys: []string{"y"}, Title: "Copy the marked line", Short: "copy", Words: "yank clipboard", Quiet: p != Logs},
		{ID: TailCopyAll, Keys: []string{"Y"}, Title: "Copy all lines", Short: "copy all", Quiet: true},
	}, scrollRows(p, up, down)))
}

var awayRows = []Action{
	{ID: AwayOpen, Keys: []string{"enter"}, Title: "Open the run of the selected task, or the selected decision", Short: "open"},
	{ID: AwayHalf, Keys: []string{"l"}, Title: "Move between what happened and the audit log", Short: "other half"},
}

var settingsRows = []Action{
	{ID: SettingsEdit, Keys: []string{"enter"}, Title: "Change the selected setting", Short: "change", Writes: true},
	{ID: SettingsPrevious, Keys: []string{"left"}, Title: "Set the selected setting to its previous choice", Short: "choice", Writes: true, Pair: SettingsNext},
	{ID: SettingsNext, Keys: []string{"right", "space"}, Title: "Set the selected setting to its next choice", Short: "choice", Writes: true, Quiet: true},
}

// listRows are the rows of a list that can be filtered. Their ids are the pane's.
func listRows(p Pane, noun string) []Action {
	return own(p, []Action{
		{ID: "find", Keys: []string{"/"}, Title: "Show only rows that contain some words", Short: "filter"},
		{ID: "up", Keys: []string{"up", "k"}, Title: "Select the " + noun + " above", Short: "select", Pair: "down"},
		{ID: "down", Keys: []string{"down", "j"}, Title: "Select the " + noun + " below", Short: "select", Quiet: true},
		{ID: "pgup", Keys: []string{"pgup", "ctrl+b"}, Title: "Select one page up", Short: "page", Quiet: true},
		{ID: "pgdn", Keys: []string{"pgdown", "ctrl+f"}, Title: "Select one page down", Short: "page", Quiet: true},
		{ID: "top", Keys: []string{"home", "g"}, Title: "Select the first " + noun, Short: "first", Quiet: true},
		{ID: "bottom", Keys: []string{"end", "G"}, Title: "Select the last " + noun, Short: "last", Quiet: true},
	})
}

// sortRows are the rows of a list with columns beside listRows.
func sortRows(p Pane) []Action {
	return own(p, []Action{
		{ID: "sort", Keys: []string{"s"}, Title: "Sort by the next column; a click on its head does too", Short: "sort"},
		{ID: "turn", Keys: []string{"S"}, Title: "Reverse the sort order", Short: "turn", Quiet: true},
	})
}

// scrolled are the rows of a page with a text.
func scrolled(p Pane) []Action {
	return own(p, []Action{
		{ID: "up", Keys: []string{"up", "k"}, Title: "Scroll the prompt up", Short: "scroll", Pair: "down", Quiet: true},
		{ID: "down", Keys: []string{"down", "j"}, Title: "Scroll the prompt down", Short: "scroll", Quiet: true},
		{ID: "pgup", Keys: []string{"pgup", "ctrl+b"}, Title: "Scroll the prompt up by a page", Short: "page up", Quiet: true},
		{ID: "pgdn", Keys: []string{"pgdown", "ctrl+f"}, Title: "Scroll the prompt down by a page", Short: "page down", Quiet: true},
		{ID: "top", Keys: []string{"home", "g"}, Title: "Go to the beginning of the prompt", Short: "first", Quiet: true},
		{ID: "bottom", Keys: []string{"end", "G"}, Title: "Go to the end of the prompt", Short: "last", Quiet: true},
	})
}

// in gives rows their pane.
func in(p Pane, rows []Action) []Action {
	for i := range rows {
		rows[i].Pane = p
	}
	return rows
}

// own gives rows their pane, before whose name their ids stand.
func own(p Pane, rows []Action) []Action {
	for i := range rows {
		rows[i].ID = p.ID(string(rows[i].ID))
		if rows[i].Pair != "" {
			rows[i].Pair = p.ID(string(rows[i].Pair))
		}
	}
	return in(p, rows)
}

// offWithout switches rows off where there is nothing for them.
func offWithout(off reason, rows []Action) []Action {
	for i := range rows {
		rows[i].Off = off
	}
	return rows
}

var everywhereRows = []Action{
	{ID: Help, Keys: []string{"?"}, Title: "Show every key", Short: "keys", Words: "help shortcuts bindings manual"},
	{ID: Undo, Keys: []string{"u"}, Title: "Undo the last change", Short: "undo", Words: "revert", Writes: true},
	{ID: Login, Keys: []string{"L"}, Title: "Log in to Claude", Short: "log in", Words: "login signin authenticate auth account", Off: noLogin, Writes: true},
	{ID: Palette, Keys: []string{"ctrl+p"}, Title: "Find and run an action by name", Short: "actions", Words: "commands menu"},
	{ID: Quit, Keys: []string{"q"}, Title: "Quit; asks first while forks run", Short: "quit", Words: "exit bye", Costs: true},
	{ID: Budget.Go(), Keys: []string{"1"}, Title: "Go to the ping budget", Short: "budget", Words: "pings", Quiet: true},
	{ID: Schedule.Go(), Keys: []string{"2"}, Title: "Go to the schedule", Short: "schedule", Words: "tasks routines reminders agenda", Quiet: true},
	{ID: Updates.Go(), Keys: []string{"3"}, Title: "Go to the updates", Short: "updates", Words: "inbox", Quiet: true},
	{ID: Forks.Go(), Keys: []string{"4"}, Title: "Go to the forks", Short: "forks", Words: "runs", Quiet: true},
	{ID: Chat.Go(), Keys: []string{"5"}, Title: "Go to the chat", Short: "chat", Words: "talk", Quiet: true},
	{ID: Logs.Go(), Keys: []string{"6"}, Title: "Go to the logs", Short: "logs", Words: "log", Quiet: true},
	{ID: Task.Go(), Keys: []string{"K"}, Title: "Go to the page of the selected run's task, or of the last one shown", Short: "task", Quiet: true},
	{ID: Costs.Go(), Keys: []string{"$"}, Title: "Go to what everything has cost", Short: "costs", Quiet: true},
	{ID: Away.Go(), Keys: []string{"A"}, Title: "Go to what happened while you were away", Short: "away", Quiet: true},
	{ID: Settings.Go(), Keys: []string{","}, Title: "Go to the settings", Short: "settings", Quiet: true},
	{ID: Day.Go(), Keys: []string{"0"}, Title: "Go to the day", Short: "day", Quiet: true},
	{ID: GoNext, Keys: []string{"tab"}, Title: "Go to the next pane", Short: "next pane", Quiet: true},
	{ID: GoPrevious, Keys: []string{"shift+tab"}, Title: "Go to the previous pane", Short: "previous pane", Quiet: true},
	{ID: Zoom, Keys: []string{"z"}, Title: "Give the pane the whole screen, or take it back", Short: "zoom", Words: "fullscreen maximize", Quiet: true},
	{ID: Back, Keys: []string{"esc"}, Title: "Go back: out of a dialog, a search, a zoom", Short: "back", Words: "escape cancel close", Quiet: true},
	{ID: Deliveries, Keys: []string{"H"}, Title: "Show webhook deliveries", Short: "webhooks", Words: "webhook deliveries", Quiet: true},
	{
		ID: Engine, Keys: []string{"E"}, Title: "Show the engine: version, processes, memory, today's cost",
		Short: "engine", Words: "cost costs money tokens status version memory model usage", Quiet: true,
	},
	{
		ID: Welcome, Title: "Show the welcome: first routine, starter routines, connecting a model", Short: "welcome",
		Words: "start begin tutorial starter examples connect model api key", Quiet: true,
	},
	// Whether either is offered, and why not, is the frame's to say.
	{ID: Demo, Title: "Replace this dashboard with the demo", Short: "demo", Words: "try example showcase", Quiet: true},
	{ID: SetUp, Title: "Set the bot up: names, time zone, Discord", Short: "set up", Words: "init setup onboarding configure install", Writes: true, Quiet: true},
	{ID: OpenHeadline, Keys: []string{"O"}, Title: "Show what the top line is about", Short: "open", Words: "headline failed held lost", Quiet: true},
	{ID: Notices, Keys: []string{"!"}, Title: "Show past notices", Short: "notices", Words: "toasts notifications", Quiet: true},
	{ID: Interrupt, Keys: []string{"ctrl+c"}, Title: "Interrupt the main turn; without one, quit", Short: "interrupt", Words: "stop cancel abort", Quiet: true},
	{ID: Suspend, Keys: []string{"ctrl+z"}, Title: "Suspend the program; fg resumes it", Short: "suspend", Words: "background shell", Quiet: true},
	{ID: Mouse, Keys: []string{"M"}, Title: "Take or release the mouse", Short: "mouse", Words: "click", Quiet: true},
	{
		ID: ThemeNext, Keys: []string{"T"}, Title: "Next theme: as the terminal, dark, light, high contrast, 16 colours",
		Short: "theme", Words: "themes colors colours color colour settings preferences appearance contrast", Quiet: true,
	},
	{
		ID: LayoutNext, Keys: []string{"V"}, Title: "Next layout: balanced, more room for chat, forks or schedule",
		Short: "layout", Words: "arrange settings preferences", Quiet: true,
	},
	{ID: Wider, Keys: []string{">"}, Title: "Make the focused pane wider", Short: "wider", Words: "resize size grow", Quiet: true},
	{ID: Narrower, Keys: []string{"<"}, Title: "Make the focused pane narrower", Short: "narrower", Words: "resize size shrink", Quiet: true},
	{ID: Taller, Keys: []string{")"}, Title: "Make the focused pane taller", Short: "taller", Words: "resize size grow", Quiet: true},
	{ID: Shorter, Keys: []string{"("}, Title: "Make the focused pane shorter", Short: "shorter", Words: "resize size shrink", Quiet: true},
	{ID: Redraw, Keys: []string{"ctrl+l"}, Title: "Redraw the screen", Short: "redraw", Words: "refresh repaint clear", Quiet: true},
}
