package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/discord/rest"
)

// verb is one of the fifteen that docs/discord.md lists: how Discord offers it, and how it
// becomes a line of the bot's own.
type verb struct {
	name, about string
	options     []rest.Option
	// named writes options as "key=value", for a command that takes any of them;
	// others take them in order.
	named bool
	// silent says that no reply is fine: what the user sees is the reply.
	silent bool
}

// commands is the table.
func commands() []verb {
	return []verb{
		{name: "clear", about: "forget the conversation and start afresh; updates stay"},
		{name: "compact", about: "make the conversation's history shorter", options: []rest.Option{
			wording("instructions", "what the summary should keep"),
		}},
		{name: "cost", about: "what the conversation has used"},
		{name: "fork", about: "branch off into a fork that stays apart", silent: true, options: []rest.Option{
			wording("topic", "what it is about"),
		}},
		{name: "model", about: "show or switch the model", options: []rest.Option{
			choice("name", "the model to switch to", "opus", "sonnet", "haiku"),
		}},
		{name: "thinking", about: "show or set how much is thought before answering", options: []rest.Option{
			choice("mode", "how much", "off", "adaptive", "8k budget=8000", "32k budget=32000", "64k budget=64000"),
		}},
		{name: "interrupt", about: "end the running turn", silent: true},
		{name: "permissions", about: "show or set the permission mode", options: []rest.Option{
			choice("mode", "the mode to switch to", "dontAsk", "default", "acceptEdits", "bypassPermissions"),
		}},
		{name: "ping-budget", about: "show or set the ping budget", named: true, options: []rest.Option{
			number("capacity", "how many pings fit; 0 mutes them", 0),
			number("refill_rate", "minutes until the next ping is there", 1),
		}},
		{name: "config", about: "show or set the configuration", options: []rest.Option{
			choice(
				"key", "the setting", "model.main=model_main", "model.fork=model_fork", "thinking.main=thinking_main",
				"thinking.fork=thinking_fork", "bg_fork_timeout", "fork_idle_timeout", "permission_mode",
				"quiet_hours", "max_background_forks",
			),
			wording("value", "what to set it to"),
		}},
		{name: "update", about: "how to bring the program up to date"},
		{name: "restart", about: "start the program anew"},
		{name: "google-auth", about: "connect tasks, calendar and mail"},
		{name: "setup", about: "get to know each other: names and profile"},
		{name: "version", about: "the running version"},
	}
}

func wording(name, about string) rest.Option {
	return rest.Option{Type: rest.StringOption, Name: name, Description: about, MaxLength: 1000}
}

func number(name, about string, least float64) rest.Option {
	return rest.Option{Type: rest.IntegerOption, Name: name, Description: about, MinValue: &least}
}

// choice is an option with values to choose from, "label=value" where the two
// differ.
func choice(name, about string, list ...string) rest.Option {
	o := rest.Option{Type: rest.StringOption, Name: name, Description: about}
	for _, c := range list {
		label, value, differ := strings.Cut(c, "=")
		if !differ {
			value = label
		}
		o.Choices = append(o.Choices, rest.Choice{Name: label, Value: value})
	}
	return o
}

// Where the commands show: in direct messages, the bot's own and others, for a
// user who has installed the application.
const (
	inDirectMessages = 1
	inPrivate        = 2
	byUser           = 1
)

// registered are the commands as Discord lists them.
func registered() []rest.Command {
	var list []rest.Command
	for _, c := range commands() {
		list = append(list, rest.Command{
			Name: c.name, Description: c.about, Options: c.options,
			Contexts: []int{inDirectMessages, inPrivate}, IntegrationTypes: []int{byUser},
		})
	}
	return list
}

// register makes Discord offer the commands, where it does not. What it has is
// asked for at each start and not remembered: another program with the same
// token may have changed it since.
func (d *Discord) register(ctx context.Context) error {
	h, _ := d.memory.home()
	var tries pauses
	for {
		err := d.registerOnce(ctx, h.App)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if !passes(d.saw(err)) {
			d.log.Error("the commands could not be registered at Discord", "error", err)
			return nil
		}
		if tries.wait(ctx) != nil {
			return nil
		}
	}
}

func (d *Discord) registerOnce(ctx context.Context, app string) error {
	have, err := d.rest.Commands(ctx, app)
	if err != nil {
		return err
	}
	want := registered()
	if rest.Same(have, want) {
		return nil
	}
	if err := d.rest.PutCommands(ctx, app, want); err != nil {
		return err
	}
	d.log.Info("commands registered at Discord", "count", len(want))
	return nil
}

func find(name string) (verb, bool) {
	list := commands()
	i := slices.IndexFunc(list, func(c verb) bool { return c.name == name })
	if i < 0 {
		return verb{}, false
	}
	return list[i], true
}

// silent reports whether a command may have no reply.
func silent(name string) bool {
	c, ok := find(name)
	return ok && c.silent
}

// slashLine is a command as the bot reads it: "/model opus". Options that the
// table does not have are left away. why is a sentence for what cannot be said
// so.
func slashLine(name string, options map[string]any) (line, why string) {
	c, ok := find(name)
	if !ok {
		return "", fmt.Sprintf(textNotInVersion, clean.Cut(clean.Line(name), 40))
	}
	line = "/" + c.name
	gap := false
	for _, o := range c.options {
		value := clean.Line(fmt.Sprint(options[o.Name]))
		switch _, given := options[o.Name]; {
		case !given || value == "":
			gap = true
		case c.named:
			line += " " + o.Name + "=" + value
		case gap:
			return "", textKeyFirst
		default:
			line += " " + value
		}
	}
	return line, ""
}
