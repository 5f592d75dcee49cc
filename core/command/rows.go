package command

import (
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
)

// inLines is the command line, that of the agent, and lines of plain mode and the palette.
const inLines = InShell | InAgent | InPlain

// inBoth is plain mode, and the command line by way of plain mode (Plain).
const inBoth = InPlain | InShell | InBot

// inTalk is the conversation: lines that begin with "/", and Discord's list.
const inTalk = InSlash | InDiscord

// aTask names the task of a command.
var aTask = []Arg{{Kind: Task, Name: "task", About: "A routine or reminder: its id, four characters of it, or words of its title."}}

// aRun names the run of a command.
var aRun = []Arg{{Kind: Run, Name: "run", About: "A run: its id, four characters of it, or words of its title."}}

// Table has every command once. Help and lists have its order, which is that of Discord's list too. A command of two words
// belongs to the group that its first word names. The commands that the agent may run (InAgent) read no named file and no
// standard input.
var Table = []Command{
	// The program, and how things are.
	{Name: "clear", In: inTalk, Group: conversation, slash: Host.clear, Short: "start over", About: "clear the conversation and start over; updates are kept"},
	{
		Name: "compact", In: inTalk, Group: conversation, slash: Host.compact, Usage: "[instructions]", Short: "shorten the history",
		About: "summarize the conversation to shorten it",
		Args:  []Arg{{Name: "instructions", About: "what the summary should keep", Optional: true}},
	},
	{Name: "run", In: InShell, Group: program, About: "Run the bot with its dashboard (default command)."},
	{Name: "attach", In: InShell, Group: program, About: "Open the dashboard of a running bot."},
	{Name: "init", Key: "Set the bot up", In: InShell, Group: program, About: "Set up names, time zone and Discord."},
	{
		Name: "demo", In: InShell, Group: program, About: "Open the dashboard on a living example. Needs no account and no network.",
		Key: "Watch the demo",
	},
	{
		Name: "status", Prints: PrintsTasks, In: inLines | InBot | inTalk, Group: overview, slash: Host.status, Short: "how things are",
		card: func(h Host) *post.Embed { return h.Card() }, About: "Show how things are: what needs you, what comes next, pings and money.",
	},
	{Name: "snapshot", In: InShell, Group: overview, About: "Print one frame of the dashboard as text."},
	{
		Name: "away", In: inBoth, Plain: true, Group: overview, Usage: "[FILTER]", Example: "away is:failed", More: helpFilter,
		About: "Show what the bot did while you were away, by task.",
	},
	{Name: "schedule", Prints: PrintsTasks, In: inLines | InBot, Group: tasks, About: "Show the next fires, as background runs see them."},
	{
		Name: "account", Prints: PrintsTasks, In: inLines, Group: overview, Usage: "[DAY] [FILTER]", Example: "account monday is:missed",
		Key:   "Show due times",
		More:  helpAccount + helpFilter,
		About: "Show what became of each due time: which ran, which did not and why.",
	},
	{
		Name: "preview", Key: "Preview the prompt", In: InShell | InPlain, Group: tasks, Args: aTask, Verbatim: true, Example: "preview email",
		About: "Print the exact prompt that a routine or reminder would send.",
	},
	{Name: "cron", Prints: PrintsOwn, In: inLines, Group: tasks, About: "Explain a cron expression and show its next times."},
	{Name: "check", Prints: PrintsTasks, In: inLines, Group: overview, About: "Validate routine and reminder files."},
	{
		Name: "week", Prints: PrintsTasks, In: inLines | inTalk, Group: overview, slash: Host.week, picture: weekPicture, Usage: "[last]",
		Short: "the week in figures",
		About: "Sum up a week: pings and answers, due times, costs.",
		Args:  []Arg{{Kind: Choice, Name: "which", About: "the week before this one", Choices: []string{"last"}, Optional: true}},
	},
	{
		Name: "mcp", In: InShell | inTalk, Group: overview, slash: Host.servers, Usage: "[login|logout NAME]", Short: "servers and their tools",
		About: "List MCP servers, test them, log in, show and allow their tools.",
		Args: []Arg{
			{Kind: Choice, Name: "what", About: "log in at a server, or out", Choices: []string{"login", "logout"}, Optional: true},
			{Name: "server", About: "the name of the server", Optional: true},
		},
	},
	{
		Name: "mcp list", Aliases: []string{"servers"}, In: InShell | InPlain, Group: overview, About: "List the MCP servers with their last known states.",
		Key: "Show MCP servers",
	},
	{Name: "mcp test", In: InShell | InPlain, Group: overview, About: "Start a server, ask it for its tools, and end it."},
	{Name: "mcp tools", In: InShell | InPlain, Group: overview, About: "Show a server's tools as the model reads them, and what waits for you."},
	{Name: "mcp allow", In: InShell, Group: overview, About: "Allow the tools of a server that are new or have changed."},
	{Name: "mcp log", In: InShell | InPlain, Group: overview, About: "Show what a server has logged."},
	{Name: "mcp login", In: InShell, Group: overview, About: "Log in at a server over HTTP, in a browser."},
	{Name: "mcp logout", In: InShell, Group: overview, About: "Forget the login at a server."},
	{Name: "cost", In: inTalk, Group: overview, slash: Host.cost, Short: "what was used", About: "what the conversation has used"},
	{
		Name: "costs", In: InShell | InPlain | InBot, Group: overview, Example: "costs 7",
		About: "Show costs by day and by task, and the expected cost of today.",
	},
	{Name: "engine", Key: "Show the engine", In: inBoth, Plain: true, Group: overview, About: "Show the model, its processes, and today's cost."},
	{Name: "problems", In: inBoth, Plain: true, Group: overview, About: "List errors in files, with their positions."},
	{
		Name: "notices", In: inBoth, Plain: true, Group: overview, Usage: "[HOW MANY] [FILTER]",
		About: "List notices of the program, newest first.", Example: "notices is:warning",
		Key:  "Show past notices",
		More: helpFilter,
	},
	{
		Name: "log", In: inBoth, Plain: true, Group: overview, Usage: "[LINES] [FILTER]",
		About: "Show the latest lines of the log.", Example: "log 20 is:error", More: helpLog,
	},
	{
		Name: "audit", In: InShell | InPlain, Group: overview, Usage: "[FILTER]", Example: "audit yesterday", More: helpFilter,
		About: "List decisions: what was asked, allowed and changed, and by whom.",
	},

	// The conversation.
	{
		Name: "fork", In: inTalk, Group: conversation, slash: Host.fork, Usage: "[topic]", Short: "try something apart", Silent: true,
		About: "branch off into a fork that stays apart",
		Args:  []Arg{{Name: "topic", About: "what it is about", Optional: true}},
	},
	{
		Name: "model", In: inTalk, Group: program, slash: Host.model, card: Host.ModelCard, Usage: "[opus|sonnet|haiku|provider/model]", Short: "who answers",
		About: "show or switch the model",
		Args:  []Arg{{Kind: Choice, Name: "name", About: "the model to switch to", Choices: Models, Optional: true}},
	},
	{
		Name: "thinking", In: inTalk, Group: program, slash: Host.thinking, Usage: "[off|adaptive|tokens]", Short: "how much it thinks",
		About: "show or set how much the model thinks before answering",
		Args: []Arg{{
			Kind: Choice, Name: "mode", About: "how much", Optional: true,
			Choices: []string{"off", "adaptive", "8k budget=8000", "32k budget=32000", "64k budget=64000"},
		}},
	},
	{
		Name: "remind", In: inTalk, Group: tasks, slash: Host.remind, Usage: "WHAT, WHEN", Short: "remind me later", About: "remind you of something at a time",
		Args: []Arg{
			{Kind: Title, Name: "what", About: "what it is about", Ends: ",", Optional: true},
			{Kind: Moment, Name: "when", About: "20 minutes, 18:30, tomorrow 9am, friday noon", Optional: true},
		},
	},
	{
		Name: "timezone", In: inTalk, Group: program, slash: Host.timezone, Usage: "[zone or city]", Short: "whose clock tasks follow", Writes: true,
		About: "show or set the zone whose clock tasks follow",
		Args:  []Arg{{Kind: Words, Name: "zone", About: "Europe/Berlin, tokyo; machine follows this machine", Optional: true}},
	},
	{
		Name: "interrupt", In: InPlain | inTalk, Group: conversation, slash: Host.interrupt, Short: "stop the answer", Silent: true, Writes: true,
		About: "stop the running turn",
	},
	{
		Name: "permissions", In: inTalk, Group: program, slash: Host.permissions, Usage: "[mode]",
		Short: "what it may do", About: "show or set the permission mode",
		Args: []Arg{{Kind: Choice, Name: "mode", About: "the mode to switch to", Choices: permissionModes, Optional: true}},
	},
	{
		Name: "budget", Seed: "ping-budget", In: InShell | InPlain | inTalk, Group: pings, slash: Host.pingBudget, Usage: "[capacity] [refill_rate]",
		Short: "how many pings",
		About: "Show the ping budget, or set its capacity and refill rate.",
		Args: []Arg{
			{Kind: Number, Name: "capacity", About: "how many pings fit; 0 mutes them", Optional: true},
			{Kind: Number, Name: "refill_rate", About: "minutes to refill one ping", Least: 1, Optional: true},
		},
	},
	{Name: "budget show", Prints: PrintsOwn, In: InShell | InAgent, Group: pings, About: "Show the ping budget now or at another time."},
	{
		Name: "budget set", In: InShell | InPlain, Group: pings, Example: "budget set --capacity 6", Writes: true, About: "Change capacity, refill rate, or both.",
		Key: "Enter exact numbers",
	},
	{
		Name: "capacity", In: inBoth, Plain: true, Group: pings, Usage: "NUMBER", Example: "capacity +1", More: helpCapacity, Writes: true,
		About: "Change how many pings can be saved up.",
	},
	{
		Name: "refill", In: inBoth, Plain: true, Group: pings, Usage: "MINUTES", Example: "refill 60", More: helpRefill, Writes: true,
		About: "Change how long it takes until one more ping is allowed.",
	},
	{
		Name: "say", In: inBoth, Plain: true, Group: conversation, Usage: "WORDS", Example: "say what is left today?", More: helpSay, Writes: true,
		Key:   "Write a message",
		About: "Write to the agent.",
	},
	{
		Name: "reply", In: InPlain, Group: conversation, Usage: "[NUMBER] WORDS", About: "reply to the newest message, or to one that chat has listed",
		Key:     "Reply to message",
		Example: "reply 3 thank you", More: helpReply, Writes: true,
	},
	{Name: "read", In: inBoth, Plain: true, Group: conversation, About: "Show the newest message in full, line by line."},
	{
		Name: "chat", In: inBoth, Plain: true, Group: conversation, Usage: "[HOW MANY] [FILTER]", About: "List the newest messages.", Example: "chat 20 dentist",
		More: helpFilter,
	},
	{Name: "buttons", In: InPlain, Group: conversation, About: "the buttons of all cards, newest first, numbered"},
	{
		Name: "press", In: InPlain, Group: conversation, Usage: "BUTTON", About: "press a button by its number or label", Example: "press 1", More: helpPress,
		Key:    "Choose a button",
		Writes: true,
	},
	{
		Name: "exit", In: InPlain, Group: conversation, Usage: "[save or report]", About: "leave the fork of the conversation", Example: "exit report",
		More: helpExit, Writes: true,
	},
	{Name: "attach", In: InSlash, Group: conversation, slash: Host.attach, Usage: "PATH", About: "attach a file to the next message"}, // of this machine
	{Name: "history", In: InShell, Group: conversation, About: "Show and search earlier sessions."},
	{
		Name: "history list", Prints: PrintsLabeled, In: inLines, Group: conversation, About: "List the sessions of this data directory, newest first.",
	},
	{
		Name: "history show", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: conversation,
		About: "Show one session with its messages and tool calls.",
	},
	{Name: "history search", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: conversation, About: "Search past conversations."},
	{Name: "history pings", Prints: PrintsTasks, In: inLines, Group: pings, About: "List fires and pings, and how soon the user answered."},

	// Runs, updates and questions.
	{
		Name: "updates", Prints: PrintsLabeled, In: inLines, Group: pending, Usage: "[FILTER]", Example: "updates today",
		More: helpFilter, About: "List pending updates for the main session.",
	},
	{
		Name: "discard", In: InShell | InPlain | InBot, Group: pending, Example: "discard 2", More: helpUpdate, Writes: true,
		Key:   "Discard selected update",
		About: "Discard an update; undo restores it.",
		Args:  []Arg{{Kind: Update, Name: "update", About: "An update: its id, or words of it."}},
		Make:  func(s Subject) Value { return DiscardUpdate{Key: s.ID} },
	},
	{
		Name: "questions", In: inBoth, Plain: true, Group: pending, Usage: "[FILTER]",
		About: "List what the bot asks you by itself, newest first.", More: helpFilter,
	},
	{
		Name: "answer", In: InPlain, Group: pending, Usage: "[QUESTION] ANSWER", About: "answer a question of the bot's", Example: "answer 1 tomorrow 9:00",
		More: helpAnswer, Writes: true,
	},
	{
		Name: "deliver", In: InShell | InPlain | InBot, Group: pending, Writes: true, About: "Deliver all updates now and get an answer.",
		Key:  "Deliver updates now",
		Make: func(Subject) Value { return DeliverNow{} },
	},
	{
		Name: "runs", Aliases: []string{"forks"}, In: InShell | InPlain, Group: runs, Usage: "[FILTER]", Example: "runs is:failed tuesday", More: helpFilter,
		About: "List background runs, or show the output of one.",
	},
	{Name: "runs list", In: InShell | InBot, Group: runs, About: "List the newest runs."},
	{Name: "runs tail", In: InShell, Group: runs, About: "Show the output of one run."},
	{
		Name: "tail", Aliases: []string{"output", "run"}, In: inBoth, Plain: true, Args: aRun, Group: runs, Usage: "RUN [last HOW MANY] [find FILTER]",
		About: "Show what came of a run, and the last lines of its output.", Example: "tail email last 40", More: helpOutput,
	},
	{Name: "seen", Key: "Mark failures as seen", In: inBoth, Plain: true, Group: runs, About: "Mark all failed runs as seen.", Writes: true},
	{
		Name: "follow", In: InPlain, Group: runs, Usage: "RUN, log or off", About: "print new lines of a run or of the log as they arrive",
		Example: "follow email", More: helpRun,
	},
	{
		Name: "stop", In: InShell | InPlain | InBot, Group: runs, Args: aRun, Example: "stop 2", More: helpRun, Writes: true, Asks: true,
		Key:   "Stop selected run",
		About: "Stop a run.", Make: func(s Subject) Value { return StopFork{Run: s.ID} },
	},
	{
		Name: "again", In: inBoth, Plain: true, Args: aRun, Group: runs, Usage: "RUN", About: "Run the task of a run again.",
		Example: "again 2", More: helpRun, Writes: true,
		Key: "Fire its task again",
	},
	{
		Name: "continue", In: InShell | InPlain | InBot, Group: runs, Args: aRun, Example: "continue email", More: helpContinue, Writes: true,
		Key:   "Resume run in chat",
		About: "Continue a finished run in the conversation.", Make: func(s Subject) Value { return ResumeFork{Run: s.ID} },
	},

	// Routines and reminders.
	{
		Name: "day", In: inBoth, Plain: true, Group: tasks, Usage: "[DAY]", Example: "day yesterday", More: helpDay,
		About: "Show what fires in the next 24 hours, your appointments, and the runs of today; or of another day.",
	},
	{
		Name: "list", In: inBoth, Plain: true, Group: tasks, Usage: "[FILTER]",
		About: "List all routines and reminders.", Example: "list is:reminder", More: helpFilter,
	},
	{
		Name: "task", Aliases: []string{"details"}, In: inBoth, Plain: true, Args: aTask, Group: tasks, Usage: "TASK", Example: "task email", More: helpTask,
		About: "Show everything about a task: its next fires, its runs, its pings, what it costs.",
	},
	{
		Name: "file", In: inBoth, Plain: true, Args: aTask, Group: tasks, Usage: "TASK",
		About: "Show the path and the content of a task's file.", Example: "file email", More: helpFile,
	},
	{
		Name: "fire", Key: "Fire task now", In: InShell | InPlain | InBot, Group: tasks, Args: aTask, Writes: true, Example: "fire email",
		About: "Run a routine or reminder now, in addition to its schedule.",
		Make:  func(s Subject) Value { return FireNow{ID: s.ID, Stays: true} },
	},
	{
		Name: "pause", Key: "Pause or resume task", In: InShell | InPlain | InBot, Group: tasks, Args: aTask, Writes: true, Example: "pause email",
		About: "Hold a routine or reminder until it is resumed.",
		Make:  func(s Subject) Value { return Pause{ID: s.ID, Paused: true} },
	},
	{
		Name: "snooze", Key: "Snooze or wake task", In: InShell | InPlain | InBot, Group: tasks, Writes: true, Example: "snooze email until 18:30",
		About: "Hold a routine or reminder until a time.",
		Args:  append(aTask[:1:1], Arg{Kind: Moment, Name: "when", About: "Until when: 2h, 18:30, tonight, next monday 9am, 24 dec; off ends it."}),
		Make:  func(s Subject) Value { return Snooze{ID: s.ID, Until: s.At} },
	},
	{
		Name: "resume", In: InShell | InPlain | InBot, Group: tasks, Args: aTask, Writes: true, Example: "resume email", About: "End a pause or a snooze.",
		Make: func(s Subject) Value { return Snooze{ID: s.ID} },
	},
	{
		Name: "done", In: InShell | InPlain | InBot, Group: tasks, Args: aTask, Writes: true, Example: "done dentist",
		About: "Complete a reminder, so that it does not repeat.",
		Make:  func(s Subject) Value { return Remind{ID: s.ID, Word: Done} },
	},
	{
		Name: "later", In: InShell | InPlain | InBot, Group: tasks, Writes: true, Example: "later dentist 1h",
		About: "Postpone a reminder until a time.",
		Args:  append(aTask[:1:1], Arg{Kind: Moment, Name: "when", About: "Until when: 2h, 18:30, tonight, next monday 9am, 24 dec; off means one hour."}),
		Make:  func(s Subject) Value { return Remind{ID: s.ID, Word: Later, Until: s.At} },
	},
	{
		Name: "not-today", In: InShell | InPlain | InBot, Group: tasks, Args: aTask, Writes: true, Example: "not-today dentist",
		About: "Postpone a reminder until tomorrow, same time.",
		Make:  func(s Subject) Value { return Remind{ID: s.ID, Word: NotToday} },
	},
	{
		Name: "mute", Key: "Mute or unmute pings", In: InShell | InPlain | InBot, Group: pings, Writes: true, Example: "mute 2h",
		About: "Refuse pings that are not critical until a time, or end that.",
		Args:  []Arg{{Kind: Moment, Name: "when", About: "Until when: 2h, 18:30, tonight, tomorrow 9:00; off ends the mute."}},
		Make:  func(s Subject) Value { return MuteUntil{Until: s.At} },
	},
	{
		Name: "lift", In: InShell | InPlain | InBot | inTalk, Group: overview, slash: Host.lift, Usage: "[off]", Short: "spend past the caps", Writes: true,
		Key:   "Pause or resume caps",
		About: "Keep spending past the caps until midnight.",
		Args:  []Arg{{Kind: Choice, Name: "off", About: "apply the caps again", Choices: []string{"off"}, Optional: true}},
	},
	{
		Name: "settings", Seed: "config", In: InShell | InPlain | InBot | inTalk, Group: program, slash: Host.config, Usage: "[key] [value]",
		Short: "all other settings",
		About: "Show all settings or one, or set one.", Example: "settings quiet hours 22:00-07:30", More: helpSettings,
		card: func(h Host) *post.Embed { return SettingsCard(*h.Config()) },
		Args: []Arg{
			{Kind: Choice, Name: "key", About: "the setting", Optional: true, Choices: []string{
				"model_main", "model_fork", "thinking_main", "thinking_fork",
				"timezone", "bg_fork_timeout", "fork_idle_timeout", "permission_mode", "quiet_hours", "quiet_messages", "daily_cap", "monthly_cap", "turn_cap",
				"max_background_forks", "engine", "fallback", "google_calendars", "google_task_list",
			}},
			{Name: "value", About: "what to set it to", Optional: true},
		},
	},
	{
		Name: "setup", In: inTalk, Group: program, slash: Host.setup, Short: "names, profile, first routines",
		About: "walk through names, profile and first routines",
	},
	{
		Name: "edit", In: inBoth, Plain: true, Args: aTask, Writes: true, Group: tasks, Usage: "TASK [FIELD VALUE]",
		About:   "Change a field of a task; without a field, list its fields.",
		Key:     "Edit the task",
		Example: "edit email when every day at 8:15", More: helpEdit,
	},
	{
		Name: "add", Aliases: []string{"new"}, In: inBoth, Plain: true, Group: tasks, Usage: "routine WHEN MESSAGE, or reminder WHEN MESSAGE",
		About:   "Create a task.",
		Key:     "New routine or reminder",
		Example: "add reminder tomorrow 9:00 put out the bins", More: helpNew, Writes: true,
	},
	{Name: "routine", In: InShell, Group: tasks, About: "Add, list and cancel routines."},
	{Name: "routine add", Prints: PrintsOwn, In: inLines, Group: tasks, Writes: true, About: "Write a routine file."},
	{Name: "routine list", Prints: PrintsTasks, In: inLines, Group: tasks, About: "List routines."},
	{
		Name: "routine cancel", Prints: PrintsTasks, In: inLines, Group: tasks, Args: aTask, Writes: true, Asks: true, Example: "routine cancel 9a8b7c6d",
		About: "Remove a routine file.",
	},
	{
		Name: "routine starters", Aliases: []string{"starters"}, In: InShell | InPlain, Was: "routine starters --install", Group: tasks, Writes: true,
		Example: "routine starters --install",
		About:   "List the starter routines, or install them.",
	},
	{Name: "reminder", In: InShell, Group: tasks, About: "Add, list and cancel reminders, and answer them: done, later, not-today."},
	{Name: "reminder add", Prints: PrintsOwn, In: inLines, Group: tasks, Writes: true, About: "Write a reminder file."},
	{Name: "reminder list", Prints: PrintsTasks, In: inLines, Group: tasks, About: "List pending reminders."},
	{
		Name: "reminder cancel", Prints: PrintsTasks, In: inLines, Group: tasks, Args: aTask, Writes: true, Asks: true, Example: "reminder cancel 9a8b7c6d",
		About: "Remove a reminder file.",
	},
	{Name: "reminder done", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Complete a reminder, so that it does not repeat."},
	{Name: "reminder later", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Postpone a reminder; default: one hour."},
	{Name: "reminder not-today", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Postpone a reminder until tomorrow, same time."},
	{
		Name: "approvals", Aliases: []string{"waits"}, In: InPlain, Group: toolCalls, Usage: "[NUMBER]",
		About:   "tool calls that need your answer; the only one, or one with a number, in full, then yes or no answers it",
		Example: "approvals 1", More: helpWaits,
	},
	{
		Name: "allow", Aliases: []string{"grant"}, In: InShell | InPlain, Group: toolCalls, Usage: "[NUMBER, or TASK]", Example: "allow 1", More: helpCall,
		Key:    "Approve selected task",
		Writes: true,
		About:  "Approve what the agent wrote: a task, skill or webhook; without an ID, list what needs approval.",
	},
	{
		Name: "always", In: InPlain, Group: toolCalls, Usage: "[NUMBER]", About: "allow the tool of a call from now on", Example: "always 1", More: helpCall,
		Key:    "Always allow this",
		Writes: true,
	},
	{
		Name: "deny", Aliases: []string{"refuse"}, In: InShell | InPlain, Group: toolCalls, Usage: "[NUMBER, or TASK]", Example: "deny 1", More: helpCall,
		Key:    "Deny tool call",
		Writes: true,
		About:  "Refuse an edit of the agent's, and restore the file.",
	},
	{
		Name: "cancel", Aliases: []string{"delete", "remove"}, In: InShell | InPlain, Group: tasks, Args: aTask, Writes: true, Asks: true,
		Key:     "Delete task file",
		Example: "cancel email", About: "Remove a routine or reminder; restore brings it back.",
	},
	{
		Name: "restore", Key: "Restore last task", In: InShell | InPlain, Was: "restore ID", Group: tasks, Writes: true,
		About: "Restore a routine or reminder that was removed within the last day.",
	},

	// Google, and other programs.
	{Name: "tasks", In: InPlain, Was: "list", Group: tasks, About: "your tasks in Google Tasks: tasks list; the bot's own are in list"},
	{Name: "tasks", In: InShell, Group: googles, About: "Google Tasks: list, show, add, complete, change, delete."},
	{Name: "tasks list", Verbatim: true, Prints: PrintsOwn, In: inLines, Group: googles, About: "List open tasks with their IDs."},
	{Name: "tasks show", Verbatim: true, Prints: PrintsOwn, In: inLines, Group: googles, About: "Show one task in full."},
	{Name: "tasks add", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Add a task."},
	{Name: "tasks done", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Complete a task."},
	{Name: "tasks update", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Change a task."},
	{Name: "tasks delete", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, Asks: true, About: "Delete a task permanently."},
	{Name: "cal", In: InShell, Group: googles, About: "Google Calendar: today, upcoming, show, add, change, delete."},
	{Name: "cal today", Prints: PrintsLabeled, In: inLines, Group: googles, About: "List today's events with their IDs."},
	{Name: "cal upcoming", Prints: PrintsLabeled, In: inLines, Group: googles, About: "List the events of the coming days."},
	{Name: "cal show", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: googles, About: "Show one event in full."},
	{Name: "cal add", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Add an event."},
	{Name: "cal update", Prints: PrintsLabeled, In: inLines, Group: googles, Writes: true, About: "Change an event."},
	{Name: "cal delete", Prints: PrintsLabeled, In: inLines, Group: googles, Writes: true, Asks: true, About: "Delete an event."},
	{Name: "gmail", In: InShell, Group: googles, About: "Gmail, read-only: unread, search, read, labels."},
	{Name: "gmail unread", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles, About: "List unread mail, newest first."},
	{
		Name: "gmail search", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles,
		About: "Search mail with Gmail's operators: from:, newer_than:2d, has:attachment.",
	},
	{Name: "gmail read", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles, About: "Show one mail."},
	{Name: "gmail labels", Prints: PrintsMail, In: inLines, Group: googles, About: "List the labels."},
	{Name: "webhook", In: InShell, Group: overview, About: "List webhooks, or send a payload to one."},
	{
		Name: "webhook list", Key: "Show webhook deliveries", Aliases: []string{"webhooks"}, Prints: PrintsTasks, In: inLines, Group: overview,
		About: "List the webhooks and the latest deliveries.",
	},
	{Name: "webhook test", In: InShell, Group: overview, About: "Send a payload to the running bot, like an external program."},
	{Name: "auth", In: InShell, Group: program, About: "Log in to and out of Claude and Google."},
	{Name: "auth login", In: InShell, Group: program, About: "Log in to Claude."},
	{Name: "auth status", In: InShell, Group: program, About: "Show the login to Claude."},
	{Name: "auth logout", In: InShell, Group: program, About: "Log out of Claude."},

	// The program itself.
	{Name: "service", In: InShell, Group: program, About: "Run the bot as a user service: systemd on Linux, launchd on macOS."},
	{Name: "service install", In: InShell, Group: program, About: "Show and write the service's file, and start the bot."},
	{Name: "service uninstall", In: InShell, Group: program, About: "Stop the bot and remove the service's file. Your data is kept."},
	{Name: "service status", In: InShell, Group: program, About: "Show the state of the service, and whether it survives a logout."},
	{Name: "service logs", In: InShell, Group: program, About: "Show the log of the service."},
	{
		Name: "update", Aliases: []string{"upgrade"}, In: InShell | InPlain | InBot | inTalk, Was: "updates 1", Group: program,
		slash: Host.update, Short: "is it the newest?",
		About: "Compare the running bot with the installed program, and say how to get a newer one.",
	},
	{
		Name: "auth google", Seed: "google-auth", In: InShell | inTalk, Group: program, slash: Host.google, Usage: "[mail]", Short: "connect your Google account",
		About: "Connect Google Tasks, Calendar and Gmail; show the login, or log out.",
		Args:  []Arg{{Kind: Choice, Name: "what", About: "also connect Gmail", Choices: []string{"mail"}, Optional: true}},
	},
	{
		Name: "restart", In: InShell | InPlain | InBot | inTalk, Group: program, slash: Host.restart, Short: "start it again", Writes: true,
		About: "Restart the running bot, for example with a newer program.",
	},
	{Name: "completion", In: InShell, Group: program, About: "Print the completion script for bash, zsh or fish."},
	{Name: "man", In: InShell, Group: program, About: "Print the manual page, for man."},
	{Name: "doctor", In: InShell, Group: program, About: "Check everything that the bot needs."},
	{
		Name: "version", Prints: PrintsOwn, In: inLines | inTalk, Group: program, slash: Host.version, Short: "which version runs",
		About: "Show the version of this program.",
	},
	{
		Name: "help", Aliases: []string{"?"}, Prints: PrintsOwn, In: InShell | InAgent | InPlain | inTalk, Group: program, Example: "help snooze",
		Short: "list these commands", About: "Help on a command.",
	},
	{Name: "more", In: InPlain, Group: program, Usage: "[all]", About: "the next lines of a long answer, or all of them", Example: "more all"},
	{Name: "prefix", In: InPlain, Group: program, Usage: "on or off", About: "times before what happens", Example: "prefix off"},
	{Name: "undo", Key: "Undo last change", In: InPlain, Group: program, About: "undo the last change", Writes: true},
	{Name: "redo", Key: "Redo last undo", In: InPlain, Group: program, About: "make the change again that was undone last", Writes: true},
	{Name: "yes", Aliases: []string{"y"}, In: InPlain, Group: program, About: "answer yes to a question"},
	{Name: "no", Aliases: []string{"n"}, In: InPlain, Group: program, About: "answer no to a question; so does any other command"},
	{
		Name: "login", Key: "Log in to Claude", In: InPlain, Group: program, Usage: "[CODE]", Writes: true,
		About: "log in to Claude: first to get the address, then with the code from its page",
		Args:  []Arg{{Name: "code", Optional: true}}, Make: func(s Subject) Value { return Login{Code: s.Words} },
	},
	{Name: "quit", In: InPlain, Group: program, About: "quit; so does the end of the input"},

	// The menu of a message in Discord.
	{Name: RemindAboutThis, In: InMessage, Group: tasks, About: "make a reminder of a message"},
	{Name: AddToMyTasks, In: InMessage, Group: tasks, About: "make a task in Google Tasks of a message"},
}

// The commands in the menu of a message in Discord.
const (
	RemindAboutThis = "Remind me about this"
	AddToMyTasks    = "Add to my tasks"
)

// Models are the models with short names.
var Models = []string{"opus", "sonnet", "haiku"}

// permissionModes in the order of messages.
var permissionModes = []string{
	string(policy.DontAsk), string(policy.Ask), string(policy.AcceptEdits), string(policy.BypassPermissions),
}
