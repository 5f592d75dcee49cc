package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/widget"
)

// overlayToasts lays the toasts where the user is not looking: inside a box of
// the column without the focus, and in the only box away from the newest lines
// and from what is being written. A dialog has them beside it.
func (r *root) overlayToasts(lines []string, plan layout.Plan) {
	now := time.Now()
	r.speech.over = false
	if len(r.speech.toasts(now)) == 0 {
		return
	}
	if len(r.dialogs) > 0 {
		b := layout.Box{X: 1, Y: 1, W: r.w - 2, H: r.h - 3}
		if toasts := r.toastLines(now, b.W, 1); len(toasts) > 0 && b.H >= 1 {
			lay(lines, r.w, piece{b.X + b.W - cells(toasts[0]), r.besideDialog(b), toasts})
		}
		return
	}
	b := r.toastBox(plan)
	rows := rowsOf(lines, b)
	kept := r.kept(rows, b)
	most := min(toastRows+1, b.H/2)
	if free(kept) < roomyToasts || b.H < lowBox && b.Pane == r.focus && blanks(rows, kept) < roomyToasts {
		most = 1
	}
	for ; most > 0; most = min(most-1, 1) {
		toasts := r.toastLines(now, b.W, most)
		if len(toasts) == 0 {
			return
		}
		w := cells(toasts[0])
		if y, ok := r.toastRow(lines, b, kept, piece{x: b.X + b.W - w, lines: toasts}); ok {
			lay(lines, r.w, piece{b.X + b.W - w, y, toasts})
			return
		}
	}
	if toasts := r.toastLines(now, r.w, 1); len(toasts) > 0 {
		r.speech.over = true
		lines[r.h-1] = toasts[0] + widget.Blank(r.w-cells(toasts[0]))
	}
}

// besideDialog is the row of a toast that the topmost dialog does not reach: the
// last one of the body, else the one below it.
func (r *root) besideDialog(b layout.Box) int {
	low := b.Y + b.H - 1
	if s, ok := r.seat(r.dialogs[len(r.dialogs)-1]); ok && s.y+len(s.inside)+2 > low {
		return r.h - 2
	}
	return low
}

// roomyToasts is from how many rows on a box has room for all toasts. Where fewer
// may be covered, a toast is one row.
const roomyToasts = 2 * toastRows

// lowBox is up to how many rows of the focused pane only blank ones may be taken
// by more than one.
const lowBox = 12

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

// toastRow is the first row of a toast: where the box is blank, as low as can be,
// else where the pane has its older lines, but on no row that is kept.
func (r *root) toastRow(lines []string, b layout.Box, kept []bool, toast piece) (y int, ok bool) {
	n := len(toast.lines)
	if y, ok := blankRow(lines, b, kept, toast); ok {
		return y, true
	}
	want := b.H - n
	switch b.Pane {
	case action.Chat:
		want = 0
		if r.snap.Fork != nil && b.H >= 2*(bannerRows+n) {
			want = bannerRows
		}
	case action.Logs, action.Forks:
		want = 0
	default:
	}
	return nearest(kept, n, want, b.Y)
}

// nearest is the run of n rows that may be covered which begins nearest to row
// want of a box; y counts from the top of the screen, on which the box begins at
// row top.
func nearest(kept []bool, n, want, top int) (y int, ok bool) {
	for i := 0; i+n <= len(kept); i++ {
		if free(kept[i:i+n]) == n && (!ok || abs(i-want) < abs(y-want)) {
			y, ok = i, true
		}
	}
	return top + y, ok
}

func abs(n int) int { return max(n, -n) }

// free counts the rows that may be covered.
func free(kept []bool) (n int) {
	for _, k := range kept {
		if !k {
			n++
		}
	}
	return n
}

// kept are the rows of a box that no toast covers: the marked row, the runs and the
// rule below them, the newest line of a text, and what is written or asked there.
func (r *root) kept(rows []string, b layout.Box) []bool {
	kept := make([]bool, b.H)
	if b.Pane == action.Everywhere { // the strip, with a pane in each row
		for y, l := range rows {
			kept[y] = !blank(l)
		}
		return kept
	}
	if y, ok := r.marked(rows); ok {
		kept[y] = true
	}
	from, to := 0, b.H // of a text whose newest line counts
	found := rules(rows, r.theme.Box().Horizontal)
	switch {
	case b.Pane == action.Forks && len(found) > 0:
		from = found[0] + 1
	case b.Pane == action.Chat && len(found) > 0:
		to = found[len(found)-1]
	case b.Pane != action.Chat && b.Pane != action.Logs:
		from = b.H // rows of a list are all alike
	}
	if from < b.H {
		keep(kept[:from])
		keep(kept[to:])
		if y := newest(rows[:to]); y >= from {
			kept[y] = true
		}
	}
	if b.Pane == r.focus && r.panes[b.Pane].Capture() {
		keep(kept[b.H/2:])
	}
	return kept
}

func keep(rows []bool) {
	for i := range rows {
		rows[i] = true
	}
}

// newest is the last row that is not blank, or -1.
func newest(rows []string) int {
	for y, l := range slices.Backward(rows) {
		if !blank(l) {
			return y
		}
	}
	return -1
}

func blank(l string) bool { return strings.Trim(l, " ") == "" }

// blanks counts the blank rows that may be covered.
func blanks(rows []string, kept []bool) (n int) {
	for y, l := range rows {
		if !kept[y] && blank(l) {
			n++
		}
	}
	return n
}

// rowsOf are the rows of a box as they stand on the screen, without colours.
func rowsOf(lines []string, b layout.Box) []string {
	rows := make([]string, b.H)
	for y := range rows {
		rows[y] = ansi.Strip(ansi.Cut(lines[b.Y+y], b.X, b.X+b.W))
	}
	return rows
}

// bannerRows are about those of the chat that say that it stands in a fork.
const bannerRows = 2

// blankRow finds the lowest rows of a box in which the cells below a toast are
// blank. Above the lower end there is one more, so that no toast stands between
// two messages.
func blankRow(lines []string, b layout.Box, kept []bool, toast piece) (y int, ok bool) {
	n, end, run := len(toast.lines), b.Y+b.H, 0
	for y := end - 1; y >= b.Y; y-- {
		if kept[y-b.Y] || !blank(ansi.Strip(ansi.Cut(lines[y], toast.x, b.X+b.W))) {
			run = 0
			continue
		}
		run++
		if low := y+n == end; run > n || low && run == n {
			if run > n {
				y++
			}
			return y, true
		}
	}
	return 0, false
}
