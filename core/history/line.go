package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// eachLine calls f with each line until it says no; the last one may be torn.
// A line may have any length, and is f's until it returns.
func eachLine(in io.Reader, f func(line []byte) bool) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if len(line) > 0 && !f(line) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		long = long[:0]
	}
}

// kind is what a line of a session file is to a reader.
type kind int

// Most lines are of no interest: listings of tools, notes of the CLI to itself.
const (
	other  kind = iota
	prompt      // somebody spoke to the model
	result      // tools have answered
	answer      // the model spoke or called a tool
)

// line is one line of a session file, its content not decoded yet. It holds
// parts of the bytes that it was read of.
type line struct {
	kind    kind
	at      time.Time // zero where the line has no time
	uuid    string
	content []byte // raw: a string or blocks
	spoken  bool   // it holds text, not only tool calls
	// note says that the CLI wrote a prompt itself: feedback of a hook, the
	// summary of a compaction.
	note bool
}

// readLine skims a line; false for what is no object, torn ones among them.
func readLine(data []byte) (line, bool) {
	var l line
	var kindWord string
	var side bool // a subagent's
	var message, attachment []byte
	whole := members(data, func(key, value []byte) {
		switch string(key) {
		case "type":
			kindWord = word(value)
		case "timestamp":
			l.at, _ = time.Parse(time.RFC3339Nano, word(value))
		case "uuid":
			l.uuid = word(value)
		case "isSidechain":
			side = side || string(value) == "true"
		case "isMeta", "isCompactSummary":
			l.note = l.note || string(value) == "true"
		case "message":
			message = value
		case "attachment":
			attachment = value
		}
	})
	if !whole || side {
		return line{at: l.at}, whole
	}
	switch kindWord {
	case "user":
		l.content = member(message, "content")
		l.kind = promptOrResult(l.content)
	case "assistant":
		l.kind, l.content = answer, member(message, "content")
		l.spoken = holds(l.content, "text")
	case "attachment":
		// What was said while a turn ran is noted as an attachment.
		if word(member(attachment, "type")) == "queued_command" {
			l.kind, l.content = prompt, member(attachment, "prompt")
		}
	}
	if l.content == nil {
		l.kind = other
	}
	l.spoken = l.spoken || l.kind == prompt
	return l, true
}

// counts reports whether the line is a message, to the model or of it.
func (l line) counts() bool { return l.kind != other && l.spoken && !l.note }

// promptOrResult tells the two kinds of user lines apart.
func promptOrResult(content []byte) kind {
	if holds(content, "tool_result") {
		return result
	}
	return prompt
}

// holds reports whether content has a block of that type.
func holds(content []byte, kind string) bool {
	found := false
	elements(content, func(block []byte) {
		found = found || word(member(block, "type")) == kind
	})
	return found
}

// member is the raw value of one key; nil where there is none.
func member(object []byte, name string) (found []byte) {
	members(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// cutTorn takes the first line off: whoever begins in the middle of a file has
// only its end.
func cutTorn(data []byte) []byte {
	_, whole, _ := bytes.Cut(data, []byte("\n"))
	return whole
}
