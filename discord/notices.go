package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/post"
	"ollimbot/core/store"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// Notices are worth little after a while, and few of many.
const (
	noticeWithin = 2 * time.Minute
	maxNotices   = 50
)

// notice is a short word of the program. A quiet one does not make the user's
// phone ring.
type notice struct {
	text  string
	at    time.Time
	quiet bool
	nonce string
}

func (n notice) message() rest.Message {
	m := render.Small(n.text)
	m.Nonce = n.nonce
	if n.quiet {
		m.Flags |= rest.Silent
	}
	return m
}

// notices wait for the network, in order.
type notices struct {
	mu   sync.Mutex
	list []notice
	wake chan struct{} // has room for one
}

func newNotices() *notices { return &notices{wake: make(chan struct{}, 1)} }

// put adds a notice, unless the same one is the newest already. The oldest makes
// room for it where there are too many.
func (q *notices) put(n notice) {
	n.text = strings.TrimSpace(n.text)
	if n.text == "" {
		return
	}
	n.at, n.nonce = time.Now(), "n"+store.NewID()+store.NewID()
	q.mu.Lock()
	if last := len(q.list) - 1; last < 0 || q.list[last].text != n.text {
		if q.list = append(q.list, n); len(q.list) > maxNotices {
			q.list = append([]notice(nil), q.list[1:]...)
		}
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next is the oldest notice that is worth sending.
func (q *notices) next(now time.Time) (notice, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		n := q.list[0]
		q.list = q.list[1:]
		if now.Sub(n.at) < noticeWithin {
			return n, true
		}
	}
	return notice{}, false
}

// Small shows a short notice in order with everything else. It never blocks; a
// notice that is not delivered within two minutes is dropped.
func (d *Discord) Small(text string) { d.notices.put(notice{text: text}) }

// tellAll sends the notices.
func (d *Discord) tellAll(ctx context.Context) error {
	for ctx.Err() == nil {
		n, ok := d.notices.next(time.Now())
		if ok {
			d.notify(ctx, n)
			continue
		}
		select {
		case <-d.notices.wake:
		case <-ctx.Done():
		}
	}
	return nil
}

// notify sends one notice, while it is worth it.
func (d *Discord) notify(ctx context.Context, n notice) {
	ctx, cancel := context.WithDeadline(ctx, n.at.Add(noticeWithin))
	defer cancel()
	if _, err := d.deliver(ctx, []rest.Message{n.message()}); err != nil {
		d.log.Debug("a notice was dropped", "error", err)
	}
}

// deliver sends messages that belong together, and tries again while trouble may
// pass and ctx lasts; every try has the nonces of the first. Its error is
// Discord's last, or ctx's where that ended first.
func (d *Discord) deliver(ctx context.Context, list []rest.Message) ([]string, error) {
	var ids []string
	var tries pauses
	maybe := false
	for {
		err := d.line.Send(ctx, func(ctx context.Context) error {
			for len(ids) < len(list) {
				id, err := d.room.post(ctx, list[len(ids)])
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		})
		// At the start the channel is only just being looked up.
		soon := errors.Is(err, post.ErrNoChannel) && d.board.gaveUp() == "" && d.life.Err() == nil
		if maybe = maybe || errors.Is(err, rest.ErrUnknown); maybe && err != nil {
			err = rest.Unknown(err) // an earlier try may be there
		}
		if err == nil || !soon && !passes(err) || ctx.Err() != nil {
			return ids, err
		}
		if over, ok := ctx.Deadline(); ok && time.Until(over) < shortPause {
			return ids, err
		}
		if tries.wait(ctx) != nil {
			return ids, err
		}
	}
}

// Farewell lets the last answers arrive, says goodbye, with the notices that were
// still on their way, and ends what has outlived Run. It respects ctx.
func (d *Discord) Farewell(ctx context.Context) {
	defer d.answers.finish()
	defer d.end()
	h, ok := d.memory.home()
	if !ok || d.board.gaveUp() != "" {
		return
	}
	d.answers.idle(ctx, farewellTakes)
	var lines []string
	for n, more := d.notices.next(time.Now()); more; n, more = d.notices.next(time.Now()) {
		lines = append(lines, n.text)
	}
	last := notice{text: strings.Join(append(lines, fmt.Sprintf(textFarewell, d.botName())), "\n"), quiet: len(lines) == 0}
	if _, err := d.rest.Send(ctx, h.Channel, last.message()); err != nil {
		d.log.Debug("nobody heard the farewell", "error", err)
	}
}

// farewellTakes is kept of the time for the farewell itself.
const farewellTakes = time.Second
