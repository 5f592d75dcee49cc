package tail

import (
	"math"
	"slices"
	"strings"
	"time"
)

// The bytes of text that a block has room for: little in a ring's first one, as
// most tails are short, and more with each block. A block is one piece of memory
// without pointers for the garbage collector, however many lines it holds: ten
// tails of 10,000 lines took 15 MB as lines of their own and take 11 in blocks.
const (
	firstRoom = 1 << 10
	mostRoom  = 16 << 10
)

// block holds consecutive lines. What was written into it never changes, so that
// readers share its text.
type block struct {
	first uint64 // the number of its first line
	// text is all lines without anything between them. It has its full size from
	// the beginning: parts that were handed out stay where they are.
	text  strings.Builder
	rows  []row
	kinds []Kind         // those that occur, by row.kind
	zone  *time.Location // of every line
}

// row is what a block knows of a line beside its text.
type row struct {
	at   int64  // microseconds since 1970
	end  uint32 // of its text; it begins at the end of the row before
	kind uint8
}

func newBlock(first uint64, room int, zone *time.Location) *block {
	b := &block{first: first, zone: zone}
	b.text.Grow(room)
	return b
}

// takes reports whether there is room for the line.
func (b *block) takes(l Line) bool {
	return b.text.Len()+len(l.Text) <= b.text.Cap() && l.At.Location() == b.zone &&
		len(b.rows) < mostRoom && (len(b.kinds) < math.MaxUint8 || slices.Contains(b.kinds, l.Kind))
}

func (b *block) add(l Line) {
	kind := slices.Index(b.kinds, l.Kind)
	if kind < 0 {
		kind = len(b.kinds)
		b.kinds = append(b.kinds, l.Kind)
	}
	b.text.WriteString(l.Text)
	b.rows = append(b.rows, row{at: l.At.UnixMicro(), end: uint32(b.text.Len()), kind: uint8(kind)})
}

// seal gives back what the rows have taken in advance: nothing comes any more.
func (b *block) seal() { b.rows = append(make([]row, 0, len(b.rows)), b.rows...) }

// line is the line with the index i.
func (b *block) line(i int) Line {
	from := uint32(0)
	if i > 0 {
		from = b.rows[i-1].end
	}
	r := b.rows[i]
	return Line{At: time.UnixMicro(r.at).In(b.zone), Kind: b.kinds[r.kind], Text: b.text.String()[from:r.end]}
}

// read appends the lines from index i on.
func (b *block) read(lines []Line, i uint64) []Line {
	for n := int(i); n < len(b.rows); n++ {
		lines = append(lines, b.line(n))
	}
	return lines
}
