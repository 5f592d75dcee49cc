package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/updates"
)

// Prompt composes a turn's message, including the updates it delivers.
type Prompt func(now time.Time, u []updates.Update) string

// mainSession is the permanent session. Its turns belong to the running job.
type mainSession struct {
	opener   *opener
	turns    *turns
	running  *running
	delivery *delivery
	sessions *session.Store
	reading  *reading
	notices  *notice.Board
	log      *slog.Logger
	now      func() time.Time
	// passed gets the updates that the session has received.
	passed func([]updates.Update)

	mu      sync.Mutex
	session agent.Session // nil while it is closed
	known   *knowledge    // of the session; used by the running job only
}

// current is the open session, or nil.
func (m *mainSession) current() agent.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session
}

// open returns the session, resuming a known one. If the engine does not know its id, a
// new one starts and the user is told.
func (m *mainSession) open(ctx context.Context) (agent.Session, error) {
	if s := m.current(); s != nil {
		return s, nil
	}
	m.recover()
	known := m.sessions.Main()
	if known == "" && m.opener.renew != nil {
		m.opener.renew(ctx)
	}
	profile := m.opener.knows() // first: a change between the two is said twice, and not lost
	o := m.opener.options(policy.Main, m.reading.ofMain())
	o.Resume = known
	s, err := m.opener.engine.Open(ctx, o)
	if errors.Is(err, agent.ErrNoSession) {
		m.notices.Add(notice.Warn, textFreshSession)
		o.Resume = ""
		s, err = m.opener.engine.Open(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the main session: %w", err)
	}
	m.mu.Lock()
	m.session, m.known = s, profile
	m.mu.Unlock()
	return s, nil
}

// knows returns what the open session knows of the profile.
func (m *mainSession) knows() *knowledge {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

// recover tells the user at once if the file with the session's id is unusable, instead
// of at their next message.
func (m *mainSession) recover() {
	switch kept, err := m.sessions.Recover(m.now()); {
	case err != nil:
		m.log.Error("the file of the main session is unusable and was not kept aside", "error", err)
	case kept != "":
		m.notices.Add(notice.Warn, fmt.Sprintf(textLostSession, kept))
	}
}

// openAhead opens the session in advance, so that the process is ready for the user's
// next message. With claude_warm 0 it stays closed until then, which saves memory.
func (m *mainSession) openAhead(ctx context.Context) {
	engine := m.opener.engine
	if _, processes := engine.(agent.Runner); !processes || m.opener.host.Config().ClaudeWarm == 0 {
		return
	}
	if _, err := m.open(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("the main session could not be opened ahead", "error", err)
	}
	if r, reports := engine.(agent.Reporter); reports && r.Status().LoginNeeded {
		m.drop() // its process would not notice the login
	}
}

// drop closes the session, so that the next turn opens it again.
func (m *mainSession) drop() {
	m.mu.Lock()
	s := m.session
	m.session = nil
	m.mu.Unlock()
	closeSession(s, m.log)
}

// closeSession closes a session, which may be nil. Errors are only logged.
func closeSession(s agent.Session, log *slog.Logger) {
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		log.Warn("session did not close cleanly", "error", err)
	}
}

// forget starts a new conversation: the session and its id are dropped.
func (m *mainSession) forget() error {
	if err := m.sessions.ClearMain(m.now()); err != nil {
		return err
	}
	m.reading.forget()
	m.drop()
	return nil
}

// turn sends one message. It claims the pending updates when it starts and removes them
// once the engine has the message. If the message never arrives, they stay pending.
// waiting are the ids of the user's messages in it.
func (m *mainSession) turn(ctx context.Context, build Prompt, images []agent.Image, waiting []string) error {
	now := m.now()
	m.running.begin(nil, now) // busy while the session opens
	defer m.running.end()
	s, err := m.open(ctx)
	if err != nil {
		return err
	}
	var text string
	var from label.Label
	var news []updates.Update
	known, profile := m.knows(), m.opener.host.Profile()
	var took func()
	claimed, err := m.delivery.claim(ctx, func(u []updates.Update) updates.Delivery {
		text, took = known.adding(profile, build(now, u))
		from, news = updates.Labels(u), u
		return updates.NewDelivery(s.ID(), text, waiting)
	})
	if err != nil {
		return err
	}
	read := m.reading.ofMain()
	read.Read(from)
	m.running.begin(s, now)
	accepted := false
	t := &turn{turns: m.turns, session: s, read: read, kind: post.KindAnswer, updates: len(claimed.Keys), accepted: func() error {
		accepted = true
		took()
		m.passed(news)
		return m.delivery.settle(claimed, true)
	}, ended: func(r agent.Result) error {
		return m.sessions.SaveMain(m.now(), sessionID(r, s))
	}}
	err = t.consume(ctx, s.Send(ctx, agent.Message{Text: text, Images: images}))
	if !accepted {
		m.delivery.recover(ctx)
	}
	if t.compacted {
		known.forget()
	}
	if err != nil {
		m.drop()
	}
	return err
}

// command sends one of the engine's own commands and returns its output. tokens is the
// length of the history before compaction.
func (m *mainSession) command(ctx context.Context, message agent.Message) (text string, r agent.Result, tokens int, err error) {
	now := m.now()
	m.running.begin(nil, now)
	defer m.running.end()
	s, err := m.open(ctx)
	if err != nil {
		return "", r, 0, err
	}
	m.running.begin(s, now)
	defer m.turns.money.Began(false)()
	var parts []string
	for ev, err := range s.Send(ctx, message) {
		if err != nil {
			m.drop()
			return "", r, tokens, err
		}
		switch ev := ev.(type) {
		case agent.Compacting:
			tokens = max(tokens, ev.PreTokens)
			m.running.compact(ev)
			m.knows().forget()
		case agent.Notice:
			parts = append(parts, ev.Text)
		case agent.Text:
			text += ev.Delta
		case agent.Result:
			r = ev
			text = cmp.Or(text, ev.Text)
			if err := m.sessions.SaveMain(m.now(), sessionID(ev, s)); err != nil {
				return "", r, tokens, err
			}
		}
	}
	return strings.TrimSpace(strings.Join(append(parts, text), "\n")), r, tokens, nil
}

// delivery delivers pending updates to the main session, each exactly once as far as the
// engine remembers the messages it got.
type delivery struct {
	updates *updates.Queue
	engine  agent.Engine
	log     *slog.Logger
	// ack removes the user's messages that arrived with the updates.
	ack func(ids ...string) error
}

// claim claims the pending updates for a message of the main session, after settling the
// previous delivery.
func (d *delivery) claim(ctx context.Context, compose func([]updates.Update) updates.Delivery) (updates.Delivery, error) {
	claimed, err := d.updates.Claim(compose)
	if errors.Is(err, updates.ErrUnsettled) {
		d.recover(ctx)
		claimed, err = d.updates.Claim(compose)
	}
	return claimed, err
}

// settle ends a delivery. The user's messages in it are removed first, the record last,
// so that every step can be repeated until then.
func (d *delivery) settle(claimed updates.Delivery, arrived bool) error {
	if arrived {
		if err := d.ack(claimed.Waiting...); err != nil {
			return fmt.Errorf("forget a message that arrived: %w", err)
		}
	}
	return d.updates.Settle(claimed, arrived)
}

// recover settles a message that was being sent when its turn or the program ended. If
// the engine does not know whether it arrived, its updates stay pending: delivering twice
// is better than never.
func (d *delivery) recover(ctx context.Context) {
	claimed, arrived, found, err := d.updates.Unsettled()
	if err == nil && found {
		if !arrived {
			arrived, err = d.hasArrived(ctx, claimed)
		}
		if ctx.Err() != nil {
			return // retried at the next start
		}
		if err != nil {
			d.log.Error("it is not known whether the last message arrived; its updates stay pending", "error", err)
		}
		err = d.settle(claimed, arrived)
	}
	if err != nil {
		d.log.Error("the last delivery to the main session could not be settled", "error", err)
	}
}

// hasArrived asks the engine whether a message arrived.
func (d *delivery) hasArrived(ctx context.Context, claimed updates.Delivery) (bool, error) {
	history, able := d.engine.(agent.HistoryChecker)
	digest, err := hex.DecodeString(claimed.Digest)
	if !able || err != nil || len(digest) != sha256.Size {
		return false, nil
	}
	heard, err := history.HasMessage(ctx, claimed.Session, [sha256.Size]byte(digest))
	if err != nil {
		return false, fmt.Errorf("ask whether a message arrived: %w", err)
	}
	return heard, nil
}
