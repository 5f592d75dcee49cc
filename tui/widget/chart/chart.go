// Package chart draws numbers in an exact number of cells: bars over axes, columns of an area, gauges, sparklines, and
// rows of cells for pictures of them. It uses blocks, or ASCII in a terminal without them. It must not know the meaning
// of the numbers.
package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Gauge is a bar of w cells for a share from 0 to 1, in steps of an eighth of a cell. A
// share above 0 never looks empty, and one below 1 never looks full.
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

// Column is a bar for a share from 0 to 1 in cells from the top to the bottom; an empty cell is "". A bar is never
// empty. A faint one, such as of a forecast, has a texture and consists of whole cells.
func Column(t *theme.Theme, share float64, rows int, faint bool) []string {
	switch {
	case faint:
		return column(share, rows, More(t))
	case t.ASCII():
		return column(share, rows, "_", "=", "#")
	}
	return column(share, rows, heights[:]...)
}

// column is a Column with these steps of a cell, the last of which fills it.
func column(share float64, rows int, steps ...string) []string {
	n := max(1, int(math.Round(min(max(share, 0), 1)*float64(rows*len(steps)))))
	out := make([]string, rows)
	for i := range out {
		if fill := n - (rows-1-i)*len(steps); fill > 0 {
			out[i] = steps[min(fill, len(steps))-1]
		}
	}
	return out
}

// Heat is a cell for each value, higher the nearer it is to top; zero is a dot. No cell is full, so that two rows stay
// apart.
func Heat(t *theme.Theme, values []float64, top float64) string {
	zero, shades := "·", []string{"▁", "▂", "▄", "▆"}
	if t.ASCII() {
		zero, shades = ".", []string{"-", "+", "*", "#"}
	}
	return cells(values, zero, func(v float64) string {
		return shades[place(part(v, top)-tiny, len(shades))]
	})
}

// Spark is a sparkline of one cell for each value, scaled to the highest. A zero is drawn
// as a dot, so that it differs from the smallest value. No cell is full, so that the
// sparklines of two rows stay apart.
func Spark(t *theme.Theme, values []float64) string {
	zero, blocks := "·", heights[:sparkHeights]
	if t.ASCII() { // the replacement of the dot is one of the heights
		zero, blocks = plainHeights[0], plainHeights[:]
	}
	top := slices.Max(append([]float64{0}, values...))
	return cells(values, zero, func(v float64) string {
		return blocks[int(math.Ceil(float64(len(blocks)-1)*(v/top)-tiny))]
	})
}

// cells has a sign for each value, and zero for one that is not above it.
func cells(values []float64, zero string, sign func(v float64) string) string {
	var out strings.Builder
	for _, v := range values {
		if v > 0 {
			out.WriteString(sign(v))
		} else {
			out.WriteString(zero)
		}
	}
	return out.String()
}

// sparkHeights is how many eighths of a cell the highest value has.
const sparkHeights = 6

// tiny absorbs the rounding error of a division, which could raise a value by a step.
const tiny = 1e-9

// More is the sign of what is on top of a bar or an area.
func More(t *theme.Theme) string {
	if t.ASCII() {
		return "-"
	}
	return "▒"
}

// Ticks are numbers from zero to most, in at most n steps of 1, 2 or 5 times a power of
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

// Label is a number as a tick's label: at most four digits, without trailing zeros.
func Label(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
