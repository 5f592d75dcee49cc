package command

import (
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
)

// The commands of the conversation, which begin with "/" and never reach the engine.

var slashRows = []Command{
	{Name: "clear", slash: Host.clear, About: "clear the conversation and start over; updates are kept"},
	{
		Name: "compact", slash: Host.compact, Usage: "[instructions]", About: "summarize the conversation to shorten it",
		Options: []Option{{Name: "instructions", About: "what the summary should keep"}},
	},
	{
		Name: "status", slash: Host.status, card: func(h Host) *post.Embed { return h.Card() },
		About: "how things are: what needs you, what comes next, pings and money",
	},
	{
		Name: "week", slash: Host.week, picture: weekPicture, Usage: "[last]", About: "the week: pings and answers, due times, costs",
		Options: []Option{{Name: "which", About: "the week before this one", Choices: []string{"last"}}},
	},
	{
		Name: "mcp", slash: Host.servers, Usage: "[login|logout NAME]", About: "the MCP servers: states, tools, last calls; or log in at one",
		Options: []Option{
			{Name: "what", About: "log in at a server, or out", Choices: []string{"login", "logout"}},
			{Name: "server", About: "the name of the server"},
		},
	},
	{Name: "cost", slash: Host.cost, About: "what the conversation has used"},
	{
		Name: "fork", slash: Host.fork, Usage: "[topic]", About: "branch off into a fork that stays apart", Silent: true,
		Options: []Option{{Name: "topic", About: "what it is about"}},
	},
	{
		Name: "model", slash: Host.model, card: Host.ModelCard, Usage: "[opus|sonnet|haiku|provider/model]", About: "show or switch the model",
		Options: []Option{{Name: "name", About: "the model to switch to", Choices: Models}},
	},
	{
		Name: "thinking", slash: Host.thinking, Usage: "[off|adaptive|tokens]", About: "show or set how much the model thinks before answering",
		Options: []Option{{
			Name: "mode", About: "how much",
			Choices: []string{"off", "adaptive", "8k budget=8000", "32k budget=32000", "64k budget=64000"},
		}},
	},
	{
		Name: "remind", slash: Host.remind, Usage: "WHAT, WHEN", About: "remind you of something at a time",
		Options: []Option{
			{Name: "what", About: "what it is about", Required: true, Suggests: true, Ends: ","},
			{Name: "when", About: "20 minutes, 18:30, tomorrow 9am, friday noon", Required: true, Suggests: true},
		},
	},
	{Name: "interrupt", slash: Host.interrupt, About: "stop the running turn", Silent: true},
	{
		Name: "permissions", slash: Host.permissions, Usage: "[mode]", About: "show or set the permission mode",
		Options: []Option{{Name: "mode", About: "the mode to switch to", Choices: permissionModes}},
	},
	{
		Name: "ping-budget", slash: Host.pingBudget, Usage: "[capacity] [refill_rate]", About: "show or set the ping budget",
		Options: []Option{
			{Name: "capacity", About: "how many pings fit; 0 mutes them", Number: true},
			{Name: "refill_rate", About: "minutes to refill one ping", Number: true, Least: 1},
		},
	},
	{
		Name: "lift", slash: Host.lift, Usage: "[off]", About: "keep spending past the caps until midnight",
		Options: []Option{{Name: "off", About: "apply the caps again", Choices: []string{"off"}}},
	},
	{
		Name: "config", Aliases: []string{"settings"}, slash: Host.config, Usage: "[key] [value]", About: "show or set the configuration",
		card: func(h Host) *post.Embed { return SettingsCard(*h.Config()) },
		Options: []Option{
			{Name: "key", About: "the setting", Choices: []string{
				"model_main", "model_fork", "thinking_main", "thinking_fork",
				"bg_fork_timeout", "fork_idle_timeout", "permission_mode", "quiet_hours", "quiet_messages", "daily_cap", "monthly_cap", "turn_cap",
				"max_background_forks", "engine", "fallback", "google_calendars", "google_task_list",
			}},
			{Name: "value", About: "what to set it to"},
		},
	},
	{Name: "setup", slash: Host.setup, About: "walk through names, profile and first routines"},
	{Name: "update", Aliases: []string{"upgrade"}, slash: Host.update, About: "compare the running bot with the installed program"},
	{
		Name: "google-auth", slash: Host.google, Usage: "[mail]", About: "connect Google Tasks and Calendar, and with mail also Gmail",
		Options: []Option{{Name: "what", About: "also connect Gmail", Choices: []string{"mail"}}},
	},
	{Name: "restart", slash: Host.restart, About: "restart the program"},
	{Name: "attach", slash: Host.attach, In: InSlash, Usage: "PATH", About: "attach a file to the next message"}, // of this machine
	{Name: "version", slash: Host.version, About: "the running version"},
	{Name: "help", card: func(Host) *post.Embed { return helpCard() }, About: "list these commands"},
}

// The commands in the menu of a message in Discord.
const (
	RemindAboutThis = "Remind me about this"
	AddToMyTasks    = "Add to my tasks"
)

var messageRows = []Command{
	{Name: RemindAboutThis, About: "make a reminder of a message"},
	{Name: AddToMyTasks, About: "make a task in Google Tasks of a message"},
}

// Models are the models with short names.
var Models = []string{"opus", "sonnet", "haiku"}

// permissionModes in the order of messages.
var permissionModes = []string{
	string(policy.DontAsk), string(policy.Ask), string(policy.AcceptEdits), string(policy.BypassPermissions),
}

// inLines is the command line, that of the agent, and lines of plain mode and the palette.
const inLines = InShell | InAgent | InPlain

// agentRows are the shell commands that the agent may have the bot run. None of them
// reads a named file or standard input.
var agentRows = []Command{
	{Name: "help", Prints: PrintsOwn, About: "Help on a command."},
	{Name: "reminder list", Prints: PrintsTasks, In: inLines, Group: tasks, About: "List pending reminders."},
	{Name: "reminder add", Prints: PrintsOwn, In: inLines, Group: tasks, Writes: true, About: "Write a reminder file."},
	{Name: "reminder cancel", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, Asks: true, About: "Remove a reminder file."},
	{Name: "reminder done", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Complete a reminder, so that it does not repeat."},
	{Name: "reminder later", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Postpone a reminder; default: one hour."},
	{Name: "reminder not-today", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, About: "Postpone a reminder until tomorrow, same time."},
	{Name: "routine list", Prints: PrintsTasks, In: inLines, Group: tasks, About: "List routines."},
	{Name: "routine add", Prints: PrintsOwn, In: inLines, Group: tasks, Writes: true, About: "Write a routine file."},
	{Name: "routine cancel", Prints: PrintsTasks, In: inLines, Group: tasks, Writes: true, Asks: true, About: "Remove a routine file."},
	{Name: "history list", Prints: PrintsLabeled, In: inLines, Group: conversation, About: "List the sessions of this data directory, newest first."},
	{Name: "history show", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: conversation, About: "Show one session with its messages and tool calls."},
	{Name: "history search", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: conversation, About: "Search past conversations."},
	{Name: "history pings", Prints: PrintsTasks, In: inLines, Group: pings, About: "List fires and pings, and how soon the user answered."},
	{Name: "schedule", Prints: PrintsTasks, In: inLines | InBot, Group: tasks, About: "Show the next fires, as background runs see them."},
	{
		Name: "account", Prints: PrintsTasks, In: inLines, Group: overview, Example: "account monday is:missed",
		About: "Show what became of each due time: which ran, which did not and why.",
	},
	{Name: "status", Prints: PrintsTasks, In: inLines | InBot, Group: overview, About: "Show an overview."},
	{Name: "week", Prints: PrintsTasks, In: inLines, Group: overview, About: "Sum up a week: pings and answers, due times, costs."},
	{
		Name: "updates", Prints: PrintsLabeled, In: inLines, Group: pending, Example: "updates today",
		About: "List pending updates for the main session.",
	},
	{Name: "budget show", Prints: PrintsOwn, About: "Show the ping budget now or at another time."},
	{
		Name: "webhook list", Aliases: []string{"webhooks"}, Prints: PrintsTasks, In: inLines, Group: overview,
		About: "List the webhooks and the latest deliveries.",
	},
	{Name: "cron", Prints: PrintsOwn, In: inLines, Group: tasks, About: "Explain a cron expression and show its next times."},
	{Name: "check", Prints: PrintsTasks, In: inLines, Group: overview, About: "Validate routine and reminder files."},
	{Name: "version", Prints: PrintsOwn, In: inLines, Group: program, About: "Show the version of this program."},
	{Name: "tasks list", Verbatim: true, Prints: PrintsOwn, In: inLines, Group: googles, About: "List open tasks with their IDs."},
	{Name: "tasks show", Verbatim: true, Prints: PrintsOwn, In: inLines, Group: googles, About: "Show one task in full."},
	{Name: "tasks add", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Add a task."},
	{Name: "tasks done", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Complete a task."},
	{Name: "tasks update", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Change a task."},
	{Name: "tasks delete", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, Asks: true, About: "Delete a task permanently."},
	{Name: "cal today", Prints: PrintsLabeled, In: inLines, Group: googles, About: "List today's events with their IDs."},
	{Name: "cal upcoming", Prints: PrintsLabeled, In: inLines, Group: googles, About: "List the events of the coming days."},
	{Name: "cal show", Verbatim: true, Prints: PrintsLabeled, In: inLines, Group: googles, About: "Show one event in full."},
	{Name: "cal add", Prints: PrintsOwn, In: inLines, Group: googles, Writes: true, About: "Add an event."},
	{Name: "cal update", Prints: PrintsLabeled, In: inLines, Group: googles, Writes: true, About: "Change an event."},
	{Name: "cal delete", Prints: PrintsLabeled, In: inLines, Group: googles, Writes: true, Asks: true, About: "Delete an event."},
	{Name: "gmail unread", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles, About: "List unread mail, newest first."},
	{
		Name: "gmail search", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles,
		About: "Search mail with Gmail's operators: from:, newer_than:2d, has:attachment.",
	},
	{Name: "gmail read", Verbatim: true, Prints: PrintsMail, In: inLines, Group: googles, About: "Show one mail."},
	{Name: "gmail labels", Prints: PrintsMail, In: inLines, Group: googles, About: "List the labels."},
}

var shellRows = []Command{
	{Name: "run", About: "Run the bot with its dashboard (default command)."},
	{Name: "attach", About: "Open the dashboard of a running bot."},
	{Name: "init", About: "Set up names, time zone and Discord."},
	{Name: "demo", About: "Open the dashboard on a living example. Needs no account and no network."},
	{Name: "snapshot", About: "Print one frame of the dashboard as text."},
	{
		Name: "preview", In: InShell | InPlain, Group: tasks, Takes: Task, Verbatim: true, Example: "preview email",
		About: "Print the exact prompt that a routine or reminder would send.",
	},
	{Name: "budget", In: InShell | InPlain, Group: pings, About: "Show the ping budget, or set its capacity and refill rate."},
	{
		Name: "routine starters", Aliases: []string{"starters"}, In: InShell | InPlain, Group: tasks, Writes: true, Example: "routine starters --install",
		About: "List the starter routines, or install them.",
	},
	{Name: "costs", In: InShell | InPlain | InBot, Group: overview, Example: "costs 7", About: "Show costs by day and by task, and the expected cost of today."},
	{Name: "budget set", In: InShell | InPlain, Group: pings, Example: "budget set --capacity 6", Writes: true, About: "Change capacity, refill rate, or both."},
	{Name: "runs", About: "List background runs, or show the output of one."},
	{Name: "runs list", About: "List the newest runs."},
	{Name: "runs tail", About: "Show the output of one run."},
	{Name: "history", About: "Show and search earlier sessions."},
	{
		Name: "audit", In: InShell | InPlain, Group: overview, Example: "audit yesterday",
		About: "List decisions: what was asked, allowed and changed, and by whom.",
	},
	{
		Name: "fire", In: InShell | InPlain | InBot, Group: tasks, Takes: Task, Writes: true, Example: "fire email",
		About: "Run a routine or reminder now, in addition to its schedule.",
	},
	{
		Name: "pause", In: InShell | InPlain | InBot, Group: tasks, Takes: Task, Writes: true, Example: "pause email",
		About: "Hold a routine or reminder until it is resumed.",
	},
	{
		Name: "snooze", In: InShell | InPlain | InBot, Group: tasks, Takes: Task, Writes: true, Example: "snooze email until 18:30",
		About: "Hold a routine or reminder until a time.",
	},
	{Name: "resume", In: InShell | InPlain | InBot, Group: tasks, Takes: Task, Writes: true, Example: "resume email", About: "End a pause or a snooze."},
	{
		Name: "mute", In: InShell | InPlain | InBot, Group: pings, Writes: true, Example: "mute 2h",
		About: "Refuse pings that are not critical until a time, or end that.",
	},
	{Name: "lift", In: InShell | InPlain | InBot, Group: overview, Writes: true, About: "Keep spending past the caps until midnight."},
	{Name: "settings", In: InShell | InBot, About: "Show all settings or one, or set one."},
	{Name: "restart", In: InShell | InPlain | InBot, Writes: true, About: "Restart the running bot, for example with a newer program."},
	{
		Name: "update", Aliases: []string{"upgrade"}, In: InShell | InPlain | InBot,
		About: "Compare the running bot with the installed program, and say how to get a newer one.",
	},
	{Name: "routine", About: "Add, list and cancel routines."},
	{Name: "reminder", About: "Add, list and cancel reminders, and answer them: done, later, not-today."},
	{Name: "allow", About: "Approve a task, skill or webhook that the agent wrote; without an ID, list those that need approval."},
	{Name: "deny", About: "Refuse an edit of the agent's, and restore the file."},
	{
		Name: "cancel", Aliases: []string{"delete", "remove"}, In: InShell | InPlain, Group: tasks, Takes: Task, Writes: true, Asks: true,
		Example: "cancel email", About: "Remove a routine or reminder; restore brings it back.",
	},
	{Name: "restore", In: InShell | InPlain, Group: tasks, Writes: true, About: "Restore a routine or reminder that was removed within the last day."},
	{Name: "webhook", About: "List webhooks, or send a payload to one."},
	{Name: "webhook test", About: "Send a payload to the running bot, like an external program."},
	{Name: "tasks", About: "Google Tasks: list, show, add, complete, change, delete."},
	{Name: "cal", About: "Google Calendar: today, upcoming, show, add, change, delete."},
	{Name: "gmail", About: "Gmail, read-only: unread, search, read, labels."},
	{Name: "auth", About: "Log in to and out of Claude and Google."},
	{Name: "mcp", About: "List MCP servers, test them, log in, show and allow their tools."},
	{Name: "mcp list", Aliases: []string{"servers"}, In: InShell | InPlain, Group: overview, About: "List the MCP servers with their last known states."},
	{Name: "mcp test", In: InShell | InPlain, Group: overview, About: "Start a server, ask it for its tools, and end it."},
	{Name: "mcp tools", In: InShell | InPlain, Group: overview, About: "Show a server's tools as the model reads them, and what waits for you."},
	{Name: "mcp allow", About: "Allow the tools of a server that are new or have changed."},
	{Name: "mcp log", In: InShell | InPlain, Group: overview, About: "Show what a server has logged."},
	{Name: "mcp login", About: "Log in at a server over HTTP, in a browser."},
	{Name: "mcp logout", About: "Forget the login at a server."},
	{Name: "auth login", About: "Log in to Claude."},
	{Name: "auth status", About: "Show the login to Claude."},
	{Name: "auth logout", About: "Log out of Claude."},
	{Name: "auth google", About: "Connect Google Tasks, Calendar and Gmail; show the login, or log out."},
	{Name: "service", About: "Run the bot as a user service: systemd on Linux, launchd on macOS."},
	{Name: "service install", About: "Show and write the service's file, and start the bot."},
	{Name: "service uninstall", About: "Stop the bot and remove the service's file. Your data is kept."},
	{Name: "service status", About: "Show the state of the service, and whether it survives a logout."},
	{Name: "service logs", About: "Show the log of the service."},
	{Name: "completion", About: "Print the completion script for bash, zsh or fish."},
	{Name: "man", About: "Print the manual page, for man."},
	{Name: "doctor", About: "Check everything that the bot needs."},
}
