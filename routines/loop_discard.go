package routines

import "fmt"

// discard removes the file of a reminder that has run. A file that was edited
// during the run to another time, or into something that cannot be read, is the
// user's business and stays.
func (l *Loop) discard(r *Reminder) {
	rel, err := l.removeFile(r)
	if err != nil {
		l.o.Log.Error("the file of a reminder that has run could not be removed; it would fire again after a restart",
			"file", r.Path, "error", err)
		return
	}
	if rel != "" {
		l.o.Removed(rel, r.ID)
		l.Kick(l.o.Index.Refresh([]string{rel}))
	}
}

// removeFile returns which file it removed; none when there was none to remove.
func (l *Loop) removeFile(r *Reminder) (removed string, err error) {
	rel := r.Path
	// The file may have been renamed during the run.
	if now, ok := l.o.Index.Set().ReminderByID(r.ID); ok {
		rel = now.Path
	}
	err = l.o.Dir.WithLock(ReminderFolder, func() error {
		data, err := l.o.Dir.Read(rel)
		if err != nil {
			return fmt.Errorf("look at it once more: %w", err)
		}
		now, problems := ParseReminder(rel, data, l.o.Zone)
		if HasErrors(problems) || now.ID != r.ID || !now.RunAt.Equal(r.RunAt) {
			return nil
		}
		removed = rel
		return l.o.Dir.Discard(l.clock(), rel)
	})
	return removed, err
}
