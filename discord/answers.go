package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
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

// eyes marks a message that the bot is working on.
const eyes = "\U0001f440"

// The marks that replace the eyes when the answer is complete or has failed.
const (
	markDone   = "\u2705"
	markFailed = "\u274c"
)

// marks adds the eyes to messages, and replaces them at the end.
type marks struct {
	room *room
	pool *workerPool
}

// eyesWithin limits adding the mark, and lastWithin removing it at the end.
const (
	eyesWithin = 10 * time.Second
	lastWithin = 2 * time.Second
)

// add adds the eyes to a message, and shows that the bot is typing until the answer starts. The result on the channel
// given to the returned function decides which mark replaces the eyes; nil removes them at once. If there are many
// messages at once, the newer ones get no mark. Eyes left at the end of the program are removed at its next start.
func (m *marks) add(id string) func(done <-chan error) {
	answer := make(chan (<-chan error), 1)
	m.pool.begin(func(ctx context.Context) {
		m.typing(ctx)
		m.room.state.setEyes(id, true)
		putting, cancel := context.WithTimeout(ctx, eyesWithin)
		err := m.room.rest.React(putting, m.room.state.dm().Channel, id, eyes)
		cancel()
		verdict := m.await(ctx, answer)
		// Without an answer the mark may exist anyway.
		if err != nil && !passes(err) && ctx.Err() == nil {
			m.room.state.setEyes(id, false)
			return
		}
		if verdict != "" {
			m.put(ctx, id, verdict)
		}
		m.remove(ctx, id)
	})
	return func(done <-chan error) { answer <- done }
}

// await waits for the end of the message's answer and returns the final mark, or none for a stopped answer.
func (m *marks) await(ctx context.Context, answer <-chan (<-chan error)) string {
	var done <-chan error
	tick := time.NewTicker(typingEvery)
	defer tick.Stop()
	for {
		select {
		case done = <-answer:
			if done == nil {
				return ""
			}
		case err := <-done:
			switch {
			case errors.Is(err, command.ErrInterrupted):
				return "" // neither done nor failed
			case err != nil:
				return markFailed
			}
			return markDone
		case <-tick.C:
			m.typing(ctx)
		case <-ctx.Done():
			return ""
		}
	}
}

// typingEvery is how often the typing indicator is renewed; Discord shows it for ten
// seconds.
const typingEvery = 8 * time.Second

// typing shows that the bot is typing, unless a growing answer already does.
func (m *marks) typing(ctx context.Context) {
	if m.room.growing.Load() > 0 {
		return
	}
	if err := m.room.Typing(ctx); err != nil {
		m.room.log.Debug("typing indicator was not set", "error", err)
	}
}

// put adds a mark, once.
func (m *marks) put(ctx context.Context, id, mark string) {
	last, cancel := linger(ctx, eyesWithin)
	defer cancel()
	if err := m.room.rest.React(last, m.room.state.dm().Channel, id, mark); err != nil {
		m.room.log.Debug("mark was not added", "error", err)
	}
}

// remove removes the eyes and retries while ctx lasts: a rate limit can be long.
func (m *marks) remove(ctx context.Context, id string) {
	var tries pauses
	for {
		last, cancel := linger(ctx, eyesWithin)
		err := m.room.rest.Unreact(last, m.room.state.dm().Channel, id, eyes)
		cancel()
		if err == nil || !passes(err) {
			m.room.state.setEyes(id, false)
			return
		}
		m.room.log.Debug("mark was not removed", "error", err)
		var limited *rest.LimitedError
		if errors.As(err, &limited) && sleep(ctx, limited.After) != nil || tries.wait(ctx) != nil {
			return
		}
	}
}

// finishLeftovers removes the eyes that the last process left.
func (m *marks) finishLeftovers(ctx context.Context) {
	eyes, _ := m.room.state.leftovers()
	for _, id := range eyes {
		m.remove(ctx, id)
	}
}
