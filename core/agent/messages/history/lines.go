package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Prefixes of lines that are not notes. They are written without spaces.
const (
	roleBegins   = `{"role":`
	userBegins   = `{"role":"user"`
	toolsBegins  = `{"tools":`
	systemBegins = `{"system":`
)

// lines iterates over the complete lines of a part of a source. Zero values of from and at mean its
// start.
type lines struct {
	src      source
	from, at int64 // start of the line, and of the next one
	size     int64
	head     [16]byte // start of the line
	buf      []byte   // read ahead
	bufAt    int64
	err      error
}

// chunk is how much is read at once.
const chunk = 32 << 10

// next advances to the next complete line.
func (l *lines) next() bool {
	l.from = l.at
	l.head = [16]byte{}
	for at := l.at; at < l.size && l.err == nil; {
		b := l.window(at)
		if at-l.from < int64(len(l.head)) {
			copy(l.head[at-l.from:], b)
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			l.at = at + int64(i) + 1
			return true
		}
		at += int64(len(b))
	}
	return false
}

// window returns the buffered data from an offset on.
func (l *lines) window(at int64) []byte {
	if at >= l.bufAt && at < l.bufAt+int64(len(l.buf)) {
		return l.buf[at-l.bufAt:]
	}
	n := min(chunk, l.size-at)
	if int64(cap(l.buf)) < n {
		l.buf = make([]byte, n)
	}
	l.buf, l.bufAt = l.buf[:n], at
	if n, err := l.src.ReadAt(l.buf, at); n < len(l.buf) {
		l.buf, l.err = nil, fmt.Errorf("read the session: %w", err)
	}
	return l.buf
}

// begins reports whether the line has a prefix.
func (l *lines) begins(with string) bool {
	return bytes.HasPrefix(l.head[:], []byte(with))
}

// line encodes a value as a line.
func line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // cannot happen for notes
		return nil
	}
	return append(b, '\n')
}

// source is where lines are stored: a file or memory.
type source interface {
	io.ReaderAt
	io.Closer
}

// span is a piece of a source.
type span struct {
	src      source
	from, to int64
}

func (s span) len() int64 { return s.to - s.from }

func (s span) read() ([]byte, error) {
	b := make([]byte, s.len())
	if _, err := s.src.ReadAt(b, s.from); err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	return b, nil
}

// memory is a source that is not stored on disk.
type memory struct {
	mu   sync.RWMutex
	data []byte
}

func (m *memory) append(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = append(m.data, text...)
}

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close implements io.Closer.
func (*memory) Close() error { return nil }

// note is a line that is not part of a request.
type note struct {
	// Session starts a file; Parent and Offset say where a fork branched off.
	Session string `json:"session,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Offset  int64  `json:"offset,omitempty"`
	// At is the time of the following messages, whose lines have no time.
	At time.Time `json:"at,omitzero"`
	// Facts are set in the newest note that has any.
	Facts *Facts `json:"facts,omitempty"`
	// Cut takes back all messages after this length of the file. Lost means that they count as
	// never received.
	Cut  int64 `json:"cut,omitempty"`
	Lost bool  `json:"lost,omitempty"`
}
