package claude

import (
	"strings"

	"ollimbot/core/agent"
)

// textAccumulator is what a turn has said. The assistant's lines are the truth; a stream
// is only ahead of them, until its block has ended.
type textAccumulator struct {
	// stream is the id of the message that streams.
	stream string
	// open is what the open block has streamed, lead the line break that was put
	// before it.
	open strings.Builder
	lead string
	// total counts all bytes that were said and not taken back; last is the text
	// of the newest block, ended whether it closed with a line break.
	total int
	last  string
	ended bool
}

// begin starts a message. What an earlier one has streamed and never finished
// is gone.
func (a *textAccumulator) begin(id string, put func(agent.Event)) {
	a.takeBack(put)
	a.stream = id
}

// block starts a block: an unfinished one before it stays until its line comes,
// which it does before the block ends.
func (a *textAccumulator) block() {
	if a.open.Len() > 0 { // its line never came, but its stream has ended well
		a.keep(a.open.String())
	}
}

// delta says a piece.
func (a *textAccumulator) delta(text string, put func(agent.Event)) {
	if text == "" {
		return
	}
	a.say(text, put)
	a.open.WriteString(text)
}

// finish takes the whole text of a block. What of it was streamed is not said
// again.
func (a *textAccumulator) finish(id, text string, put func(agent.Event)) {
	streamed := a.open.String()
	rest, grown := strings.CutPrefix(text, streamed)
	if id != a.stream || !grown {
		a.takeBack(put)
		rest = text
	}
	if rest != "" {
		a.say(rest, put)
	}
	a.keep(text)
}

// say emits text; a new block begins on a new line.
func (a *textAccumulator) say(text string, put func(agent.Event)) {
	if a.open.Len() == 0 && a.lead == "" && a.total > 0 && !a.ended {
		a.lead = "\n"
		put(agent.Text{Delta: a.lead})
		a.total += len(a.lead)
	}
	put(agent.Text{Delta: text})
	a.total += len(text)
}

// keep makes what was said final.
func (a *textAccumulator) keep(text string) {
	a.open.Reset()
	a.lead = ""
	if text != "" {
		a.last, a.ended = text, strings.HasSuffix(text, "\n")
	}
}

// takeBack takes the open block back.
func (a *textAccumulator) takeBack(put func(agent.Event)) {
	n := a.open.Len() + len(a.lead)
	if a.open.Len() == 0 {
		return
	}
	put(agent.Rewind{Bytes: n})
	a.total -= n
	a.open.Reset()
	a.lead = ""
}
