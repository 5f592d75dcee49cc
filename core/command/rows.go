package command

import "ollimbot/core/safety/policy"

// The commands of the conversation: they begin with "/" and never reach the engine.

var slashRows = []Command{
	{Name: "clear", slash: Host.clear, About: "forget the conversation and start afresh; updates stay"},
	{
		Name: "compact", slash: Host.compact, Usage: "[instructions]", About: "make the conversation's history shorter",
		Options: []Option{{Name: "instructions", About: "what the summary should keep"}},
	},
	{Name: "cost", slash: Host.cost, About: "what the conversation has used"},
	{
		Name: "fork", slash: Host.fork, Usage: "[topic]", About: "branch off into a fork that stays apart", Silent: true,
		Options: []Option{{Name: "topic", About: "what it is about"}},
	},
	{
		Name: "model", slash: Host.model, Usage: "[opus|sonnet|haiku|provider/model]", About: "show or switch the model",
		Options: []Option{{Name: "name", About: "the model to switch to", Choices: Models}},
	},
	{
		Name: "thinking", slash: Host.thinking, Usage: "[off|adaptive|tokens]", About: "show or set how much is thought before answering",
		Options: []Option{{
			Name: "mode", About: "how much",
			Choices: []string{"off", "adaptive", "8k budget=8000", "32k budget=32000", "64k budget=64000"},
		}},
	},
	{Name: "interrupt", slash: Host.interrupt, About: "end the running turn", Silent: true},
	{
		Name: "permissions", slash: Host.permissions, Usage: "[mode]", About: "show or set the permission mode",
		Options: []Option{{Name: "mode", About: "the mode to switch to", Choices: permissionModes}},
	},
	{
		Name: "ping-budget", slash: Host.pingBudget, Usage: "[capacity] [refill_rate]", About: "show or set the ping budget",
		Options: []Option{
			{Name: "capacity", About: "how many pings fit; 0 mutes them", Number: true},
			{Name: "refill_rate", About: "minutes until the next ping is there", Number: true, Least: 1},
		},
	},
	{
		Name: "lift", slash: Host.lift, Usage: "[off]", About: "go on above the caps on money until midnight",
		Options: []Option{{Name: "off", About: "apply the caps again", Choices: []string{"off"}}},
	},
	{
		Name: "config", slash: Host.config, Usage: "[key] [value]", About: "show or set the configuration",
		Options: []Option{
			{Name: "key", About: "the setting", Choices: []string{
				"model_main", "model_fork", "thinking_main", "thinking_fork",
				"bg_fork_timeout", "fork_idle_timeout", "permission_mode", "quiet_hours", "daily_cap", "monthly_cap", "max_background_forks",
				"engine", "fallback", "google_calendars", "google_task_list", "update_source",
			}},
			{Name: "value", About: "what to set it to"},
		},
	},
	{Name: "setup", slash: Host.setup, About: "walk through names, profile and first routines"},
	{
		Name: "upgrade", Aliases: []string{"update"}, slash: Host.update, Usage: "[check|rollback]",
		About:   "install the newest release of the program, check for one, or go back",
		Options: []Option{{Name: "what", About: "only check, or go back to what the last upgrade replaced", Choices: []string{"check", "rollback"}}},
	},
	{
		Name: "google-auth", slash: Host.google, Usage: "[mail]", About: "connect Google's tasks and calendar, and mail where you say so",
		Options: []Option{{Name: "what", About: "mail too", Choices: []string{"mail"}}},
	},
	{Name: "restart", slash: Host.restart, About: "start the program anew"},
	{Name: "attach", slash: Host.attach, In: InSlash, Usage: "PATH", About: "take a file along with the next message"}, // of this machine
	{Name: "version", slash: Host.version, About: "the running version"},
	{Name: "help", In: InSlash, About: "these commands"}, // Discord shows them by itself
}

// Models are the models that can be named.
var Models = []string{"opus", "sonnet", "haiku"}

// permissionModes in the order in which people are told of them.
var permissionModes = []string{
	string(policy.DontAsk), string(policy.Ask), string(policy.AcceptEdits), string(policy.BypassPermissions),
}

// agentRows are those of the command line that the agent may have the bot run. None
// of them reads a file that is named to it, or standard input.
var agentRows = []Command{
	{Name: "help", About: "Help on a command."},
	{Name: "reminder list", About: "List pending reminders."},
	{Name: "reminder add", About: "Write a reminder file."},
	{Name: "reminder cancel", About: "Remove a reminder file."},
	{Name: "reminder done", About: "Say that a reminder is done: it does not come back."},
	{Name: "reminder later", About: "Put a reminder off, an hour where nothing is said."},
	{Name: "reminder not-today", About: "Put a reminder off until tomorrow, at its own time."},
	{Name: "routine list", About: "List routines."},
	{Name: "routine add", About: "Write a routine file."},
	{Name: "routine cancel", About: "Remove a routine file."},
	{Name: "history list", About: "The sessions of this data directory, newest first."},
	{Name: "history show", About: "One session: who said what, and which tools were called."},
	{Name: "history search", About: "Search past conversations."},
	{Name: "history pings", About: "What fired, what was sent, and how soon the user answered."},
	{Name: "schedule", In: InShell | InAgent | InBot, About: "What fires next, as background agents see it."},
	{Name: "status", In: InShell | InAgent | InBot, About: "One screen of facts."},
	{Name: "updates", About: "Pending updates for the main session."},
	{Name: "budget show", About: "The bucket as it is, or as it will be at a moment."},
	{Name: "webhook list", About: "The webhooks of the data directory, and what came in lately."},
	{Name: "cron", About: "What a cron expression means, and its next times."},
	{Name: "check", About: "Validate routine and reminder files."},
	{Name: "version", About: "The version of this program."},
	{Name: "tasks list", About: "Open tasks, with their ids."},
	{Name: "tasks show", About: "One task in full."},
	{Name: "tasks add", About: "Add a task."},
	{Name: "tasks done", About: "Complete a task."},
	{Name: "tasks update", About: "Change a task."},
	{Name: "tasks delete", About: "Remove a task for good."},
	{Name: "cal today", About: "Today's events, with their ids."},
	{Name: "cal upcoming", About: "The events of the days ahead."},
	{Name: "cal show", About: "One event in full."},
	{Name: "cal add", About: "Add an event."},
	{Name: "cal update", About: "Change an event."},
	{Name: "cal delete", About: "Remove an event."},
	{Name: "gmail unread", About: "What is unread, the newest first."},
	{Name: "gmail search", About: "Search in Gmail's own words: from:, newer_than:2d, has:attachment."},
	{Name: "gmail read", About: "One mail."},
	{Name: "gmail labels", About: "The labels."},
}

var shellRows = []Command{
	{Name: "run", About: "The dashboard with the bot inside (default command)."},
	{Name: "attach", About: "The dashboard of a bot that runs: beside it on this machine, or on another one."},
	{Name: "init", About: "Set up names, time zone and Discord."},
	{Name: "demo", About: "The dashboard on a temporary data directory that lives. Needs no account and no network."},
	{Name: "snapshot", About: "One frame of the dashboard as text."},
	{Name: "preview", About: "The exact prompt that a routine or reminder would send."},
	{Name: "budget", About: "The ping budget: show it, or set capacity and refill rate."},
	{Name: "routine starters", About: "List the starter routines, or install them."},
	{Name: "costs", In: InShell | InBot, About: "What was spent, by day and by task, and what today comes to."},
	{Name: "budget set", About: "Change capacity, refill rate, or both."},
	{Name: "forks", About: "Background runs: list them, or read the output of one."},
	{Name: "forks list", About: "The newest runs."},
	{Name: "forks tail", About: "The output of one run."},
	{Name: "history", About: "What was said in earlier sessions."},
	{Name: "audit", About: "Decisions: what was asked, allowed and changed, and by whom."},
	{Name: "fire", In: InShell | InBot, About: "Run a routine or reminder now, beside its schedule."},
	{Name: "pause", In: InShell | InBot, About: "Keep a routine or reminder from firing until it is resumed."},
	{Name: "snooze", In: InShell | InBot, About: "Keep a routine or reminder from firing until a time."},
	{Name: "resume", In: InShell | InBot, About: "End a pause or a snooze."},
	{Name: "mute", In: InShell | InBot, About: "Refuse pings that are not critical until a time, or hear them again."},
	{Name: "lift", In: InShell | InBot, About: "Keep spending past the caps until midnight."},
	{Name: "config", In: InShell | InBot, About: "The settings: show them, one of them, or set one."},
	{Name: "restart", In: InShell | InBot, About: "Let the running bot begin anew: with the new program after an update."},
	{Name: "upgrade", Aliases: []string{"update"}, About: "Install the newest release of this program, check for one, or go back to the previous one."},
	{Name: "routine", About: "Routines: add, list, cancel."},
	{Name: "reminder", About: "Reminders: add, list, cancel, and answer: done, later, not-today."},
	{Name: "allow", About: "Let a task, skill or webhook that the agent has written do what its file says; without an ID, list what waits."},
	{Name: "restore", About: "Put back a routine or reminder that was removed within the last day."},
	{Name: "webhook", About: "Webhooks: list them, or send one a payload."},
	{Name: "webhook test", About: "Send a payload to the running bot, as an outside program would."},
	{Name: "tasks", About: "Google Tasks: list, show, add, complete, change, delete."},
	{Name: "cal", About: "Google Calendar: today, what is ahead, show, add, change, delete."},
	{Name: "gmail", About: "Gmail: what is unread, search, read, labels. It changes nothing there."},
	{Name: "auth", About: "The logins of Claude and of Google."},
	{Name: "auth login", About: "Log in to Claude."},
	{Name: "auth status", About: "Whether somebody is logged in to Claude."},
	{Name: "auth logout", About: "Log out of Claude."},
	{Name: "auth google", About: "Connect Google tasks, calendar and mail; show the login, or end it."},
	{Name: "export", About: "Write everything into one file, to move to another machine or to keep."},
	{Name: "import", About: "Take over an export, or a data directory, on a new machine."},
	{Name: "service", About: "Keep the bot running as a service of yours: systemd on Linux, launchd on macOS."},
	{Name: "service install", About: "Write the service's file, which is shown before, and start the bot."},
	{Name: "service uninstall", About: "Stop the bot and remove the service's file. Your data stays."},
	{Name: "service status", About: "How the service stands, and what becomes of it when you log out."},
	{Name: "service logs", About: "What the service has said."},
	{Name: "completion", About: "The script that completes commands and flags in bash, zsh or fish."},
	{Name: "man", About: "The manual page, for man."},
	{Name: "doctor", About: "Check that everything the bot needs is in order."},
}
