package command

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ollimbot/core/talk/post"
)

// Command is a row of the table: a command with a name, on any surface that accepts text.
// The dashboard's keys are in tui/action, because they depend on the selection.
type Command struct {
	// Name is the command's name: "fire", "ping-budget", "reminder add".
	Name    string
	Aliases []string // alternative names
	In      Place    // where it is available
	Group   Group    // its group in plain mode
	Usage   string   // the arguments
	About   string   // what it does, as the end of a sentence
	Example string   // empty if it is just the name
	More    string   // additional help: full sentences, one per line
	// Writes marks what changes the bot: --read-only refuses it.
	Writes bool
	// Prints is the stored text that the agent reads if it runs the command, which determines its label. Each command
	// in the agent's shell has one.
	Prints Stored
	// Options are Usage for a surface that has a field for each.
	Options []Option
	// Verbatim marks a command line that prints the words of a model or of somebody else, which stay as they are.
	Verbatim bool
	// Asks means that plain mode asks first, because the command removes something.
	Asks bool
	// Silent means that the command needs no reply, because its effect is visible.
	Silent bool
	// Takes is the kind of the command's argument. Make returns the command for an
	// argument; nil if the surface handles the command itself.
	Takes Kind
	Make  func(Subject) Value
	// slash carries out a command of the conversation; nil for help.
	slash func(Host, context.Context, []string) (string, error)
	// card is its reply as a card; nil if it has none.
	card func(Host) *post.Embed
	// picture is the name of the picture of its reply; nil if it has none.
	picture func(args []string) string
}

// Stored is text of the data directory or of a service that a command prints.
type Stored uint8

// The kinds of stored text. The zero Stored is undecided: the output counts as somebody else's words.
const (
	_             Stored = iota
	PrintsOwn            // words of the program, of the user or of the command's own arguments only
	PrintsTasks          // texts of tasks, skills and webhooks
	PrintsMail           // mail
	PrintsLabeled        // text whose label the command itself records, item by item
)

// Place is where a command can be used; several are joined with "|".
type Place uint8

// The places.
const (
	InPlain   Place = 1 << iota // a line of plain mode; with InShell also of the palette, and of the conversation after "/"
	InSlash                     // a line of the conversation that begins with "/"
	InDiscord                   // Discord's own list of such commands
	InShell                     // the command line
	InAgent                     // the command line in the agent's shell
	InBot                       // on the command line: the running bot carries it out, if there is one
	InMessage                   // the menu of a message in Discord
)

// Kind is the kind of a command's argument.
type Kind uint8

// The kinds. TaskMoment is a task followed by a moment.
const (
	Nothing Kind = iota
	Words
	Task
	TaskMoment
	Update
)

// Subject is the argument of a command.
type Subject struct {
	ID    string // of a task or an update
	At    time.Time
	Words string
}

// Option is a field of a command. Its value is text, one of Choices ("label=value" if the
// two differ), or a number of at least Least.
type Option struct {
	Name, About string
	Choices     []string
	Number      bool
	Least       int
	Required    bool
	Suggests    bool   // typed text gets suggestions (core.Intake)
	Ends        string // follows the value in a line
}

// Group is a group of related commands.
type Group string

// Groups lists all groups in the order of the help.
var Groups = []Group{overview, tasks, runs, pending, conversation, toolCalls, pings, googles, program}

const (
	overview     Group = "overview"
	tasks        Group = "tasks"
	runs         Group = "runs"
	pending      Group = "updates"
	conversation Group = "conversation"
	toolCalls    Group = "tool calls"
	pings        Group = "pings"
	googles      Group = "google"
	program      Group = "this program"
)

// Title returns the heading of the group.
func (g Group) Title() string { return groupTitles[g] }

var groupTitles = map[Group]string{
	overview: "Overview", tasks: "Routines and reminders", runs: "Background runs", pending: "Updates", conversation: "The conversation",
	toolCalls: "Tool calls that ask you", pings: "Pings", googles: "Google", program: "This program",
}

// table contains every command once, in listing order.
var table = slices.Concat(
	in(InPlain, overview, overviewRows), in(InPlain, tasks, taskRows), in(InPlain, runs, runRows), in(InPlain, pending, updateRows),
	in(InPlain, conversation, talkRows), in(InPlain, toolCalls, callRows), in(InPlain, pings, pingRows), in(InPlain, program, programRows),
	in(InSlash|InDiscord, conversation, slashRows), in(InShell|InAgent, program, agentRows), in(InShell, program, shellRows),
	in(InMessage, tasks, messageRows),
)

// in sets the group and the place of rows that have none.
func in(p Place, g Group, rows []Command) []Command {
	for i := range rows {
		rows[i].In, rows[i].Group = cmp.Or(rows[i].In, p), cmp.Or(rows[i].Group, g)
	}
	return rows
}

// List returns the commands of a place.
func List(p Place) []Command {
	var list []Command
	for _, c := range table {
		if c.In&p != 0 {
			list = append(list, c)
		}
	}
	return list
}

// Find returns the command that a word names in a place.
func Find(p Place, word string) (Command, bool) {
	i := slices.IndexFunc(table, func(c Command) bool {
		return c.In&p != 0 && (c.Name == word || slices.Contains(c.Aliases, word))
	})
	if i < 0 {
		return Command{}, false
	}
	return table[i], true
}

// Line returns the command's name with its arguments.
func (c Command) Line() string {
	line := strings.TrimSpace(c.Name + " " + c.Usage)
	switch {
	case c.In&InSlash != 0:
		return "/" + line
	case c.In&InShell != 0:
		return "ollim-bot " + line
	}
	return line
}
