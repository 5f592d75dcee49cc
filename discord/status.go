package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// status describes the connection, from the gateway's state and Discord's answers.
type status struct {
	zone *time.Location
	link func() gateway.State

	mu      sync.Mutex
	lost    string        // why the bot's own data could not be looked up
	since   time.Time     // when that began
	unsent  string        // why messages cannot be sent
	failing time.Time     // when that began
	failed  time.Time     // when it was last so
	shutOut string        // why the bot cannot message its user
	rival   time.Time     // when another program with the same token was last noticed
	stopped string        // why the surface has given up
	ended   time.Time     // when it has
	moved   chan struct{} // capacity 1: something may have changed
	changed func()
}

func (s *status) change(do func()) {
	s.mu.Lock()
	do()
	s.mu.Unlock()
	s.notify()
}

// notify reports a change. The lock must not be held.
func (s *status) notify() {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	select {
	case s.moved <- struct{}{}:
	default: // full, or without a reader
	}
	if changed != nil {
		changed()
	}
}

// unreachable records that Discord did not answer Run's first requests; nil means that it did. It returns whether that
// is news.
func (s *status) unreachable(err error) (news bool) {
	s.change(func() {
		news = (s.lost == "") != (err == nil)
		switch {
		case err == nil:
			s.lost = ""
			return
		case news:
			s.since = time.Now()
		}
		s.lost = reason(err)
	})
	return news
}

// unsentFor is how long a message that could not be sent counts. While it is waiting, it is tried again sooner.
const unsentFor = 2 * time.Minute

// noteSend records whether messages arrive, which the gateway does not know. It returns whether that is news.
func (s *status) noteSend(err error) (news bool) {
	fails := errors.Is(err, rest.ErrTransient)
	if err != nil && !fails && passes(err) { // says nothing about the network
		return false
	}
	now := time.Now()
	s.mu.Lock()
	news = (s.unsent != "") != fails
	switch {
	case !fails:
		s.unsent = ""
	case news:
		s.failing = now
		fallthrough
	default:
		s.unsent, s.failed = reason(err), now
	}
	s.mu.Unlock()
	if news {
		s.notify()
	}
	return news
}

// noteReach records whether the bot can message its user, and returns whether that changed and why it cannot.
func (s *status) noteReach(err error) (changed bool, why string) {
	switch {
	case errors.Is(err, rest.ErrCannotDM):
		why = rest.ErrCannotDM.Error()
	case err != nil:
		return false, "" // other errors say nothing about it
	}
	s.mu.Lock()
	changed = s.shutOut != why
	s.shutOut = why
	s.mu.Unlock()
	if changed {
		s.notify()
	}
	return changed, why
}

func (s *status) stop(err error) { s.change(func() { s.stopped, s.ended = reason(err), time.Now() }) }

// gaveUp returns why the surface has stopped, or empty.
func (s *status) gaveUp() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// reason is an error as a sentence.
func reason(err error) string {
	for _, known := range []error{rest.ErrAuth, rest.ErrCannotDM} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return textLooking + " (" + textNoAnswer + ")"
	}
	words := clean.Cut(clean.Line(err.Error()), 300)
	if errors.Is(err, rest.ErrTransient) { // the fact first, because the top line is short
		return textLooking + " (" + words + ")"
	}
	return words
}

// passes reports whether an error may be temporary, so that retrying makes sense.
func passes(err error) bool {
	return errors.Is(err, rest.ErrTransient) || errors.Is(err, rest.ErrLimited) || errors.Is(err, context.DeadlineExceeded)
}

// Standing is the state of a connection and its start, stored for other programs.
type Standing struct {
	core.SurfaceStatus
	Since time.Time `json:"since,omitzero"`
}

// Text describes the state, its start and the bot's next step.
func (n Standing) Text(zone *time.Location) string {
	switch {
	case strings.HasPrefix(n.State, fmt.Sprintf(textStopped, "")), n.Since.IsZero():
		return n.State
	case strings.HasPrefix(n.State, textDown):
		return n.State + textTrying
	case n.Lead != "":
		return n.Lead + ": " + n.State
	case !n.OK: // a sentence about what to do
		return n.State
	}
	return n.State + " since " + n.Since.In(zone).Format("15:04")
}

// words describes the connection, with the latest latency.
func (s *status) words() (string, bool) {
	now := s.standing()
	if link := s.link(); now.State == textUp && link.Latency > 0 {
		now.State = fmt.Sprintf(textUpIn, max(link.Latency.Milliseconds(), 1))
	}
	return now.State, now.OK
}

// standing returns the state without its constantly changing parts.
func (s *status) standing() Standing {
	link := s.link()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Standing{core.SurfaceStatus{Name: name}, link.Since}
	twice := !s.rival.IsZero() && time.Since(s.rival) < rivalFor
	if twice {
		now.Lead = textRival
	}
	switch {
	case s.stopped != "":
		now.State, now.Since = fmt.Sprintf(textStopped, s.stopped), s.ended
	case s.lost != "":
		now.State, now.Since = s.down(s.since, s.lost), s.since
	case link.Phase == gateway.Stopped:
		now.State = fmt.Sprintf(textStopped, link.Reason)
	case link.Phase == gateway.Down:
		now.State = s.down(link.Since, link.Reason)
	case link.Phase == gateway.Connecting:
		now.State, now.OK = textConnecting, true
	case s.unsent != "" && time.Since(s.failed) < unsentFor:
		now.State, now.Since = s.down(s.failing, s.unsent), s.failing
	case s.shutOut != "":
		now.State = s.shutOut // it starts with the solution, because the top line is short
	case twice:
		now.State = textRivalCure
	default:
		now.State, now.OK = textUp, true
	}
	return now
}

func (s *status) down(since time.Time, why string) string {
	if why == "" {
		why = textLooking
	}
	return fmt.Sprintf(textDownSince, since.In(s.zone).Format("15:04"), why)
}

const (
	// turnTakes is the delay between a turn's start or end, or a ping, and reading the bot's state.
	turnTakes = 2 * time.Second
	// presentEvery is the interval of checking for the start or end of a mute, or a new token.
	presentEvery = 30 * time.Second
)

// presence shows, below the bot's name, whether it is busy or muted, or how many pings are left.
type presence struct {
	link *gateway.Link
	zone *time.Location
	// turns has capacity 1 and signals that a turn has started or ended.
	turns chan struct{}
}

// run updates the presence until ctx ends.
func (p *presence) run(ctx context.Context, bot core.Intake) error {
	tick := time.NewTicker(presentEvery)
	defer tick.Stop()
	for {
		p.link.Show(p.shown(bot.Snapshot()))
		select {
		case <-tick.C:
		case <-p.turns:
			if sleep(ctx, turnTakes) != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// shown is the presence for a state of the bot.
func (p *presence) shown(s core.Snapshot) gateway.Presence {
	switch {
	case s.Busy:
		return gateway.Presence{Watching: textBusy}
	case !s.Budget.Quiet.IsZero():
		return gateway.Presence{Watching: fmt.Sprintf(textMuted, s.Budget.Quiet.In(p.zone).Format("15:04")), Away: true}
	case s.Config.DiscordBudget && s.Budget.State.Capacity > 0:
		return gateway.Presence{Status: s.Budget.State.Left()}
	}
	return gateway.Presence{}
}

// turnChanged signals that a turn has started or ended, or that a ping was sent.
func (p *presence) turnChanged() { signal(p.turns) }

// Notices expire, and only a few are kept.
const (
	noticeWithin = 2 * time.Minute
	maxNotices   = 50
)

// notice is a short message of the program.
type notice struct {
	text    string
	at      time.Time
	rings   bool
	nonce   string
	buttons []post.Button
	// presence marks a notice of whether the bot is online: the same message is edited each time, so that they do not
	// pile up.
	presence bool
}

func (n notice) message() rest.Message {
	m := render.Notice(n.text, n.rings)
	m.Nonce, m.Components = n.nonce, render.Buttons(n.buttons)
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

// put adds a notice, but for one without buttons that repeats the newest. If there are too many the oldest is
// dropped.
func (q *notices) put(n notice) {
	n.text = strings.TrimSpace(n.text)
	if n.text == "" {
		return
	}
	n.at, n.nonce = time.Now(), q.room.mark.stamp(store.NewID()+store.NewID())
	q.mu.Lock()
	if last := len(q.list) - 1; last < 0 || q.list[last].text != n.text || len(n.buttons) > 0 {
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

// say queues a short notice. It never blocks; a notice that is not delivered within two
// minutes is dropped.
func (q *notices) say(k post.Kind, text string, buttons ...post.Button) {
	q.put(notice{text: post.Phone(text), rings: k.Rings(post.Moment{}), buttons: buttons})
}

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
