package discord

import (
	"context"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/post"
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
func (d *Discord) Answer() core.RemoteAnswer {
	if d.board.gaveUp() != "" || d.life.Err() != nil {
		return unheard{}
	}
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

// unheard is an answer without a listener.
type unheard struct{}

func (unheard) Append(string)                            {}
func (unheard) Rewind(int)                               {}
func (unheard) Tool(string, bool)                        {}
func (unheard) Status(string)                            {}
func (unheard) Compacting(agent.Compacting)              {}
func (unheard) End(_ bool, shown func([]post.MessageID)) { shown(nil) }
