package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/discord/rest"
)

// eyes is the mark of a message that is being worked on.
const eyes = "\U0001f440"

// marks put the eyes below messages and take them away.
type marks struct {
	room *room
	pool *workerPool
}

// eyesWithin is how long putting the mark may take, and how long removing it
// once everything ends.
const (
	eyesWithin = 10 * time.Second
	lastWithin = 2 * time.Second
)

// add puts the eyes below a message, and takes them away when what the function
// is given was closed; nil is at once. With many messages at once the newer ones
// do without. Eyes that the program's end has left are taken away at its next
// start.
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
		// Without an answer it may stand there all the same.
		if err != nil && !passes(err) && ctx.Err() == nil {
			m.room.state.setEyes(id, false)
			return
		}
		m.remove(ctx, id)
	})
	return func(done <-chan struct{}) { answer <- done }
}

// remove takes the eyes away, for as long as that may take while ctx lasts: a
// limit can be long.
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
		m.room.log.Debug("a mark was not removed", "error", err)
		var limited *rest.LimitedError
		if errors.As(err, &limited) && sleep(ctx, limited.After) != nil || tries.wait(ctx) != nil {
			return
		}
	}
}

// finishLeftovers takes away what the last process left below messages that nobody works on.
func (m *marks) finishLeftovers(ctx context.Context) {
	eyes, _ := m.room.state.leftovers()
	for _, id := range eyes {
		m.remove(ctx, id)
	}
}
