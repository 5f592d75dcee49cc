package chart

import (
	"math"
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Plot is curves, bars and marks over two axes. What stands later in a list lies on top.
type Plot struct {
	X, Y   Axis
	Shades []Range // of X
	Rules  []Rule
	Bars   []Bar // side by side over the whole of X
	Curves []Curve
	Marks  []Mark
}

// Axis is a range of numbers and which of them are written at it.
type Axis struct {
	From, To float64
	Ticks    []Tick
}

// Tick is a number with its word; without a word it is a stroke.
type Tick struct {
	At    float64
	Label string
}

// Range is a part of an axis.
type Range struct{ From, To float64 }

// Rule is a line from edge to edge with a word at its end: upright at X, or with
// Level across at Y.
type Rule struct {
	At    float64
	Level bool
	Role  theme.Role
	Label string
}

// Bar is an upright bar, and what may yet come on top of it.
type Bar struct {
	Y, More float64
	Role    theme.Role
}

// Curve is a line through points, which stand in the order of their X. A dashed one is
// told from another without colours.
type Curve struct {
	Points []Point
	Role   theme.Role
	Dashed bool
}

// Point is a point of a curve.
type Point struct{ X, Y float64 }

// Mark is a sign at a point. Its name stands beside it where there is room.
type Mark struct {
	X, Y float64
	Sign string // one cell
	Role theme.Role
	Name string
}

// The least size of the picture within the axes.
const leastAcross, leastDown = 8, 2

// maxName is how many cells the name of a mark may take.
const maxName = 18

// Draw draws the plot: h lines of exactly w cells. A small one has no words at its axes.
func (p *Plot) Draw(t *theme.Theme, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	gutter, foot := p.gutter(), 2
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
	g := newGrid(t, across, h-foot)
	p.fill(t, g)
	lines := g.lines(t)
	if gutter > 0 {
		for y, label := range p.labels(g) {
			lines[y] = p.left(t, gutter, label) + lines[y]
		}
	}
	if foot > 0 {
		lines = append(lines, p.axis(t, g, gutter), p.below(t, g, gutter))
	}
	for i := range lines {
		lines[i] += widget.Blank(w - gutter - across)
	}
	return lines
}

// gutter is how many cells the words at the upright axis take, with the axis.
func (p *Plot) gutter() int {
	n := 0
	for _, tick := range p.Y.Ticks {
		n = max(n, widget.Cells(tick.Label))
	}
	if n == 0 {
		return 0
	}
	return n + 2
}

// fill draws what lies within the axes, from what lies lowest.
func (p *Plot) fill(t *theme.Theme, g *grid) {
	shadeSign, bars := "░", barSigns
	if g.ascii {
		shadeSign, bars = ":", asciiBarSigns
	}
	for _, s := range p.Shades {
		from, to := p.column(g, s.From), p.column(g, s.To)
		for x := from; x <= to && s.To > p.X.From && s.From < p.X.To; x++ {
			for y := range g.h {
				g.put(x, y, shade, theme.Track, shadeSign)
			}
		}
	}
	p.bars(g, bars)
	for _, r := range p.Rules {
		p.rule(t, g, r)
	}
	for _, c := range p.Curves {
		p.curve(g, c)
	}
	for _, m := range p.Marks {
		g.write(p.column(g, m.X), p.row(g, m.Y), 1, m.Role, m.Sign)
	}
	for _, m := range p.Marks {
		p.name(t, g, m)
	}
	for _, r := range p.Rules {
		p.nameRule(t, g, r)
	}
}

// share is where a number stands on an axis, from 0 to 1.
func (a Axis) share(v float64) float64 {
	share := (v - a.From) / (a.To - a.From)
	if a.To <= a.From || math.IsNaN(share) {
		return 0
	}
	return min(max(share, 0), 1)
}

// place is which of n places has a share, so that the last one has 1.
func place(share float64, n int) int { return min(int(share*float64(n)), max(0, n-1)) }

// column and row are the cell of a number.
func (p *Plot) column(g *grid, x float64) int { return place(p.X.share(x), g.w) }

func (p *Plot) row(g *grid, y float64) int { return place(1-p.Y.share(y), g.h) }

// rule draws a line where nothing else lies, a level one over bars too.
func (p *Plot) rule(t *theme.Theme, g *grid, r Rule) {
	box := t.Box()
	if r.Level {
		y := p.row(g, r.At)
		for x := range g.w {
			g.put(x, y, bar, r.Role, box.Horizontal)
		}
		return
	}
	x := p.column(g, r.At)
	for y := range g.h {
		g.put(x, y, rule, r.Role, box.Vertical)
	}
}

// nameRule writes the word of a rule: at the right end of a level one, at the top
// beside an upright one, where there is room.
func (p *Plot) nameRule(t *theme.Theme, g *grid, r Rule) {
	if r.Label == "" {
		return
	}
	text, n := word(t, " "+r.Label+" ", g.w)
	if r.Level {
		y := p.row(g, r.At)
		if x := g.w - n - 1; x >= 0 {
			g.write(x, y, n, r.Role, text)
		}
		return
	}
	x := p.column(g, r.At) + 1
	for y := range g.h {
		if g.free(x, y, n) {
			g.write(x, y, n, r.Role, text)
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
	step := 0
	for i := range max(0, len(c.Points)-1) {
		a, b := c.Points[i], c.Points[i+1]
		if max(a.X, b.X) < p.X.From || min(a.X, b.X) > p.X.To {
			continue
		}
		x0, y0 := spot(a)
		x1, y1 := spot(b)
		n := max(abs(x1-x0), abs(y1-y0))
		for k := range n + 1 {
			if step++; c.Dashed && !g.ascii && step%dash >= dash/2 {
				continue
			}
			x, y := x0, y0
			if n > 0 {
				x, y = x0+rounded(k*(x1-x0), n), y0+rounded(k*(y1-y0), n)
			}
			g.dot(x, y, c)
		}
	}
}

// dash is how many dots a dash of a curve and the gap behind it take.
const dash = 4

// rounded is a/b to the nearest; b is above zero.
func rounded(a, b int) int { return int(math.Round(float64(a) / float64(b))) }

func abs(n int) int { return max(n, -n) }

// name writes the name of a mark where nothing else is: beside it, above, below.
func (p *Plot) name(t *theme.Theme, g *grid, m Mark) {
	if m.Name == "" {
		return
	}
	text, n := word(t, m.Name, min(maxName, g.w/4))
	if n < 3 {
		return
	}
	x, y := p.column(g, m.X), p.row(g, m.Y)
	for _, at := range [][2]int{{x + 2, y}, {x, y + 1}, {x - n + 1, y + 1}, {x, y - 1}, {x - n + 1, y - 1}, {x - n - 1, y}} {
		if g.free(at[0], at[1], n) {
			g.write(at[0], at[1], n, theme.Dim, text)
			return
		}
	}
}

// labels are the words at the upright axis by their row.
func (p *Plot) labels(g *grid) []string {
	out := make([]string, g.h)
	for _, tick := range p.Y.Ticks {
		if y := p.row(g, tick.At); y < len(out) && out[y] == "" {
			out[y] = tick.Label
		}
	}
	return out
}

// left is the upright axis beside one row.
func (p *Plot) left(t *theme.Theme, n int, label string) string {
	box := t.Box()
	join := box.Vertical
	if label != "" {
		join = box.RightJoin
	}
	text, used := word(t, label, n-2)
	return widget.Blank(n-2-used) + t.Paint(theme.Dim, text) + " " + t.Paint(theme.Border, join)
}

// axis is the level axis with its strokes.
func (p *Plot) axis(t *theme.Theme, g *grid, gutter int) string {
	box := t.Box()
	cells := make([]string, g.w)
	for x := range cells {
		cells[x] = box.Horizontal
	}
	for _, tick := range p.X.Ticks {
		if len(cells) > 0 && tick.At >= p.X.From && tick.At <= p.X.To {
			cells[p.column(g, tick.At)] = box.TopJoin
		}
	}
	corner := ""
	if gutter > 0 {
		corner = widget.Blank(gutter-1) + t.Paint(theme.Border, box.BottomLeft)
	}
	return corner + t.Paint(theme.Border, strings.Join(cells, ""))
}

// below are the words at the level axis. Each stands under the middle of its stroke,
// as far as there is room; one that would touch the word before it is left out.
func (p *Plot) below(t *theme.Theme, g *grid, gutter int) string {
	var b strings.Builder
	w, used := gutter+g.w, 0
	for _, tick := range p.X.Ticks {
		text, n := word(t, tick.Label, g.w)
		if n == 0 || tick.At < p.X.From || tick.At > p.X.To {
			continue
		}
		x := min(max(0, gutter+p.column(g, tick.At)-n/2), w-n)
		if x < used+1 && used > 0 {
			continue
		}
		b.WriteString(widget.Blank(x-used) + t.Paint(theme.Dim, text))
		used = x + n
	}
	return b.String() + widget.Blank(w-used)
}
