package layout

import (
	"cmp"
	"maps"
	"slices"

	"ollimbot/tui/action"
)

// Step moves the borders of a pane by columns and rows, which may be negative, and returns the input with the new
// Columns and Rows. It starts from the visible size, not from a size stored on another screen. ok is false if the
// pane has no border that can move so far. The step back restores the size.
func (in Input) Step(pane action.Pane, columns, rows int) (out Input, ok bool) {
	if mode(in.W, in.H) != Full || in.Zoom {
		return in, false
	}
	for i, column := range in.slots() {
		at := slices.IndexFunc(column, func(s slot) bool { return s.pane == pane })
		if at < 0 {
			continue
		}
		var wider bool
		switch i { // the column next to the left one grows to the left
		case 0:
			wider = in.leftLimits().step(&in.Columns, columns)
		case 1:
			wider = in.leftLimits().step(&in.Columns, -columns)
		default:
			wider = in.rightLimits().step(&in.Right, columns)
		}
		taller := in.stepRows(column, at, rows)
		return in, wider || taller
	}
	return in, false
}

// stepRows makes a box of a column taller. The changes of the others are stored with it, so
// that the same screen is divided in the same way again.
func (in *Input) stepRows(column []slot, at, by int) bool {
	total, shown := in.rows(column), in.grown(column)
	base := heights(total, column)
	most := total + column[at].least
	for _, s := range column {
		most -= s.least
	}
	if by == 0 || len(column) == 1 || shown[at]+by < column[at].least || shown[at]+by > most {
		return false
	}
	shown[at] += by
	settle(shown, base, total, column, func(i int) bool { return i == at })
	rows := map[action.Pane]int{}
	maps.Copy(rows, in.Rows)
	for i, s := range column {
		rows[s.size()] = shown[i] - base[i]
	}
	in.Rows = rows
	return true
}

// limits are a size without the user's steps, and its bounds.
type limits struct{ base, least, most int }

// clamp returns the size for a stored number of steps.
func (l limits) clamp(stored int) int { return min(max(l.base+stored, l.least), l.most) }

// step changes the visible size and the stored steps.
func (l limits) step(stored *int, by int) bool {
	size := l.clamp(*stored) + by
	if by == 0 || size < l.least || size > l.most {
		return false
	}
	*stored = size - l.base
	return true
}

// grown returns the rows of a column's slots, as resized by the user.
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

// rows returns the number of rows between the borders of a column: above are the top line and the day, below the rows
// of messages and keys.
func (in Input) rows(column []slot) int {
	day, _ := in.head()
	return in.H - 3 - day - len(column) - 1
}

// settle removes rows from boxes, or adds some, until their sum is total. It changes kept boxes last, and first those
// furthest from their base, so that removed rows are returned to the boxes they came from.
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
