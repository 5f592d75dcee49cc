package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
)

// overlayToasts lays the toasts where the user is not looking: inside a box of
// the column without the focus, and in the only box away from the newest lines
// and from what is being written. A dialog has them beside it.
func (r *root) overlayToasts(lines []string, plan layout.Plan) {
	now := time.Now()
	if len(r.speech.toasts(now)) == 0 {
		return
	}
	b, most := r.toastBox(plan), toastRows+1
	if len(r.dialogs) > 0 {
		b, most = layout.Box{X: 1, Y: 1, W: r.w - 2, H: r.h - 3}, 1
	}
	toasts := r.toastLines(now, b.W, min(most, max(1, b.H/2)))
	if len(toasts) == 0 || b.H < 1 {
		return
	}
	w := cells(toasts[0])
	lay(lines, r.w, piece{b.X + b.W - w, r.toastRow(lines, b, w, len(toasts)), toasts})
}

// roomyToasts is from how many rows on a box has room for all toasts without
// losing more than half of its lines.
const roomyToasts = 2 * toastRows

// toastBox is the inside of the box in which the toasts stand.
func (r *root) toastBox(plan layout.Plan) layout.Box {
	switch n := len(plan.Columns); n {
	case 0:
		return layout.Box{X: 0, Y: 1, W: r.w, H: r.h - 2}
	case 1:
		return plan.Columns[0].Boxes[0]
	default:
		focused, _ := plan.Find(r.focus)
		c := plan.Columns[n-1]
		if c.X <= focused.X {
			c = plan.Columns[0]
		}
		best := c.Boxes[len(c.Boxes)-1]
		for _, b := range c.Boxes {
			if best.H < roomyToasts && b.H > best.H {
				best = b
			}
		}
		return best
	}
}

// toastRow is the row of the first of n toasts that are w cells wide: where the box
// is blank, as low as can be, else where the pane has its older lines.
func (r *root) toastRow(lines []string, b layout.Box, w, n int) int {
	low := b.Y + b.H - n
	if len(r.dialogs) > 0 {
		if s, ok := r.seat(r.dialogs[len(r.dialogs)-1]); ok && s.y+len(s.inside)+2 > low {
			return r.h - 2
		}
		return low
	}
	writes := b.Pane == r.focus && r.panes[b.Pane].Capture()
	if y, ok := blankRow(lines, b, w, n, writes); ok {
		return y
	}
	skip := 0
	switch b.Pane {
	case action.Chat:
		if r.snap.Fork != nil {
			skip = bannerRows
		}
	case action.Logs:
	case action.Forks:
		skip = max(2, b.H/3) + 1 // below the runs and the rule
	default:
		return low
	}
	if b.H >= 2*(skip+n) {
		return b.Y + skip
	}
	return b.Y
}

// bannerRows are about those of the chat that say that it stands in a fork.
const bannerRows = 2

// blankRow finds the lowest n rows of a box in which w cells at its right are
// blank. Above the lower end they are n and one more, so that no toast stands
// between two messages. What is written in takes up to half of its box, and may
// hold blank lines.
func blankRow(lines []string, b layout.Box, w, n int, writes bool) (y int, ok bool) {
	end, free := b.Y+b.H, 0
	if writes {
		end -= b.H - b.H/2
	}
	for y := end - 1; y >= b.Y; y-- {
		if strings.Trim(ansi.Strip(ansi.Cut(lines[y], b.X+b.W-w, b.X+b.W)), " ") != "" {
			free = 0
			continue
		}
		free++
		if low := !writes && y+n == end; free > n || low && free == n {
			if free > n {
				y++
			}
			return y, true
		}
	}
	return 0, false
}
