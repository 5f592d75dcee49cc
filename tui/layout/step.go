package layout

import (
	"maps"

	"ollimbot/tui/action"
)

// Step moves the borders of a pane by columns and rows, both of which may be
// negative, and gives the input with the new Columns and Rows. It begins at the
// size that is shown, whatever was stored for other screens; ok is false where
// the pane has no border that could move that way. The step back gives the pane
// the size that it had.
func (in Input) Step(pane action.Pane, columns, rows int) (out Input, ok bool) {
	plan := Divide(in)
	if plan.Mode != Full || in.Zoom {
		return in, false
	}
	for i, c := range plan.Columns {
		for at, b := range c.Boxes {
			if b.Pane != pane {
				continue
			}
			var wider bool
			switch i { // the column beside the left one grows to the left
			case 0:
				wider = stepColumn(in.leftLimits(), &in.Columns, columns)
			case 1:
				wider = stepColumn(in.leftLimits(), &in.Columns, -columns)
			default:
				wider = stepColumn(in.rightLimits(), &in.Right, columns)
			}
			taller := in.stepRows(i, at, rows)
			return in, wider || taller
		}
	}
	return in, false
}

// stepColumn moves the border of a column whose steps are stored.
func stepColumn(l limits, stored *int, by int) bool {
	next, ok := stepped(l, l.clamp(*stored), *stored, by)
	if ok {
		*stored = next
	}
	return ok
}

// stepRows makes a box of a column taller. What the others give or get is stored
// with it, so that the same screen divides in the same way again.
func (in *Input) stepRows(column, at, by int) bool {
	slots := in.slots()[column]
	if len(slots) == 1 { // it has no border that could move
		return false
	}
	base := heights(in.rows(slots), slots)
	shown := in.grown(slots)
	most := in.rows(slots)
	for i, s := range slots {
		if i != at {
			most -= s.least
		}
	}
	l := limits{base[at], slots[at].least, most}
	next, ok := stepped(l, shown[at], in.Rows[slots[at].size()], by)
	if !ok {
		return false
	}
	shown[at] = l.clamp(next)
	settle(shown, base, in.rows(slots), slots, func(i int) int {
		if i == at {
			return last
		}
		return 0
	})
	in.Rows = maps.Clone(in.Rows)
	if in.Rows == nil {
		in.Rows = map[action.Pane]int{}
	}
	for i, s := range slots {
		in.Rows[s.size()] = shown[i] - base[i]
	}
	in.Rows[slots[at].size()] = next
	return true
}

// limits are where a size stands without the user's steps, and between what it
// may be moved.
type limits struct{ base, least, most int }

// clamp is the size that a stored number of steps comes to.
func (l limits) clamp(stored int) int { return min(max(l.base+stored, l.least), l.most) }

// stepped is the number to store after a step from the size that is shown. What
// a step wanted beyond the limits, always less than one, stays in it: that makes
// the step back as long as this one. ok is false where nothing would be seen.
func stepped(l limits, shown, stored, by int) (next int, ok bool) {
	if l.clamp(stored) != shown {
		stored = shown - l.base
	}
	for _, from := range []int{stored, shown - l.base} {
		if next = from + by; l.clamp(next) != shown {
			return next, true
		}
	}
	return 0, false
}

// The order in which boxes make room: those that the user has left alone first.
const (
	alone = iota
	sized
	last
)

// grown is how many rows the slots of a column have, with what the user has
// made taller and shorter.
func (in Input) grown(slots []slot) []int {
	total := in.rows(slots)
	base := heights(total, slots)
	out := make([]int, len(base))
	for i, s := range slots {
		out[i] = max(s.least, base[i]+in.Rows[s.size()])
	}
	settle(out, base, total, slots, func(i int) int {
		if in.Rows[slots[i].size()] == 0 {
			return alone
		}
		return sized
	})
	return out
}

// rows is how many rows there are between the borders of a column: above them are
// the top line and the day, below them what is said and the help line.
func (in Input) rows(slots []slot) int {
	day, _ := in.head()
	return in.H - 3 - day - len(slots) - 1
}

// settle takes rows from boxes, or gives some, until they are total together.
// Boxes of a lower turn come first, and among them what is furthest from its
// base, so that rows that were taken are given back where they came from.
func settle(have, base []int, total int, slots []slot, turn func(i int) int) {
	sum := 0
	for _, n := range have {
		sum += n
	}
	for ; sum > total; sum-- {
		i := best(have, turn, func(i int) bool { return have[i] > slots[i].least }, func(i int) (int, int) {
			return have[i] - base[i], have[i] - slots[i].least
		})
		if i < 0 {
			return
		}
		have[i]--
	}
	for ; sum < total; sum++ {
		free := func(i int) bool { return slots[i].most == 0 || have[i] < max(slots[i].most, base[i]) }
		order := func(i int) (int, int) { return base[i] - have[i], -have[i] }
		i := best(have, turn, free, order)
		if i < 0 {
			i = best(have, turn, func(int) bool { return true }, order)
		}
		have[i]++
	}
}

// best is the index of the lowest turn that has most of two figures, the first
// one before the second; -1 where none is free.
func best(have []int, turn func(i int) int, free func(i int) bool, figures func(i int) (int, int)) int {
	found := -1
	for i := range have {
		if !free(i) {
			continue
		}
		if found < 0 || turn(i) < turn(found) {
			found = i
			continue
		}
		a, b := figures(i)
		c, d := figures(found)
		if turn(i) == turn(found) && (a > c || a == c && b > d) {
			found = i
		}
	}
	return found
}
