// Package tail is a ring of lines that is read by cursor: a writer never waits
// for a reader, and a reader that was too slow learns how many lines it lost.
// It knows neither forks nor logs nor screens.
package tail

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Line is one line of a tail. Text is cleaned of control characters before it
// is put in and holds no line break. At is kept to the microsecond.
type Line struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text"`
}

// Kind names what a line is; dashboards colour by it and always print it.
type Kind string

// The kinds of lines.
const (
	Text   Kind = "text"   // the model's words
	Think  Kind = "think"  // its reasoning
	Tool   Kind = "tool"   // a tool call
	Result Kind = "result" // what the tool answered
	Ping   Kind = "ping"   // a message that reached the user
	Refuse Kind = "refuse" // a ping, report or tool that was refused
	Report Kind = "report" // an update for the main session
	Note   Kind = "note"   // the bot about the run
	Error  Kind = "error"
	Debug  Kind = "debug" // log levels share the type
	Info   Kind = "info"
	Warn   Kind = "warn"
)

// Cursor is a position in a tail: the number of lines ever written before it.
// The zero Cursor is the beginning.
type Cursor uint64

// Page is what a read gives: the lines from the cursor on, where to go on, and
// how many lines before them were overwritten unread.
type Page struct {
	Lines []Line
	Next  Cursor
	Lost  uint64
}

// Ring keeps the newest lines. Use New.
type Ring struct {
	mu sync.Mutex
	// blocks hold the lines, oldest first; only the last one grows.
	blocks []*block
	next   uint64 // the count of lines ever written
	size   uint64
}

// New returns a ring that keeps the newest size lines (at least one). Memory
// is taken as lines arrive.
func New(size int) *Ring {
	return &Ring{size: uint64(max(1, size))}
}

// Add appends a line. It never blocks on a reader.
func (r *Ring) Add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open(l).add(l)
	r.next++
	for len(r.blocks) > 1 && r.blocks[1].first <= r.oldest() {
		r.blocks[0] = nil // the slice below goes on holding it
		r.blocks = r.blocks[1:]
	}
}

// open is the block that takes the line.
func (r *Ring) open(l Line) *block {
	room := firstRoom
	if n := len(r.blocks); n > 0 {
		last := r.blocks[n-1]
		if last.takes(l) {
			return last
		}
		last.seal()
		room = min(last.text.Cap()*2, mostRoom)
	}
	b := newBlock(r.next, max(room, len(l.Text)), l.At.Location())
	r.blocks = append(r.blocks, b)
	return b
}

// oldest is the number of the oldest line that is kept.
func (r *Ring) oldest() uint64 { return r.next - min(r.next, r.size) }

// Len is the number of lines ever added.
func (r *Ring) Len() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Read returns the lines from the cursor on. A cursor beyond the end gives
// nothing and moves back to the end. Texts of a page are parts of the ring's
// blocks: a page that is kept holds on to the blocks that it came from.
func (r *Ring) Read(from Cursor) Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.oldest()
	start := min(max(uint64(from), oldest), r.next)
	p := Page{Next: Cursor(r.next), Lost: oldest - min(uint64(from), oldest)}
	if n := r.next - start; n > 0 {
		p.Lines = make([]Line, 0, n)
		for _, b := range r.blocks[r.holder(start):] {
			p.Lines = b.read(p.Lines, start-min(start, b.first))
		}
	}
	return p
}

// holder is the index of the block that holds line n. Most readers ask for the
// end, so the search begins there.
func (r *Ring) holder(n uint64) int {
	i := len(r.blocks) - 1
	for i > 0 && r.blocks[i].first > n {
		i--
	}
	return i
}

// Last returns the newest line, if there is one.
func (r *Ring) Last() (Line, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == 0 {
		return Line{}, false
	}
	b := r.blocks[len(r.blocks)-1]
	return b.line(len(b.rows) - 1), true
}

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
