package chart

import (
	"math"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Plot is areas, curves, bars and marks over two axes. Later items of a list cover earlier ones.
type Plot struct {
	X, Y   Axis
	Shades []Range // of X
	Rules  []Rule
	Areas  []Area
	Bars   []Bar // side by side over all of X
	Curves []Curve
	Marks  []Mark
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

// Range is a part of an axis.
type Range struct{ From, To float64 }

// Rule is a line from edge to edge with a label at its end: vertical at an X value, or
// horizontal at a Y value if Level is set.
type Rule struct {
	At    float64
	Level bool
	Role  theme.Role
	Label string
}

// Bar is a vertical bar up to Y. More is drawn on top of it in a lighter style, for a
// forecast.
type Bar struct {
	Y, More float64
	Role    theme.Role
}

// Area is filled up to a line through points, which are ordered by X, and in a lighter style
// from there up to More, such as a forecast. A cell is as high as the line is anywhere in it
// at least.
type Area struct {
	Points, More []Point
	Role         theme.Role
}

// Curve is a connected line through points, which are ordered by X.
type Curve struct {
	Points []Point
	Role   theme.Role
}

// Point is a point of a curve.
type Point struct{ X, Y float64 }

// Mark is a symbol at a point. Its name is written next to it if there is room.
type Mark struct {
	X, Y float64
	Sign string // one cell
	Role theme.Role
	Name string
}

// The minimum size of the picture within the axes, in cells.
const leastAcross, leastDown = 8, 2

// maxName is the maximum width of a mark's name, in cells.
const maxName = 18

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
	g := &grid{theme: t, pen: penOf(t), w: across, h: h - foot, gutter: gutter, rows: make([][]cell, h)}
	for y := range g.rows {
		g.rows[y] = make([]cell, w)
	}
	p.axes(g) // first, so that no word crosses them
	p.fill(g)
	for _, m := range p.Marks {
		p.name(g, m)
	}
	lines := make([]string, h)
	for y, row := range g.rows {
		lines[y] = g.line(row)
	}
	return lines
}

// fill draws everything within the axes, from the lowest layer up.
func (p *Plot) fill(g *grid) {
	box := g.theme.Box()
	for _, s := range p.Shades {
		from, to := p.column(g, s.From), p.column(g, s.To)
		for x := from; x <= to && s.To > p.X.From && s.From < p.X.To; x++ {
			g.column(x, shade, theme.Track, g.theme.Glyph(theme.Quiet))
		}
	}
	p.areas(g)
	p.bars(g)
	for _, r := range p.Rules {
		if !r.Level {
			g.column(p.column(g, r.At), rule, r.Role, box.Left)
			continue
		}
		for x := range g.w {
			g.put(x, p.row(g, r.At), bar, r.Role, box.Top)
		}
	}
	for _, c := range p.Curves {
		p.curve(g, c)
	}
	for _, m := range p.Marks {
		g.put(p.column(g, m.X), p.row(g, m.Y), sign, m.Role, m.Sign)
	}
	for _, r := range p.Rules {
		p.nameRule(g, r)
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

// nameRule writes the label of a rule if there is room: at the right end of a horizontal
// rule, or at the right of a vertical one, as high as possible.
func (p *Plot) nameRule(g *grid, r Rule) {
	if r.Label == "" {
		return
	}
	text := " " + r.Label + " "
	if r.Level {
		g.write(g.w-widget.Cells(text)-1, p.row(g, r.At), curve, r.Role, text)
		return
	}
	for y := range g.h {
		if g.write(p.column(g, r.At)+1, y, bar, r.Role, text) {
			return
		}
	}
}

// curve draws the segments of a curve.
func (p *Plot) curve(g *grid, c Curve) {
	across, down := len(g.pen.bits), len(g.pen.bits[0])
	spot := func(pt Point) (x, y int) {
		return place(p.X.share(pt.X), g.w*across), place(1-p.Y.share(pt.Y), g.h*down)
	}
	for i := range max(0, len(c.Points)-1) {
		a, b := c.Points[i], c.Points[i+1]
		if max(a.X, b.X) < p.X.From || min(a.X, b.X) > p.X.To {
			continue
		}
		x0, y0 := spot(a)
		x1, y1 := spot(b)
		n := max(x1-x0, x0-x1, y1-y0, y0-y1)
		for k := range n + 1 {
			share := float64(k) / float64(max(n, 1))
			x, y := x0+int(math.Round(share*float64(x1-x0))), y0+int(math.Round(share*float64(y1-y0)))
			g.dot(x, y, c)
		}
	}
}

// name writes the name of a mark in the first free place: to the right, below, above, or
// to the left.
func (p *Plot) name(g *grid, m Mark) {
	text := widget.Cut(m.Name, min(maxName, g.w/4))
	n := widget.Cells(text)
	x, y := p.column(g, m.X), p.row(g, m.Y)
	for _, at := range [][2]int{{x + 2, y}, {x, y + 1}, {x - n + 1, y + 1}, {x, y - 1}, {x - n + 1, y - 1}, {x - n - 1, y}} {
		if n < 3 || g.write(at[0], at[1], rule, theme.Dim, text) {
			return
		}
	}
}

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
