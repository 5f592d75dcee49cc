package claude

import (
	"strings"

	"ollimbot/core/agent"
)

// spoken is what a turn has said. The assistant's lines are the truth; a stream
// is only ahead of them, until its block is settled.
type spoken struct {
	// stream is the id of the message that streams; settled ones keep it.
	stream string
	// ahead is what the open block has streamed, lead the line break that was put
	// before it.
	ahead strings.Builder
	lead  string
	// total counts all bytes that were said and not taken back; last is the text
	// of the newest block, ended whether it closed with a line break.
	total int
	last  string
	ended bool
}

// begin starts a message. What an earlier one has streamed and never finished
// is gone.
func (s *spoken) begin(id string, put func(agent.Event)) {
	s.takeBack(put)
	s.stream = id
}

// block starts a block: an unfinished one before it stays until its line comes,
// which it does before the block ends.
func (s *spoken) block() {
	if s.ahead.Len() > 0 { // its line never came, but its stream has ended well
		s.keep(s.ahead.String())
	}
}

// delta says a piece.
func (s *spoken) delta(text string, put func(agent.Event)) {
	if text == "" {
		return
	}
	s.say(text, put)
	s.ahead.WriteString(text)
}

// settle takes the whole text of a block. What of it was streamed is not said
// again.
func (s *spoken) settle(id, text string, put func(agent.Event)) {
	streamed := s.ahead.String()
	rest, grown := strings.CutPrefix(text, streamed)
	if id != s.stream || !grown {
		s.takeBack(put)
		rest = text
	}
	if rest != "" {
		s.say(rest, put)
	}
	s.keep(text)
}

// say emits text; a new block begins on a new line.
func (s *spoken) say(text string, put func(agent.Event)) {
	if s.ahead.Len() == 0 && s.lead == "" && s.total > 0 && !s.ended {
		s.lead = "\n"
		put(agent.Text{Delta: s.lead})
		s.total += len(s.lead)
	}
	put(agent.Text{Delta: text})
	s.total += len(text)
}

// keep makes what was said final.
func (s *spoken) keep(text string) {
	s.ahead.Reset()
	s.lead = ""
	if text != "" {
		s.last, s.ended = text, strings.HasSuffix(text, "\n")
	}
}

// takeBack takes the open block back.
func (s *spoken) takeBack(put func(agent.Event)) {
	n := s.ahead.Len() + len(s.lead)
	if s.ahead.Len() == 0 {
		return
	}
	put(agent.Rewind{Bytes: n})
	s.total -= n
	s.ahead.Reset()
	s.lead = ""
}
