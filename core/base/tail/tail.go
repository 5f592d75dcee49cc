// Package tail is a ring of lines that is read by cursor: a writer never waits for a reader,
// and a slow reader learns how many lines it has lost. It must not know forks, logs or screens.
package tail

import (
	"slices"
	"sync"
	"time"
)

// Line is one line of a tail. Text must be cleaned and must not contain line breaks. At is
// stored to the microsecond.
type Line struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text"`
}

// Kind is the kind of a line. Dashboards show it and use it for colours.
type Kind string

// The kinds of lines.
const (
	Text   Kind = "text"   // the model's output
	Think  Kind = "think"  // its reasoning
	Tool   Kind = "tool"   // a tool call
	Result Kind = "result" // the result of a tool call
	Ping   Kind = "ping"   // a message that reached the user
	Refuse Kind = "refuse" // a ping, report or tool that was refused
	Report Kind = "report" // an update for the main session
	Note   Kind = "note"   // a note of the bot about the run
	Error  Kind = "error"
	Debug  Kind = "debug" // log levels share the type
	Info   Kind = "info"
	Warn   Kind = "warn"
)

// Cursor is a position in a tail: the number of lines ever written before it.
// The zero Cursor is the beginning.
type Cursor uint64

// Page is the result of a read: the lines from the cursor on, the next cursor, and how many
// earlier lines were overwritten unread.
type Page struct {
	Lines []Line
	Next  Cursor
	Lost  uint64
}

// Ring holds the newest lines. Use New.
type Ring struct {
	mu sync.Mutex
	// rows are a ring once there are size of them: line n is at n modulo size.
	rows  []row
	next  uint64 // number of lines ever written
	size  uint64
	kinds []Kind         // by row.kind
	zone  *time.Location // of the newest line, used for all
}

// row is a line in 32 bytes plus its text, because a hundred thousand are kept.
type row struct {
	at   int64 // microseconds since 1970
	text string
	kind uint32
}

// New returns a ring that keeps the newest size lines (at least one). It allocates memory as
// lines arrive.
func New(size int) *Ring { return &Ring{size: uint64(max(1, size))} }

// Add appends a line. It never blocks on a reader.
func (r *Ring) Add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := slices.Index(r.kinds, l.Kind)
	if kind < 0 {
		kind = len(r.kinds)
		r.kinds = append(r.kinds, l.Kind)
	}
	one := row{at: l.At.UnixMicro(), text: l.Text, kind: uint32(kind)}
	if uint64(len(r.rows)) < r.size {
		r.rows = append(r.rows, one)
	} else {
		r.rows[r.next%r.size] = one
	}
	r.next++
	r.zone = l.At.Location()
}

// line returns line n, which must still be kept. The caller holds mu.
func (r *Ring) line(n uint64) Line {
	one := r.rows[n%r.size]
	return Line{At: time.UnixMicro(one.at).In(r.zone), Kind: r.kinds[one.kind], Text: one.text}
}

// Len returns the number of lines ever added.
func (r *Ring) Len() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Read returns the lines from the cursor on. For a cursor beyond the end there are none, and
// the next cursor is the end.
func (r *Ring) Read(from Cursor) Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.next - min(r.next, r.size)
	start := min(max(uint64(from), oldest), r.next)
	p := Page{Next: Cursor(r.next), Lost: oldest - min(uint64(from), oldest)}
	if start < r.next {
		p.Lines = make([]Line, 0, r.next-start)
		for n := start; n < r.next; n++ {
			p.Lines = append(p.Lines, r.line(n))
		}
	}
	return p
}

// Last returns the newest line, if there is one.
func (r *Ring) Last() (Line, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == 0 {
		return Line{}, false
	}
	return r.line(r.next - 1), true
}
