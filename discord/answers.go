package discord

import (
	"context"
	"errors"
	"sync"
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

	mu            sync.Mutex
	newest, ended *answer // the newest one, and the newest that has ended; nil before the first
}

// begin starts a growing answer. If the surface has stopped, the answer is only in the
// dashboard.
func (a *answers) begin(o chat.AnswerOptions) chat.RemoteAnswer {
	if a.room.status.gaveUp() != "" || a.room.life.Err() != nil {
		return noAnswer{}
	}
	a.presence.turnChanged()
	a.room.growing.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	var after <-chan struct{} // without a network, the answers wait in order
	if a.newest != nil {
		after = a.newest.Sent()
	}
	a.newest = &answer{Answer: stream.New(a.room.life, stream.Options{
		Channel: a.room, Log: a.room.log, Line: a.room.line, Messages: maxMessages,
		StatusLine: a.statusLine != nil && a.statusLine(),
		ID:         o.ID, Silent: o.Silent, After: after,
		Growing: func(id post.MessageID, there bool) { a.room.state.setGrowing(string(id), there) },
	}), all: a, over: make(chan struct{})}
	return a.newest
}

// delivered waits until the newest answer that has ended was delivered or given up. refused means that none of it
// arrived.
func (a *answers) delivered(ctx context.Context) (refused bool) {
	a.mu.Lock()
	last := a.ended
	a.mu.Unlock()
	if last == nil {
		return false
	}
	select {
	case <-last.over:
		return last.refused
	case <-ctx.Done():
		return false
	}
}

// answer is a growing answer. Only Farewell and the marks wait for its delivery.
type answer struct {
	*stream.Answer
	all     *answers
	over    chan struct{} // closed after the last try to deliver it
	refused bool          // written before over is closed
}

// End finishes the answer without delaying its turn.
func (a *answer) End(emptyIsFine bool, shown func(ids []post.MessageID)) {
	a.all.presence.turnChanged()
	a.all.room.growing.Add(-1)
	a.all.mu.Lock()
	a.all.ended = a
	a.all.mu.Unlock()
	finish := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shownWithin)
		defer cancel()
		ids := a.Answer.End(ctx, emptyIsFine)
		a.refused = len(ids) == 0 && !a.Empty()
		close(a.over)
		shown(ids)
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
func (noAnswer) Rings() bool                              { return false }
func (noAnswer) Rang()                                    {}
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
			err = r.replace(ctx, id, rest.Message{Content: render.Appended(said, why)})
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
	// delivered is that of answers: a message is done when its answer has arrived.
	delivered func(ctx context.Context) (refused bool)
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
		if verdict == markDone && m.delivered(ctx) {
			verdict = markFailed
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

// put adds a mark.
func (m *marks) put(ctx context.Context, id, mark string) {
	m.insist(ctx, func(ctx context.Context) error { return m.room.rest.React(ctx, m.room.state.dm().Channel, id, mark) })
}

// remove removes the eyes.
func (m *marks) remove(ctx context.Context, id string) {
	if m.insist(ctx, func(ctx context.Context) error { return m.room.rest.Unreact(ctx, m.room.state.dm().Channel, id, eyes) }) {
		m.room.state.setEyes(id, false)
	}
}

// markPause is the first pause between two tries to change a mark; it doubles each time. Without a network, the marks
// must not take the place of the messages.
const markPause = 4 * time.Second

// insist retries temporary failures while ctx lasts: a rate limit can be long. It reports whether nothing is left to
// try.
func (m *marks) insist(ctx context.Context, change func(context.Context) error) (done bool) {
	tries := pauses(markPause)
	for {
		last, cancel := linger(ctx, eyesWithin)
		err := change(last)
		cancel()
		if err == nil || !passes(err) {
			return true
		}
		m.room.log.Debug("mark was not changed", "error", err)
		var limited *rest.LimitedError
		if errors.As(err, &limited) && sleep(ctx, limited.After) != nil || tries.wait(ctx) != nil {
			return false
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
