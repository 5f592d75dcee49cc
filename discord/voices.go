package discord

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// showWithin limits how long a message waits until its transcript is shown.
const showWithin = 10 * time.Second

// voices turns voice messages into words before the bot receives them, and shows the words.
// A program that ends meanwhile has not received the message, so that the next one begins
// again; the nonce of the reply keeps that from being shown twice.
type voices struct {
	room       *room
	transcribe func(ctx context.Context, recording []byte) (string, error)
	log        *slog.Logger
}

// hear returns what is said in the voice messages of a message, by their files, or why that is
// not known. data are the files that were downloaded.
func (v *voices) hear(
	ctx context.Context, m *discordgo.Message, data map[*discordgo.MessageAttachment][]byte,
) map[*discordgo.MessageAttachment]string {
	list := message.Voices(m)
	if len(list) == 0 || v.transcribe == nil {
		return nil
	}
	if err := v.room.Typing(ctx); err != nil {
		v.log.Debug("typing indicator was not set", "error", err)
	}
	heard := map[*discordgo.MessageAttachment]string{}
	var said, missed []string
	for _, f := range list {
		recording, there := data[f]
		if !there {
			continue // the message says why
		}
		words, err := v.transcribe(ctx, recording)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			v.log.Info("a voice message was not transcribed", "error", err)
			heard[f] = fmt.Sprintf(textNotHeard, err)
			missed = append(missed, fmt.Sprintf(textTellNotHeard, strings.TrimRight(err.Error(), ".")))
		default:
			heard[f] = words
			said = append(said, words)
		}
	}
	switch {
	case len(said) > 0:
		v.show(ctx, render.Transcript(strings.Join(said, "\n"), m.ID))
	case len(missed) > 0:
		v.show(ctx, render.Remark(missed[0], m.ID))
	}
	return heard
}

// show sends the reply. The message is received without it if Discord does not take it in time.
func (v *voices) show(ctx context.Context, reply rest.Message) {
	ctx, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	if _, err := v.room.deliver(ctx, reply); err != nil {
		v.log.Warn("what was heard in a voice message was not shown", "error", err)
	}
}
