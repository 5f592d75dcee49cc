package action

import (
	"slices"

	"ollimbot/core"
	"ollimbot/core/work/fork"
)

// Why actions are disabled; each completes "… is off: ". None depends on the selection or the view; the pane handles
// those.
var (
	capacityFloor = when(func(s core.Snapshot) bool { return s.Budget.State.Capacity <= 0 }, "the capacity is already 0: pings are muted")
	refillFloor   = when(func(s core.Snapshot) bool { return s.Budget.State.RefillRateMinutes <= 1 }, "one token a minute is the fastest refill")
	noCaps        = when(func(s core.Snapshot) bool { return !lifted(s) && !capped(s.Money.Today) && !capped(s.Money.Month) }, "no spending cap is set")
	nothingWaits  = when(func(s core.Snapshot) bool { return s.Waiting() == 0 }, "nothing needs your approval")
	noSchedule    = when(nothingScheduled, "nothing is scheduled")
	noFiles       = when(func(s core.Snapshot) bool { return len(s.Schedule.Problems)+len(s.Day) == 0 && nothingScheduled(s) }, "nothing is scheduled")
	noUpdates     = when(func(s core.Snapshot) bool { return len(s.Updates) == 0 }, "there is no pending update")
	noUpdateRows  = when(func(s core.Snapshot) bool { return len(s.Updates)+len(s.Proposals) == 0 }, "there is no pending update")
	noQuestion    = when(func(s core.Snapshot) bool { return len(s.Proposals) == 0 }, "the bot asks you nothing")
	noDelivery    = firstOf(when(func(s core.Snapshot) bool { return s.Fork != nil }, "updates go to the main session; leave the fork first"), noUpdates)
	noForks       = when(func(s core.Snapshot) bool { return len(s.Forks) == 0 }, "no run yet")
	noLogin       = when(func(s core.Snapshot) bool { return !s.Engine.LoginNeeded }, "the engine needs no login")
	noLiveFork    = when(func(s core.Snapshot) bool { return !slices.ContainsFunc(s.Forks, fork.View.Live) }, "no run is waiting or running")
	noResume      = firstOf(
		when(func(s core.Snapshot) bool { return s.Fork != nil }, "the chat is already in a fork; leave it first"),
		when(func(s core.Snapshot) bool { return !slices.ContainsFunc(s.Forks, ended) }, "no run has ended yet"),
	)
	noApproval = when(func(s core.Snapshot) bool { return len(s.Approvals) == 0 }, "no tool call needs your answer")
	// A question about a file or about money allows nothing from now on.
	noAlways = firstOf(noApproval, when(func(s core.Snapshot) bool { return s.Approvals[0].Scope() == "" },
		"this question allows nothing from now on"))
	noFork    = when(func(s core.Snapshot) bool { return s.Fork == nil }, "the chat is not in a fork")
	noSave    = firstOf(noFork, when(func(s core.Snapshot) bool { return s.Fork.Resumed }, "this fork continues a background run; report or exit instead"))
	noMessage = when(func(s core.Snapshot) bool { return len(s.Chat) == 0 }, "there are no messages yet")
	noButtons = when(func(s core.Snapshot) bool { return !slices.ContainsFunc(s.Chat, hasButtons) }, "no card in the chat has buttons")
)

// Why a change of keys is refused.
const (
	textNoAction = "no action is called %.40q; the palette shows the name of the marked one, ollim-bot help keys lists all"
	textFixed    = "the key of %.40q cannot be changed"
	textTaken    = "%q for %s is taken by %s; give that one another key first"
)

// Replacements for a missing key in sentences.
const (
	nameInPalette = "the palette (%s)"
	nameInFile    = "a key in keys.yaml"
)

// arrows are the keys with a symbol, keyNames those with another common name.
var (
	arrows   = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "shift+up": "shift+↑", "shift+down": "shift+↓"}
	keyNames = map[string]string{"pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End"}
)

// paneNames are the names of the panes for people.
var paneNames = map[Pane]string{
	Everywhere: "Everywhere", Budget: "Ping budget", Schedule: "Schedule", Updates: "Updates",
	Forks: "Runs", Chat: "Chat", Logs: "Logs",
	Day: "Day", Task: "Task", Costs: "Costs", Away: "While you were away", Week: "Week", Settings: "Settings",
}
