// Package keyboard reads a terminal's input: keys, the mouse, pastes and the terminal's answers. These bytes are
// untrusted, because read-only viewers send them, too: they are filtered first, and a fault in the decoder loses only
// the bytes it was given. The package must not know the meaning of keys.
//
// # Why not Bubble Tea's reader
//
// It decodes input in a goroutine that nothing recovers, and its decoder panics on 33 parameters in one sequence: 70
// bytes from a read-only viewer ended the whole bot. This reader limits control sequences, drops invalid UTF-8,
// starts a new decoder after a panic, and can be stopped and woken at the end of a viewer.
package keyboard

import (
	"context"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core/base/fault"
)

// GarbledMsg reports that input could not be decoded and was dropped. Reading continues.
type GarbledMsg struct{}

// Keyboard decodes the input of one terminal. Start, Stop and Close are called from one
// goroutine. Use New.
type Keyboard struct {
	in    io.Reader
	term  string
	send  func(tea.Msg)
	newer func(in io.Reader, term string) decoder // replaced in tests

	source  *source // being read, or nil
	readers sync.WaitGroup
}

// decoder turns bytes into events until its input ends.
type decoder interface {
	StreamEvents(ctx context.Context, events chan<- uv.Event) error
}

// New returns a keyboard that does not read yet. Term is the variable TERM. Send gets
// the messages in order, from another goroutine, and may block.
func New(in io.Reader, term string, send func(tea.Msg)) *Keyboard {
	return &Keyboard{in: in, term: term, send: send, newer: func(in io.Reader, term string) decoder {
		return uv.NewTerminalReader(in, term)
	}}
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

// listen sends messages for the input. After a fault it continues with a new decoder.
func (k *Keyboard) listen(s *source) {
	for {
		err := k.decode(s)
		if fault.Stack(err) == "" || s.closed() {
			return
		}
		k.send(GarbledMsg{})
	}
}

// decode sends messages until the input ends, the source is closed, or the decoder panics; it returns the panic as an
// error.
func (k *Keyboard) decode(s *source) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	events, ended := make(chan uv.Event), make(chan error, 1)
	go func() {
		ended <- fault.Guard("keyboard", func() error {
			return k.newer(&feed{source: s, ctx: ctx}, k.term).StreamEvents(ctx, events)
		})()
	}()
	for {
		select {
		case event := <-events:
			if msg := message(event); msg != nil && !s.closed() {
				k.send(msg)
			}
		case err := <-ended:
			return err
		}
	}
}

// Larger sizes reported by a terminal are ignored, because a frame costs memory.
const maxWidth, maxHeight = 640, 200 // cells

// message converts an event to a Bubble Tea message, or to nil if the dashboard does not use it.
func message(event uv.Event) tea.Msg {
	switch e := event.(type) {
	case uv.KeyPressEvent:
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
