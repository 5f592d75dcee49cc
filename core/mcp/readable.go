package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// known are the kinds of content that the library can read. It refuses a whole result because of any other one.
var known = []string{"text", "image", "audio", "resource_link", "resource"}

// readable returns a message in a form that the library can read: in the result of a call, content of an unknown kind
// becomes a text that names it, and a text alone becomes a list. Everything else is left as it is, byte for byte.
func readable(message []byte) []byte {
	if !bytes.Contains(message, []byte(`"result"`)) || !bytes.Contains(message, []byte(`"content"`)) {
		return message
	}
	var whole, result map[string]json.RawMessage
	if json.Unmarshal(message, &whole) != nil || json.Unmarshal(whole["result"], &result) != nil || result["content"] == nil {
		return message
	}
	var list []json.RawMessage
	var text string
	changed := false
	switch {
	case json.Unmarshal(result["content"], &text) == nil:
		list, changed = []json.RawMessage{asText(text)}, true
	case json.Unmarshal(result["content"], &list) != nil: // one block without its list
		list, changed = []json.RawMessage{result["content"]}, true
	}
	for i, one := range list {
		var block struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(one, &block) != nil || !slices.Contains(known, block.Type) {
			list[i], changed = asText(textUnknownContent), true
		}
	}
	if !changed {
		return message
	}
	var err error
	if result["content"], err = json.Marshal(list); err == nil {
		whole["result"], err = json.Marshal(result)
	}
	out, wrong := json.Marshal(whole)
	if err != nil || wrong != nil {
		return message
	}
	return out
}

// asText returns a content with a text.
func asText(text string) json.RawMessage {
	out, _ := json.Marshal(map[string]string{"type": "text", "text": text}) // it cannot fail
	return out
}

// readableBody is the body of an answer that is one message.
type readableBody struct {
	io.ReadCloser
	rest *bytes.Reader
}

// Read implements io.Reader.
func (b *readableBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		data, err := io.ReadAll(b.ReadCloser)
		if err != nil {
			return 0, err
		}
		b.rest = bytes.NewReader(readable(data))
	}
	return b.rest.Read(p)
}

// readableEvents is the body of a stream of events. A line longer than a message is passed on as it is.
type readableEvents struct {
	io.Closer
	from *bufio.Reader
	line []byte
	rest []byte
	raw  bool // in a line that is too long
}

// Read implements io.Reader.
func (b *readableEvents) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		part, err := b.from.ReadSlice('\n')
		b.line = append(b.line, part...)
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case full && !b.raw && len(b.line) <= maxFrame:
			continue
		case full || b.raw:
			b.raw = full
			b.rest, b.line = b.line, nil
			continue
		}
		b.rest, b.line = readableLine(b.line), nil
		if err != nil && len(b.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// readableLine rewrites the data of an event.
func readableLine(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return line
	}
	trimmed := bytes.TrimSpace(data)
	out := readable(trimmed)
	if bytes.Equal(out, trimmed) {
		return line
	}
	return append(append([]byte("data: "), out...), '\n')
}
