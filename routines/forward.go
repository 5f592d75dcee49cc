package routines

import "time"

// Entry is one line of the forward schedule.
type Entry struct {
	ID          string    `json:"id"`
	FireTime    time.Time `json:"fire_time"` // in the configured zone
	Label       string    `json:"label"`
	Description string    `json:"description"` // cleaned, at most 60 characters and "..."
	FilePath    string    `json:"file_path"`   // relative to the data directory
	Silent      bool      `json:"silent"`      // may not ping
	Tag         string    `json:"tag"`         // "this task", "just fired" or empty
	Kind        Kind      `json:"kind"`
	Foreground  bool      `json:"foreground,omitempty"`
}
