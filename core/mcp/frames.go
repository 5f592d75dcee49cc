package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ollimbot/core/base/clean"
)

// maxFrame is the maximum size of a server's message, in bytes.
const maxFrame = 16 << 20

// frames passes only messages: other output of a server, such as a greeting, would end
// its connection.
type frames struct {
	from *bufio.Reader
	// stray is called with lines that are not messages; broken with the reason if the stream
	// ended early.
	stray  func(line string)
	broken func(why error)
	rest   []byte
}

func newFrames(from io.Reader, stray func(string), broken func(error)) *frames {
	return &frames{from: bufio.NewReaderSize(from, 64<<10), stray: stray, broken: broken}
}

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.line()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.broken(err)
			}
			return 0, io.EOF
		}
		switch trimmed := bytes.TrimSpace(line); {
		case len(trimmed) == 0:
		case trimmed[0] == '{' && json.Valid(trimmed):
			f.rest = append(readable(trimmed), '\n')
		default:
			f.stray(clean.FirstLine(string(trimmed[:min(len(trimmed), 4_000)]), 200))
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// line reads a line and keeps at most maxFrame bytes of it.
func (f *frames) line() ([]byte, error) {
	var line []byte
	for {
		part, err := f.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxFrame:
			return nil, fmt.Errorf(textLongFrame, maxFrame>>20)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}
