package routines

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ollimbot/core/storage/store"
	"ollimbot/routines/starter"
)

// starterFile is a starter routine with the bytes of its file.
type starterFile struct {
	Routine
	data []byte
}

func starterFiles() (list []starterFile, err error) {
	files, err := starter.Files()
	for _, f := range files {
		if strings.HasPrefix(f.Path, RoutineFolder+"/") {
			r, _ := ParseRoutine(f.Path, f.Data)
			list = append(list, starterFile{r, f.Data})
		}
	}
	return list, err
}

// Starters returns the routines that AddStarters installs, sorted by path.
func Starters() (list []Routine, err error) {
	files, err := starterFiles()
	for _, f := range files {
		list = append(list, f.Routine)
	}
	return list, err
}

// AddStarters copies the starter routines that are not installed yet, and returns them. A
// file with the same name or a task with the same id is left alone.
func AddStarters(d *store.Dir, tasks *Set) (added []Routine, err error) {
	files, err := starterFiles()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, known := tasks.Find(f.ID); known {
			continue
		}
		switch err := d.Create(f.Path, f.data); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return added, fmt.Errorf("install the starter routine %s: %w", f.Title(), err)
		default:
			added = append(added, f.Routine)
		}
	}
	return added, nil
}

// Titles returns the routines' titles, separated by commas.
func Titles(list []Routine) string {
	var titles []string
	for _, r := range list {
		titles = append(titles, r.Title())
	}
	return strings.Join(titles, ", ")
}
