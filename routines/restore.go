package routines

import (
	"errors"
	"fmt"
	"time"

	"ollimbot/core/store"
)

// ErrNotRemoved says that no file of a task was removed within the last day.
var ErrNotRemoved = errors.New("nothing with this id was removed within the last day")

// Removed is a task whose file was removed and can be put back.
type Removed struct {
	Task
	At time.Time // when it was removed

	file store.Discarded
}

// RemovedTasks are the tasks whose files were removed within the day before
// now, the newest of each folder first. Files that cannot be read are left out.
func RemovedTasks(d *store.Dir, now time.Time) []Removed {
	var list []Removed
	seen := map[[2]string]bool{}
	for _, kind := range []Kind{KindReminder, KindRoutine} {
		folder, _ := FolderOf(kind)
		for _, file := range d.Trash(now, folder) {
			data, err := d.ReadDiscarded(file)
			if err != nil {
				continue
			}
			r, problems := ParseReminder(file.Rel, data, now.Location())
			t := r.Task
			if kind == KindRoutine {
				var routine Routine
				routine, problems = ParseRoutine(file.Rel, data, nil)
				t = routine.Task
			}
			k := [2]string{string(kind), t.ID}
			if !HasErrors(problems) && !seen[k] {
				seen[k] = true
				list = append(list, Removed{Task: t, At: file.At, file: file})
			}
		}
	}
	return list
}

// RestoreTask puts the file of a removed task back and returns the task with
// its path: its old one, or another where that is taken. ErrNotRemoved says that
// there is none.
func RestoreTask(d *store.Dir, now time.Time, id string) (Task, error) {
	for _, r := range RemovedTasks(d, now) {
		if r.ID != id {
			continue
		}
		folder, _ := FolderOf(r.Kind)
		err := d.Exclusive(folder, func() error {
			if there, err := findFile(d, folder, id); err != nil || there != "" {
				return errors.Join(err, present(there))
			}
			err := d.Restore(r.file, r.Path)
			if err == nil {
				return nil
			}
			place, perr := d.PlaceFor(folder, id, r.Body)
			if perr != nil || place == r.Path {
				return err
			}
			r.Path = place
			return d.Restore(r.file, place)
		})
		if err != nil {
			return Task{}, fmt.Errorf("restore %s %s: %w", r.Kind, id, err)
		}
		return r.Task, nil
	}
	return Task{}, ErrNotRemoved
}

func present(rel string) error {
	if rel == "" {
		return nil
	}
	return fmt.Errorf("it is there already (%s)", rel)
}
