package schedule

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/store"
)

// muteFile is ours alone; the original program does not know it.
const muteFile = store.StateDir + "/mute.json"

// Mute is until when the user wants no pings but critical ones.
type Mute struct {
	dir *store.Dir
	log *slog.Logger
	// order is held over the file's writing, because that is what it orders.
	order sync.Mutex
	until atomic.Pointer[time.Time]
}

// muteEntry is the file.
type muteEntry struct {
	Until time.Time `json:"until"`
}

// NewMute looks at the file and leaves it as it is.
func NewMute(d *store.Dir, log *slog.Logger) *Mute {
	m := &Mute{dir: d, log: log}
	var e muteEntry
	found, err := d.PeekJSON(muteFile, &e)
	if err != nil {
		log.Error("until when pings are muted could not be read; they are not", "error", err)
	}
	if found {
		m.until.Store(&e.Until)
	}
	return m
}

// At is until when pings are muted at now; zero when they are not.
func (m *Mute) At(now time.Time) time.Time {
	if until := m.until.Load(); until != nil && now.Before(*until) {
		return until.In(now.Location())
	}
	return time.Time{}
}

// Set mutes pings until a time, or with the zero time ends that, and says what was in
// force before. The file is replaced after what cannot be read was set aside.
func (m *Mute) Set(until, now time.Time) (before time.Time, err error) {
	m.order.Lock()
	defer m.order.Unlock()
	before = m.At(now)
	var old muteEntry
	if _, err := m.dir.ReadJSON(muteFile, &old); err != nil {
		m.log.Error("until when pings were muted could not be read", "error", err)
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
