package plain

import (
	"fmt"
	"strings"
)

// What help WORD adds to a command's line.
const (
	textHelpTask = "A task is named by words of its title, by its number in the list that was read last (schedule, day, tasks), or by its id."
	textHelpFile = "Open it in your editor beside this; a file that was saved counts at once.\n" + textHelpTask
	textHelpRun  = "A run is named by words of its title, by its number in the list that runs has read last, or by its id."
	textHelpWhen = "When is a length (30m, 2 hours), a time (18:30, until 18:30), " +
		"a day with or without one (tomorrow, friday 9:00, tomorrow evening), or 2026-12-24 09:00."

	textHelpSnooze   = "snooze email off ends it, resume does too.\n" + textHelpWhen + "\n" + textHelpTask
	textHelpResume   = "It fires as its file says again. To go on in a run that has ended, say continue.\n" + textHelpTask
	textHelpGrant    = "What waits, and why, is read in tasks, schedule and problems; skills and webhooks are named by their file.\n" + textHelpTask
	textHelpContinue = "The conversation stands in a fork then; exit leaves it.\n" + textHelpRun
	textHelpNew      = "A routine takes a cron line of minute, hour, day, month and weekday: new routine 0 9 * * mon-fri greet me.\n" +
		"A reminder takes a time: new reminder 18:30 call mum.\n" +
		"Before the message may stand silent (it never pings), foreground (it runs in the main conversation) and called with a title, then a colon: " +
		"new routine 0 9 * * mon-fri silent called Morning: collect the news.\n" + textHelpWhen
	textHelpOutput = "Without a number these are the last 15 lines. find reads only lines that hold all words: output email find error.\n" + textHelpRun
	textHelpLog    = "Without a number these are the last 15 lines. follow log reads new ones as they come."
	textHelpUpdate = "An update is named by its number in the list that updates has read last, or by words of it."
	textHelpLines  = "A line that ends in a backslash goes on in the next one, so that a message can have several lines; two backslashes at the end are one."
	textHelpSay    = textHelpLines + "\n" + "It holds for all commands, as in reply and new."
	textHelpWaits  = "waits alone names each call in short. waits 1 reads everything that call number 1 would do, line by line."
	textHelpReply  = "Numbers are those that chat has read last. Words that begin with a number answer the newest message when you give that number first."
	textHelpPress  = "Numbers are those that were read with the message, or by buttons; words are looked for on the newest card."
	textHelpExit   = "exit alone keeps nothing and asks first. exit save makes the fork the main conversation. exit report takes a report along."
	textHelpCall   = "Without a number it answers the only call that waits. A call that nobody answers in time is denied."
	textHelpBudget = "budget +1 and budget -1 change the capacity by one, budget 6 sets it, budget 0 refuses all pings but critical ones.\n" +
		"budget refill 60 brings one ping back every 60 minutes, budget refill -5 makes that 5 minutes faster."

	textHelpHead = "help COMMAND says more of one, help GROUP reads one group; words in square brackets may be missing"
	textHelpTail = "A line that begins with a slash is a command of the conversation; /help lists them"
)

// heads introduce the groups.
var heads = map[group]string{
	groupLook: "Overview, group overview", groupTasks: "Routines and reminders, group tasks", groupRuns: "Background runs, group runs",
	groupUpdates: "Updates, group updates", groupTalk: "The conversation, group conversation", groupCalls: "Tool calls that ask you, group tool calls",
	groupPings: "Pings, group pings", groupSelf: "This program, group this program",
}

// helpText is every command in its group, each in one line.
func helpText() string {
	parts := []string{textHelpHead}
	for _, g := range groups {
		parts = append(parts, groupText(g))
	}
	return strings.Join(append(parts, textHelpTail), "\n")
}

func groupText(g group) string {
	lines := []string{heads[g] + ":"}
	for _, c := range commands() {
		if c.group == g {
			lines = append(lines, shortText(c))
		}
	}
	return strings.Join(lines, "\n")
}

// shortText is a command in one line with its example.
func shortText(c verb) string {
	text := strings.TrimSpace(c.name()+" "+c.usage) + ": " + c.about
	if c.example != c.name() {
		text += "; for example " + c.example
	}
	return text
}

// commandText is everything about a command.
func commandText(c verb) string {
	lines := []string{shortText(c)}
	if c.more != "" {
		lines = append(lines, c.more)
	}
	if len(c.words) > 1 {
		lines = append(lines, fmt.Sprintf("%s means the same", strings.Join(c.words[1:], " or ")))
	}
	return strings.Join(lines, "\n")
}

func unknownHelp(word string) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = string(g)
	}
	return fmt.Sprintf("there is no command %q and no group of that name; help lists the commands, the groups are %s", word, strings.Join(names, ", "))
}

func unknownText(word string) string {
	return fmt.Sprintf("there is no command %q; help lists them, and say WORDS speaks to the agent", word)
}

func readOnlyText(c verb) string {
	return fmt.Sprintf("%s is refused, %s", c.name(), textReadOnly)
}
