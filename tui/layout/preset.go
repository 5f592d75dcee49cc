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

// base is how wide the left column is when nobody has moved its border.
func (p preset) base(w int) int { return min(max(w*p.eighths/8, p.least), p.most) }

// left is how wide the left column is.
func (in Input) left() int {
	return limits{presetOf(in.Preset).base(in.W), leastColumn, in.W - leastColumn}.clamp(in.Columns)
}
