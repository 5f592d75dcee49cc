package keyboard

import (
	"bytes"
	"io"
	"time"

	"github.com/muesli/cancelreader"
)

// source reads a terminal and passes on the input in chunks.
type source struct {
	reader cancelreader.CancelReader
	chunks chan []byte   // closed at the end
	quit   chan struct{} // closed by close
	done   chan struct{} // closed when reading has ended
}

func open(in io.Reader) (*source, error) {
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	s := &source{reader: reader, chunks: make(chan []byte), quit: make(chan struct{}), done: make(chan struct{})}
	go s.read()
	return s, nil
}

// chunkSize is how much is read at once, in bytes.
const chunkSize = 4 << 10

func (s *source) read() {
	defer close(s.done)
	defer close(s.chunks)
	in := make([]byte, chunkSize)
	for {
		n, err := s.reader.Read(in)
		if n > 0 {
			select {
			case s.chunks <- bytes.Clone(in[:n]):
			case <-s.quit:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stolenFor is how long a read may take whose input another process of the terminal has got, such as the shell after a
// viewer's process was stopped. Nothing can interrupt it.
const stolenFor = time.Second

// close stops reading and reports whether it has ended; if not, the current read could not be interrupted.
func (s *source) close() bool {
	close(s.quit)
	idle := s.reader.Cancel()
	if idle {
		select {
		case <-s.done:
		case <-time.After(stolenFor):
			idle = false
		}
	}
	_ = s.reader.Close() // it closes only what it opened itself
	return idle
}

func (s *source) closed() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}
