package budget

import "time"

// Level is the bucket at a moment.
type Level struct {
	At   time.Time
	Left float64
}

// Forecast is the bucket's level from now on if at each of the moments a ping is sent
// that is not critical: now, and at each moment to come after its ping. Moments are in
// order; those that have been are passed over. dry is the first that finds no whole
// token; zero when none does. A muted bucket (capacity 0) is muted and not dry.
func (s State) Forecast(pings []time.Time, now time.Time) (levels []Level, dry time.Time) {
	s = s.At(now)
	levels = append(make([]Level, 0, len(pings)+1), Level{At: now, Left: s.Available})
	if s.Capacity == 0 {
		return levels, dry
	}
	for _, at := range pings {
		if !at.After(now) {
			continue
		}
		s = s.At(at)
		if s.Whole() >= 1 {
			s.Available = max(0, s.Available-1)
		} else if dry.IsZero() {
			dry = at
		}
		levels = append(levels, Level{At: at, Left: s.Available})
	}
	return levels, dry
}

// LeftAt is the level that points of time tell of at a moment: before what is spent in
// it. Before the first point and behind the last it is theirs.
func LeftAt(levels []Level, at time.Time) float64 {
	for i, l := range levels {
		switch {
		case l.At.Before(at):
		case i == 0 || l.At.Equal(at):
			return l.Left
		default:
			from := levels[i-1]
			return from.Left + (l.Left-from.Left)*float64(at.Sub(from.At))/float64(l.At.Sub(from.At))
		}
	}
	if len(levels) == 0 {
		return 0
	}
	return levels[len(levels)-1].Left
}
