// Package tail is a ring of lines that is read by cursor: a writer never waits
// for a reader, and a reader that was too slow learns how many lines it lost.
// It knows neither forks nor logs nor screens.
package tail

import (
	"sync"
	"time"
)

// Line is one line of a tail. Text is cleaned of control characters before it
// is put in and holds no line break.
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
	// lines is the ring's storage, next the count of lines ever written.
	lines []Line
	next  uint64
	size  int
}

// New returns a ring that keeps the newest size lines (at least one). Memory
// is taken as lines arrive.
func New(size int) *Ring {
	return &Ring{size: max(1, size)}
}

// Add appends a line. It never blocks on a reader.
func (r *Ring) Add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < r.size {
		r.lines = append(r.lines, l)
	} else {
		r.lines[r.next%uint64(r.size)] = l
	}
	r.next++
}

// Len is the number of lines ever added.
func (r *Ring) Len() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Read returns the lines from the cursor on. A cursor beyond the end gives
// nothing and moves back to the end.
func (r *Ring) Read(from Cursor) Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.next - uint64(len(r.lines))
	start := min(max(uint64(from), oldest), r.next)
	p := Page{Next: Cursor(r.next)}
	if uint64(from) < oldest {
		p.Lost = oldest - uint64(from)
	}
	if n := r.next - start; n > 0 {
		p.Lines = make([]Line, 0, n)
		for i := start; i < r.next; i++ {
			p.Lines = append(p.Lines, r.lines[i%uint64(len(r.lines))])
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
	return r.lines[(r.next-1)%uint64(len(r.lines))], true
}
