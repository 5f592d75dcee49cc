package keyboard

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/muesli/cancelreader"
)

// source reads a terminal and passes on the filtered input in chunks.
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
	var f filter
	in := make([]byte, chunkSize)
	for {
		n, err := s.reader.Read(in)
		if out := f.pass(nil, in[:n], err != nil); len(out) > 0 {
			select {
			case s.chunks <- out:
			case <-s.quit:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close stops reading and reports whether it has ended; if not, the current read could not be interrupted.
func (s *source) close() bool {
	close(s.quit)
	idle := s.reader.Cancel()
	if idle {
		<-s.done
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

// feed is the reader of a source for a decoder, until ctx ends. It ends a paste whose end marker was lost.
type feed struct {
	*source
	ctx   context.Context
	rest  []byte
	paste paste
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		var silence <-chan time.Time
		if f.paste.open {
			timer := time.NewTimer(pasteSilence)
			defer timer.Stop()
			silence = timer.C
		}
		select {
		case chunk, ok := <-f.chunks:
			if !ok {
				return 0, io.EOF
			}
			f.rest = chunk
		case <-silence:
			f.rest = pasteEnd
		case <-f.ctx.Done():
			return 0, io.EOF
		}
		f.paste.follow(f.rest)
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// The marks around a bracketed paste.
var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// pasteSilence is the time without input within a paste after which its end marker counts as lost. Otherwise every
// later key would count as text.
const pasteSilence = time.Second

// paste tracks whether a paste is open.
type paste struct {
	open bool
	tail []byte // the last bytes, which may contain the start of a marker
}

func (p *paste) follow(in []byte) {
	all := append(p.tail, in...)
	start, end := bytes.LastIndex(all, pasteStart), bytes.LastIndex(all, pasteEnd)
	if start != end {
		p.open = start > end
	}
	p.tail = all[max(0, len(all)-len(pasteEnd)+1):]
}
