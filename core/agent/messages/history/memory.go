package history

import (
	"io"
	"sync"
)

// memory is a source that goes with the program.
type memory struct {
	mu   sync.RWMutex
	data []byte
}

func (m *memory) append(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = append(m.data, text...)
}

// ReadAt is io.ReaderAt's.
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

// Close is io.Closer's.
func (*memory) Close() error { return nil }
