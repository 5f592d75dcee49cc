package budget

import "time"

// Level is the bucket at a moment.
type Level struct {
	At   time.Time
	Left float64
}

// LeftAt returns the level at a moment, before anything is spent at that moment. Outside
// the range it returns the level of the first or last point.
func LeftAt(levels []Level, at time.Time) float64 {
	for i, l := range levels {
		switch {
		case l.At.Before(at):
		case i == 0:
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
