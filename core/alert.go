package core

import (
	"context"
	"log/slog"
	"time"
)

// alertEvery is how long the same trouble is not shown again.
const alertEvery = time.Minute

// alerts shows what is logged as an error on the screen too: a full disk must
// not be found out by reading a file on it.
type alerts struct{ bot *Bot }

// Enabled is part of slog.Handler: errors only.
func (alerts) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle shows the message with its error, unless it was shown just before.
func (a alerts) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(at slog.Attr) bool {
		if at.Key == "error" {
			text += ": " + at.Value.String()
			return false
		}
		return true
	})
	all := a.bot.notices.all()
	for i := len(all) - 1; i >= 0 && a.bot.now().Sub(all[i].At) < alertEvery; i-- {
		if all[i].Text == text {
			return nil
		}
	}
	a.bot.notice(Alert, text)
	return nil
}

// WithAttrs is part of slog.Handler; only a record's own attributes are shown.
func (a alerts) WithAttrs([]slog.Attr) slog.Handler { return a }

// WithGroup is part of slog.Handler.
func (a alerts) WithGroup(string) slog.Handler { return a }
