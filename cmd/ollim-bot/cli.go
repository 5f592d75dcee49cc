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

	Run  runCmd  `cmd:"" default:"withargs"`
	Init initCmd `cmd:""`
	Demo demoCmd `cmd:""`

	Status   statusCmd   `cmd:""`
	Snapshot snapshotCmd `cmd:""`
	Schedule scheduleCmd `cmd:""`
	Preview  previewCmd  `cmd:""`
	Cron     cronCmd     `cmd:""`
	Check    checkCmd    `cmd:""`
	Budget   budgetCmds  `cmd:""`
	Updates  updatesCmd  `cmd:""`
	Forks    forksCmds   `cmd:""`
	History  historyCmds `cmd:""`

	Audit auditCmd `cmd:""`

	Routine  routineCmds  `cmd:""`
	Reminder reminderCmds `cmd:""`

	Allow   allowCmd   `cmd:""`
	Restore restoreCmd `cmd:""`

	Webhook webhookCmds `cmd:""`

	Auth authCmds `cmd:""`

	Doctor  doctorCmd  `cmd:""`
	Version versionCmd `cmd:""`
	Help    helpCmd    `cmd:""`
}
