// Package history reads earlier sessions, of the claude command and of the Messages API:
// it lists them, shows one, searches them, and relates the bot's pings to the user's next
// message. It owns the reading of their files and writes nothing. It opens no file outside
// of the CLI's projects folder and our state folder, and must not know engines, surfaces
// or the command line.
//
// The files belong to another program and contain untrusted text: unreadable lines are
// skipped, a line may have any length, and every text is cleaned.
package history

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"ollimbot/core/storage/store"
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
