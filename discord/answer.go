package discord

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/chat"
	"ollimbot/core/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/stream"
)

const (
	// shownWithin is how long an answer that has ended goes on trying to arrive.
	shownWithin = 10 * time.Minute
	// maxAnswers is how many answers may be on their way at once.
	maxAnswers = 256
	// maxMessages is how many messages an answer has before it goes on as a file.
	maxMessages = 5
)

// Answer begins an answer that grows. One that cannot be shown, because the
// surface has stopped, is swallowed: the dashboard has it.
func (d *Discord) Answer() chat.RemoteAnswer {
	if d.board.gaveUp() != "" || d.life.Err() != nil {
		return unheard{}
	}
	d.turned()
	return &answer{Answer: stream.New(d.life, stream.Options{
		Channel: d.room, Log: d.log, Line: d.line, Messages: maxMessages,
		Growing: func(id post.MessageID, there bool) { d.memory.grows(string(id), there) },
	}), d: d}
}

// answer is an answer whose end nobody waits for: Farewell does.
type answer struct {
	*stream.Answer
	d *Discord
}

// End finishes the answer beside the turn that made it.
func (a *answer) End(emptyIsFine bool, shown func(ids []post.MessageID)) {
	a.d.turned()
	finish := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shownWithin)
		defer cancel()
		shown(a.Answer.End(ctx, emptyIsFine))
	}
	if !a.d.answers.begin(1, finish) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		finish(over) // returns as soon as a request that is under way does
	}
}

// turned says that the bot may be busy, or no longer.
func (d *Discord) turned() {
	select {
	case d.turns <- struct{}{}:
	default:
	}
}

const (
	// settleWithin is how long a turn may take to have really begun or ended.
	settleWithin = 2 * time.Second
	// presentEvery is how often it is looked whether a mute has begun or ended.
	presentEvery = 30 * time.Second
)

// present shows below the bot's name whether it is busy or muted.
func (d *Discord) present(ctx context.Context) error {
	tick := time.NewTicker(presentEvery)
	defer tick.Stop()
	for {
		var p gateway.Presence
		switch busy, muted := d.bot.Busy(); {
		case busy:
			p.Watching = textBusy
		case !muted.IsZero():
			p = gateway.Presence{Watching: fmt.Sprintf(textMuted, muted.In(d.o.Zone).Format("15:04")), Away: true}
		}
		d.gate.Show(p)
		select {
		case <-tick.C:
		case <-d.turns:
			if sleep(ctx, settleWithin) != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// unheard is an answer without a listener.
type unheard struct{}

func (unheard) Append(string)                            {}
func (unheard) Rewind(int)                               {}
func (unheard) Tool(string, bool)                        {}
func (unheard) Status(string)                            {}
func (unheard) Compacting(agent.Compacting)              {}
func (unheard) End(_ bool, shown func([]post.MessageID)) { shown(nil) }
