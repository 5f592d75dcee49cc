package discord

import (
	"context"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

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
