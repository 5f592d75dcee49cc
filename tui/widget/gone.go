package widget

import (
	"ollimbot/core/tail"
	"ollimbot/tui/theme"
)

// gone counts the lines of a tail that a TailView does not have: those before the
// first one that it keeps, and gaps further on, each with a line of its own that
// stands for it.
type gone struct {
	before uint64
	gaps   map[uint64]uint64 // how many lines, by the number of the line that stands for them
}

// take is for how many lines of the tail the n lines from a number on stand. They
// leave the view, so that their gaps are forgotten.
func (g *gone) take(from uint64, n int) uint64 {
	sum := uint64(n)
	for i, lost := range g.gaps {
		if i >= from && i-from < uint64(n) {
			sum += lost - 1
			delete(g.gaps, i)
		}
	}
	return sum
}

// lose notes that the tail has forgotten lines before the view could read them.
func (v *TailView) lose(n uint64) {
	switch {
	case n == 0:
	case len(v.lines) == 0:
		v.gone.before += n
	default:
		if v.gone.gaps == nil {
			v.gone.gaps = map[uint64]uint64{}
		}
		v.gone.gaps[v.first+uint64(len(v.lines))] = n
		v.lines = append(v.lines, tail.Line{Kind: tail.Note, Text: textGap(n)})
	}
}

// head is the note above the oldest line. It counts what came before, and is no
// line of the tail itself. A filter that was written shows its own lines alone.
func (v *TailView) head(look Look) [][]Span {
	if v.gone.before == 0 || v.filter.query.Active() {
		return nil
	}
	head := []Span{{theme.Accent, " "}}
	clock, kind := columns(look.W)
	if clock != "" && !v.timeless {
		head = append(head, Span{Text: Blank(len(clock) + 1)})
	}
	if kind {
		head = append(head, Span{theme.Accent, Fit(string(tail.Note), kindWidth)})
	}
	return [][]Span{append(head, Span{theme.Dim, textGone(v.gone.before)})}
}
