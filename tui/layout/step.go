package layout

import (
	"cmp"
	"maps"
	"slices"

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
func (in *Input) stepRows(which, at, by int) bool {
	column := in.slots()[which]
	if len(column) == 1 { // it has no border that could move
		return false
	}
	base := heights(in.rows(column), column)
	shown := in.grown(column)
	most := in.rows(column)
	for i, s := range column {
		if i != at {
			most -= s.least
		}
	}
	l := limits{base[at], column[at].least, most}
	next, ok := stepped(l, shown[at], in.Rows[column[at].size()], by)
	if !ok {
		return false
	}
	shown[at] = l.clamp(next)
	settle(shown, base, in.rows(column), column, func(i int) bool { return i == at })
	in.Rows = maps.Clone(in.Rows)
	if in.Rows == nil {
		in.Rows = map[action.Pane]int{}
	}
	for i, s := range column {
		in.Rows[s.size()] = shown[i] - base[i]
	}
	in.Rows[column[at].size()] = next
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

// grown is how many rows the slots of a column have, with what the user has
// made taller and shorter.
func (in Input) grown(column []slot) []int {
	total := in.rows(column)
	base := heights(total, column)
	out := make([]int, len(base))
	for i, s := range column {
		out[i] = max(s.least, base[i]+in.Rows[s.size()])
	}
	settle(out, base, total, column, func(i int) bool { return in.Rows[column[i].size()] != 0 })
	return out
}

// rows is how many rows there are between the borders of a column: above them are
// the top line and the day, below them what is said and the help line.
func (in Input) rows(column []slot) int {
	day, _ := in.head()
	return in.H - 3 - day - len(column) - 1
}

// settle takes rows from boxes, or gives some, until they are total together. Boxes that
// are kept come last, and among the others what is furthest from its base comes first, so
// that rows that were taken are given back where they came from.
func settle(have, base []int, total int, column []slot, keep func(i int) bool) {
	sum := 0
	for _, n := range have {
		sum += n
	}
	for sum != total {
		by := cmp.Compare(total, sum)
		best, rank := -1, []int(nil)
		for i, s := range column {
			if by < 0 && have[i] <= s.least {
				continue
			}
			class := 0
			if keep(i) {
				class = 1
			}
			if by > 0 && s.most > 0 && have[i] >= max(s.most, base[i]) {
				class += 2
			}
			if r := []int{class, by * (have[i] - base[i]), by * have[i]}; best < 0 || slices.Compare(r, rank) < 0 {
				best, rank = i, r
			}
		}
		if best < 0 {
			return
		}
		have[best] += by
		sum += by
	}
}
