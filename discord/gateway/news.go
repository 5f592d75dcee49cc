package gateway

import (
	"log/slog"
	"time"
)

const (
	// newsAfter is how long a reason must not have occurred until it is news again. A night
	// without network, or a connection that is reset every second, must not fill the log.
	newsAfter = 10 * time.Minute
	// keptReasons limits the remembered reasons; all but a few come from a fixed list.
	keptReasons = 32
)

// news decides which changes of the connection are worth a line in the log. The zero value
// has told nothing.
type news struct {
	last map[string]time.Time // when each reason last occurred
	told bool                 // the latest loss was told, so its end is too
}

// lost is the level of a loss.
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

// back is the level of a connection that is up. The first one is always news.
func (n *news) back() slog.Level {
	level := slog.LevelDebug
	if n.told || n.last == nil {
		level = slog.LevelInfo
	}
	n.told = false
	return level
}
