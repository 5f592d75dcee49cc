package core

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/command"
)

// muteFile is ours alone; the original program does not know it.
const muteFile = "state/mute.json"

// muted is until when the user wants no pings but critical ones. The zero muted
// is never.
type muted struct {
	// order is held over the file's writing, because that is what it orders.
	order sync.Mutex
	until atomic.Pointer[time.Time]
}

// muteEntry is the file.
type muteEntry struct {
	Until time.Time `json:"until"`
}

// at is until when pings are muted at now; zero when they are not.
func (m *muted) at(now time.Time) time.Time {
	if until := m.until.Load(); until != nil && now.Before(*until) {
		return until.In(now.Location())
	}
	return time.Time{}
}

// readMute looks at the file and leaves it as it is.
func (b *Bot) readMute() {
	var e muteEntry
	found, err := b.dir.PeekJSON(muteFile, &e)
	if err != nil {
		b.log.Error("until when pings are muted could not be read; they are not", "error", err)
	}
	if found {
		b.muted.until.Store(&e.Until)
	}
}

// mute refuses pings until a time. A zero time ends it.
func (b *Bot) mute(c command.MuteUntil) (command.Outcome, error) {
	now, until := b.now(), c.Until
	if !until.IsZero() {
		until = until.Round(0).Truncate(time.Second).In(b.zone)
	}
	switch {
	case !until.IsZero() && !until.After(now):
		return command.Outcome{}, fmt.Errorf(textMutePassed, dayClock(until, now))
	case until.After(now.Add(longestHold)):
		return command.Outcome{}, errors.New(textMuteTooLong)
	}
	m := &b.muted
	m.order.Lock()
	defer m.order.Unlock()
	before := m.at(now)
	if err := b.writeMute(until); err != nil {
		return command.Outcome{}, fmt.Errorf("mute pings: %w", err)
	}
	m.until.Store(&until)
	out := command.Outcome{Undo: command.MuteUntil{Until: before}}
	switch {
	case !until.IsZero():
		out.Message = fmt.Sprintf(textMuted, dayClock(until, now))
	case before.IsZero():
		return command.Outcome{Message: textNotMuted}, nil
	default:
		out.Message = textUnmuted
	}
	return out, nil
}

// writeMute replaces the file, after what cannot be read was set aside.
func (b *Bot) writeMute(until time.Time) error {
	var old muteEntry
	if _, err := b.dir.ReadJSON(muteFile, &old); err != nil {
		b.log.Error("until when pings were muted could not be read", "error", err)
	}
	if until.IsZero() {
		return b.dir.Remove(muteFile)
	}
	return b.dir.WriteJSON(muteFile, muteEntry{Until: until})
}

// quietUntil is until when pings that are not critical are refused at now: for
// quiet hours, for a mute, or for one that ends within the other. Zero when they
// are not.
func (b *Bot) quietUntil(now time.Time) time.Time {
	r := b.runtime.Load()
	until := r.QuietUntil(now)
	muted := b.muted.at(now)
	if !muted.After(until) {
		return until
	}
	if later := r.QuietUntil(muted); !later.IsZero() {
		return later
	}
	return muted
}
