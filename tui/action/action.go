// Package action holds every action of the dashboard once: its name, its keys,
// where it applies, what it would do and why it is off. Keys, help line, help
// page, palette and docs/keys.md all come from this table.
package action

import (
	"ollimbot/core"
	"ollimbot/core/command"
)

// ID names an action: "budget.capacity-up".
type ID string

// Pane names a pane. Everywhere is not a pane: it marks global actions.
type Pane string

// The panes in the order of their number keys, and Everywhere.
const (
	Everywhere Pane = ""
	Budget     Pane = "budget"
	Schedule   Pane = "schedule"
	Updates    Pane = "updates"
	Forks      Pane = "forks"
	Chat       Pane = "chat"
	Logs       Pane = "logs"
)

// Panes lists the panes; the pane at index i has the number key i+1.
var Panes = []Pane{Budget, Schedule, Updates, Forks, Chat, Logs}

// Action is one row of the table.
type Action struct {
	ID    ID
	Title string   // imperative, for palette and help: "Raise the capacity by one"
	Short string   // a word or two for the help line: "capacity"
	Keys  []string // as tea.KeyPressMsg.String() gives them: "+", "ctrl+p", "enter"; none where the palette alone has it
	Pane  Pane
	// Hint says the effect for the help line, such as "5→6"; empty shows Short
	// alone. Nil when the effect never changes.
	Hint func(core.Snapshot) string
	// Off says why the action cannot be used now; empty means that it can. Nil
	// means always.
	Off func(core.Snapshot) string
	// Make is the command that the action stands for; nil where its pane or the frame
	// knows it, such as for what is selected.
	Make func(core.Snapshot) command.Value
	// Danger marks what cannot be undone: the dashboard asks first.
	Danger bool
	// Costs marks what spends something or ends something at once: a click on its word
	// in the help line, which is easily made by accident, asks first.
	Costs bool
	// Writes marks what changes the bot: --read-only switches it off.
	Writes bool
	// Quiet keeps a row out of the help line, which has little room: moving
	// about, and keys that another row of the line already stands for.
	Quiet bool
	// Over marks a row that takes its keys from a later row of its pane, for as
	// long as it is not off: "y" answers what waits, else it copies.
	Over bool
	// Pair names the row that shares a place in the help line with this one:
	// "+/- capacity 5→6". The named row must follow this one in the table.
	Pair ID
}
