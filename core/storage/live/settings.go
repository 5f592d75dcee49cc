// Package live keeps the program in sync with its data directory while it runs: it reloads the
// settings and the data of other changed files, and notices when the directory is removed, replaced
// or restored. It must not know what the files mean to the bot.
package live

import (
	"log/slog"
	"slices"
	"sync/atomic"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

// Settings are the current settings. Their methods may be called concurrently.
type Settings struct {
	dir    *store.Dir
	log    *slog.Logger
	notice func(text string)
	// changed is called after the settings have changed.
	changed func()

	inForce  atomic.Pointer[config.Runtime]
	problems atomic.Pointer[[]string] // already reported
}

// NewSettings reads the settings.
func NewSettings(dir *store.Dir, log *slog.Logger, notice func(text string), changed func()) *Settings {
	s := &Settings{dir: dir, log: log, notice: notice, changed: changed}
	s.Reload()
	return s
}

// Load returns the current settings, which callers must not modify.
func (s *Settings) Load() *config.Runtime { return s.inForce.Load() }

// Set replaces the settings.
func (s *Settings) Set(r *config.Runtime) {
	s.inForce.Store(r)
	s.changed()
}

// Reload reads the settings again. Invalid values are reported once and replaced by their defaults.
// While a file is not valid JSON, as in the middle of an edit, the previous settings stay in force.
func (s *Settings) Reload() {
	r, problems, err := config.LoadRuntime(s.dir)
	old := s.inForce.Load()
	if err != nil {
		if old == nil {
			s.inForce.Store(&r)
		}
		s.log.Error("the configuration could not be read; the previous values or the defaults apply until the file is fixed", "error", err)
		return
	}
	if old == nil || *old != r {
		s.Set(&r)
	}
	known := s.problems.Swap(&problems)
	for _, p := range problems {
		if known != nil && slices.Contains(*known, p) {
			continue
		}
		s.log.Warn("invalid configuration value", "problem", p)
		s.notice(p)
	}
}
