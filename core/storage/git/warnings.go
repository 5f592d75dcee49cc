package git

import (
	"log/slog"
	"maps"
	"strings"
	"sync"
)

// maxWarnings is how many reasons are remembered; further ones are not logged.
const maxWarnings = 100

// warnings logs each reason once, so that a missing git is not a warning every minute.
type warnings struct {
	log *slog.Logger

	mu    sync.Mutex
	known map[string]bool
}

func (w *warnings) add(reason, message string, err error) {
	w.mu.Lock()
	known := w.known[reason] || len(w.known) > maxWarnings
	w.known[reason] = true
	w.mu.Unlock()
	if known {
		return
	}
	args := []any{"problem", message}
	if err != nil {
		args = append(args, "error", err)
	}
	w.log.Warn("git: recording changes", args...)
}

// forget lets reasons with a prefix be logged again.
func (w *warnings) forget(prefix string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.known, func(reason string, _ bool) bool { return strings.HasPrefix(reason, prefix) })
}
