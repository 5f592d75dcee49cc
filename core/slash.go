package core

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"ollimbot/core/audit"
	"ollimbot/core/command"
)

// slashCommand is one command, its words for people and what it does.
type slashCommand struct {
	name, usage, about string
	run                func(b *Bot, ctx context.Context, args []string) (string, error)
}

// slashCommands is every command that a message can be, in the order in which they are listed.
func slashCommands() []slashCommand {
	return []slashCommand{
		{"clear", "", "forget the conversation and start afresh; updates stay", (*Bot).slashClear},
		{"compact", "[instructions]", "make the conversation's history shorter", (*Bot).slashCompact},
		{"cost", "", "what the conversation has used", (*Bot).slashCost},
		{"fork", "[topic]", "branch off into a fork that stays apart", (*Bot).slashFork},
		{"model", "[opus|sonnet|haiku]", "show or switch the model", (*Bot).slashModel},
		{"thinking", "[off|adaptive|tokens]", "show or set how much is thought before answering", (*Bot).slashThinking},
		{"interrupt", "", "end the running turn", (*Bot).slashInterrupt},
		{"permissions", "[mode]", "show or set the permission mode", (*Bot).slashPermissions},
		{"ping-budget", "[capacity] [refill_rate]", "show or set the ping budget", (*Bot).slashPingBudget},
		{"config", "[key] [value]", "show or set the configuration", (*Bot).slashConfig},
		{"setup", "", "walk through names, profile and first routines", (*Bot).slashSetup},
		{"update", "", "how to bring the program up to date", (*Bot).slashUpdate},
		{"google-auth", "", "connect Google's tasks, calendar and mail", (*Bot).slashGoogle},
		{"restart", "", "start the program anew", (*Bot).slashRestart},
		{"attach", "PATH", "take a file along with the next message", (*Bot).slashAttach},
		{"version", "", "the running version", (*Bot).slashVersion},
		{"help", "", "these commands", (*Bot).slashHelp},
	}
}

// SlashHelp is a command as people are told of it.
type SlashHelp struct{ Name, Usage, About string }

// SlashCommands are the commands that a line beginning with "/" may name.
func SlashCommands() []SlashHelp {
	var list []SlashHelp
	for _, c := range slashCommands() {
		list = append(list, SlashHelp{c.name, c.usage, c.about})
	}
	return list
}

// slash carries out a command line. Errors are sentences for people.
func (b *Bot) slash(ctx context.Context, line string) (string, error) {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "/"))
	if len(words) == 0 {
		return "", errors.New(unknownCommand(""))
	}
	name := strings.ToLower(words[0])
	for _, c := range slashCommands() {
		if c.name == name {
			return c.run(b, ctx, words[1:])
		}
	}
	return "", errors.New(unknownCommand(words[0]))
}

func unknownCommand(name string) string {
	var names []string
	for _, c := range slashCommands() {
		names = append(names, "/"+c.name)
	}
	sort.Strings(names)
	if name == "" {
		return "a command needs a name: " + strings.Join(names, " ")
	}
	return fmt.Sprintf("there is no command /%s; there are %s", name, strings.Join(names, " "))
}

func (b *Bot) slashHelp(context.Context, []string) (string, error) {
	var out strings.Builder
	for _, c := range slashCommands() {
		fmt.Fprintf(&out, "%-42s %s\n", strings.TrimSpace("/"+c.name+" "+c.usage), c.about)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

func (b *Bot) slashInterrupt(ctx context.Context, _ []string) (string, error) {
	return "", b.chat.Interrupt(ctx)
}

func (b *Bot) slashVersion(context.Context, []string) (string, error) {
	return "ollim-bot " + b.o.Version, nil
}

// slashPingBudget shows or sets the budget. Numbers come in order,
// or as capacity=6 refill_rate=60.
func (b *Bot) slashPingBudget(ctx context.Context, args []string) (string, error) {
	var set command.SetBudget
	slots := []**int{&set.Capacity, &set.RefillMinutes}
	for i, a := range args {
		slot := i
		if key, value, ok := strings.Cut(strings.ReplaceAll(a, ":", "="), "="); ok {
			a = value
			switch key {
			case "capacity":
				slot = 0
			case "refill_rate", "refill":
				slot = 1
			default:
				return "", fmt.Errorf("ping-budget has no option %q: it takes capacity and refill_rate", key)
			}
		}
		n, err := strconv.Atoi(a)
		if err != nil || slot >= len(slots) {
			return "", fmt.Errorf("%q is not possible here: write /ping-budget capacity refill_rate, such as /ping-budget 6 60", a)
		}
		*slots[slot] = &n
	}
	now := b.now()
	if len(args) == 0 {
		s, _ := b.budget.State(now)
		return "ping budget: " + s.FullStatus(now) + ".", nil
	}
	before, after, err := b.budget.Set(now, set.Capacity, set.RefillMinutes)
	if err != nil {
		return "", err
	}
	if sameBudget(before, after) {
		return budgetChange(before, after) + ": " + after.Status(now) + ".", nil
	}
	b.record(ctx, audit.Entry{Action: audit.BudgetChanged, Detail: budgetChange(before, after)})
	return "ping budget updated: " + after.Status(now) + ".", nil
}

func (b *Bot) slashRestart(context.Context, []string) (string, error) {
	if b.o.Restart == nil {
		return "", errors.New("this program cannot start itself anew: quit and start it again")
	}
	if id := b.sessions.Main(); id != "" {
		if err := b.logRestart(id); err != nil {
			return "", err
		}
	}
	b.o.Restart()
	return "restarting...", nil
}
