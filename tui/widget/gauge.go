package widget

import (
	"math"
	"strings"

	"ollimbot/tui/theme"
)

// Gauge is a bar of w cells that shows a share from 0 to 1 in eighths of a
// cell. A little is never nothing, and nearly all is never all.
func Gauge(t *theme.Theme, share float64, w int) []Span {
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
	return []Span{{theme.Gauge, bar}, {theme.Track, strings.Repeat(track, w-(n+steps-1)/steps)}}
}

var eighths = [...]string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"}

var (
	heights      = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	plainHeights = [...]string{"_", ".", ":", "-", "=", "+", "*", "#"}
)

// Spark is one cell for each value, as high as it is against the highest.
// Zeros are a track, which is no height: a value however small looks different.
func Spark(t *theme.Theme, values []int) []Span {
	top := 0
	for _, v := range values {
		top = max(top, v)
	}
	return SparkTo(t, values, top)
}

// SparkTo is Spark against a given top; what is above it counts as the top.
func SparkTo(t *theme.Theme, values []int, top int) []Span {
	blocks := &heights
	if t.ASCII() {
		blocks = &plainHeights
	}
	var out []Span
	for _, v := range values {
		role, cell := theme.Track, noHeight(t)
		if v = min(v, top); v > 0 {
			role, cell = theme.Accent, blocks[(v*7+top-1)/top]
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Text += cell
		} else {
			out = append(out, Span{role, cell})
		}
	}
	return out
}

// noHeight is the cell of a zero. What stands for a dot in ASCII means a height
// there, so that it is the lowest of those.
func noHeight(t *theme.Theme) string {
	if t.ASCII() {
		return plainHeights[0]
	}
	return "·"
}

// Chart draws values as upright bars, h lines high and wide cells each with a
// gap of one cell, oldest on the left.
func Chart(t *theme.Theme, values []int, wide, h int) [][]Span {
	top := 1
	for _, v := range values {
		top = max(top, v)
	}
	steps, blocks := 8, &heights
	if t.ASCII() {
		steps, blocks = 1, &[8]string{0: "#", 7: "#"}
	}
	out := make([][]Span, h)
	for y := range out {
		base := (h - 1 - y) * steps // steps below this line
		for _, v := range values {
			n := 0
			if v > 0 {
				n = max(1, v*h*steps/top)
			}
			cell, role := " ", theme.Text
			switch fill := min(max(n-base, 0), steps); {
			case fill > 0 && steps == 8:
				cell, role = blocks[fill-1], theme.Accent
			case fill > 0:
				cell, role = "#", theme.Accent
			case y == h-1:
				cell, role = noHeight(t), theme.Track
			}
			out[y] = append(out[y], Span{role, strings.Repeat(cell, wide)}, Span{theme.Text, " "})
		}
	}
	return out
}
