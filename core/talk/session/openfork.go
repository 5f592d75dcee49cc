package session

import (
	"fmt"
	"time"
)

const openForkFile = "state/open_fork.json"

// OpenFork is the interactive fork that is open.
type OpenFork struct {
	Session string    `json:"session"` // empty until the engine has named it
	Title   string    `json:"title,omitempty"`
	Since   time.Time `json:"since"`
}

// SetOpenFork records the open fork, or with nil that none is open. A fork does not survive the
// program: the next start finds it with LeftOpen.
func (s *Store) SetOpenFork(f *OpenFork) error {
	err := s.dir.WithLock(turnName, func() error {
		if f == nil {
			return s.dir.Remove(openForkFile)
		}
		return s.dir.WriteJSON(openForkFile, f)
	})
	if err != nil {
		return fmt.Errorf("record the open fork: %w", err)
	}
	return nil
}

// LeftOpen returns the fork that was open when the program ended; nil if there was none, or if
// it had become the main session.
func (s *Store) LeftOpen() (*OpenFork, error) {
	var f OpenFork
	found, err := s.dir.ReadJSON(openForkFile, &f)
	if err != nil {
		return nil, fmt.Errorf("read the fork that was open: %w", err)
	}
	if !found || f.Session != "" && (f.Session == s.Main() || checkID(f.Session) != nil) {
		return nil, nil
	}
	return &f, nil
}
