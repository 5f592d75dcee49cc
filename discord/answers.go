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
	// shownWithin limits how long a finished answer keeps trying to arrive.
	shownWithin = 10 * time.Minute
	// maxMessages is the largest number of messages of an answer; the rest becomes a file.
	maxMessages = 5
)

// answers are the growing answers, and the finished ones that are still being delivered.
type answers struct {
	room     *room
	presence *presence
	pool     *workerPool
	// statusLine is that of Options.
	statusLine func() bool
}

// begin starts a growing answer. If the surface has stopped, the answer is only in the
// dashboard.
func (a *answers) begin() chat.RemoteAnswer {
	if a.room.status.gaveUp() != "" || a.room.life.Err() != nil {
		return noAnswer{}
	}
	a.presence.turnChanged()
	a.room.growing.Add(1)
	return &answer{Answer: stream.New(a.room.life, stream.Options{
		Channel: a.room, Log: a.room.log, Line: a.room.line, Messages: maxMessages,
		StatusLine: a.statusLine != nil && a.statusLine(),
		Growing:    func(id post.MessageID, there bool) { a.room.state.setGrowing(string(id), there) },
	}), all: a}
}

// answer is a growing answer. Only Farewell waits for its delivery.
type answer struct {
	*stream.Answer
	all *answers
}

// End finishes the answer without delaying its turn.
func (a *answer) End(emptyIsFine bool, shown func(ids []post.MessageID)) {
	a.all.presence.turnChanged()
	a.all.room.growing.Add(-1)
	finish := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shownWithin)
		defer cancel()
		shown(a.Answer.End(ctx, emptyIsFine))
	}
	if !a.all.pool.begin(finish) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		finish(over) // returns once the current request does
	}
}

// noAnswer is an answer that is not shown.
type noAnswer struct{}

func (noAnswer) Append(string)                            {}
func (noAnswer) Rewind(int)                               {}
func (noAnswer) Tool(string, bool)                        {}
func (noAnswer) Status(string)                            {}
func (noAnswer) Compacting(agent.Compacting)              {}
func (noAnswer) End(_ bool, shown func([]post.MessageID)) { shown(nil) }

// finishLeftovers marks the answers that the last process left incomplete.
func (a *answers) finishLeftovers(ctx context.Context) {
	_, growing := a.room.state.leftovers()
	for _, id := range growing {
		if a.room.end(ctx, id, textCutShort) {
			a.room.state.setGrowing(id, false)
		}
	}
}

// end appends the reason to a message of the last process that has no effect any more, and removes
// its buttons. It reports whether there is nothing left to try.
func (r *room) end(ctx context.Context, id, why string) (done bool) {
	err := retry(ctx, func() error {
		said, err := r.rest.Text(ctx, r.state.dm().Channel, id)
		if err == nil {
			room := render.MaxContent - render.Length(why)
			err = r.replace(ctx, id, rest.Message{Content: render.Cut(said, room) + why})
		}
		return err
	})
	return err == nil || !passes(err)
}
