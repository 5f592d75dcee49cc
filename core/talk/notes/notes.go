// Package notes reports background events to the user and the agent: as a notice, as a
// pending update for the main session, and in the audit log. It must not know what
// happened.
package notes

import (
	"log/slog"
	"time"

	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// Notes writes to the three places. Its methods are safe for concurrent use and write a
// file.
type Notes struct {
	Zone    *time.Location
	Log     *slog.Logger
	Audit   *audit.Log
	Notices *notice.Board
	Updates *updates.Queue
	// Changed is called after an update was saved.
	Changed func()
}

// Add leaves a note in all three places. Errors are logged.
func (n *Notes) Add(text string) {
	n.Audit.Record(n.now(), audit.Entry{Actor: audit.Bot, Action: audit.Noted, Detail: text})
	if err := n.Leave(text, nil); err != nil {
		n.Log.Error("a pending update could not be saved", "error", err)
	}
}

// Leave is Add for a caller that retries after an error or a crash: a text that is still
// pending is not added twice. saved, which may be nil, is called once the update is on
// disk and before a turn can claim it.
func (n *Notes) Leave(text string, saved func()) error {
	n.Notices.Add(notice.Warn, text)
	defer n.Changed()
	return n.Updates.AppendOnce(n.now(), text, updates.Source{}, "", saved)
}

// Tell leaves a pending update alone: the user knows, because it is what they have decided.
func (n *Notes) Tell(text string) {
	if err := n.Updates.Append(n.now(), text); err != nil {
		n.Log.Error("a pending update could not be saved", "error", err)
	}
	n.Changed()
}

// Troubles replaces the pending update about files with mistakes; the user is shown the list of problems. A mistake that was mended
// before the agent read of it is not mentioned again.
func (n *Notes) Troubles(kind routines.Kind, text func(unread bool) string) {
	if err := n.Updates.Replace(n.now(), string(kind)+" files", text); err != nil {
		n.Log.Error("a pending update about files could not be saved", "error", err)
	}
	n.Changed()
}

func (n *Notes) now() time.Time { return time.Now().In(n.Zone) }
