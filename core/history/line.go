package history

import (
	"bufio"
	"encoding/json"
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

// line is one line of a session file, its content not decoded yet.
type line struct {
	kind    kind
	at      time.Time // zero where the line has no time
	uuid    string
	content json.RawMessage // a string or blocks
	spoken  bool            // it holds text, not only tool calls
	// note says that the CLI wrote a prompt itself: feedback of a hook, the
	// summary of a compaction.
	note bool
}

// record is a line as the CLI writes it.
type record struct {
	Type             string `json:"type"`
	Timestamp        string `json:"timestamp"`
	UUID             string `json:"uuid"`
	IsSidechain      bool   `json:"isSidechain"` // a subagent's
	IsMeta           bool   `json:"isMeta"`
	IsCompactSummary bool   `json:"isCompactSummary"`
	Message          struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
	} `json:"attachment"`
}

// readLine decodes a line; false for what is no object, torn ones among them. A
// member of another type than ours is as good as none.
func readLine(data []byte) (line, bool) {
	var r record
	var odd *json.UnmarshalTypeError
	err := json.Unmarshal(data, &r)
	if errors.As(err, &odd) {
		err = nil
		if odd.Field == "" { // the line itself
			return line{}, false
		}
	}
	var l line
	l.at, _ = time.Parse(time.RFC3339Nano, r.Timestamp)
	if err != nil || r.IsSidechain {
		return l, err == nil
	}
	l.uuid, l.note = r.UUID, r.IsMeta || r.IsCompactSummary
	switch {
	case r.Type == "user" && holds(r.Message.Content, "tool_result"):
		l.kind, l.content = result, r.Message.Content
	case r.Type == "user":
		l.kind, l.content = prompt, r.Message.Content
	case r.Type == "assistant":
		l.kind, l.content = answer, r.Message.Content
	case r.Type == "attachment" && r.Attachment.Type == "queued_command":
		// What was said while a turn ran is noted as an attachment.
		l.kind, l.content = prompt, r.Attachment.Prompt
	}
	if l.content == nil {
		l.kind = other
	}
	l.spoken = l.kind == prompt || l.kind != other && holds(l.content, "text")
	return l, true
}

// counts reports whether the line is a message, to the model or of it.
func (l line) counts() bool { return l.kind != other && l.spoken && !l.note }

// holds reports whether content has a block of that type.
func holds(content json.RawMessage, kind string) bool {
	var blocks []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(content, &blocks) // a string has none
	for _, b := range blocks {
		if b.Type == kind {
			return true
		}
	}
	return false
}

// text decodes a raw string; empty for any other value.
func text(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
