// Package notice holds the program's short messages to its user, which a dashboard shows
// as toasts. It owns the board, on which logged errors appear too. It must not know who
// reads it.
package notice

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/base/clean"
)

const (
	// kept is how many notices are kept.
	kept = 100
	// alertEvery is how long a repeated error is suppressed.
	alertEvery = time.Minute
)

// Level of a notice.
type Level string

// The levels of a notice.
const (
	Info  Level = "info"
	Warn  Level = "warning"
	Alert Level = "error"
)

// Notice is a short message to the user, shown as a toast.
type Notice struct {
	Seq   uint64 // increases by one with each notice
	At    time.Time
	Level Level
	Text  string
}

// Board holds the newest notices.
type Board struct {
	zone    *time.Location
	hide    func(string) string
	changed func()

	mu sync.Mutex
	// list is never modified in place, so that snapshots may share it.
	list []Notice
	seq  uint64
}

// NewBoard returns an empty board. hide removes secrets from a text. changed is called
// after each notice and must not block.
func NewBoard(zone *time.Location, hide func(string) string, changed func()) *Board {
	return &Board{zone: zone, hide: hide, changed: changed}
}

// All returns the newest 100 notices, oldest first.
func (b *Board) All() []Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list
}

// Add shows the user a notice.
func (b *Board) Add(level Level, text string) {
	text = clean.Line(b.hide(text))
	b.mu.Lock()
	b.seq++
	old := b.list
	if len(old) >= kept {
		old = old[len(old)-kept+1:]
	}
	b.list = append(append(make([]Notice, 0, len(old)+1), old...),
		Notice{Seq: b.seq, At: time.Now().In(b.zone), Level: level, Text: text})
	b.mu.Unlock()
	b.changed()
}

// Errors returns a log handler that shows logged errors as notices: a full disk, for
// example, must not be reported only in a file on that disk.
func (b *Board) Errors() slog.Handler { return alerts{b} }

type alerts struct{ board *Board }

// Enabled implements slog.Handler: errors only.
func (alerts) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle shows the message with its title, file and error, unless it was shown within the last minute.
func (a alerts) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(at slog.Attr) bool {
		if at.Key == "title" || at.Key == "file" || at.Key == "error" {
			text += ": " + at.Value.String()
		}
		return at.Key != "error"
	})
	all := a.board.All()
	for i := len(all) - 1; i >= 0 && time.Since(all[i].At) < alertEvery; i-- {
		if all[i].Text == text {
			return nil
		}
	}
	a.board.Add(Alert, text)
	return nil
}

// WithAttrs implements slog.Handler; only a record's own attributes are shown.
func (a alerts) WithAttrs([]slog.Attr) slog.Handler { return a }

// WithGroup implements slog.Handler.
func (a alerts) WithGroup(string) slog.Handler { return a }
