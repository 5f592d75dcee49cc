package command

// What plain mode obeys: all that the panes of the dashboard can do.

var overviewRows = []Command{
	{Name: "status", About: "one look at everything"},
	{Name: "notices", Usage: "[HOW MANY]", About: "what the program has said, newest first", Example: "notices 5"},
	{Name: "problems", About: "files with mistakes, and where in them"},
	{Name: "engine", About: "the model, its processes, and what today has cost"},
	{Name: "costs", Usage: "[DAYS]", About: "what the runs of each task have cost, a week unless told", Example: "costs 30"},
	{
		Name: "log", Usage: "[LINES] [warnings, errors] [find WORDS]", About: "the newest lines of the log",
		Example: "log 20 errors", More: helpLog,
	},
	{Name: "webhooks", About: "what came in over webhooks, newest first"},
}

var taskRows = []Command{
	{Name: "schedule", About: "what fires next, with numbers"},
	{Name: "day", About: "all that fires in the next 24 hours, with numbers, and your appointments"},
	{Name: "tasks", About: "every routine and reminder, with numbers"},
	{Name: "details", Usage: "TASK", About: "everything about a task", Example: "details email", More: helpTask},
	{
		Name: "preview", Usage: "TASK", About: "the exact prompt that a task would send", Example: "preview 2", More: helpTask,
		Takes: Task, Make: func(s Subject) Value { return Preview{ID: s.ID} },
	},
	{Name: "file", Usage: "TASK", About: "where a task's file is, and what it says", Example: "file email", More: helpFile},
	{
		Name: "fire", Usage: "TASK", About: "run a task now, beside its schedule", Example: "fire email", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return FireNow{ID: s.ID, Stays: true} },
	},
	{
		Name: "snooze", Usage: "TASK WHEN", About: "keep a task from firing until a time",
		Example: "snooze email until 18:30", More: helpSnooze, Writes: true,
		Takes: TaskMoment, Make: func(s Subject) Value { return Snooze{ID: s.ID, Until: s.At} },
	},
	{
		Name: "pause", Usage: "TASK", About: "keep a task from firing until you resume it",
		Example: "pause email", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Pause{ID: s.ID, Paused: true} },
	},
	{
		Name: "resume", Usage: "TASK", About: "end a pause or a snooze", Example: "resume email", More: helpResume, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Snooze{ID: s.ID} },
	},
	{
		Name: "done", Usage: "TASK", About: "a reminder is done and does not come back", Example: "done dentist", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: Done} },
	},
	{
		Name: "later", Usage: "TASK WHEN", About: "put a reminder off until a time", Example: "later dentist 1h", More: helpWhen + "\n" + helpTask, Writes: true,
		Takes: TaskMoment, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: Later, Until: s.At} },
	},
	{
		Name: "not-today", Usage: "TASK", About: "put a reminder off until tomorrow, at its own time", Example: "not-today dentist", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: NotToday} },
	},
	{
		Name: "grant", Usage: "TASK", About: "allow all that a task asks for, which the agent wrote",
		Example: "grant email", More: helpGrant, Writes: true,
	},
	{
		Name: "new", Usage: "routine CRON MESSAGE, or reminder WHEN MESSAGE", About: "write a new task",
		Example: "new reminder tomorrow 9:00 put out the bins", More: helpNew, Writes: true,
	},
}

var runRows = []Command{
	{Name: "runs", Aliases: []string{"forks"}, About: "background runs, with numbers"},
	{
		Name: "output", Aliases: []string{"tail"}, Usage: "RUN [last HOW MANY] [find WORDS]", About: "the last lines of a run",
		Example: "output email last 40", More: helpOutput,
	},
	{
		Name: "follow", Usage: "RUN, log or off", About: "hear the lines of a run or of the log as they come",
		Example: "follow email", More: helpRun,
	},
	{Name: "stop", Usage: "RUN", About: "end a run, after a question", Example: "stop 2", More: helpRun, Writes: true},
	{Name: "again", Usage: "RUN", About: "run the task of a run once more", Example: "again 2", More: helpRun, Writes: true},
	{
		Name: "continue", Usage: "RUN", About: "go on in a run that has ended, in the conversation",
		Example: "continue email", More: helpContinue, Writes: true,
	},
}

var updateRows = []Command{
	{Name: "updates", About: "what waits for the main conversation, newest first, with numbers"},
	{Name: "update", Usage: "UPDATE", About: "read one update in full", Example: "update 1", More: helpUpdate},
	{
		Name: "discard", Usage: "UPDATE", About: "throw an update away; undo brings it back",
		Example: "discard 2", More: helpUpdate, Writes: true,
		Takes: Update, Make: func(s Subject) Value { return DiscardUpdate{Key: s.ID} },
	},
	{
		Name: "deliver", About: "hand all updates over now; the answer comes at once", Writes: true,
		Make: func(Subject) Value { return DeliverNow{} },
	},
}

var talkRows = []Command{
	{Name: "say", Usage: "WORDS", About: "speak to the agent", Example: "say what is left today?", More: helpSay, Writes: true},
	{
		Name: "reply", Usage: "[NUMBER] WORDS", About: "answer the newest message, or one that chat has read",
		Example: "reply 3 thank you", More: helpReply, Writes: true,
	},
	{Name: "read", About: "the newest message in full, line by line"},
	{Name: "chat", Usage: "[HOW MANY] [find WORDS]", About: "the newest messages, with numbers", Example: "chat 20 find dentist"},
	{Name: "buttons", About: "the buttons of all cards, with numbers, the newest first"},
	{
		Name: "press", Usage: "BUTTON", About: "press a button by its number or its words",
		Example: "press 1", More: helpPress, Writes: true,
	},
	{Name: "interrupt", About: "end the answer that is being given", Writes: true},
	{
		Name: "exit", Usage: "[save or report]", About: "leave the fork that the conversation stands in",
		Example: "exit report", More: helpExit, Writes: true,
	},
}

var callRows = []Command{
	{
		Name: "waits", Aliases: []string{"approvals"}, Usage: "[NUMBER]", About: "tool calls that need your answer; with a number, one of them whole",
		Example: "waits 1", More: helpWaits,
	},
	{Name: "allow", Usage: "[NUMBER]", About: "allow a tool call", Example: "allow 1", More: helpCall, Writes: true},
	{
		Name: "always", Usage: "[NUMBER]", About: "allow the tool of a call from now on",
		Example: "always 1", More: helpCall, Writes: true,
	},
	{Name: "deny", Usage: "[NUMBER]", About: "deny a tool call", Example: "deny 1", More: helpCall, Writes: true},
}

var pingRows = []Command{
	{
		Name: "budget", Usage: "[CAPACITY, or refill MINUTES]", About: "the ping budget; with a number, change it",
		Example: "budget +1", More: helpBudget,
	},
	{
		Name: "mute", Usage: "WHEN, or off", About: "refuse pings until a time", Example: "mute 2h", More: helpWhen, Writes: true,
		Takes: Moment, Make: func(s Subject) Value { return MuteUntil{Until: s.At} },
	},
}

var programRows = []Command{
	{Name: "undo", About: "take the last change back", Writes: true},
	{Name: "yes", Aliases: []string{"y"}, About: "answer a question: do it"},
	{Name: "no", Aliases: []string{"n"}, About: "answer a question: leave it; any other command does too"},
	{
		Name: "login", Usage: "[CODE]", About: "log in to Claude: first for the address, then with the code of its page", Writes: true,
		Takes: Words, Make: func(s Subject) Value { return Login{Code: s.Words} },
	},
	{
		Name: "help", Aliases: []string{"?"}, Usage: "[COMMAND or GROUP]", About: "the commands, or one of them",
		Example: "help snooze",
	},
	{Name: "quit", About: "end; the end of the input does too"},
}

// What help WORD adds to a command's line.
const (
	helpTask = "A task is named by words of its title, by its number in the list that was read last (schedule, day, tasks), or by its id."
	helpFile = "Open it in your editor beside this; a file that was saved counts at once.\n" + helpTask
	helpRun  = "A run is named by words of its title, by its number in the list that runs has read last, or by its id."
	helpWhen = "When is a length (30m, 2 hours), a time (18:30, until 18:30), " +
		"a day with or without one (tomorrow, friday 9:00, tomorrow noon), or 2026-12-24 09:00."

	helpSnooze   = "snooze email off ends it, resume does too.\n" + helpWhen + "\n" + helpTask
	helpResume   = "It fires as its file says again. To go on in a run that has ended, say continue.\n" + helpTask
	helpGrant    = "What waits, and why, is read in tasks, schedule and problems; skills and webhooks are named by their file.\n" + helpTask
	helpContinue = "The conversation stands in a fork then; exit leaves it.\n" + helpRun
	helpNew      = "A routine takes a cron line of minute, hour, day, month and weekday: new routine 0 9 * * mon-fri greet me.\n" +
		"A reminder takes a time: new reminder 18:30 call mum.\n" +
		"Before the message may stand silent (it never pings), foreground (it runs in the main conversation) and called with a title, then a colon: " +
		"new routine 0 9 * * mon-fri silent called Morning: collect the news.\n" + helpWhen
	helpOutput = "Without a number these are the last 15 lines. find reads only lines that hold all words: output email find error.\n" + helpRun
	helpLog    = "Without a number these are the last 15 lines. follow log reads new ones as they come."
	helpUpdate = "An update is named by its number in the list that updates has read last, or by words of it."
	helpLines  = "A line that ends in a backslash goes on in the next one, so that a message can have several lines; two backslashes at the end are one."
	helpSay    = helpLines + "\n" + "It holds for all commands, as in reply and new."
	helpWaits  = "waits alone names each call in short. waits 1 reads everything that call number 1 would do, line by line."
	helpReply  = "Numbers are those that chat has read last. Words that begin with a number answer the newest message when you give that number first."
	helpPress  = "Numbers are those that were read with the message, or by buttons; of several with the same words the newest is pressed."
	helpExit   = "exit alone keeps nothing and asks first. exit save makes the fork the main conversation. exit report takes a report along."
	helpCall   = "Without a number it answers the only call that waits. A call that nobody answers in time is denied."
	helpBudget = "budget +1 and budget -1 change the capacity by one, budget 6 sets it, budget 0 refuses all pings but critical ones.\n" +
		"budget refill 60 brings one ping back every 60 minutes, budget refill -5 makes that 5 minutes faster."
)
