package discord

import (
	"context"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// options are a command's fields in Discord's form.
func options(c command.Command) []*discordgo.ApplicationCommandOption {
	var list []*discordgo.ApplicationCommandOption
	for _, a := range c.Args {
		field := &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionString, Name: a.Name, Description: a.About, Required: !a.Optional, Autocomplete: a.Offered(),
		}
		switch a.Kind {
		case command.Number:
			least := float64(a.Least)
			field.Type, field.MinValue = discordgo.ApplicationCommandOptionInteger, &least
		case command.Choice:
		default:
			field.MaxLength = 1000
		}
		for _, word := range a.Choices {
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

// registered are the commands in Discord's form: for direct messages with the bot and
// others, for a user who has installed the application.
func registered() []discordgo.ApplicationCommand {
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextBotDM, discordgo.InteractionContextPrivateChannel}
	installed := []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationUserInstall}
	var list []discordgo.ApplicationCommand
	for _, c := range command.List(command.InDiscord) {
		list = append(list, discordgo.ApplicationCommand{
			Name: c.Name, Description: c.About, Options: options(c), Contexts: &contexts, IntegrationTypes: &installed,
		})
	}
	for _, c := range command.List(command.InMessage) {
		list = append(list, discordgo.ApplicationCommand{
			Type: discordgo.MessageApplicationCommand, Name: c.Name, Contexts: &contexts, IntegrationTypes: &installed,
		})
	}
	return list
}

// register registers the commands with Discord if they differ. It reads the registered ones at each start, because
// another program with the same token may have changed them.
func (r *room) register(ctx context.Context) error {
	err := retry(ctx, func() error { return r.registerOnce(ctx, r.state.dm().App) })
	if err != nil && ctx.Err() == nil {
		r.log.Error("commands were not registered at Discord", "error", err)
	}
	return nil
}

func (r *room) registerOnce(ctx context.Context, app string) error {
	have, err := r.rest.Commands(ctx, app)
	if err != nil {
		return err
	}
	want := registered()
	if rest.Same(have, want) {
		return nil
	}
	if err := r.rest.PutCommands(ctx, app, want); err != nil {
		return err
	}
	r.log.Info("commands registered at Discord", "count", len(want))
	return nil
}

// silent reports whether a command may have no reply.
func silent(name string) bool {
	c, ok := command.Find(command.InDiscord, name)
	return ok && c.Silent
}

// slashLine returns a command as a line: "/model opus", or with named numbers: "/ping-budget capacity=6". Unknown
// options are left out. why is the reason if the command cannot be expressed as a line.
func slashLine(name string, given map[string]any) (line, why string) {
	c, ok := command.Find(command.InDiscord, name)
	if !ok {
		return "", fmt.Sprintf(textNotInVersion, clean.Cut(clean.Line(name), 40))
	}
	line = "/" + c.Name
	gap := false
	for _, a := range c.Args {
		value := ""
		if v, ok := given[a.Name]; ok {
			value = clean.Line(fmt.Sprint(v))
		}
		switch {
		case value == "":
			gap = true
		case a.Kind == command.Number:
			line += " " + a.Name + "=" + value
		case gap:
			return "", textKeyFirst
		default:
			line += " " + value + a.Ends
		}
	}
	return line, ""
}

// suggestions answer what the user types into a field. Only the newest one waits: an older
// one is no longer shown. So nothing piles up, however fast somebody types.
type suggestions struct {
	room  *room
	bot   core.Intake
	rival func()           // reports that another program answered
	waits chan interaction // holds one
}

// put makes i the one that waits. It never blocks and is called by one goroutine.
func (s *suggestions) put(i interaction) {
	select {
	case <-s.waits:
	default:
	}
	s.waits <- i
}

// run answers the newest field that waits, until ctx ends.
func (s *suggestions) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case i := <-s.waits:
			s.answer(ctx, i)
		}
	}
}

// answer lists what could be chosen for the field that is typed into.
func (s *suggestions) answer(ctx context.Context, i interaction) {
	data, _ := i.Data.(discordgo.ApplicationCommandInteractionData)
	var list []string
	for _, o := range data.Options {
		if typed, ok := o.Value.(string); ok && o.Focused {
			list = s.bot.Suggest(data.Name, o.Name, clean.Line(typed))
		}
	}
	ctx, cancel := context.WithDeadline(ctx, i.at.Add(answerWithin))
	defer cancel()
	if err := s.room.rest.Suggest(ctx, i.Interaction, render.Suggestions(list)); rest.Answered(err) {
		s.rival()
	}
}
