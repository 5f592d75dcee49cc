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

// ErrNoSession is the error of an id that no session has.
var ErrNoSession = errors.New("no such session")

// Options are the parts of a History. Dir and ConfigDir are required.
type Options struct {
	Dir       *store.Dir
	ConfigDir string         // where the claude command keeps its files
	Zone      *time.Location // of all times returned; nil is UTC
	Log       *slog.Logger   // nil is silent
}

// History reads sessions. Use New; its methods may be called from any goroutine.
type History struct{ o Options }

// New returns the history of a data directory. It reads nothing yet.
func New(o Options) *History {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &History{o}
}

// Labels returns the labels of what was said, by session and time.
func (h *History) Labels() func(id string, at time.Time) label.Label {
	return session.NewStore(h.o.Dir, h.o.Zone, h.o.Log).Labels().Past()
}
