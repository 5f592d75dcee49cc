package discord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/fault"
	"ollimbot/core/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

const (
	// answerWithin is how long Discord waits for the first answer.
	answerWithin = 3 * time.Second
	// tokenFor is how long the right to answer lasts, less a little for the way.
	tokenFor = 15*time.Minute - 20*time.Second
	// replyWithin is how long telling a result may take.
	replyWithin = time.Minute
	// strangers is the share of the crew that others may keep busy.
	strangers = 8
)

// interact takes a command or a click. Its promise of an answer is the first
// thing that happens, beside everything else.
func (d *Discord) interact(ctx context.Context, e gateway.Event) {
	h, ok := d.memory.home()
	if !ok || e.AppID != h.App || d.answered.again(e.InteractionID) {
		return
	}
	switch {
	case e.UserID != h.Owner:
		d.crew.begin(strangers, func(ctx context.Context) { d.refuse(ctx, e, textNotAuthorized) })
	case e.Guild, e.CustomID != "" && e.ChannelID != h.Channel:
		d.crew.begin(strangers, func(ctx context.Context) { d.refuse(ctx, e, textNotHere) })
	case !d.crew.begin(1, func(ctx context.Context) { d.carryOut(ctx, e) }):
		text := textTooMuch
		if ctx.Err() != nil {
			text = textStopping
		}
		d.refuse(ctx, e, text)
	}
}

// refuse answers an interaction with a sentence, and that is all.
func (d *Discord) refuse(ctx context.Context, e gateway.Event, text string) {
	ctx, cancel := first(ctx, e)
	defer cancel()
	m := render.Ephemeral(text)
	if err := d.saw(d.rest.Answer(ctx, e.InteractionID, e.Token, rest.WithMessage, &m)); err != nil {
		d.log.Debug("a refusal did not arrive", "error", err)
	}
}

// first is the time that the first answer to an interaction has.
func first(ctx context.Context, e gateway.Event) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.WithoutCancel(ctx), e.At.Add(answerWithin))
}

// carryOut promises an answer, does what was asked for, and tells what came of
// it. What could not be promised is not done: Discord has told the user that the
// bot did not respond, and they would do it again.
func (d *Discord) carryOut(ctx context.Context, e gateway.Event) {
	promised, cancel := first(ctx, e)
	defer cancel()
	var err error
	if e.CustomID != "" {
		err = d.rest.Answer(promised, e.InteractionID, e.Token, rest.Quietly, nil)
	} else {
		err = d.rest.Answer(promised, e.InteractionID, e.Token, rest.Thinking, &rest.Message{Flags: rest.Ephemeral})
	}
	if d.saw(err) != nil {
		d.log.Info("an interaction could not be answered", "error", err)
		text := fmt.Sprintf(textTooLate, title(e))
		if !errors.Is(err, rest.ErrExpired) && promised.Err() == nil {
			text = fmt.Sprintf(textNotPromised, title(e), reason(err))
		}
		d.Small(text)
		return
	}
	if e.CustomID != "" {
		d.click(ctx, e)
		return
	}
	d.command(ctx, e)
}

// title is what was asked for, for people.
func title(e gateway.Event) string {
	if e.CustomID != "" {
		return textAButton
	}
	return "/" + e.CommandName
}

// click presses a button and tells what it said, if anything.
func (d *Discord) click(ctx context.Context, e gateway.Event) {
	var c command.Value = command.Click{Message: d.memory.whole(e.MessageID), ID: e.CustomID}
	id, verdict, answers := render.ParseApproval(e.CustomID)
	if answers {
		c = command.Answer{ID: id, Verdict: verdict}
	}
	out, err := d.do(ctx, c)
	text := out.Message
	action, _, _ := post.ParseCustomID(e.CustomID)
	switch {
	case answers && err == nil:
		return // the card tells the outcome
	case err != nil:
		text = words(err)
	case action == "dismiss":
		return // the message has gone, which says it
	}
	if action == post.AskAgent && err == nil {
		d.used(ctx, e)
	}
	if text == "" {
		return
	}
	h, _ := d.memory.home()
	ctx, cancel := linger(ctx, replyWithin)
	defer cancel()
	if time.Since(e.At) < tokenFor {
		if _, err = d.rest.FollowUp(ctx, h.App, e.Token, ephemeral(text)); d.saw(err) == nil {
			return
		}
	}
	d.Small(text)
}

// used disables a button that works once.
func (d *Discord) used(ctx context.Context, e gateway.Event) {
	var rows []rest.Row
	for _, buttons := range e.Buttons {
		var row rest.Row
		for _, b := range buttons {
			row = append(row, rest.Button{
				CustomID: b.ID, Label: b.Label, Style: rest.Style(b.Style), Disabled: b.Disabled || b.ID == e.CustomID,
			})
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	err := d.line.Edit(ctx, func(ctx context.Context) error {
		return patient(d.saw(d.rest.Buttons(ctx, e.ChannelID, e.MessageID, rows)))
	})
	if err != nil && !errors.Is(err, rest.ErrGone) {
		d.log.Debug("a used button can still be clicked", "error", err)
	}
}

// command carries out a slash command and puts its reply where the promise is.
func (d *Discord) command(ctx context.Context, e gateway.Event) {
	text := d.slash(ctx, e)
	h, _ := d.memory.home()
	ctx, cancel := linger(ctx, replyWithin)
	defer cancel()
	err := rest.ErrExpired
	if time.Since(e.At) < tokenFor {
		if text == "" {
			err = d.rest.DeleteAnswer(ctx, h.App, e.Token)
		} else {
			err = d.rest.EditAnswer(ctx, h.App, e.Token, ephemeral(text))
		}
	}
	if d.saw(err) == nil || text == "" {
		return
	}
	d.log.Debug("a reply comes as a message", "error", err)
	d.Small(fmt.Sprintf(textLateReply, title(e), text))
}

// slash is the reply to a command; empty where there is none.
func (d *Discord) slash(ctx context.Context, e gateway.Event) string {
	line, why := slashLine(e.CommandName, e.Options)
	if why != "" {
		return why
	}
	out, err := d.do(ctx, command.Slash{Line: line})
	switch {
	case err != nil:
		return words(err)
	case out.Message == "" && !silent(e.CommandName):
		return textDone
	}
	return out.Message
}

// do asks the bot; a fault in there is an error like any other.
func (d *Discord) do(ctx context.Context, c command.Value) (out command.Outcome, err error) {
	defer func() {
		if f := fault.Of("a command from Discord", recover()); f != nil {
			d.log.Error("a command from Discord broke", "error", f)
			err = errors.New(textOdd)
		}
	}()
	out, err = d.bot.Do(ctx, c)
	if err != nil && ctx.Err() != nil {
		err = context.Canceled
	}
	return out, err
}

// words is an error as the user reads it.
func words(err error) string {
	if errors.Is(err, context.Canceled) {
		return textStopping
	}
	return reason(err)
}

// ephemeral is a reply that only the user sees, with a note where it is cut.
func ephemeral(text string) rest.Message {
	parts := render.Split(text, render.MaxContent-render.Length(textCutAnswer))
	if len(parts) > 1 && render.Length(text) > render.MaxContent {
		text = parts[0] + textCutAnswer
	}
	return render.Ephemeral(text)
}
