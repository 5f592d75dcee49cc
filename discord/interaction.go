package discord

import (
	"context"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
)

// interaction is a command or a click.
type interaction struct {
	*discordgo.Interaction
	at time.Time // when it arrived
}

// customID is the ID of the button, menu or window, or empty for a command.
func (i interaction) customID() string {
	switch data := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		return data.CustomID
	case discordgo.ModalSubmitInteractionData:
		return data.CustomID
	}
	return ""
}

// submits reports whether a window was submitted.
func (i interaction) submits() bool { return i.Type == discordgo.InteractionModalSubmit }

// title describes the interaction for people.
func (i interaction) title() string {
	said, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	switch {
	case ok && said.TargetID != "":
		return said.Name
	case ok:
		return "/" + said.Name
	case i.submits():
		return textAForm
	}
	return textAButton
}

// first returns the context for the first answer.
func (i interaction) first(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.WithoutCancel(ctx), i.at.Add(answerWithin))
}

// click returns the press of a button, the choice in a menu or the fields of a submitted window.
func (i interaction) click() command.Click {
	c := command.Click{ID: i.customID()}
	if i.Message != nil {
		c.Message = post.MessageID(i.Message.ID)
	}
	switch data := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		if len(data.Values) > 0 {
			c.Value = clean.Line(data.Values[0])
		}
	case discordgo.ModalSubmitInteractionData:
		fields := filled(data.Components)
		c.Value = clean.Line(fields[post.FieldWhen] + fields[post.FieldValue]) // a form has one of them
		c.Words = strings.TrimSpace(clean.Text(fields[post.FieldWhat]))
	}
	return c
}

// filled returns the fields of a submitted window.
func filled(rows []discordgo.MessageComponent) map[string]string {
	fields := map[string]string{}
	for _, row := range rows {
		row, ok := row.(*discordgo.ActionsRow)
		if !ok {
			continue
		}
		for _, c := range row.Components {
			if in, ok := c.(*discordgo.TextInput); ok {
				fields[in.CustomID] = in.Value
			}
		}
	}
	return fields
}
