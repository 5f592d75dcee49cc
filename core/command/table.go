package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/talk/post"
)

// Command is a row of the table: a command with a name, on any surface that accepts text.
// The dashboard's keys are in tui/action, because they depend on the selection; a key of a command names its row.
type Command struct {
	// Name is the command's name: "fire", "reminder add".
	Name    string
	Aliases []string // alternative names
	Seed    string   // the name that the original program has after "/" and in Discord: "ping-budget"; an alias elsewhere
	In      Place    // where it is available
	Group   Group    // its group in plain mode and on the card of /help
	Usage   string   // the arguments, for a surface without Args
	About   string   // what it does
	Short   string   // two to four words about it, for the card of /help
	Key     string   // two to four words, the title of its key in the dashboard; empty without one, or if each of several says more
	Example string   // empty if it is just the name
	More    string   // additional help in plain mode: full sentences, one per line
	// Was is what the name did in plain mode before it got this meaning, as it is written now. The first use says so.
	Was string
	// Writes marks what changes the bot: --read-only refuses it, and so does the guard once an agent has read a stranger's words.
	Writes bool
	// Prints is the stored text that the agent reads if it runs the command, which determines its label. Each command
	// in the agent's shell has one.
	Prints Stored
	// Args are the arguments, in order.
	Args []Arg
	// Verbatim marks a command line that prints the words of a model or of somebody else, which stay as they are.
	Verbatim bool
	// Plain means that the command line passes the command on to plain mode, where its code is.
	Plain bool
	// Asks means that a line asks first, wherever it is typed, because the command removes or stops something. A script
	// and a shell are not asked.
	Asks bool
	// Silent means that the command needs no reply, because its effect is visible.
	Silent bool
	// Make returns the value for what Read has read, which is all that a surface needs for carrying out the command. If it
	// is nil, each surface has code of its own for the command; it may have some beside Make, such as a question.
	Make func(Subject) Value
	// slash carries out a command of the conversation. If it is nil, the command line does.
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

// List returns the commands of a place.
func List(p Place) []Command {
	var list []Command
	for _, c := range Table {
		if c.In&p != 0 {
			list = append(list, c.as(p))
		}
	}
	return list
}

// Elsewhere returns how to type a word where it is the name of a command, for somebody who has typed it where it is none;
// empty if it is a command nowhere.
func Elsewhere(word string) string {
	for _, at := range []struct {
		Place
		text string
	}{{InShell, textInShell}, {InPlain, textInPlain}, {InSlash, textInSlash}} {
		if c, ok := Find(at.Place, word); ok {
			return fmt.Sprintf(at.text, word, c.Name)
		}
	}
	return ""
}

// ReadOnly returns the names of the agent's commands that change nothing.
func ReadOnly() (names []string) {
	for _, c := range List(InAgent) {
		if !c.Writes {
			names = append(names, c.Name)
		}
	}
	return names
}

// Find returns the command that a word names in a place.
func Find(p Place, word string) (Command, bool) {
	for _, c := range Table {
		if c = c.as(p); c.In&p != 0 && (c.Name == word || slices.Contains(c.Aliases, word)) {
			return c, true
		}
	}
	return Command{}, false
}

// as returns the command with its names in a place, where another command's name is no alias.
func (c Command) as(p Place) Command {
	if slices.ContainsFunc(Table, func(o Command) bool { return o.In&p != 0 && slices.Contains(c.Aliases, o.Name) }) {
		c.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), func(a string) bool {
			return slices.ContainsFunc(Table, func(o Command) bool { return o.In&p != 0 && o.Name == a })
		})
	}
	switch {
	case c.Seed == "":
	case p&^inTalk == 0:
		c.Name = c.Seed
	default:
		c.Aliases = append(c.Aliases[:len(c.Aliases):len(c.Aliases)], c.Seed)
	}
	if c.Usage == "" {
		c.Usage = usage(c.Args)
	}
	return c
}

// Line returns the command's line in the conversation, with its arguments.
func (c Command) Line() string { return strings.TrimSpace("/" + c.Name + " " + c.Usage) }
