package discord

import (
	"context"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/discord/rest"
)

// options are a command's fields as Discord has them.
func options(c command.Command) []*discordgo.ApplicationCommandOption {
	var list []*discordgo.ApplicationCommandOption
	for _, o := range c.Options {
		field := &discordgo.ApplicationCommandOption{Type: discordgo.ApplicationCommandOptionString, Name: o.Name, Description: o.About}
		switch {
		case o.Number:
			least := float64(o.Least)
			field.Type, field.MinValue = discordgo.ApplicationCommandOptionInteger, &least
		case len(o.Choices) == 0:
			field.MaxLength = 1000
		}
		for _, word := range o.Choices {
			label, value, differ := strings.Cut(word, "=")
			if !differ {
				value = label
			}
			field.Choices = append(field.Choices, &discordgo.ApplicationCommandOptionChoice{Name: label, Value: value})
		}
		list = append(list, field)
	}
	return list
}

// registered are the commands as Discord lists them: in direct messages, the
// bot's own and others, for a user who has installed the application.
func registered() []discordgo.ApplicationCommand {
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextBotDM, discordgo.InteractionContextPrivateChannel}
	installed := []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationUserInstall}
	var list []discordgo.ApplicationCommand
	for _, c := range command.List(command.InDiscord) {
		list = append(list, discordgo.ApplicationCommand{
			Name: c.Name, Description: c.About, Options: options(c), Contexts: &contexts, IntegrationTypes: &installed,
		})
	}
	return list
}

// register makes Discord offer the commands, where it does not. What it has is
// asked for at each start and not remembered: another program with the same
// token may have changed it since.
func (d *Discord) register(ctx context.Context) error {
	var tries pauses
	for {
		err := d.registerOnce(ctx, d.state.dm().App)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if !passes(d.noteAuth(err)) {
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

// silent reports whether a command may have no reply.
func silent(name string) bool {
	c, ok := command.Find(command.InDiscord, name)
	return ok && c.Silent
}

// slashLine is a command as the bot reads it: "/model opus", or with numbers by
// their names: "/ping-budget capacity=6". Options that the table does not have are
// left away. why is a sentence for what cannot be said so.
func slashLine(name string, given map[string]any) (line, why string) {
	c, ok := command.Find(command.InDiscord, name)
	if !ok {
		return "", fmt.Sprintf(textNotInVersion, clean.Cut(clean.Line(name), 40))
	}
	line = "/" + c.Name
	gap := false
	for _, o := range c.Options {
		value := ""
		if v, ok := given[o.Name]; ok {
			value = clean.Line(fmt.Sprint(v))
		}
		switch {
		case value == "":
			gap = true
		case o.Number:
			line += " " + o.Name + "=" + value
		case gap:
			return "", textKeyFirst
		default:
			line += " " + value
		}
	}
	return line, ""
}
