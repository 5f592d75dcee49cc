package gateway

import (
	"log/slog"
	"time"
)

const (
	// newsAfter is the time without a reason after which it is logged again. A night without a network, or a connection
	// reset every second, must not fill the log.
	newsAfter = 10 * time.Minute
	// keptReasons limits the remembered reasons; most are from a fixed list.
	keptReasons = 32
)

// news decides which connection changes to log. In the zero value, nothing has been logged.
type news struct {
	last map[string]time.Time // when each reason last occurred
	told bool                 // the latest loss was logged, so its end is, too
}

// lost returns the log level of a loss.
func (n *news) lost(reason string, now time.Time) slog.Level {
	last, known := n.last[reason]
	if n.last == nil || len(n.last) >= keptReasons {
		n.last = map[string]time.Time{}
	}
	n.last[reason] = now
	if known && now.Sub(last) < newsAfter {
		return slog.LevelDebug
	}
	n.told = true
	return slog.LevelWarn
}

// back returns the log level of a connection that is up. The first one is always logged.
func (n *news) back() slog.Level {
	level := slog.LevelDebug
	if n.told || n.last == nil {
		level = slog.LevelInfo
	}
	n.told = false
	return level
}
