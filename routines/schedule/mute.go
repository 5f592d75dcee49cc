package schedule

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
)

// muteFile is private to this program; the original program does not use it.
const muteFile = store.StateDir + "/mute.json"

// Mute is the time until which only critical pings go through.
type Mute struct {
	dir *store.Dir
	log *slog.Logger
	// order is held during the write of the file, because it orders those writes.
	order sync.Mutex
	until atomic.Pointer[time.Time]
}

// muteEntry is the content of the file.
type muteEntry struct {
	Until time.Time `json:"until"`
}

// NewMute reads the file without repairing it.
func NewMute(d *store.Dir, log *slog.Logger) *Mute {
	m := &Mute{dir: d, log: log}
	var e muteEntry
	found, err := d.PeekJSON(muteFile, &e)
	if err != nil {
		log.Error("the mute could not be read; pings are not muted", "error", err)
	}
	if found {
		m.until.Store(&e.Until)
	}
	return m
}

// At returns the time until which pings are muted, or zero if they are not muted at now.
func (m *Mute) At(now time.Time) time.Time {
	if until := m.until.Load(); until != nil && now.Before(*until) {
		return until.In(now.Location())
	}
	return time.Time{}
}

// Set mutes pings until a time, or unmutes them with the zero time, and returns the
// previous mute. An unreadable file is set aside first.
func (m *Mute) Set(until, now time.Time) (before time.Time, err error) {
	m.order.Lock()
	defer m.order.Unlock()
	before = m.At(now)
	var old muteEntry
	if _, err := m.dir.ReadJSON(muteFile, &old); err != nil {
		m.log.Error("the mute could not be read", "error", err)
	}
	if until.IsZero() {
		err = m.dir.Remove(muteFile)
	} else {
		err = m.dir.WriteJSON(muteFile, muteEntry{Until: until})
	}
	if err == nil {
		m.until.Store(&until)
	}
	return before, err
}
