package chart

import (
	"math"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Plot is bars over two axes. Later items of a list cover earlier ones.
type Plot struct {
	X, Y  Axis
	Rules []Rule
	Bars  []Bar // side by side over all of X
}

// Axis is a range of numbers, with its ticks.
type Axis struct {
	From, To float64
	Ticks    []Tick
}

// Tick is a marked number of an axis, with an optional label.
type Tick struct {
	At    float64
	Label string
}

// Rule is a horizontal line from edge to edge at a Y value, with a label at its right end.
type Rule struct {
	At    float64
	Role  theme.Role
	Label string
}

// Bar is a vertical bar up to Y. More is drawn on top of it in a lighter style, for a
// forecast.
type Bar struct {
	Y, More float64
	Role    theme.Role
}

// The minimum size of the picture within the axes, in cells.
const leastAcross, leastDown = 8, 2

// Draw draws the plot in h lines of exactly w cells. A small plot has no labels.
func (p *Plot) Draw(t *theme.Theme, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	gutter, foot := 0, 2
	for _, tick := range p.Y.Ticks {
		if n := widget.Cells(tick.Label); n > 0 {
			gutter = max(gutter, n+2) // a space and the axis
		}
	}
	if w-gutter < leastAcross {
		gutter = 0
	}
	if h-foot < leastDown {
		foot = 0
	}
	across := w - gutter
	if n := len(p.Bars); n > 0 && across >= n {
		across -= across % n // all bars have the same width
	}
	g := &grid{theme: t, w: across, h: h - foot, gutter: gutter, rows: make([][]cell, h)}
	for y := range g.rows {
		g.rows[y] = make([]cell, w)
	}
	p.axes(g) // first, so that no word crosses them
	p.fill(g)
	lines := make([]string, h)
	for y, row := range g.rows {
		lines[y] = g.line(row)
	}
	return lines
}

// fill draws everything within the axes, from the lowest layer up.
func (p *Plot) fill(g *grid) {
	p.bars(g)
	for _, r := range p.Rules {
		for x := range g.w {
			g.put(x, p.row(g, r.At), bar, r.Role, g.theme.Box().Top)
		}
	}
	for _, r := range p.Rules {
		text := " " + r.Label + " "
		if r.Label != "" {
			g.write(g.w-widget.Cells(text)-1, p.row(g, r.At), bar, r.Role, text)
		}
	}
}

// share is the position of a number on an axis, from 0 to 1.
func (a Axis) share(v float64) float64 {
	share := (v - a.From) / (a.To - a.From)
	if a.To <= a.From || math.IsNaN(share) {
		return 0
	}
	return min(max(share, 0), 1)
}

// place is the index among n cells of a share; a share of 1 is in the last one. A share that
// arithmetic left just below a border, as 1-4.0/5 of 10 cells, is on it.
func place(share float64, n int) int { return min(int(share*float64(n)+1e-9), max(0, n-1)) }

// column and row are the coordinates of a value in cells.
func (p *Plot) column(g *grid, x float64) int { return place(p.X.share(x), g.w) }

func (p *Plot) row(g *grid, y float64) int { return place(1-p.Y.share(y), g.h) }

// axes draws both axes with their ticks and labels. Labels of the X axis are centred
// below their ticks, within the plot.
func (p *Plot) axes(g *grid) {
	box := g.theme.Box()
	for y := range g.h {
		g.put(-1, y, sign, theme.Border, box.Left)
	}
	for _, tick := range p.Y.Ticks {
		n, y := widget.Cells(tick.Label), p.row(g, tick.At)
		if g.write(-2-n, y, nothing, theme.Dim, tick.Label) && n > 0 {
			g.put(-1, y, sign, theme.Border, box.MiddleRight)
		}
	}
	g.put(-1, g.h, sign, theme.Border, box.BottomLeft)
	for x := range g.w {
		g.put(x, g.h, sign, theme.Border, box.Top)
	}
	for _, tick := range p.X.Ticks {
		if tick.At >= p.X.From && tick.At <= p.X.To {
			x, n := p.column(g, tick.At), widget.Cells(tick.Label)
			g.put(x, g.h, sign, theme.Border, box.MiddleTop)
			g.write(max(-g.gutter, min(x-n/2, g.w-n)), g.h+1, nothing, theme.Dim, tick.Label)
		}
	}
}
