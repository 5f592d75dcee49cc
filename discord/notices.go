package discord

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// Notices expire, and only a few are kept.
const (
	noticeWithin = 2 * time.Minute
	maxNotices   = 50
)

// notice is a short message of the program. A quiet one does not notify the user's phone.
type notice struct {
	text    string
	at      time.Time
	quiet   bool
	nonce   string
	buttons []post.Button
	// presence marks a notice of whether the bot is online: the same message is edited each time, so that they do not
	// pile up.
	presence bool
}

func (n notice) message() rest.Message {
	m := render.Small(n.text)
	m.Nonce, m.Components = n.nonce, render.Buttons(n.buttons)
	if n.quiet {
		m.Flags |= discordgo.MessageFlagsSuppressNotifications
	}
	return m
}

// notices is the queue of notices for the network.
type notices struct {
	room *room
	log  *slog.Logger
	wake chan struct{} // capacity 1

	mu   sync.Mutex
	list []notice
}

// put adds a notice unless it repeats the newest one. If there are too many the oldest is
// dropped.
func (q *notices) put(n notice) {
	n.text = strings.TrimSpace(n.text)
	if n.text == "" {
		return
	}
	n.at, n.nonce = time.Now(), q.room.mark.stamp(store.NewID()+store.NewID())
	q.mu.Lock()
	if last := len(q.list) - 1; last < 0 || q.list[last].text != n.text {
		if q.list = append(q.list, n); len(q.list) > maxNotices {
			q.list = q.list[1:]
		}
	}
	q.mu.Unlock()
	signal(q.wake)
}

// next returns the oldest notice that has not expired.
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

// small queues a short notice. It never blocks; a notice that is not delivered within two
// minutes is dropped.
func (q *notices) small(text string) { q.put(notice{text: text}) }

// run sends the notices until they expire.
func (q *notices) run(ctx context.Context) error {
	for ctx.Err() == nil {
		n, ok := q.next(time.Now())
		if !ok {
			select {
			case <-q.wake:
			case <-ctx.Done():
			}
			continue
		}
		within, cancel := context.WithDeadline(ctx, n.at.Add(noticeWithin))
		if err := q.send(within, n); err != nil {
			q.log.Debug("notice was dropped", "error", err)
		}
		cancel()
	}
	return nil
}

// send sends a notice.
func (q *notices) send(ctx context.Context, n notice) error {
	if id := q.room.state.line(); n.presence && id != "" {
		err := q.room.replace(ctx, id, n.message())
		if err == nil || !errors.Is(err, rest.ErrGone) && !errors.Is(err, rest.ErrOldEdit) {
			return err
		}
	}
	id, err := q.room.deliver(ctx, n.message())
	if err == nil && n.presence {
		q.room.state.setLine(id)
	}
	if err == nil {
		q.room.state.setFleeting(id, slices.ContainsFunc(n.buttons, post.Button.Fleeting))
	}
	return err
}
