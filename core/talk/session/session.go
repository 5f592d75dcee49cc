// Package session records which session is the main one (state/sessions.json), what
// happened to all sessions (state/session_history.jsonl), the prompts of buttons
// (state/inquiries.json), which fork sent which message (state/fork_messages.json), which
// fork is open (state/open_fork.json), and which untrusted text sessions have read
// (state/session_labels.json), in the formats of the original where it has them
// (docs/data-directory.md). It must not know what is said in a session, how
// an engine runs one or how a surface shows a message.
package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	mainFile    = "state/sessions.json"
	historyFile = "state/session_history.jsonl"
	turnName    = "sessions"
)

// The events of the history.
const (
	Created         = "created"
	Compacted       = "compacted"
	Swapped         = "swapped"
	cleared         = "cleared"
	InteractiveFork = "interactive_fork"
	BgFork          = "bg_fork"
	IsolatedBg      = "isolated_bg"
	Restarting      = "restarting"
)

// Event is something that happened to a session.
type Event struct {
	SessionID string
	Event     string // one of the constants above
	Parent    string // the session that this one branched off from, or empty
}

// Store manages the sessions of a data directory. Its methods are safe for concurrent
// use, also by several processes of the bot. Use NewStore.
type Store struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	trouble store.Trouble // with the id of the main session
	labels  keeper
}

// NewStore returns the sessions of a data directory without reading or writing anything.
// Times are written in zone; a nil log discards.
func NewStore(d *store.Dir, zone *time.Location, log *slog.Logger) *Store {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Store{dir: d, zone: zone, log: log, labels: newKeeper(d, log, labelsName)}
}

// Main returns the id of the main session. It is empty if the file is missing, empty, or
// contains an object of another program or an invalid id.
func (s *Store) Main() string {
	data, err := s.dir.Read(mainFile)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		s.logOnce(err)
		return ""
	}
	id := mainID(data)
	if id == "" {
		return ""
	}
	if err := checkID(id); err != nil {
		s.logOnce(err)
		return ""
	}
	return id
}

// Recover sets the main session's file aside if it has no id, and returns the new name;
// empty if the file is fine. Without this the next turn would overwrite it.
func (s *Store) Recover(now time.Time) (kept string, err error) {
	err = s.dir.WithLock(turnName, func() error {
		data, err := s.dir.Read(mainFile)
		if err != nil || mainID(data) == "" || checkID(mainID(data)) == nil {
			return nil // missing, valid, or unreadable, which Main logs
		}
		kept, err = s.dir.SetAside(mainFile, now)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("set %s aside: %w", mainFile, err)
	}
	return kept, nil
}

// mainID returns the id in the file's content; empty for an empty file and for an object
// of another program.
func mainID(data []byte) string {
	id := strings.TrimSpace(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if strings.HasPrefix(id, "{") {
		return ""
	}
	return id
}

// logOnce logs that the main session's file is unusable, once for the same reason.
func (s *Store) logOnce(err error) {
	if s.trouble.News(err) {
		s.log.Warn("main session id was not read", "file", mainFile, "problem", err)
	}
}

// SaveMain saves the id of the main session that an engine reports after a turn. The
// first id is logged as created, a changed one as compacted, with the old id as its
// parent. An unchanged id writes nothing.
func (s *Store) SaveMain(now time.Time, id string) error {
	return s.saveMain(now, id, Compacted)
}

// SwapMain makes a fork the main session. It is logged as swapped, with the previous
// main session as its parent.
func (s *Store) SwapMain(now time.Time, id string) error {
	return s.saveMain(now, id, Swapped)
}

// saveMain writes the file before the history: a crash between the two loses a
// line of history, not the conversation.
func (s *Store) saveMain(now time.Time, id, change string) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("save the main session: %w", err)
	}
	return s.dir.WithLock(turnName, func() error {
		old := s.Main()
		if old == id {
			return nil
		}
		if change == Compacted {
			if err := s.Labels().Follow(now, old, id); err != nil {
				return err
			}
		}
		if err := s.dir.Write(mainFile, []byte(id)); err != nil {
			return fmt.Errorf("save the main session: %w", err)
		}
		e := Event{SessionID: id, Event: change, Parent: old}
		if old == "" && change == Compacted {
			e.Event = Created
		}
		return s.append(now, e)
	})
}

// ClearMain forgets the main session, so that the next one starts afresh. Without one it
// does nothing.
func (s *Store) ClearMain(now time.Time) error {
	return s.dir.WithLock(turnName, func() error {
		old := s.Main()
		if err := s.dir.Remove(mainFile); err != nil {
			return fmt.Errorf("clear the main session: %w", err)
		}
		if err := s.Labels().Clear(now, ""); err != nil {
			return err
		}
		if old == "" {
			return nil
		}
		return s.append(now, Event{SessionID: old, Event: cleared})
	})
}

// Log adds an event to the history.
func (s *Store) Log(now time.Time, e Event) error {
	return s.dir.WithLock(turnName, func() error { return s.append(now, e) })
}

// append writes one line in the original's format. The caller holds the lock. The
// original commits the file each time. It grows with every run, so the git history would
// have a version for each line; therefore we do not.
func (s *Store) append(now time.Time, e Event) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("log a session event: %w", err)
	}
	parent := "null"
	if e.Parent != "" {
		parent = pycompat.Quote(e.Parent)
	}
	line := fmt.Sprintf(`{"session_id": %s, "event": %s, "timestamp": %s, "parent_session_id": %s}`,
		pycompat.Quote(e.SessionID), pycompat.Quote(e.Event),
		pycompat.Quote(pycompat.Time(now.Round(0).In(s.zone))), parent)
	if err := s.dir.Append(historyFile, []byte(line)); err != nil {
		return fmt.Errorf("log a session event: %w", err)
	}
	return nil
}

func (e Event) check() error {
	switch e.Event {
	case Created, Compacted, Swapped, cleared, InteractiveFork, BgFork, IsolatedBg, Restarting:
	default:
		return fmt.Errorf("unknown event %q", e.Event)
	}
	if e.Parent != "" {
		if err := checkID(e.Parent); err != nil {
			return err
		}
	}
	return checkID(e.SessionID)
}

// checkID keeps anything but ids out of command lines and log lines: an id consists of
// letters, digits, dots, dashes and underscores, and does not start with a dash.
func checkID(id string) error {
	const most = 200
	if id == "" {
		return errors.New("a session id is empty")
	}
	odd := strings.ContainsFunc(id, func(r rune) bool { return !strings.ContainsRune(idChars, r) })
	if odd || len(id) > most || id[0] == '-' {
		return fmt.Errorf("%.60q is not a session id, which is up to %d letters, digits, '.', '_' and '-'", id, most)
	}
	return nil
}

const idChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// historyLine is the part of a history line that Created needs.
type historyLine struct {
	Event     string `json:"event"`
	Timestamp string `json:"timestamp"`
}

// Created returns when the main conversation started: the time of the last created event;
// false if there is none. The file is read as a stream, because it is never pruned; other
// lines are skipped.
func (s *Store) Created() (time.Time, bool) {
	f, err := s.dir.Open(historyFile)
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var last time.Time
	err = jsonl.EachLine(f, func(line []byte) bool {
		if at, ok := s.createdAt(line); ok {
			last = at
		}
		return true
	})
	if err != nil {
		s.log.Warn("session history was not read to its end", "error", err)
	}
	return last, !last.IsZero()
}

func (s *Store) createdAt(line []byte) (time.Time, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return time.Time{}, false
	}
	var h historyLine
	if json.Unmarshal(line, &h) != nil || h.Event != Created {
		return time.Time{}, false
	}
	at, err := pycompat.ParseTime(h.Timestamp, s.zone)
	return at, err == nil
}
