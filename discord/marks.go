package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/discord/rest"
)

// eyes marks a message that is being worked on.
const eyes = "\U0001f440"

// marks adds the eyes to messages and removes them.
type marks struct {
	room *room
	pool *workerPool
}

// eyesWithin limits adding the mark, and lastWithin removing it at the end.
const (
	eyesWithin = 10 * time.Second
	lastWithin = 2 * time.Second
)

// add adds the eyes to a message. They are removed when the channel given to the returned
// function is closed; nil removes them at once. With many messages at once the newer ones
// get no mark. Eyes left at the program's end are removed at its next start.
func (m *marks) add(id string) func(done <-chan struct{}) {
	answer := make(chan (<-chan struct{}), 1)
	m.pool.begin(func(ctx context.Context) {
		m.room.state.setEyes(id, true)
		putting, cancel := context.WithTimeout(ctx, eyesWithin)
		err := m.room.rest.React(putting, m.room.state.dm().Channel, id, eyes)
		cancel()
		select {
		case done := <-answer:
			if done != nil {
				select {
				case <-done:
				case <-ctx.Done():
				}
			}
		case <-ctx.Done():
		}
		// Without an answer the mark may exist anyway.
		if err != nil && !passes(err) && ctx.Err() == nil {
			m.room.state.setEyes(id, false)
			return
		}
		m.remove(ctx, id)
	})
	return func(done <-chan struct{}) { answer <- done }
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
