// Package live keeps the program in sync with its data directory while it runs: it reloads the
// settings and the data of other changed files, and notices when the directory is removed, replaced
// or restored. It must not know what the files mean to the bot.
package live

import (
	"sync/atomic"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Settings are the current settings. Their methods may be called concurrently.
type Settings struct {
	dir *store.Dir
	// changed is called after the settings have changed.
	changed func()

	inForce  atomic.Pointer[config.Runtime]
	problems atomic.Pointer[[]routines.Problem]
}

// NewSettings reads the settings.
func NewSettings(dir *store.Dir, changed func()) *Settings {
	s := &Settings{dir: dir, changed: changed}
	s.Reload()
	return s
}

// Load returns the current settings, which callers must not modify.
func (s *Settings) Load() *config.Runtime { return s.inForce.Load() }

// Problems returns the mistakes in the files when they were read last.
func (s *Settings) Problems() []routines.Problem { return *s.problems.Load() }

// Set replaces the settings.
func (s *Settings) Set(r *config.Runtime) {
	s.inForce.Store(r)
	s.changed()
}

// Reload reads the settings again. While a file is not valid JSON, as in the middle of an edit, the previous settings stay in
// force.
func (s *Settings) Reload() {
	r, problems, err := config.LoadRuntime(s.dir)
	s.problems.Store(&problems)
	switch old := s.inForce.Load(); {
	case old == nil:
		s.inForce.Store(&r)
	case err == nil && *old != r:
		s.Set(&r)
	}
}
