// Package chart draws numbers as pictures of exact cells: curves and bars over axes,
// gauges, sparklines. It uses the finest signs that the terminal shows: braille, blocks
// or ASCII. It must not know what the numbers mean.
package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Gauge is a bar of w cells that shows a share from 0 to 1 in eighths of a
// cell. A little is never nothing, and nearly all is never all.
func Gauge(t *theme.Theme, share float64, w int) []widget.Span {
	if w <= 0 {
		return nil
	}
	if math.IsNaN(share) {
		share = 0
	}
	share = min(max(share, 0), 1)
	steps, full, track := 8, "█", "░"
	if t.ASCII() {
		steps, full, track = 1, "#", "."
	}
	n := int(math.Round(share * float64(w*steps)))
	if share > 0 {
		n = max(n, 1)
	}
	if share < 1 {
		n = min(n, w*steps-1)
	}
	bar := strings.Repeat(full, n/steps)
	if part := n % steps; part > 0 {
		bar += eighths[part-1]
	}
	return []widget.Span{
		{Role: theme.Gauge, Text: bar},
		{Role: theme.Track, Text: strings.Repeat(track, w-(n+steps-1)/steps)},
	}
}

var eighths = [...]string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"}

var (
	heights      = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	plainHeights = [...]string{"_", ".", ":", "-", "=", "+", "*", "#"}
)

// Spark is one cell for each value, as high as it is against the highest. Zeros are a
// track, which is no height: a value however small looks different.
func Spark(t *theme.Theme, values []float64) string {
	zero, blocks := "·", heights[:]
	if t.ASCII() { // what stands for a dot means a height there
		zero, blocks = plainHeights[0], plainHeights[:]
	}
	top := slices.Max(append([]float64{0}, values...))
	var out strings.Builder
	for _, v := range values {
		cell := zero
		if v > 0 {
			cell = blocks[int(math.Ceil(7*(v/top)-tiny))]
		}
		out.WriteString(cell)
	}
	return out.String()
}

// tiny keeps the rounding of a division from lifting a value by a step.
const tiny = 1e-9

// bars draws the bars by eighths of a cell, with a gap of a cell between them where
// there is room.
func (p *Plot) bars(g *grid) {
	signs := heights[:]
	if g.theme.ASCII() {
		signs = []string{"#"}
	}
	steps := len(signs)
	for i, b := range p.Bars {
		from, to := i*g.w/len(p.Bars), (i+1)*g.w/len(p.Bars)
		if to-from > 1 {
			to--
		}
		height := func(v float64) int { // in steps; a little is never nothing
			n := int(math.Round(p.Y.share(v) * float64(g.h*steps)))
			if v > p.Y.From {
				n = max(n, 1)
			}
			return n
		}
		n, all := height(b.Y), height(b.Y+b.More)
		for y := range g.h {
			base := (g.h - 1 - y) * steps // steps below this row
			for x := from; x < to; x++ {
				switch fill := min(n-base, steps); {
				case fill > 0:
					g.put(x, y, bar, b.Role, signs[fill-1])
				case b.More > 0 && all-base > steps/2:
					g.put(x, y, bar, theme.Track, g.theme.Glyph(theme.Quiet))
				}
			}
		}
	}
}

// Ticks are at most n numbers from zero to most, at steps of 1, 2 or 5 of some power of
// ten.
func Ticks(most float64, n int) []float64 {
	if most <= 0 || n < 1 || math.IsInf(most, 0) || math.IsNaN(most) {
		return []float64{0}
	}
	step := math.Pow(10, math.Floor(math.Log10(most/float64(n))))
	for _, k := range []float64{1, 2, 5, 10} {
		if most/(k*step) <= float64(n) {
			step *= k
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*step <= most*(1+tiny); i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

// Whole is a number as a tick says it: without needless places.
func Whole(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
