package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

var errNoObject = errors.New("only JSON objects can be sent")

// Send queues one line: a value that marshals to a JSON object. It never waits
// for the pipe, so nil does not mean that the line was read. ErrClosed says
// that it never will be.
func (c *Conn) Send(line any) error {
	encoded, err := encode(line)
	if err != nil {
		return fmt.Errorf("send a line: %w", err)
	}
	if !c.out.Push(encoded) {
		return ErrClosed
	}
	return nil
}

// encode makes one line of v, with its line break. The CLI exits at the first
// line that is no JSON object, so nothing else gets past here.
// The encoder escapes every line break inside of values, U+2028 too, and takes
// those between values of raw JSON away.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	if line[0] != '{' {
		return nil, errNoObject
	}
	if !utf8.Valid(line) { // raw JSON is taken over as it is
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	return line, nil
}

// Block is one block of a message that the host sends: TextBlock and ImageBlock
// make them.
type Block struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

// TextBlock is a text, which must not be empty. In the last text block of a
// message the CLI obeys "@path" and "/word"; the caller sees to what that one is.
func TextBlock(text string) Block { return Block{Type: BlockText, Text: text} }

// ImageBlock is an image in its own format, such as "image/png".
func ImageBlock(mediaType string, data []byte) Block {
	return Block{Type: "image", Source: &source{Type: "base64", MediaType: mediaType, Data: data}}
}

// UserMessage is a line for Send: a message of the user. The uuid comes back
// with its echo, where the CLI was told to echo; it may be empty. It must be
// fresh: a message whose uuid the session has seen is echoed, and then nothing
// is done with it, so that its turn never comes.
func UserMessage(uuid string, blocks []Block) any {
	if blocks == nil {
		blocks = []Block{} // null would end the CLI
	}
	type message struct {
		Role    string  `json:"role"`
		Content []Block `json:"content"`
	}
	return struct {
		Type            string  `json:"type"`
		Message         message `json:"message"`
		ParentToolUseID *string `json:"parent_tool_use_id"`
		SessionID       string  `json:"session_id"`
		UUID            string  `json:"uuid,omitempty"`
	}{Type: TypeUser, Message: message{"user", blocks}, UUID: uuid}
}
