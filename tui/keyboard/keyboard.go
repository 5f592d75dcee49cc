// Package keyboard reads a terminal's input: keys, the mouse, pastes and the terminal's answers. These bytes are
// untrusted, because read-only viewers send them, too, and a slow line delivers them in pieces: a framer puts each
// sequence together before it is decoded, and a fault in the decoder loses only the bytes it was given. The package must
// not know the meaning of keys.
//
// # Why not Bubble Tea's reader
//
// It decodes input in a goroutine that nothing recovers, and its decoder panics on 33 parameters in one sequence: 70
// bytes from a read-only viewer ended the whole bot. It also gives up a sequence after 50 ms and types the rest of it as
// keys. This reader waits for the whole sequence, limits it, continues after a panic, and can be stopped and woken at
// the end of a viewer.
package keyboard

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"

	"ollimbot/core/base/fault"
)

// GarbledMsg reports that input could not be decoded, or was a paste of more than 256 kB, and was dropped. Reading
// continues.
type GarbledMsg struct{}

// Keyboard decodes the input of one terminal. Start, Stop and Close are called from one
// goroutine. Use New.
type Keyboard struct {
	in     io.Reader
	send   func(tea.Msg)
	decode func([]byte) (int, uv.Event) // replaced in tests

	source  *source // being read, or nil
	readers sync.WaitGroup
}

// New returns a keyboard that does not read yet. Send gets the messages in order, from another goroutine, and may
// block.
func New(in io.Reader, send func(tea.Msg)) *Keyboard {
	return &Keyboard{in: in, send: send, decode: new(uv.EventDecoder).Decode}
}

// Start reads until Stop or the end of the input.
func (k *Keyboard) Start() error {
	s, err := open(k.in)
	if err != nil {
		return err
	}
	k.source = s
	k.readers.Go(func() { k.listen(s) })
	return nil
}

// Stop releases the input for another reader. It does not wait for a message that is being sent, so the receiver may
// call it. Idle is false if the input is not a file: its read cannot be interrupted, and the next input is lost.
func (k *Keyboard) Stop() (idle bool) {
	if k.source == nil {
		return true
	}
	idle = k.source.close()
	k.source = nil
	return idle
}

// Close stops and, if possible, waits until no message is being sent. Send must not block from here on.
func (k *Keyboard) Close() {
	if k.Stop() {
		k.readers.Wait()
	}
}

// listen sends messages for the input until it ends or the source is closed. What is incomplete at the end of the
// input is given up.
func (k *Keyboard) listen(s *source) {
	var f framer
	silence := time.NewTimer(0)
	defer silence.Stop()
	for {
		if wait := f.wait(); wait > 0 {
			silence.Reset(wait)
		} else {
			silence.Stop()
		}
		var units []unit
		open := true
		select {
		case chunk, more := <-s.chunks:
			if open = more; more {
				units = f.take(chunk)
			} else {
				units = f.expire()
			}
		case <-silence.C:
			units = f.expire()
		}
		for _, u := range units {
			k.pass(&f, s, u)
		}
		if !open {
			return
		}
	}
}

// pass sends the messages of a unit. A unit that the decoder cannot handle is reported.
func (k *Keyboard) pass(f *framer, s *source, u unit) {
	var events []uv.Event
	err := fault.Guard("keyboard", func() error { events = k.events(u); return nil })()
	if (err != nil || u.kind == lost) && !s.closed() {
		k.send(GarbledMsg{})
	}
	for _, event := range events {
		if e, ok := event.(uv.KeyboardEnhancementsEvent); ok {
			f.sure = e.Flags&ansi.KittyDisambiguateEscapeCodes != 0
		}
		if msg := message(event); msg != nil && !s.closed() {
			k.send(msg)
		}
	}
}

// maxRepeats limits the events of one sequence. A terminal can report a key that was held down as one with a number.
const maxRepeats = 16

// events decodes a unit.
func (k *Keyboard) events(u unit) (events []uv.Event) {
	if u.kind == pasted {
		return []uv.Event{uv.PasteEvent{Content: strings.ToValidUTF8(string(u.bytes), "")}}
	}
	for rest := u.bytes; len(rest) > 0; {
		n, event := k.decode(rest)
		if several, ok := event.(uv.MultiEvent); ok {
			events = append(events, several[:min(len(several), maxRepeats)]...)
		} else {
			events = append(events, event)
		}
		// A sequence is one event, except that ESC before it may be a key.
		if n <= 0 || u.kind == sequence && (n > 1 || rest[0] != esc) {
			break
		}
		rest = rest[n:]
	}
	return events
}

// Larger sizes reported by a terminal are ignored, because a frame costs memory.
const maxWidth, maxHeight = 640, 200 // cells

// message converts an event to a Bubble Tea message, or to nil if the dashboard does not use it.
func message(event uv.Event) tea.Msg {
	switch e := event.(type) {
	case uv.KeyPressEvent:
		if e.Code == 0 && e.BaseCode != 0 { // typed by an input method on Windows
			e = uv.KeyPressEvent{Code: e.BaseCode, Text: string(e.BaseCode)}
		}
		return tea.KeyPressMsg(e)
	case uv.MouseClickEvent:
		return tea.MouseClickMsg(e)
	case uv.MouseWheelEvent:
		return tea.MouseWheelMsg(e)
	case uv.PasteEvent:
		if e.Content == "" { // the late end of an abandoned paste
			return nil
		}
		return tea.PasteMsg(e)
	case uv.FocusEvent:
		return tea.FocusMsg(e)
	case uv.BlurEvent:
		return tea.BlurMsg(e)
	case uv.BackgroundColorEvent:
		return tea.BackgroundColorMsg(e)
	case uv.WindowSizeEvent:
		return tea.WindowSizeMsg{Width: min(e.Width, maxWidth), Height: min(e.Height, maxHeight)}
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return e
	}
	return nil
}

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
