package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// The commands that open a form in Discord. The second one does so if an option is missing.
const (
	setupCommand  = "setup"
	remindCommand = "remind"
)

const (
	// answerWithin is how long Discord waits for the first answer.
	answerWithin = 3 * time.Second
	// tokenFor is how long an interaction's token is valid, with a margin.
	tokenFor = 15*time.Minute - 20*time.Second
	// replyWithin limits sending a result.
	replyWithin = time.Minute
	// keptInteractions is how many interactions are remembered, because Discord may repeat
	// one.
	keptInteractions = 256
)

// interactions answer commands and clicks within the three seconds that Discord waits.
type interactions struct {
	room     *room
	notices  *notices
	bot      core.Intake
	log      *slog.Logger
	work     *workerPool
	refusals *workerPool
	typed    *suggestions
	draw     func(ctx context.Context, name string) (png []byte, alt string, err error) // may be nil
	rival    func()                                                                     // reports that another program answered an interaction
	answered recent                                                                     // used only by the listening goroutine
	// user and botName begin the form of /setup.
	user, botName string
	ways          *ways
}

// take handles a command or a click. It sends the deferral first, independently of everything else.
func (a *interactions) take(ctx context.Context, i interaction) {
	dm := a.room.state.dm()
	if i.AppID != dm.App || !a.answered.add(i.ID) {
		return
	}
	who := gateway.Who(&discordgo.InteractionCreate{Interaction: i.Interaction})
	switch {
	case i.Type == discordgo.InteractionApplicationCommandAutocomplete:
		if who.ID == dm.Owner && i.GuildID == "" {
			a.typed.put(i)
		}
	case who.ID != dm.Owner:
		a.refuse(i, textNotAuthorized)
	case i.GuildID != "", i.customID() != "" && !i.submits() && i.ChannelID != dm.Channel:
		a.refuse(i, textNotHere)
	case a.work.begin(func(ctx context.Context) { a.carryOut(ctx, i) }):
	case ctx.Err() != nil:
		a.refuse(i, textStopping)
	default:
		a.refuse(i, textTooMuch)
	}
}

// refuse answers an interaction with a sentence. If there are many at once, only a few are answered.
func (a *interactions) refuse(i interaction, text string) {
	a.refusals.begin(func(ctx context.Context) {
		ctx, cancel := i.first(ctx)
		defer cancel()
		m := render.Ephemeral(text)
		err := a.room.rest.Answer(ctx, i.Interaction, discordgo.InteractionResponseChannelMessageWithSource, &m)
		if err != nil {
			a.log.Debug("refusal was not delivered", "error", err)
		}
	})
}

// carryOut defers the answer, executes the interaction and sends the result. An interaction that could not be
// deferred is not executed: Discord shows the user that the bot did not respond, so the user would repeat it.
func (a *interactions) carryOut(ctx context.Context, i interaction) {
	promised, cancel := i.first(ctx)
	defer cancel()
	var err error
	form, opens := a.form(i)
	switch onMessage := i.customID() != "" && i.Message != nil; {
	case opens: // only possible as the first answer
		err = a.open(promised, i, form)
	case onMessage:
		err = a.room.rest.Answer(promised, i.Interaction, discordgo.InteractionResponseDeferredMessageUpdate, nil)
	default:
		m := rest.Message{Flags: discordgo.MessageFlagsEphemeral}
		err = a.room.rest.Answer(promised, i.Interaction, discordgo.InteractionResponseDeferredChannelMessageWithSource, &m)
	}
	if rest.Answered(err) { // and executed by the program that answered it
		a.rival()
		return
	}
	if err != nil {
		a.log.Info("interaction was not answered", "error", err)
		text := fmt.Sprintf(textTooLate, i.title())
		if !errors.Is(err, rest.ErrExpired) && promised.Err() == nil {
			text = fmt.Sprintf(textNotPromised, i.title(), reason(err))
		}
		a.notices.say(post.KindTrouble, text, a.back(i, command.Outcome{}, err)...)
		return
	}
	switch {
	case opens:
	case i.customID() != "" && i.Message != nil:
		a.click(ctx, i)
	default:
		a.command(ctx, i)
	}
}

// click presses a button and sends its answer, if any.
func (a *interactions) click(ctx context.Context, i interaction) {
	var c command.Value = i.click()
	id, verdict, answers := render.ParseApproval(i.customID())
	action, about, _ := post.ParseCustomID(i.customID())
	known, lost := true, textNotUndone
	switch {
	case answers:
		c = command.Answer{ID: id, Verdict: verdict}
	case action == post.Undo:
		c, known = a.ways.undone(about)
	case action == post.FormAgain: // otherwise it has opened
		known, lost = false, textFormGone
	}
	out, err := command.Outcome{}, errors.New(lost)
	if known {
		out, err = a.do(ctx, c)
	}
	text := out.Message
	if err == nil && out.Card != nil {
		a.renew(ctx, i, *out.Card)
		out.Card = nil
	}
	switch {
	case answers && err == nil:
		return // the card shows the outcome
	case err != nil:
		text = wordsOf(err)
	case action == "dismiss":
		return // the message has disappeared, which is the answer
	case action == post.AskAgent, action == post.TryAgain, post.OfPing(action):
		a.used(ctx, i)
	}
	if text == "" {
		return
	}
	ctx, cancel := linger(ctx, replyWithin)
	defer cancel()
	m := a.message(ctx, text, out)
	back := a.back(i, out, err)
	m.Components = render.Buttons(back)
	if time.Since(i.at) < tokenFor && a.room.rest.FollowUp(ctx, i.Interaction, m) == nil {
		return
	}
	a.notices.say(post.KindAnswer, text, back...)
}

// back returns the buttons that lead back: to a form that was refused, or from what was done.
func (a *interactions) back(i interaction, out command.Outcome, err error) []post.Button {
	switch {
	case err == nil:
		return a.ways.undo(i.ID, out.Undo)
	case i.submits():
		return a.ways.again(i.customID(), i.ID, i.fields())
	}
	return nil
}

// renew updates a card after its button changed something.
func (a *interactions) renew(ctx context.Context, i interaction, card post.Embed) {
	ctx, cancel := linger(ctx, replyWithin)
	defer cancel()
	if err := a.room.rest.EditAnswer(ctx, i.Interaction, render.Post(post.Post{Embed: &card})); err != nil {
		a.log.Debug("card was not renewed", "error", err)
	}
}

// used disables a button that works only once.
func (a *interactions) used(ctx context.Context, i interaction) {
	for _, row := range i.Message.Components {
		if row, ok := row.(*discordgo.ActionsRow); ok {
			for _, c := range row.Components {
				if b, ok := c.(*discordgo.Button); ok && b.CustomID == i.customID() {
					b.Disabled = true
				}
			}
		}
	}
	if len(i.Message.Components) == 0 {
		return
	}
	err := a.room.line.Edit(ctx, func(ctx context.Context) error {
		return a.room.rest.Buttons(ctx, i.ChannelID, i.Message.ID, i.Message.Components)
	})
	if err != nil && !errors.Is(err, rest.ErrGone) {
		a.log.Debug("used button was not disabled", "error", err)
		return
	}
	a.room.state.setFleeting(i.Message.ID, false)
}

// command executes a command, or a window without a message, and replaces the deferral by the reply.
func (a *interactions) command(ctx context.Context, i interaction) {
	text, out, back := a.reply(ctx, i)
	ctx, cancel := linger(ctx, replyWithin)
	defer cancel()
	err := rest.ErrExpired
	if time.Since(i.at) < tokenFor {
		if text == "" {
			err = a.room.rest.DeleteAnswer(ctx, i.Interaction)
		} else {
			m := a.message(ctx, text, out)
			if len(back) > 0 {
				m.Components = render.Buttons(back)
			}
			err = a.room.rest.EditAnswer(ctx, i.Interaction, m)
		}
	}
	if err == nil || text == "" {
		return
	}
	a.log.Debug("reply is sent as a message", "error", err)
	a.notices.say(post.KindAnswer, fmt.Sprintf(textLateReply, i.title(), text), back...)
}

// message builds a reply that only the user sees: its text or card, and its picture. The text also describes the
// picture, so the picture may be missing.
func (a *interactions) message(ctx context.Context, text string, out command.Outcome) rest.Message {
	if out.Card != nil {
		return render.Post(post.Post{Embed: out.Card})
	}
	m := ephemeral(text)
	if out.Picture == "" || a.draw == nil {
		return m
	}
	png, alt, err := a.draw(ctx, out.Picture)
	if err != nil {
		a.log.Error("a picture was not drawn", "picture", out.Picture, "error", err)
		return m
	}
	m.Files = []rest.File{{Name: out.Picture + ".png", Alt: alt, Read: func() ([]byte, error) { return png, nil }}}
	return m
}

// reply executes a command and returns the text of its reply, with its card and picture, and the buttons that lead back.
func (a *interactions) reply(ctx context.Context, i interaction) (text string, out command.Outcome, back []post.Button) {
	said, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	switch {
	case ok && said.TargetID != "":
		return a.menu(ctx, said), out, nil
	case ok:
		text, out = a.slash(ctx, said)
		return text, out, nil
	}
	out, err := a.do(ctx, i.click())
	back = a.back(i, out, err)
	if err != nil {
		return wordsOf(err), command.Outcome{}, back
	}
	return cmp.Or(out.Message, textDone), out, back
}

// slash executes a slash command and returns its reply; the text may be empty.
func (a *interactions) slash(ctx context.Context, said discordgo.ApplicationCommandInteractionData) (text string, out command.Outcome) {
	options := make(map[string]any, len(said.Options))
	for _, o := range said.Options {
		options[o.Name] = o.Value
	}
	line, why := slashLine(said.Name, options)
	if why != "" {
		return why, out
	}
	out, err := a.do(ctx, command.Slash{Line: line})
	switch {
	case err != nil:
		return wordsOf(err), command.Outcome{}
	case out.Message == "" && !silent(said.Name):
		return textDone, out
	}
	return out.Message, out
}

// do passes a command to the bot and turns a panic into an error.
func (a *interactions) do(ctx context.Context, c command.Value) (out command.Outcome, err error) {
	defer fault.Rescue("a command from Discord", func(f *fault.Error) {
		a.log.Error("command from Discord panicked", "error", f)
		err = errors.New(textOdd)
	})
	out, err = a.bot.Do(ctx, c)
	if err != nil && ctx.Err() != nil {
		err = context.Canceled
	}
	return out, err
}

// wordsOf returns an error's text for the user.
func wordsOf(err error) string {
	if errors.Is(err, context.Canceled) {
		return textStopping
	}
	return reason(err)
}

// ephemeral builds a reply that only the user sees, with a note if it is cut.
func ephemeral(text string) rest.Message {
	text = post.Phone(text)
	parts := render.Split(text, render.MaxContent-render.Length(textCutAnswer))
	if len(parts) > 1 && render.Length(text) > render.MaxContent {
		text = parts[0] + textCutAnswer
	}
	return render.Ephemeral(text)
}

// form returns the window that an interaction opens, if it opens one.
func (a *interactions) form(i interaction) (post.Form, bool) {
	switch data := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		action, about, ok := post.ParseCustomID(data.CustomID)
		switch {
		case !ok:
			return post.Form{}, false
		case action == post.FormAgain:
			return a.ways.form(about)
		case action == post.RemindNew: // each opening is another reminder
			about = i.ID
		}
		return post.FormOf(action, about)
	case discordgo.ApplicationCommandInteractionData:
		switch menu := data.TargetID != ""; {
		case menu && data.Name == command.RemindAboutThis:
			key, words := a.target(data)
			return post.About(key, words, textAboutHint), true
		case !menu && data.Name == setupCommand:
			return post.SetupForm(i.ID, a.user, a.botName), true
		case !menu && data.Name == remindCommand && len(data.Options) < 2:
			return remindForm(i.ID, data.Options)
		}
	}
	return post.Form{}, false
}

// remindForm returns the form of a new reminder, with what was given to /remind.
func remindForm(key string, given []*discordgo.ApplicationCommandInteractionDataOption) (post.Form, bool) {
	f, ok := post.FormOf(post.RemindNew, key)
	for i := range f.Fields {
		for _, o := range given {
			if o.Name == f.Fields[i].Name {
				f.Fields[i].Value = clean.Line(fmt.Sprint(o.Value))
			}
		}
	}
	return f, ok
}

// target returns the message whose menu was used: its text, and a key that says whether the text is the owner's own.
// The bot's messages do not count as the owner's, because they may repeat someone else's words. The key is stable, so
// that using the menu twice has no further effect.
func (a *interactions) target(data discordgo.ApplicationCommandInteractionData) (key, words string) {
	key = post.Foreign + data.TargetID
	if data.Resolved == nil || data.Resolved.Messages[data.TargetID] == nil {
		return key, ""
	}
	m := data.Resolved.Messages[data.TargetID]
	if who := m.Author; who != nil && who.ID == a.room.state.dm().Owner {
		key = post.Own + data.TargetID
	}
	return key, strings.TrimSpace(clean.Text(m.Content) + "\n" + message.Card(m))
}

// open opens a window as the complete answer.
func (a *interactions) open(ctx context.Context, i interaction, f post.Form) error {
	m, err := render.Form(f)
	if err != nil {
		return err
	}
	a.ways.opened(m.CustomID, f)
	return a.room.rest.Open(ctx, i.Interaction, m)
}

// menu executes a command of a message's menu that does not open a window.
func (a *interactions) menu(ctx context.Context, data discordgo.ApplicationCommandInteractionData) string {
	key, words := a.target(data)
	out, err := a.do(ctx, command.Click{ID: "act:" + post.TaskAbout + ":" + key, Words: words})
	if err != nil {
		return wordsOf(err)
	}
	return out.Message
}

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
		in := i.fields()
		c.Value = clean.Line(in[post.FieldWhen] + in[post.FieldValue]) // a form has one of them
		c.Words = in[post.FieldWhat]
		c.Fields = command.Fields{
			User: in[post.FieldUser], Bot: in[post.FieldBot], Quiet: in[post.FieldQuiet],
			Capacity: in[post.FieldCapacity], Refill: in[post.FieldRefill],
		}
	}
	return c
}

// fields returns the fields of a submitted window, cleaned; nil for anything else.
func (i interaction) fields() map[string]string {
	data, ok := i.Data.(discordgo.ModalSubmitInteractionData)
	if !ok {
		return nil
	}
	fields := filled(data.Components)
	for name, value := range fields {
		fields[name] = strings.TrimSpace(clean.Text(value))
	}
	return fields
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
