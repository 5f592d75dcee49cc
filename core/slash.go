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

// slash carries out a command line. Errors are sentences for people.
func (b *Bot) slash(ctx context.Context, line string) (string, error) {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "/"))
	if len(words) == 0 {
		return "", errors.New(unknownCommand(""))
	}
	c, ok := command.Find(command.InSlash, strings.ToLower(words[0]))
	if !ok {
		return "", errors.New(unknownCommand(words[0]))
	}
	return b.slashes()[c.Name](ctx, words[1:])
}

// slashes are what the commands of the table do.
func (b *Bot) slashes() map[string]func(context.Context, []string) (string, error) {
	return map[string]func(context.Context, []string) (string, error){
		"clear": b.slashClear, "compact": b.slashCompact, "cost": b.slashCost, "fork": b.slashFork, "model": b.slashModel,
		"thinking": b.slashThinking, "interrupt": b.slashInterrupt, "permissions": b.slashPermissions,
		"ping-budget": b.slashPingBudget, "config": b.slashConfig, "setup": b.slashSetup, "update": b.slashUpdate,
		"google-auth": b.slashGoogle, "restart": b.slashRestart, "attach": b.slashAttach, "version": b.slashVersion,
		"help": b.slashHelp,
	}
}

func unknownCommand(name string) string {
	var names []string
	for _, c := range command.List(command.InSlash) {
		names = append(names, "/"+c.Name)
	}
	sort.Strings(names)
	if name == "" {
		return "a command needs a name: " + strings.Join(names, " ")
	}
	return fmt.Sprintf("there is no command /%s; there are %s", name, strings.Join(names, " "))
}

func (b *Bot) slashHelp(context.Context, []string) (string, error) {
	var out strings.Builder
	for _, c := range command.List(command.InSlash) {
		fmt.Fprintf(&out, "%-42s %s\n", c.Line(), c.About)
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
