package history

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/session"
)

// ErrNoSession is returned for an unknown session id.
var ErrNoSession = errors.New("no such session")

// Options configure a History. Dir and ConfigDir are required.
type Options struct {
	Dir       *store.Dir
	ConfigDir string         // the claude command's folder
	Zone      *time.Location // of all times returned; nil is UTC
	Log       *slog.Logger   // nil discards
}

// History reads sessions. Use New. Its methods are safe for concurrent use.
type History struct{ o Options }

// New returns the history of a data directory without reading anything.
func New(o Options) *History {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &History{o}
}

// Labels returns a function for the label of what was said in a session at a time.
func (h *History) Labels() func(id string, at time.Time) label.Label {
	return session.NewStore(h.o.Dir, h.o.Zone, h.o.Log).Labels().Past()
}
