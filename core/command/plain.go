package command

// The commands of plain mode: everything the dashboard's panes can do.

var overviewRows = []Command{
	{Name: "away", Usage: "[FILTER]", About: "what the bot did while you were away, by task", Example: "away is:failed", More: helpFilter},
	{Name: "notices", Usage: "[HOW MANY] [FILTER]", About: "notices of the program, newest first", Example: "notices is:warning", More: helpFilter},
	{Name: "problems", About: "errors in files, with their positions"},
	{Name: "engine", About: "the model, its processes, and today's cost"},
	{
		Name: "log", Usage: "[LINES] [FILTER]", About: "the latest lines of the log",
		Example: "log 20 is:error", More: helpLog,
	},
}

var taskRows = []Command{
	{
		Name: "day", Usage: "[DAY]", About: "what fires in the next 24 hours, your appointments, and the runs of today; or of another day",
		Example: "day yesterday", More: helpDay,
	},
	{Name: "list", Usage: "[FILTER]", About: "all routines and reminders, numbered", Example: "list is:reminder", More: helpFilter},
	{Name: "tasks", About: "your tasks in Google Tasks: tasks list; the bot's own are in list"},
	{
		Name: "task", Aliases: []string{"details"}, Usage: "TASK", About: "everything about a task: its next fires, its runs, its pings, what it costs",
		Example: "task email", More: helpTask,
	},
	{Name: "file", Usage: "TASK", About: "the path and the content of a task's file", Example: "file email", More: helpFile},
	{
		Name: "edit", Usage: "TASK [FIELD VALUE]", About: "change a field of a task; without a field, list its fields",
		Example: "edit email when every day at 8:15", More: helpEdit,
	},
	{
		Name: "done", Usage: "TASK", About: "complete a reminder, so that it does not repeat", Example: "done dentist", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: Done} },
	},
	{
		Name: "later", Usage: "TASK WHEN", About: "postpone a reminder until a time", Example: "later dentist 1h", More: helpWhen + "\n" + helpTask, Writes: true,
		Takes: TaskMoment, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: Later, Until: s.At} },
	},
	{
		Name: "not-today", Usage: "TASK", About: "postpone a reminder until tomorrow, same time", Example: "not-today dentist", More: helpTask, Writes: true,
		Takes: Task, Make: func(s Subject) Value { return Remind{ID: s.ID, Word: NotToday} },
	},
	{
		Name: "add", Aliases: []string{"new"}, Usage: "routine WHEN MESSAGE, or reminder WHEN MESSAGE", About: "create a task",
		Example: "add reminder tomorrow 9:00 put out the bins", More: helpNew, Writes: true,
	},
}

var runRows = []Command{
	{
		Name: "runs", Aliases: []string{"forks"}, Usage: "[FILTER]", About: "background runs with their outcome, duration and cost, newest first, numbered",
		Example: "runs is:failed tuesday", More: helpFilter,
	},
	{
		Name: "tail", Aliases: []string{"output", "run"}, Usage: "RUN [last HOW MANY] [find FILTER]", About: "what came of a run, and the last lines of its output",
		Example: "tail email last 40", More: helpOutput,
	},
	{Name: "seen", About: "mark all failed runs as seen", Writes: true},
	{
		Name: "follow", Usage: "RUN, log or off", About: "print new lines of a run or of the log as they arrive",
		Example: "follow email", More: helpRun,
	},
	{Name: "stop", Usage: "RUN", About: "stop a run, after asking you", Example: "stop 2", More: helpRun, Writes: true},
	{Name: "again", Usage: "RUN", About: "run the task of a run again", Example: "again 2", More: helpRun, Writes: true},
	{
		Name: "continue", Usage: "RUN", About: "continue a finished run in the conversation",
		Example: "continue email", More: helpContinue, Writes: true,
	},
}

var updateRows = []Command{
	{
		Name: "discard", Usage: "UPDATE", About: "discard an update; undo restores it",
		Example: "discard 2", More: helpUpdate, Writes: true,
		Takes: Update, Make: func(s Subject) Value { return DiscardUpdate{Key: s.ID} },
	},
	{Name: "questions", Usage: "[FILTER]", About: "what the bot asks you by itself, newest first, numbered", More: helpFilter},
	{
		Name: "answer", Usage: "[QUESTION] ANSWER", About: "answer a question of the bot's", Example: "answer 1 tomorrow 9:00",
		More: helpAnswer, Writes: true,
	},
	{
		Name: "deliver", About: "deliver all updates now and get an answer", Writes: true,
		Make: func(Subject) Value { return DeliverNow{} },
	},
}

var talkRows = []Command{
	{Name: "say", Usage: "WORDS", About: "write to the agent", Example: "say what is left today?", More: helpSay, Writes: true},
	{
		Name: "reply", Usage: "[NUMBER] WORDS", About: "reply to the newest message, or to one that chat has listed",
		Example: "reply 3 thank you", More: helpReply, Writes: true,
	},
	{Name: "read", About: "the newest message in full, line by line"},
	{Name: "chat", Usage: "[HOW MANY] [FILTER]", About: "the newest messages, numbered", Example: "chat 20 dentist", More: helpFilter},
	{Name: "buttons", About: "the buttons of all cards, newest first, numbered"},
	{
		Name: "press", Usage: "BUTTON", About: "press a button by its number or label",
		Example: "press 1", More: helpPress, Writes: true,
	},
	{Name: "interrupt", About: "stop the current answer", Writes: true},
	{
		Name: "exit", Usage: "[save or report]", About: "leave the fork of the conversation",
		Example: "exit report", More: helpExit, Writes: true,
	},
}

var callRows = []Command{
	{
		Name: "approvals", Aliases: []string{"waits"}, Usage: "[NUMBER]",
		About:   "tool calls that need your answer; the only one, or one with a number, in full, then yes or no answers it",
		Example: "approvals 1", More: helpWaits,
	},
	{
		Name: "allow", Aliases: []string{"grant"}, Usage: "[NUMBER, or TASK]", About: "allow a tool call, or what the agent wrote",
		Example: "allow 1", More: helpCall, Writes: true,
	},
	{
		Name: "always", Usage: "[NUMBER]", About: "allow the tool of a call from now on",
		Example: "always 1", More: helpCall, Writes: true,
	},
	{
		Name: "deny", Aliases: []string{"refuse"}, Usage: "[NUMBER, or TASK]", About: "deny a tool call, or an edit of the agent's, whose file is restored",
		Example: "deny 1", More: helpCall, Writes: true,
	},
}

var pingRows = []Command{
	{Name: "capacity", Usage: "NUMBER", About: "how many pings can be saved up", Example: "capacity +1", More: helpCapacity, Writes: true},
	{Name: "refill", Usage: "MINUTES", About: "how long it takes until one more ping is allowed", Example: "refill 60", More: helpRefill, Writes: true},
}

var programRows = []Command{
	{Name: "more", Usage: "[all]", About: "the next lines of a long answer, or all of them", Example: "more all"},
	{Name: "prefix", Usage: "on or off", About: "times before what happens", Example: "prefix off"},
	{
		Name: "settings", Usage: "[GROUP, or NAME [VALUE]]", About: "the settings by group, one of them, or a new value for it",
		Example: "settings quiet hours 22:00-07:30", More: helpSettings,
	},
	{Name: "undo", About: "undo the last change", Writes: true},
	{Name: "redo", About: "make the change again that was undone last", Writes: true},
	{Name: "yes", Aliases: []string{"y"}, About: "answer yes to a question"},
	{Name: "no", Aliases: []string{"n"}, About: "answer no to a question; so does any other command"},
	{
		Name: "login", Usage: "[CODE]", About: "log in to Claude: first to get the address, then with the code from its page", Writes: true,
		Takes: Words, Make: func(s Subject) Value { return Login{Code: s.Words} },
	},
	{
		Name: "help", Aliases: []string{"?"}, Usage: "[COMMAND, GROUP or all]", About: "the groups of commands, those of a group, or one of them",
		Example: "help snooze",
	},
	{Name: "quit", About: "quit; so does the end of the input"},
}

// Further lines of `help COMMAND`.
const (
	helpTask = "TASK is words of its title, its number in the last list (day, list), or its ID."
	helpFile = "Open it in your editor; a saved file takes effect immediately.\n" + helpTask
	helpRun  = "RUN is words of its title, its number in the last list of runs, or its ID."
	helpWhen = "WHEN is a duration (30m, 2 hours), a time (18:30, until 18:30), " +
		"a day with or without a time (tonight, friday 9:00, 24 dec), or 2026-12-24 09:00."

	helpSnooze   = "snooze email off ends it; so does resume.\n" + helpWhen + "\n" + helpTask
	helpResume   = "It fires by its file's schedule again. To continue a finished run, use continue.\n" + helpTask
	helpGrant    = "list and problems show what needs approval, and why. Skills and webhooks are named by their file.\n" + helpTask
	helpContinue = "The conversation is then in a fork; exit leaves it.\n" + helpRun
	helpNew      = "A routine takes words or a cron expression: add routine weekdays at 9 greet me.\n" +
		"A reminder takes a time: add reminder 18:30 call mum.\n" +
		"Before the message you can write silent (it never pings), foreground (it runs in the main conversation), and called with a title and a colon: " +
		"add routine weekdays at 9 silent called Morning: collect the news.\n" + helpWhen
	helpOutput = "The default is the last 15 lines. find shows only lines that a filter keeps: tail email find is:error.\n" + helpRun
	helpLog    = "The default is the last 15 lines. follow log prints new ones as they arrive."
	helpUpdate = "UPDATE is words of it, or its number in the list of discard."
	helpAnswer = "QUESTION is its number in the last list of questions; the only one need not be named. ANSWER is the label of an answer, yes for the first, " +
		"no for the last, or a time where the question takes one.\n" + helpWhen
	helpLines    = "A backslash at the end continues the line on the next one, so that a message can have several lines; two backslashes at the end mean one."
	helpSay      = helpLines + "\n" + "This works in all commands, such as reply and add."
	helpWaits    = "approvals 1 prints everything that call number 1 would do, line by line, and asks; yes or y allows it, no or n denies it."
	helpReply    = "NUMBER is that of the last list of chat. To reply to the newest message with words that begin with a number, give its number first."
	helpPress    = "BUTTON is its number in the message or in the list of buttons, or its label; of several with the same label, the newest."
	helpExit     = "exit keeps nothing and asks first. exit save makes the fork the main conversation. exit report takes a report along."
	helpCall     = "Without a number it answers the only pending call. A call without an answer is denied after a while.\n" + helpGrant
	helpCapacity = "capacity +1 and capacity -1 change it by one, capacity 6 sets it, capacity 0 refuses all but critical pings."
	helpRefill   = "refill 60 refills one ping every 60 minutes, refill -5 makes that 5 minutes faster."
	helpFilter   = "FILTER is words, a phrase in quotes, a weekday or a date (tuesday, yesterday, 21 nov), or a state such as is:failed, " +
		"is:pinged, is:refused, is:silent, is:held; an exclamation mark before a part means the opposite."
	helpDay      = "DAY is yesterday, tuesday, 21 nov or 2026-11-21, with states such as is:failed; day tomorrow lists what fires then, as far as 24 hours ahead."
	helpSettings = "settings lists the groups, settings money those of a group, settings daily limit shows one, settings daily limit 5 changes it. " +
		"Undo takes a change back."
	helpEdit = "TASK is words of its title, its number in the last list, or its ID; FIELD is one that edit and the task alone lists. " +
		"The value is checked as in the form of the dashboard, and undo takes it back."
)
