package schedule

import (
	"errors"
	"time"

	"ollimbot/routines"
)

// errKept leaves a reminder where it is.
var errKept = errors.New("it was moved meanwhile")

// finish does what is due with a reminder after its run: its file goes, or, until it is
// done, it is due again as the next check of its chain, and behind the last one to end. A file that was edited during
// the run to another time, or into something that cannot be read, is the user's
// business and stays. False means that the run has to be tried again.
func (s *Schedule) finish(r *routines.Reminder) bool {
	_, err := s.MoveReminder(r.ID, func(now routines.Reminder) (routines.Move, error) {
		switch {
		case !now.RunAt.Equal(r.RunAt):
			return routines.Move{}, errKept
		case !now.UntilDone, now.LastWord:
			return routines.Move{Gone: true}, nil
		}
		to := routines.Move{At: s.clock().Add(time.Duration(now.Again) * time.Minute).Truncate(time.Second), Depth: now.ChainDepth + 1}
		if to.Depth > now.MaxChain { // the answer to the last one has the same time
			to.Depth, to.Last = now.ChainDepth, true
		}
		return to, nil
	})
	switch {
	case err == nil, errors.Is(err, errKept), errors.Is(err, routines.ErrNoReminder), errors.Is(err, routines.ErrBroken):
		return true
	case r.UntilDone:
		s.o.Log.Error("a reminder that is not done could not be moved on; its run is tried again", "file", r.Path, "error", err)
		return false
	}
	s.o.Log.Error("the file of a reminder that has run could not be removed; it would fire again after a restart",
		"file", r.Path, "error", err)
	return true
}

// MoveReminder changes when a pending reminder is due, or removes it; see
// routines.Mover.
func (s *Schedule) MoveReminder(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error) {
	inForce := ""
	if now, ok := s.Set().ReminderByID(id); ok { // the file may have been renamed during its run
		inForce = now.Path
	}
	m := routines.Mover{Dir: s.o.Dir, Zone: s.o.Zone, Inherit: s.o.Inherit}
	gone := false
	r, err := m.Move(s.clock(), id, inForce, func(r routines.Reminder) (routines.Move, error) {
		to, err := next(r)
		gone = to.Gone
		return to, err
	})
	switch {
	case err != nil:
	case gone:
		s.removed(r.Path, r.Kind, id)
	default:
		s.written(r.Task, "move")
	}
	return r, err
}
