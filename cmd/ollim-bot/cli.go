package main

import "github.com/alecthomas/kong"

// globals are the flags that every command takes.
type globals struct {
	DataDir  string `name:"data-dir" placeholder:"DIR" help:"The data directory (else OLLIM_DATA_DIR, else ~/.ollim-bot)."`
	Timezone string `name:"timezone" placeholder:"ZONE" help:"An IANA time zone such as Europe/Berlin (else OLLIM_TIMEZONE, else the system's)."`
}

// cli is the command tree. Each command has its own file.
type cli struct {
	globals
	ShowVersion kong.VersionFlag `name:"version" help:"Show the version and exit."`

	Run  runCmd  `cmd:"" default:"withargs" help:"The dashboard with the bot inside; this is also what no command means."`
	Init initCmd `cmd:"" help:"Set up names, time zone and Discord."`
	Demo demoCmd `cmd:"" help:"The dashboard on a temporary data directory that lives. Needs no account and no network."`

	Status   statusCmd   `cmd:"" help:"One screen of facts."`
	Snapshot snapshotCmd `cmd:"" help:"One frame of the dashboard as text."`
	Schedule scheduleCmd `cmd:"" help:"What fires next, as background agents see it."`
	Preview  previewCmd  `cmd:"" help:"The exact prompt that a routine or reminder would send."`
	Cron     cronCmd     `cmd:"" help:"What a cron expression means, and its next times."`
	Check    checkCmd    `cmd:"" help:"Validate routine and reminder files."`
	Budget   budgetCmds  `cmd:"" help:"The ping budget: show it, or set capacity and refill rate."`
	Updates  updatesCmd  `cmd:"" help:"Pending updates for the main session."`
	Forks    forksCmds   `cmd:"" help:"Background runs: list them, or read the output of one."`
	History  historyCmds `cmd:"" help:"What was said in earlier sessions."`

	Audit auditCmd `cmd:"" help:"Decisions: what was asked, allowed and changed, and by whom."`

	Routine  routineCmds  `cmd:"" help:"Routines: add, list, cancel."`
	Reminder reminderCmds `cmd:"" help:"Reminders: add, list, cancel."`

	Allow   allowCmd   `cmd:"" help:"Let a task, skill or webhook that the agent has written do what its file says; without an ID, list what waits."`
	Restore restoreCmd `cmd:"" help:"Put back a routine or reminder that was removed within the last day."`

	Tasks tasksCmds `cmd:"" help:"Google Tasks: list, show, add, complete, change, delete."`
	Cal   calCmds   `cmd:"" help:"Google Calendar: today, what is ahead, show, add, change, delete."`
	Gmail gmailCmds `cmd:"" help:"Gmail: what is unread, search, read, labels. It changes nothing there."`

	Webhook webhookCmds `cmd:"" help:"Webhooks: list them, or send one a payload."`

	Auth authCmds `cmd:"" help:"The logins of Claude and of Google."`

	Doctor  doctorCmd  `cmd:"" help:"Check that everything the bot needs is in order."`
	Version versionCmd `cmd:"" help:"The version of this program."`
	Help    helpCmd    `cmd:"" help:"Help on a command."`
}
