package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// node is a JSON value with its line number, for messages.
type node struct {
	line   int
	value  any // of a scalar
	fields []field
	items  []node
	kind   json.Delim // '{', '[' or 0
}

// field is a key of an object.
type field struct {
	key  string
	line int
	node node
}

// syntaxError is an error in the JSON itself.
type syntaxError struct {
	line int
	what string
}

func (e *syntaxError) Error() string { return e.what }

// maxDepth limits the nesting of the file: servers, a server, its lists.
const maxDepth = 20

// positions parses JSON and records the line of each value.
func positions(data []byte) (node, error) {
	r := &positioned{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	n, err := r.next(0)
	if err == nil {
		if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
			err = r.fault(errors.New(textMoreThanOne))
		}
	}
	return n, err
}

type positioned struct {
	data []byte
	dec  *json.Decoder
}

// line returns the line of the last token.
func (r *positioned) line() int { return r.lineAt(r.dec.InputOffset()) }

func (r *positioned) lineAt(offset int64) int {
	return 1 + bytes.Count(r.data[:min(max(offset, 0), int64(len(r.data)))], []byte("\n"))
}

func (r *positioned) fault(err error) error {
	line := r.line()
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line = r.lineAt(s.Offset - 1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err, line = errors.New(textEndsEarly), r.lineAt(int64(len(bytes.TrimRight(r.data, "\n"))))
	}
	return &syntaxError{line, err.Error()}
}

func (r *positioned) next(depth int) (node, error) {
	t, err := r.dec.Token()
	if err != nil {
		return node{}, r.fault(err)
	}
	n := node{line: r.line()}
	d, compound := t.(json.Delim)
	if !compound {
		n.value = t
		return n, nil
	}
	if depth >= maxDepth {
		return n, r.fault(fmt.Errorf(textTooDeep, maxDepth))
	}
	n.kind = d
	for r.dec.More() {
		f := field{}
		if d == '{' {
			key, err := r.dec.Token()
			if err != nil {
				return n, r.fault(err)
			}
			f.key, _ = key.(string)
			f.line = r.line()
		}
		if f.node, err = r.next(depth + 1); err != nil {
			return n, err
		}
		if d == '{' {
			n.fields = append(n.fields, f)
		} else {
			n.items = append(n.items, f.node)
		}
	}
	if _, err := r.dec.Token(); err != nil { // the end of the document
		return n, r.fault(err)
	}
	return n, nil
}

// is returns the kind of a value in plain words.
func (n node) is() string {
	switch n.value.(type) {
	case string:
		return "a text"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	}
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "null"
}
