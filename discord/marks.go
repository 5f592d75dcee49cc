package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/core/command"
	"ollimbot/discord/rest"
)

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
