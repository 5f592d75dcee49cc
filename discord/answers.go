package discord

import (
	"context"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

const (
	// shownWithin is how long an answer that has ended goes on trying to arrive.
	shownWithin = 10 * time.Minute
	// maxMessages is how many messages an answer has before it goes on as a file.
	maxMessages = 5
)

// answers are the answers that grow in the room, and those that have ended and are
// still on their way.
type answers struct {
	room     *room
	presence *presence
	pool     *workerPool
}

// begin begins an answer that grows. One that cannot be shown, because the
// surface has stopped, is swallowed: the dashboard has it.
func (a *answers) begin() chat.RemoteAnswer {
	if a.room.status.gaveUp() != "" || a.room.life.Err() != nil {
		return noAnswer{}
	}
	a.presence.turnChanged()
	return &answer{Answer: stream.New(a.room.life, stream.Options{
		Channel: a.room, Log: a.room.log, Line: a.room.line, Messages: maxMessages,
		Growing: func(id post.MessageID, there bool) { a.room.state.setGrowing(string(id), there) },
	}), all: a}
}

// answer is an answer whose end nobody waits for: Farewell does.
type answer struct {
	*stream.Answer
	all *answers
}

// End finishes the answer beside the turn that made it.
func (a *answer) End(emptyIsFine bool, shown func(ids []post.MessageID)) {
	a.all.presence.turnChanged()
	finish := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shownWithin)
		defer cancel()
		shown(a.Answer.End(ctx, emptyIsFine))
	}
	if !a.all.pool.begin(finish) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		finish(over) // returns as soon as a request that is under way does
	}
}

// noAnswer is an answer that nobody sees.
type noAnswer struct{}

func (noAnswer) Append(string)                            {}
func (noAnswer) Rewind(int)                               {}
func (noAnswer) Tool(string, bool)                        {}
func (noAnswer) Status(string)                            {}
func (noAnswer) Compacting(agent.Compacting)              {}
func (noAnswer) End(_ bool, shown func([]post.MessageID)) { shown(nil) }

// finishLeftovers marks the answers that the last process left in the middle of a word.
func (a *answers) finishLeftovers(ctx context.Context) {
	_, growing := a.room.state.leftovers()
	for _, id := range growing {
		a.cutShort(ctx, id)
	}
}

// cutShort marks an answer that will not go on.
func (a *answers) cutShort(ctx context.Context, id string) {
	err := retry(ctx, func() error {
		said, err := a.room.rest.Text(ctx, a.room.state.dm().Channel, id)
		if err == nil {
			room := render.MaxContent - render.Length(textCutShort)
			err = a.room.replace(ctx, id, rest.Message{Content: render.Cut(said, room) + textCutShort})
		}
		return err
	})
	if err == nil || !passes(err) {
		a.room.state.setGrowing(id, false)
	}
}
