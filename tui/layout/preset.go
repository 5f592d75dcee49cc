package layout

import "ollimbot/tui/action"

// Presets are the names of the ways to divide a roomy screen; the first is what
// stands for any other name.
var Presets = []string{"balanced", "chat", "forks", "schedule"}

// preset is the weight that the panes have: the left column's share of the width
// and its limits, and how the rows are shared.
type preset struct {
	eighths     int // of the width
	least, most int // cells of the left column
	shares      map[action.Pane]int
}

var presets = map[string]preset{
	"balanced": {3, 38, 52, map[action.Pane]int{
		action.Budget: 2, action.Schedule: 3, action.Updates: 2, action.Forks: 3, action.Chat: 2, action.Logs: 1,
	}},
	"chat": {2, 38, 46, map[action.Pane]int{
		action.Budget: 2, action.Schedule: 3, action.Updates: 2, action.Forks: 2, action.Chat: 7, action.Logs: 1,
	}},
	"forks": {2, 38, 46, map[action.Pane]int{
		action.Budget: 2, action.Schedule: 3, action.Updates: 2, action.Forks: 7, action.Chat: 2, action.Logs: 1,
	}},
	"schedule": {4, 44, 100, map[action.Pane]int{
		action.Budget: 2, action.Schedule: 7, action.Updates: 2, action.Forks: 3, action.Chat: 2, action.Logs: 1,
	}},
}

func presetOf(name string) preset {
	if p, ok := presets[name]; ok {
		return p
	}
	return presets[Presets[0]]
}

// The least width of a column that the user has narrowed.
const leastColumn = 30

// left is how wide the left column is.
func (p preset) left(in Input) int {
	w := min(max(in.W*p.eighths/8, p.least), p.most)
	return min(max(w+in.Columns, leastColumn), in.W-leastColumn)
}

// grown moves rows to the panes that the user has made taller, from the tallest
// others, and away from those made smaller. Nothing falls below its least.
func grown(heights []int, slots []slot, rows map[action.Pane]int) []int {
	for i, s := range slots {
		for n := rows[s.pane]; n > 0; n-- {
			from := tallest(heights, slots, i)
			if from < 0 {
				break
			}
			heights[i]++
			heights[from]--
		}
		for n := rows[s.pane]; n < 0 && heights[i] > s.least && len(slots) > 1; n++ {
			heights[i]--
			heights[shortest(heights, i)]++
		}
	}
	return heights
}

// tallest is the slot beside one that has most above its least; -1 if none has.
func tallest(heights []int, slots []slot, beside int) int {
	best := -1
	for i, s := range slots {
		if i != beside && heights[i] > s.least && (best < 0 || heights[i]-s.least > heights[best]-slots[best].least) {
			best = i
		}
	}
	return best
}

func shortest(heights []int, beside int) int {
	best := -1
	for i, h := range heights {
		if i != beside && (best < 0 || h < heights[best]) {
			best = i
		}
	}
	return best
}
