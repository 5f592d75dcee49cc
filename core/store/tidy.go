package store

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// asideFor is how long files that could not be read are kept.
	asideFor = 30 * 24 * time.Hour
	// asideMark is in their names.
	asideMark = ".corrupt-"
)

// Tidy removes what was kept for long enough at now: the trash after a day,
// files that could not be read after thirty, and what a crash left behind. What
// cannot be removed stays.
func (d *Dir) Tidy(now time.Time) {
	if d.Present() != nil {
		return
	}
	d.removeLeftovers(now)
	d.emptyTrash(now)
	for _, folder := range []string{StateDir, ".git"} {
		entries, _ := d.Entries(folder) // not there: nothing to remove
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue
			}
			age := now.Sub(info.ModTime())
			old := folder == StateDir && strings.Contains(e.Name(), asideMark) && age >= asideFor ||
				folder == ".git" && strings.HasPrefix(e.Name(), gitIndex) && age >= leftoverAge
			if old {
				_ = os.RemoveAll(filepath.Join(d.Path(folder), e.Name()))
			}
		}
	}
}
