package transcript

import (
	"bytes"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
)

// maxHeld is how many bytes after an escape character are held back while the rest of its
// sequence may still arrive.
const maxHeld = 4096

// Stream is a streaming answer. Its methods are safe for concurrent use; after End they
// do nothing.
type Stream struct {
	chat *Chat
	id   post.MessageID
	// Guarded by chat.mu. held are bytes that cannot be cleaned yet: the start of an
	// escape sequence or of a character.
	text  strings.Builder
	held  []byte
	tools []string
	ended bool
}

// Begin starts an entry that streams until End.
func (c *Chat) Begin(role Role) *Stream {
	e := Entry{ID: newID(), At: c.now(), Role: role, Streaming: true}
	s := &Stream{chat: c, id: e.ID}
	c.mu.Lock()
	c.append(e)
	c.live[e.ID] = s
	c.mu.Unlock()
	c.changed()
	return s
}

// ID returns the entry's id.
func (s *Stream) ID() post.MessageID { return s.id }

// Label marks the answer as made from untrusted text.
func (s *Stream) Label(l label.Label) {
	if l == "" {
		return
	}
	s.update(func() {
		if i := s.chat.find(s.id); i >= 0 {
			s.chat.entries[i].Label = l
		}
	})
}

// Append adds a piece of the answer. Pieces may be cut anywhere, even within a
// character or an escape sequence. The first one sets the entry's time and moves it
// after everything that was shown while the bot was thinking.
func (s *Stream) Append(delta string) {
	if delta == "" {
		return
	}
	s.update(func() {
		first := s.text.Len() == 0
		s.add(delta)
		if i := s.chat.find(s.id); first && s.text.Len() > 0 && i >= 0 {
			e := s.chat.entries[i]
			e.At = s.chat.now()
			s.chat.entries = append(slices.Delete(s.chat.entries, i, i+1), e)
		}
	})
}

// Rewind removes the last n appended bytes, as far as they are left after cleaning: the
// stream broke, and the following text repeats them.
func (s *Stream) Rewind(n int) {
	s.update(func() {
		n -= len(s.held)
		s.held = s.held[:max(0, min(len(s.held), -n))]
		if n <= 0 {
			return
		}
		text := s.text.String()
		text = strings.ToValidUTF8(text[:max(0, len(text)-n)], "")
		s.text.Reset()
		s.text.WriteString(text)
	})
}

// Elsewhere records the ids under which another surface shows the answer, even after
// its end.
func (s *Stream) Elsewhere(where string, ids []post.MessageID) {
	ended := false
	e, ok := s.chat.change(s.id, func(e *Entry) {
		e.Where, e.Elsewhere = where, slices.Clone(ids)
		ended = s.ended
	})
	switch {
	case ok && ended:
		s.chat.save(e, "")
	case ok:
		s.chat.changed()
	}
}

// Tool adds the label of a tool used for the answer.
func (s *Stream) Tool(label string) {
	s.update(func() { s.tools = append(s.tools, clean.Cut(clean.Line(label), 200)) })
}

// Denied marks the newest use of a tool as denied. If the answer has not named the
// tool yet, it does now.
func (s *Stream) Denied(name string) {
	name = clean.Cut(clean.Line(name), 100)
	s.update(func() {
		for i, label := range slices.Backward(s.tools) {
			if label == name || strings.HasPrefix(label, name+"(") {
				s.tools[i] = deniedLabel(label)
				return
			}
		}
		s.tools = append(s.tools, deniedLabel(name))
	})
}

// Interrupted marks the newest use of a tool as interrupted, including a tool still awaiting approval.
func (s *Stream) Interrupted(label string) {
	label = clean.Cut(clean.Line(label), 200)
	s.update(func() {
		for i, used := range slices.Backward(s.tools) {
			if used == label {
				s.tools[i] += InterruptedMark
				return
			}
		}
	})
}

// DeniedMark and InterruptedMark are the suffixes of the labels of denied or interrupted tools.
const (
	DeniedMark      = " — denied"
	InterruptedMark = " — interrupted"
)

func deniedLabel(tool string) string { return tool + DeniedMark }

// Text returns the text so far.
func (s *Stream) Text() string {
	s.chat.mu.Lock()
	defer s.chat.mu.Unlock()
	return s.text.String()
}

// Empty reports whether the answer has no text yet.
func (s *Stream) Empty() bool {
	s.chat.mu.Lock()
	defer s.chat.mu.Unlock()
	return s.text.Len() == 0 && len(s.held) == 0
}

// End finishes and saves the entry. An answer without text and tools leaves no entry.
func (s *Stream) End() {
	c := s.chat
	c.mu.Lock()
	if s.ended {
		c.mu.Unlock()
		return
	}
	s.ended = true
	s.write(string(s.held))
	s.held = nil
	delete(c.live, s.id)
	c.seen = nil
	i := c.find(s.id)
	if i < 0 {
		c.mu.Unlock()
		return
	}
	e := &c.entries[i]
	e.Text, e.Tools = strings.TrimRight(s.text.String(), "\n "), slices.Clone(s.tools)
	e.Streaming = false
	e.Version++
	done := *e
	if done.Text == "" && len(done.Tools) == 0 {
		c.entries = slices.Delete(c.entries, i, i+1)
	}
	c.mu.Unlock()
	if done.Text != "" {
		c.save(done, "")
	} else {
		c.changed()
	}
}

func (s *Stream) update(change func()) {
	c := s.chat
	c.mu.Lock()
	if s.ended {
		c.mu.Unlock()
		return
	}
	change()
	if i := c.find(s.id); i >= 0 {
		c.entries[i].Version++
	}
	c.seen = nil
	c.mu.Unlock()
	c.changed()
}

// add cleans complete sequences and holds the rest back.
func (s *Stream) add(delta string) {
	s.held = append(s.held, delta...)
	n := complete(s.held)
	s.write(string(s.held[:n]))
	s.held = append(s.held[:0], s.held[n:]...)
}

func (s *Stream) write(raw string) {
	text := clean.Text(raw)
	if room := maxText - s.text.Len(); len(text) > room {
		if room <= 0 {
			return
		}
		text = strings.ToValidUTF8(text[:room-1], "") + "…"
	}
	s.text.WriteString(text)
}

// complete returns how many bytes of p can be cleaned regardless of what follows.
func complete(p []byte) int {
	end := len(p)
	if i := bytes.LastIndexByte(p, 0x1b); i >= 0 && bytes.IndexByte(p[i:], '\n') < 0 && len(p)-i < maxHeld {
		end = i
	}
	return len(clean.Whole(p[:end]))
}
