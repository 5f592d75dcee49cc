package discord

import (
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// The controls of a message that need more than a press: menus, windows, the commands of a
// message's own menu, and what is suggested while a field is typed.

// click is the press of a button, the choice in a menu or a window that was filled in.
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

// filled are the fields of a window that was filled in.
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

// form is the window that an interaction opens instead of doing something.
func (a *interactions) form(i interaction) (post.Form, bool) {
	switch data := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		action, about, ok := post.ParseCustomID(data.CustomID)
		if !ok {
			return post.Form{}, false
		}
		return post.FormOf(action, about)
	case discordgo.ApplicationCommandInteractionData:
		if data.TargetID == "" || data.Name != command.RemindAboutThis {
			return post.Form{}, false
		}
		key, words := a.target(i, data)
		return post.About(key, words, textAboutHint), true
	}
	return post.Form{}, false
}

// target is the message whose menu was used: its words, and a key that says whether they are
// the owner's or the bot's own, or somebody else's.
func (a *interactions) target(i interaction, data discordgo.ApplicationCommandInteractionData) (key, words string) {
	key = post.Foreign + i.ID
	if data.Resolved == nil || data.Resolved.Messages[data.TargetID] == nil {
		return key, ""
	}
	m := data.Resolved.Messages[data.TargetID]
	if who := m.Author; who != nil && who.ID == a.room.state.dm().Owner {
		key = post.Own + i.ID
	}
	words = clean.Text(m.Content)
	if len(m.Embeds) > 0 && m.Embeds[0] != nil {
		words += "\n" + clean.Line(m.Embeds[0].Title) + "\n" + clean.Text(m.Embeds[0].Description)
	}
	return key, strings.TrimSpace(words)
}

// open opens a window, which is the whole answer.
func (a *interactions) open(ctx context.Context, i interaction, f post.Form) error {
	m, err := render.Form(f)
	if err != nil {
		return err
	}
	return a.room.rest.Open(ctx, i.Interaction, m)
}

// menu carries out a command of a message's own menu that opens no window.
func (a *interactions) menu(ctx context.Context, i interaction, data discordgo.ApplicationCommandInteractionData) string {
	key, words := a.target(i, data)
	out, err := a.do(ctx, command.Click{ID: "act:" + post.TaskAbout + ":" + key, Words: words})
	if err != nil {
		return wordsOf(err)
	}
	return out.Message
}

// suggestions answer what the user types into a field. Only the newest one waits: an older
// one is no longer shown. So nothing piles up, however fast somebody types.
type suggestions struct {
	waits chan interaction // holds one
}

func newSuggestions() *suggestions { return &suggestions{waits: make(chan interaction, 1)} }

// put makes i the one that waits. It never blocks and is called by one goroutine.
func (s *suggestions) put(i interaction) {
	select {
	case <-s.waits:
	default:
	}
	s.waits <- i
}

// suggest answers the newest field that waits, until ctx ends.
func (a *interactions) suggest(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case i := <-a.typed.waits:
			a.suggestFor(ctx, i)
		}
	}
}

func (a *interactions) suggestFor(ctx context.Context, i interaction) {
	data, _ := i.Data.(discordgo.ApplicationCommandInteractionData)
	var list []string
	for _, o := range data.Options {
		if typed, ok := o.Value.(string); ok && o.Focused {
			list = a.bot.Suggest(data.Name, o.Name, clean.Line(typed))
		}
	}
	ctx, cancel := context.WithDeadline(ctx, i.at.Add(answerWithin))
	defer cancel()
	if err := a.room.rest.Suggest(ctx, i.Interaction, render.Suggestions(list)); rest.Answered(err) {
		a.rival()
	}
}
