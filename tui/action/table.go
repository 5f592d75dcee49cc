package action

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
)

// table lists every action once, in the order of the help line and the help page: first the panes, each starting with
// its specific actions and ending with movement, then the global actions.
var table = sync.OnceValue(func() []Action { return Of(command.Table) })

// Of returns the actions for a table of commands, which has their titles. Without its command an action is left out.
func Of(commands []command.Command) (list []Action) {
	for _, a := range rows() {
		if a.Act != "" {
			i := slices.IndexFunc(commands, func(c command.Command) bool { return c.Name == a.Act })
			if i < 0 {
				continue
			}
			a.Title = cmp.Or(a.Title, commands[i].Key)
		}
		list = append(list, a)
	}
	return list
}

func rows() []Action {
	return slices.Concat(
		in(Day, dayRows), in(Budget, budgetRows),
		in(Schedule, scheduleRows), offWithout(noSchedule, listRows(Schedule, "task")),
		in(Updates, updatesRows), offWithout(noUpdateRows, listRows(Updates, "update")),
		in(Forks, forksRows), offWithout(noForks, tailRows(Forks, []string{"shift+up"}, []string{"shift+down"})),
		in(Chat, chatRows), in(Chat, findRows("/", "&")), in(Chat, scrollRows(Chat, []string{"up", "k"}, []string{"down", "j"})),
		in(Logs, logsRows), tailRows(Logs, []string{"up", "k"}, []string{"down", "j"}),
		in(Task, taskRows), offWithout(noSchedule, scrolled(Task)),
		in(Costs, costsRows), listRows(Costs, "task"), sortRows(Costs),
		in(Away, awayRows), listRows(Away, "line"), sortRows(Away),
		in(Week, weekRows),
		in(Settings, settingsRows), listRows(Settings, "setting"), sortRows(Settings),
		everywhereRows,
	)
}

var budgetRows = []Action{
	budgetStep(+1, 0, Action{
		ID: CapacityUp, Keys: []string{"+", "="}, Act: "capacity", Title: "Raise the capacity", More: "by one token",
		Short: "capacity", Words: "increase", Pair: CapacityDown,
	}),
	budgetStep(-1, 0, Action{
		ID: CapacityDown, Keys: []string{"-", "_"}, Act: "capacity", Title: "Lower the capacity", More: "by one token",
		Short: "capacity", Words: "decrease reduce", Off: capacityFloor, Quiet: true,
	}),
	budgetStep(0, -5, Action{
		ID: RefillDown5, Keys: []string{"["}, Act: "refill", Title: "Refill faster", More: "by 5 minutes",
		Short: "refill", Off: refillFloor, Pair: RefillUp5,
	}),
	budgetStep(0, +5, Action{
		ID: RefillUp5, Keys: []string{"]"}, Act: "refill", Title: "Refill slower", More: "by 5 minutes", Short: "refill", Quiet: true,
	}),
	{ID: Exact, Keys: []string{"e"}, Act: "budget set", More: "capacity and refill rate", Short: "exact", Words: "limit rate", Writes: true},
	{
		ID: Mute, Keys: []string{"m"}, Act: "mute", More: "until a time that you choose",
		Short: "mute", Words: "silence quiet dnd do not disturb", Hint: muteHint, Writes: true,
	},
	budgetStep(0, -1, Action{
		ID: RefillDown1, Keys: []string{"{"}, Act: "refill", Title: "Refill slightly faster", More: "by 1 minute",
		Short: "by 1", Off: refillFloor, Pair: RefillUp1,
	}),
	budgetStep(0, +1, Action{
		ID: RefillUp1, Keys: []string{"}"}, Act: "refill", Title: "Refill slightly slower", More: "by 1 minute", Short: "by 1", Quiet: true,
	}),
}

var dayRows = []Action{
	{ID: DayOpen, Keys: []string{"enter"}, Title: "Show this event", More: "its run or its task", Short: "open"},
	{ID: DayEarlier, Keys: []string{"left", "h"}, Title: "Previous event", Short: "walk", Pair: DayLater},
	{ID: DayLater, Keys: []string{"right", "l"}, Title: "Next event", Short: "walk", Quiet: true},
	{ID: DayFirst, Keys: []string{"home"}, Title: "First event", Short: "first", Quiet: true},
	{ID: DayLast, Keys: []string{"end"}, Title: "Last event", Short: "last", Quiet: true},
	{ID: DayNow, Keys: []string{"."}, Title: "Next upcoming event", Short: "now"},
	{ID: DayLeave, Keys: []string{"down", "j", "up", "k"}, Title: "Leave the day", Short: "leave", Quiet: true},
}

var scheduleRows = []Action{
	{
		ID: ScheduleAllow, Keys: []string{"y"}, Act: "allow", More: "what the agent wrote or edited",
		Short: "allow", Words: "trust permit grant approve", Hint: waitsHint, Off: nothingWaits, Writes: true,
	},
	{ID: ScheduleDetails, Keys: []string{"enter"}, Title: "Open run or task", More: "runs, pings, prompt", Short: "details", Off: noSchedule},
	{
		ID: ScheduleFire, Keys: []string{"f"}, Act: "fire", More: "its schedule stays",
		Short: "fire", Words: "fire start trigger", Off: noSchedule, Costs: true, Writes: true,
	},
	{ID: ScheduleNew, Keys: []string{"n"}, Act: "add", Short: "new", Words: "add create reminder routine task", Writes: true},
	{ID: SchedulePreview, Keys: []string{"p"}, Act: "preview", More: "exactly what would be sent", Short: "prompt", Words: "prompt", Off: noSchedule},
	{ID: ScheduleView, Keys: []string{"v"}, Title: "Next view", More: "the list around now, every task", Short: "view", Off: noSchedule},
	{
		ID: ScheduleSnooze, Keys: []string{"s"}, Act: "snooze", More: "until a time that you choose",
		Short: "snooze", Words: "delay postpone later", Off: noSchedule, Writes: true,
	},
	{
		ID: SchedulePause, Keys: []string{"P"}, Act: "pause",
		Short: "pause", Words: "resume disable enable", Off: noSchedule, Writes: true,
	},
	{
		ID: ScheduleEdit, Keys: []string{"e"}, Act: "edit", More: "every field, in a form",
		Short: "edit", Words: "change form rename", Off: noSchedule, Writes: true,
	},
	{
		ID: ScheduleDelete, Keys: []string{"D"}, Act: "cancel", More: "asks first; undo brings it back",
		Short: "delete", Words: "remove trash", Off: noSchedule, Costs: true, Writes: true,
	},
	{
		ID: ScheduleOpen, Keys: []string{"o"}, Title: "Open task file", More: "in your editor",
		Short: "open file", Words: "open editor file vim", Off: noFiles, Writes: true,
	},
}

var updatesRows = []Action{
	{
		ID: UpdatesYes, Keys: []string{"y"}, Title: "Accept what is proposed", More: "the first button of a question",
		Short: "yes", Words: "promise remind proposal", Off: noQuestion, Writes: true,
	},
	{
		ID: UpdatesOther, Keys: []string{"o"}, Title: "Answer otherwise", More: "the button in the middle of a question",
		Short: "other", Words: "promise later other time", Off: noQuestion, Writes: true,
	},
	{
		ID: UpdatesNo, Keys: []string{"n"}, Title: "Refuse what is proposed", More: "the last button; it is not proposed again",
		Short: "no", Words: "promise never reject", Off: noQuestion, Writes: true,
	},
	{ID: UpdatesRead, Keys: []string{"enter"}, Title: "Read whole update", Short: "read", Words: "open", Off: noUpdateRows},
	{
		ID: UpdatesDiscard, Keys: []string{"x"}, Act: "discard", More: "undo brings it back",
		Short: "discard", Words: "delete remove", Off: noUpdates, Writes: true,
	},
	{
		ID: UpdatesDeliver, Keys: []string{"d"}, Act: "deliver", More: "the main session gets all of them and answers at once",
		Short: "deliver now", Words: "deliver send", Hint: deliverHint, Make: deliver, Off: noDelivery, Costs: true, Writes: true,
	},
}

var forksRows = []Action{
	{ID: ForksTail, Keys: []string{"enter"}, Title: "Switch list and tail", Short: "tail", Off: noForks},
	{ID: ForksStop, Keys: []string{"x"}, Act: "stop", Short: "stop", Words: "kill abort cancel", Off: noLiveFork, Writes: true},
	{ID: ForksResume, Keys: []string{"r"}, Act: "continue", Short: "resume", Words: "continue", Off: noResume, Writes: true},
	{
		ID: ForksAgain, Keys: []string{"f"}, Act: "again", More: "its schedule stays",
		Short: "again", Words: "restart rerun repeat retry", Off: noForks, Costs: true, Writes: true,
	},
	{
		ID: ForksSeen, Keys: []string{"m"}, Act: "seen", More: "all failed runs",
		Short: "seen", Words: "dismiss acknowledge clear badge failures read",
	},
	{ID: ForksState, Keys: []string{"v"}, Title: "Next view", More: "runs that failed, pinged, are done, were stopped, all", Short: "state", Off: noForks},
	{ID: ForksSort, Keys: []string{"O"}, Title: "Sort by next column", More: "a click on its head does too", Short: "sort", Off: noForks, Quiet: true},
	{ID: ForksTurn, Keys: []string{"ctrl+o"}, Title: "Reverse sort order", Short: "turn", Off: noForks, Quiet: true},
	{ID: ForksUp, Keys: []string{"up", "k"}, Title: "Previous run", Short: "select", Off: noForks, Pair: ForksDown},
	{ID: ForksDown, Keys: []string{"down", "j"}, Title: "Next run", Short: "select", Off: noForks, Quiet: true},
}

// chatRows start with the answers to a pending call: their "n" takes precedence over the next match.
var chatRows = []Action{
	{
		ID: ApprovalAllow, Keys: []string{"y"}, Act: "allow", Title: "Allow tool call",
		Short: "allow", Words: "approve accept permit", Off: noApproval, Costs: true, Writes: true,
	},
	{
		ID: ApprovalDeny, Keys: []string{"n"}, Act: "deny",
		Short: "deny", Words: "reject refuse forbid", Off: noApproval, Writes: true, Over: true,
	},
	{
		ID: ApprovalAlways, Keys: []string{"a"}, Act: "always", More: "the same command, or every call of a tool",
		Short: "always", Words: "trust", Hint: alwaysHint, Off: noAlways, Costs: true, Writes: true,
	},
	{ID: ApprovalRead, Keys: []string{"p"}, Title: "Preview tool call", More: "in full", Short: "read all", Off: noApproval, Quiet: true},
	{
		ID: ForkSave, Keys: []string{"S"}, Act: "exit", Title: "Save the fork", More: "as the main conversation",
		Short: "save", Words: "keep", Off: noSave, Costs: true, Writes: true,
	},
	{
		ID: ForkReport, Keys: []string{"R"}, Act: "exit", Title: "Report and leave fork", More: "the main conversation gets the report",
		Short: "report", Words: "summary", Off: noFork, Costs: true, Writes: true,
	},
	{
		ID: ForkExit, Keys: []string{"X"}, Act: "exit", Title: "Leave the fork", More: "nothing is kept",
		Short: "exit", Words: "discard abandon", Off: noFork, Writes: true,
	},
	{
		ID: ChatWrite, Keys: []string{"i"}, Act: "say", More: "from any pane; esc leads back",
		Short: "write", Words: "message type compose", Writes: true, Anywhere: true,
	},
	{ID: ChatSend, Keys: []string{"enter"}, Title: "Send your message", Short: "send", Words: "submit", Writes: true, Quiet: true},
	{
		ID: ChatReply, Keys: []string{"r"}, Act: "reply", More: "the marked one, or the newest",
		Short: "reply", Words: "answer", Off: noMessage, Writes: true,
	},
	{ID: ChatButtons, Keys: []string{"b"}, Act: "press", More: "of the marked or newest card", Short: "buttons", Off: noButtons, Writes: true},
	{ID: TailCopyLine, Keys: []string{"c"}, Title: "Copy marked message", Short: "copy", Words: "yank clipboard", Quiet: true},
	{ID: TailCopyAll, Keys: []string{"C"}, Title: "Copy newest messages", Short: "copy all", Quiet: true},
}

var logsRows = []Action{
	{ID: TailLevel, Keys: []string{"v"}, Title: "Next view", More: "all lines, info, warnings, errors", Short: "level", Words: "debug severity level"},
}

var taskRows = []Action{
	{ID: TaskRun, Keys: []string{"enter"}, Title: "Open shown run", Short: "open run", Off: noSchedule},
	{
		ID: TaskFire, Keys: []string{"f"}, Act: "fire", More: "its schedule and a reminder stay",
		Short: "fire now", Off: noSchedule, Costs: true, Writes: true,
	},
	{ID: TaskEdit, Keys: []string{"e"}, Act: "edit", More: "every field, in a form", Short: "edit", Off: noSchedule, Writes: true},
	{
		ID: TaskDelete, Keys: []string{"D"}, Act: "cancel", More: "asks first; undo brings it back",
		Short: "delete", Off: noSchedule, Costs: true, Writes: true,
	},
	{
		ID: TaskRestore, Keys: []string{"U"}, Act: "restore", More: "deleted, or a reminder that has run",
		Short: "bring back", Writes: true, Quiet: true,
	},
	{ID: TaskOpen, Keys: []string{"o"}, Title: "Open task file", More: "in your editor", Short: "open file", Off: noSchedule, Writes: true},
	{ID: TaskPause, Keys: []string{"P"}, Act: "pause", Short: "pause", Off: noSchedule, Writes: true},
	{ID: TaskOlder, Keys: []string{"left", "h"}, Title: "Previous run", Short: "run", Off: noSchedule, Pair: TaskNewer},
	{ID: TaskNewer, Keys: []string{"right", "l"}, Title: "Next run", Short: "run", Off: noSchedule, Quiet: true},
	{ID: TaskPrevious, Keys: []string{"["}, Title: "Previous task page", Short: "task", Off: noSchedule, Pair: TaskNext},
	{ID: TaskNext, Keys: []string{"]"}, Title: "Next task page", Short: "task", Off: noSchedule, Quiet: true},
}

var costsRows = []Action{
	{ID: CostsOpen, Keys: []string{"enter"}, Title: "Open task page", Short: "open"},
	{ID: CostsMark, Keys: []string{"space"}, Title: "Mark selected task", More: "the bars show only marked tasks", Short: "mark"},
	{
		ID: CostsLift, Keys: []string{"P"}, Act: "lift", More: "on spending, until midnight",
		Short: "lift caps", Hint: when(lifted, "lifted"), Make: lift, Off: noCaps, Writes: true,
	},
}

// findRows are the rows of a pane with a long text.
func findRows(keys ...string) []Action {
	return []Action{
		{ID: TailFind, Keys: keys, Title: "Find in text", Short: "find", Words: "search grep"},
		{ID: TailNext, Keys: []string{"n"}, Title: "Next match", Short: "next", Quiet: true},
		{ID: TailPrevious, Keys: []string{"N"}, Title: "Previous match", Short: "previous", Quiet: true},
		{ID: TailFollow, Keys: []string{"end", "G"}, Title: "Follow newest lines", Short: "follow", Words: "newest bottom"},
	}
}

// scrollRows are the movements in it.
func scrollRows(p Pane, up, down []string) []Action {
	return []Action{
		{ID: TailUp, Keys: up, Title: "Scroll up", Short: "scroll", Pair: TailDown, Quiet: p == Forks},
		{ID: TailDown, Keys: down, Title: "Scroll down", Short: "scroll", Quiet: true},
		{ID: TailPageUp, Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Short: "page", Quiet: true},
		{ID: TailPageDown, Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Short: "page", Quiet: true},
		{ID: TailHome, Keys: []string{"home", "g"}, Title: "Oldest line", Short: "oldest", Words: "top", Quiet: true},
	}
}

// tailRows are the same rows, plus those that only lines have: the chat's messages are always wrapped.
func tailRows(p Pane, up, down []string) []Action {
	filter := "words, is:error, a day, \"a phrase\""
	if p == Forks {
		filter = "the runs, or the lines where the tail has the focus"
	}
	return in(p, slices.Concat([]Action{
		{ID: TailFilter, Keys: []string{"/"}, Title: "Filter the lines", More: filter, Short: "filter", Words: "grep search"},
	}, findRows("&"), []Action{
		{ID: TailTime, Keys: []string{"t"}, Title: "Show or hide times", Short: "times", Words: "timestamps", Quiet: true},
		{ID: TailWrap, Keys: []string{"w"}, Title: "Wrap or cut lines", Short: "wrap"},
		{ID: TailLeft, Keys: []string{"left", "h"}, Title: "Scroll left", More: "where lines are cut", Short: "left", Quiet: true},
		{ID: TailRight, Keys: []string{"right", "l"}, Title: "Scroll right", More: "where lines are cut", Short: "right", Quiet: true},
		{ID: TailCopyLine, Keys: []string{"c"}, Title: "Copy marked line", Short: "copy", Words: "yank clipboard", Quiet: p != Logs},
		{ID: TailCopyAll, Keys: []string{"C"}, Title: "Copy all lines", Short: "copy all", Quiet: true},
	}, scrollRows(p, up, down)))
}

var awayRows = []Action{
	{ID: AwayOpen, Keys: []string{"enter"}, Title: "Open selected line", More: "the run of a task, or a decision", Short: "open"},
	{ID: AwayHalf, Keys: []string{"left", "h", "right", "l"}, Title: "Other half", More: "what happened, or the audit log", Short: "other half"},
}

var weekRows = []Action{
	{ID: WeekOpen, Keys: []string{"enter"}, Title: "Show the day's runs", Short: "runs"},
	{ID: WeekUp, Keys: []string{"up", "k"}, Title: "Previous day", Short: "select", Pair: WeekDown},
	{ID: WeekDown, Keys: []string{"down", "j"}, Title: "Next day", Short: "select", Quiet: true},
	{ID: WeekEarlier, Keys: []string{"left", "h"}, Title: "Week before", Short: "other week", Pair: WeekLater},
	{ID: WeekLater, Keys: []string{"right", "l"}, Title: "Week after", Short: "other week", Quiet: true},
}

var settingsRows = []Action{
	{ID: SettingsEdit, Keys: []string{"enter"}, Title: "Change the setting", Short: "change", Writes: true},
	{
		ID: SettingsPrevious, Keys: []string{"left", "h"}, Title: "Previous choice", More: "of the selected setting",
		Short: "choice", Writes: true, Pair: SettingsNext,
	},
	{ID: SettingsNext, Keys: []string{"right", "l", "space"}, Title: "Next choice", More: "of the selected setting", Short: "choice", Writes: true, Quiet: true},
}

// listRows are the rows of a list that can be filtered. Their IDs start with the pane.
func listRows(p Pane, noun string) []Action {
	return own(p, []Action{
		{ID: "find", Keys: []string{"/"}, Title: "Filter the rows", More: "words, is:failed, a day, \"a phrase\"", Short: "filter", Words: "search grep"},
		{ID: "up", Keys: []string{"up", "k"}, Title: "Previous " + noun, Short: "select", Pair: "down"},
		{ID: "down", Keys: []string{"down", "j"}, Title: "Next " + noun, Short: "select", Quiet: true},
		{ID: "pgup", Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Short: "page", Quiet: true},
		{ID: "pgdn", Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Short: "page", Quiet: true},
		{ID: "top", Keys: []string{"home", "g"}, Title: "First " + noun, Short: "first", Quiet: true},
		{ID: "bottom", Keys: []string{"end", "G"}, Title: "Last " + noun, Short: "last", Quiet: true},
	})
}

// sortRows are the rows that a list with columns has in addition to listRows.
func sortRows(p Pane) []Action {
	return own(p, []Action{
		{ID: "sort", Keys: []string{"O"}, Title: "Sort by next column", More: "a click on its head does too", Short: "sort"},
		{ID: "turn", Keys: []string{"ctrl+o"}, Title: "Reverse sort order", Short: "turn", Quiet: true},
	})
}

// scrolled are the rows of a text page.
func scrolled(p Pane) []Action {
	return own(p, []Action{
		{ID: "up", Keys: []string{"up", "k"}, Title: "Scroll up", Short: "scroll", Pair: "down", Quiet: true},
		{ID: "down", Keys: []string{"down", "j"}, Title: "Scroll down", Short: "scroll", Quiet: true},
		{ID: "pgup", Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Short: "page up", Quiet: true},
		{ID: "pgdn", Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Short: "page down", Quiet: true},
		{ID: "top", Keys: []string{"home", "g"}, Title: "First line", Short: "first", Quiet: true},
		{ID: "bottom", Keys: []string{"end", "G"}, Title: "Last line", Short: "last", Quiet: true},
	})
}

// in sets the pane of rows.
func in(p Pane, rows []Action) []Action {
	for i := range rows {
		rows[i].Pane = p
	}
	return rows
}

// own sets the pane of rows and prefixes their IDs with it.
func own(p Pane, rows []Action) []Action {
	for i := range rows {
		rows[i].ID = p.ID(string(rows[i].ID))
		if rows[i].Pair != "" {
			rows[i].Pair = p.ID(string(rows[i].Pair))
		}
	}
	return in(p, rows)
}

// offWithout disables rows for the given reason.
func offWithout(off reason, rows []Action) []Action {
	for i := range rows {
		rows[i].Off = off
	}
	return rows
}

var everywhereRows = []Action{
	{ID: Help, Keys: []string{"?"}, Title: "Show all keys", Short: "keys", Words: "help shortcuts bindings manual"},
	{ID: Undo, Keys: []string{"u"}, Act: "undo", More: "asks before it removes a file", Short: "undo", Words: "revert", Quiet: true},
	{ID: Redo, Keys: []string{"ctrl+r"}, Act: "redo", Short: "redo", Words: "repeat again", Quiet: true},
	{ID: Login, Keys: []string{"L"}, Act: "login", Short: "log in", Words: "login signin authenticate auth", Off: noLogin, Writes: true},
	{
		ID: Palette, Keys: []string{":", "ctrl+p"}, Title: "Run a command", More: "by name, with arguments and completion",
		Short: "command", Words: "commands menu actions palette",
	},
	{ID: Quit, Keys: []string{"q"}, Title: "Quit the dashboard", More: "asks first while forks run", Short: "quit", Words: "exit bye detach leave", Costs: true},
	{ID: Budget.Go(), Keys: []string{"1"}, Title: "Go to ping budget", Short: "budget", Words: "pings why refused", Quiet: true},
	{ID: Schedule.Go(), Keys: []string{"2"}, Title: "Go to schedule", Short: "schedule", Words: "tasks routines reminders agenda", Quiet: true},
	{ID: Updates.Go(), Keys: []string{"3"}, Title: "Go to updates", Short: "updates", Words: "inbox", Quiet: true},
	{ID: Forks.Go(), Keys: []string{"4"}, Title: "Go to runs", Short: "runs", Words: "forks", Quiet: true},
	{ID: Chat.Go(), Keys: []string{"5"}, Title: "Go to chat", Short: "chat", Words: "talk", Quiet: true},
	{ID: Logs.Go(), Keys: []string{"6"}, Title: "Go to logs", Short: "logs", Words: "log", Quiet: true},
	{ID: Task.Go(), Keys: []string{"K"}, Title: "Go to task page", More: "of the selected run, or of the last one shown", Short: "task", Quiet: true},
	{
		ID: Costs.Go(), Keys: []string{"$"}, Title: "Go to costs", More: "of each task and each day",
		Short: "costs", Words: "cost money spent spending price", Quiet: true,
	},
	{ID: Away.Go(), Keys: []string{"A"}, Title: "While you were away", More: "what happened, and the audit log", Short: "away", Quiet: true},
	{
		ID: Week.Go(), Keys: []string{"W"}, Title: "Go to the week", More: "pings and answers, due times, costs",
		Short: "week", Words: "weekly review summary statistics promises", Quiet: true,
	},
	{ID: Settings.Go(), Keys: []string{","}, Title: "Go to settings", Short: "settings", Quiet: true},
	{ID: Day.Go(), Keys: []string{"0"}, Title: "Go to the day", Short: "day", Quiet: true},
	{ID: GoNext, Keys: []string{"tab"}, Title: "Next pane", Short: "next pane", Quiet: true},
	{ID: GoPrevious, Keys: []string{"shift+tab"}, Title: "Previous pane", Short: "previous pane", Quiet: true},
	{ID: Zoom, Keys: []string{"z"}, Title: "Zoom or unzoom pane", Short: "zoom", Words: "fullscreen maximize", Quiet: true},
	{
		ID: Back, Keys: []string{"esc"}, Title: "Go back", More: "out of a text, filter, dialog, page or zoom",
		Short: "back", Words: "escape cancel close", Quiet: true,
	},
	{ID: Deliveries, Keys: []string{"H"}, Act: "webhook list", Short: "webhooks", Words: "webhook deliveries", Quiet: true},
	{ID: Servers, Act: "mcp list", More: "their states, tools and last calls", Short: "servers", Words: "mcp tools plugins", Quiet: true},
	{
		ID: Account, Act: "account", More: "what became of each in seven days, and why", Short: "due times",
		Words: "account missed held skipped refused", Quiet: true,
	},
	{
		ID: Engine, Keys: []string{"E"}, Act: "engine", More: "version, processes, memory, today's cost",
		Short: "engine", Words: "cost costs money tokens status version memory model usage", Quiet: true,
	},
	{
		ID: Welcome, Title: "Show the welcome", More: "first routine, starter routines, connecting a model", Short: "welcome",
		Words: "start begin tutorial starter examples connect model api key", Quiet: true,
	},
	// The frame decides whether to offer them, and shows the reason if not.
	{ID: Demo, Act: "demo", More: "in the place of this dashboard", Short: "demo", Words: "try example showcase", Quiet: true},
	{
		ID: SetUp, Act: "init", More: "names, time zone, Discord",
		Short: "set up", Words: "init setup onboarding configure install", Writes: true, Quiet: true,
	},
	{ID: OpenHeadline, Keys: []string{"Z"}, Title: "Open the headline", Short: "open", Words: "headline failed held lost", Quiet: true},
	{ID: Notices, Keys: []string{"!"}, Act: "notices", Short: "notices", Words: "toasts notifications", Quiet: true},
	{
		ID: Interrupt, Keys: []string{"ctrl+c"}, Title: "Interrupt the answer", More: "without one, quit",
		Short: "interrupt", Words: "stop cancel abort", Quiet: true,
	},
	{ID: Suspend, Keys: []string{"ctrl+z"}, Title: "Suspend the program", More: "fg resumes it", Short: "suspend", Words: "background shell", Quiet: true},
	{ID: Mouse, Keys: []string{"M"}, Title: "Take or release mouse", Short: "mouse", Words: "click", Quiet: true},
	{
		ID: ThemeNext, Keys: []string{"T"}, Title: "Next theme", More: "as the terminal, dark, light, high contrast, 16 colours",
		Short: "theme", Words: "themes colors colours color colour settings preferences appearance contrast", Quiet: true,
	},
	{
		ID: LayoutNext, Keys: []string{"V"}, Title: "Next layout", More: "balanced, more room for chat, forks or schedule",
		Short: "layout", Words: "arrange settings preferences", Quiet: true,
	},
	{ID: Wider, Keys: []string{">"}, Title: "Widen the pane", Short: "wider", Words: "resize size grow", Quiet: true},
	{ID: Narrower, Keys: []string{"<"}, Title: "Narrow the pane", Short: "narrower", Words: "resize size shrink", Quiet: true},
	{ID: Taller, Keys: []string{")"}, Title: "Heighten the pane", Short: "taller", Words: "resize size grow", Quiet: true},
	{ID: Shorter, Keys: []string{"("}, Title: "Shorten the pane", Short: "shorter", Words: "resize size shrink", Quiet: true},
	{ID: Redraw, Keys: []string{"ctrl+l"}, Title: "Redraw the screen", Short: "redraw", Words: "refresh repaint clear", Quiet: true},
}

// budgetStep turns a row into one that changes the displayed budget, by tokens of capacity or by minutes of the
// refill rate. The frame delays the next key until the core has answered this one.
func budgetStep(capacity, minutes int, a Action) Action {
	a.Writes = true
	a.Hint = func(s core.Snapshot) string {
		now := s.Budget.State
		from, to := &now.Capacity, max(0, now.Capacity+capacity)
		if minutes != 0 {
			from, to = &now.RefillRateMinutes, max(1, now.RefillRateMinutes+minutes)
		}
		text := strconv.Itoa(*from) + "→" + strconv.Itoa(to) // the frame replaces the arrow if necessary
		*from = to
		if full := now.FullAt(s.At); !s.At.IsZero() && !full.IsZero() && full.Sub(s.At) <= 24*time.Hour {
			text += ", full " + s.Clock(full, "15:04")
		}
		return text
	}
	a.Make = func(s core.Snapshot) command.Value {
		if minutes != 0 {
			return command.SetBudget{RefillMinutes: new(max(1, s.Budget.State.RefillRateMinutes+minutes))}
		}
		return command.SetBudget{Capacity: new(max(0, s.Budget.State.Capacity+capacity))}
	}
	return a
}

// lift suspends the caps for today, or restores them.
func lift(s core.Snapshot) command.Value { return command.LiftCaps{Undo: s.Money.Lifted} }

func lifted(s core.Snapshot) bool { return s.Money.Lifted }

// capped reports whether a day or month has a cap; the zero Span does not belong to a bot.
func capped(s money.Span) bool { return s.Capped() && (s.Cap > 0 || !s.Ends.IsZero()) }

func deliver(core.Snapshot) command.Value { return command.DeliverNow{} }

// muteHint returns the end of the current mute.
func muteHint(s core.Snapshot) string {
	if s.Budget.Muted.IsZero() {
		return ""
	}
	return "until " + s.Clock(s.Budget.Muted, "15:04")
}

// deliverHint returns the number of updates to deliver.
func deliverHint(s core.Snapshot) string {
	if len(s.Updates) < 2 {
		return ""
	}
	return "all " + strconv.Itoa(len(s.Updates))
}

func waitsHint(s core.Snapshot) string {
	if n := s.Waiting(); n > 0 {
		return strconv.Itoa(n) + " in all"
	}
	return ""
}

func alwaysHint(s core.Snapshot) string {
	if len(s.Approvals) == 0 {
		return ""
	}
	return s.Approvals[0].Scope()
}

func nothingScheduled(s core.Snapshot) bool {
	return len(s.Schedule.Entries)+len(s.Schedule.Day)+len(s.Schedule.Tasks) == 0
}

func ended(f fork.View) bool { return !f.Live() }

func hasButtons(e transcript.Entry) bool { return e.Embed != nil && len(e.Embed.Buttons) > 0 }

// reason returns why an action is disabled, or empty if it is not.
type reason = func(core.Snapshot) string

// when returns a reason that applies while a condition is true.
func when(holds func(core.Snapshot) bool, why string) reason {
	return func(s core.Snapshot) string {
		if holds(s) {
			return why
		}
		return ""
	}
}

// firstOf returns the first reason that applies.
func firstOf(reasons ...reason) reason {
	return func(s core.Snapshot) string {
		for _, r := range reasons {
			if why := r(s); why != "" {
				return why
			}
		}
		return ""
	}
}
