package chart

import (
	"math"
	"slices"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Row is a row of n equal cells, each of them a span.
func Row(n int, role theme.Role, text string) []widget.Span {
	return slices.Repeat([]widget.Span{{Role: role, Text: text}}, max(0, n))
}

// Write writes ASCII text into a row of cells, from cell x on.
func Write(row []widget.Span, x int, role theme.Role, text string) {
	for i := range text {
		if x+i >= 0 && x+i < len(row) {
			row[x+i] = widget.Span{Role: role, Text: text[i : i+1]}
		}
	}
}

// Merged joins adjacent cells of one role.
func Merged(cells []widget.Span) (out []widget.Span) {
	for _, s := range cells {
		if k := len(out) - 1; k >= 0 && out[k].Role == s.Role {
			out[k].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	return out
}

// Plot is bars side by side over two axes. Labels are ASCII.
type Plot struct {
	Top   float64 // of the vertical axis, which starts at 0
	Ticks []Tick  // of that axis
	Rule  Rule
	Bars  []Bar
}

// Tick is a marked number of an axis, with an optional label.
type Tick struct {
	At    float64
	Label string
}

// Rule is a horizontal line from edge to edge, with a label at its right end; none without a label.
type Rule struct {
	At    float64
	Role  theme.Role
	Label string
}

// Bar is a vertical bar up to Y, with an optional label below it. More is drawn on top of it in a lighter style, for a
// forecast.
type Bar struct {
	Y, More float64
	Role    theme.Role
	Label   string
}

// The minimum size of the picture within the axes, in cells.
const leastAcross, leastDown = 8, 2

// Draw draws the plot in h lines of exactly w cells. A small plot has no labels.
func (p *Plot) Draw(t *theme.Theme, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	gutter, foot := 0, 2
	for _, tick := range p.Ticks {
		if n := len(tick.Label); n > 0 {
			gutter = max(gutter, n+2) // a space and the axis
		}
	}
	if w-gutter < leastAcross {
		gutter = 0
	}
	if h-foot < leastDown {
		foot = 0
	}
	across, down := w-gutter, h-foot
	if n := len(p.Bars); n > 0 && across >= n {
		across -= across % n // all bars have the same width
	}
	rows := make([][]widget.Span, h)
	for y := range rows {
		rows[y] = Row(w, theme.Text, " ")
	}
	p.bars(t, rows[:down], gutter, across)
	box := t.Box()
	if y, n := p.row(p.Rule.At, down), len(p.Rule.Label); n > 0 && down > 0 {
		copy(rows[y][gutter:], Row(across, p.Rule.Role, box.Top))
		if across >= n+4 {
			Write(rows[y], gutter+across-n-3, p.Rule.Role, " "+p.Rule.Label+" ")
		}
	}
	p.left(t, rows[:down], gutter-1)
	if foot > 0 {
		p.below(t, rows[down:], gutter, across)
	}
	lines := make([]string, h)
	for y, row := range rows {
		lines[y] = widget.Brush{Theme: t}.Line(w, Merged(row)...)
	}
	return lines
}

// bars draws the bars, with gaps of one cell if there is room.
func (p *Plot) bars(t *theme.Theme, rows [][]widget.Span, gutter, across int) {
	steps := heights[:]
	if t.ASCII() {
		steps = []string{"#"}
	}
	draw := func(from, to int, value float64, role theme.Role, steps ...string) {
		for y, sign := range column(part(value, p.Top), len(rows), steps...) {
			if sign != "" && value > 0 {
				copy(rows[y][gutter+from:], Row(to-from, role, sign))
			}
		}
	}
	for i, b := range p.Bars {
		from, to := i*across/len(p.Bars), (i+1)*across/len(p.Bars)
		if to-from > 1 {
			to--
		}
		if b.More > 0 {
			draw(from, to, b.Y+b.More, theme.Track, More(t))
		}
		draw(from, to, b.Y, b.Role, steps...)
	}
}

// left draws the vertical axis in column x, and the numbers of its ticks before it; nothing if there is no such column.
func (p *Plot) left(t *theme.Theme, rows [][]widget.Span, x int) {
	if x < 0 || len(rows) == 0 {
		return
	}
	for y := range rows {
		rows[y][x] = widget.Span{Role: theme.Border, Text: t.Box().Left}
	}
	for _, tick := range p.Ticks {
		if y, n := p.row(tick.At, len(rows)), len(tick.Label); n > 0 && rows[y][x].Text == t.Box().Left {
			Write(rows[y], x-1-n, theme.Dim, tick.Label)
			rows[y][x].Text = t.Box().MiddleRight
		}
	}
}

// below draws the horizontal axis and the labels of the bars, centred within the plot; those without room are left out.
func (p *Plot) below(t *theme.Theme, rows [][]widget.Span, gutter, across int) {
	copy(rows[0][gutter:], Row(across, theme.Border, t.Box().Top))
	if gutter > 0 {
		rows[0][gutter-1] = widget.Span{Role: theme.Border, Text: t.Box().BottomLeft}
	}
	end := -1 // of the last label
	for i, b := range p.Bars {
		n := len(b.Label)
		if n == 0 || across == 0 {
			continue
		}
		x := gutter + place((float64(i)+0.5)/float64(len(p.Bars)), across)
		rows[0][x] = widget.Span{Role: theme.Border, Text: t.Box().MiddleTop}
		if from := max(0, min(x-n/2, gutter+across-n)); from > end && from+n <= len(rows[1]) {
			Write(rows[1], from, theme.Dim, b.Label)
			end = from + n
		}
	}
}

// row is the row of a value, of n rows.
func (p *Plot) row(v float64, n int) int { return place(1-part(v, p.Top), n) }

// part is a number as a share of top, from 0 to 1.
func part(v, top float64) float64 {
	share := v / top
	if top <= 0 || math.IsNaN(share) {
		return 0
	}
	return min(max(share, 0), 1)
}

// place is the index among n cells of a share; a share of 1 is in the last one. A share that
// arithmetic left just below a border, as 1-4.0/5 of 10 cells, is on it.
func place(share float64, n int) int { return min(int(share*float64(n)+tiny), max(0, n-1)) }
