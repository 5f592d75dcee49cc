package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxJSON limits the nesting of a JSON file.
const maxJSON = 20

// ParseJSON reads a JSON file. Strings are Quoted scalars, numbers and booleans others. Keys keep
// their spelling, and one that is written twice is there twice. An error is a *SyntaxError.
func ParseJSON(data []byte) (Value, error) {
	data = UTF8(data)
	if err := foreign(data); err != nil {
		return Value{}, err
	}
	r := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	v, err := r.next(0)
	if err == nil {
		if _, more := r.token(); !errors.Is(more, io.EOF) {
			err = r.fault(errors.New(msgMoreJSON))
		}
	}
	return v, err
}

type jsonReader struct {
	data         []byte
	dec          *json.Decoder
	line, column int // of the last token
}

// token reads a token and its position.
func (r *jsonReader) token() (json.Token, error) {
	from := int(r.dec.InputOffset())
	t, err := r.dec.Token()
	from += len(r.data[from:]) - len(bytes.TrimLeft(r.data[from:], " \t\r\n,:"))
	r.line, r.column = r.place(from)
	return t, err
}

// place returns the position of an offset.
func (r *jsonReader) place(offset int) (line, column int) {
	before := r.data[:min(max(offset, 0), len(r.data))]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func (r *jsonReader) fault(err error) error {
	line, column := r.line, r.column
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column = r.place(int(s.Offset) - 1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New(msgJSONEnds)
		line, column = r.place(len(bytes.TrimRight(r.data, "\n")))
	}
	return &SyntaxError{Line: line, Column: column, Message: err.Error()}
}

func (r *jsonReader) next(depth int) (Value, error) {
	t, err := r.token()
	if err != nil {
		return Value{}, r.fault(err)
	}
	v := Value{Line: r.line, Column: r.column}
	switch t := t.(type) {
	case nil:
		return v, nil
	case string:
		v.Kind, v.Text, v.Quoted = Scalar, t, true
		return v, nil
	case json.Delim:
		v.Kind = map[json.Delim]ValueKind{'{': Map, '[': List}[t]
	default:
		v.Kind, v.Text = Scalar, fmt.Sprint(t)
		return v, nil
	}
	if depth >= maxJSON {
		return v, r.fault(fmt.Errorf(msgDeepJSON, maxJSON))
	}
	for r.dec.More() {
		f := Field{}
		if v.Kind == Map {
			key, err := r.token()
			if err != nil {
				return v, r.fault(err)
			}
			f.Key, _ = key.(string)
			f.Line, f.Column = r.line, r.column
		}
		if f.Value, err = r.next(depth + 1); err != nil {
			return v, err
		}
		if v.Kind == Map {
			v.Fields = append(v.Fields, f)
		} else {
			v.Items = append(v.Items, f.Value)
		}
	}
	if _, err := r.token(); err != nil { // the end of the document
		return v, r.fault(err)
	}
	return v, nil
}

// JSON returns a value as encoding/json decodes it: maps and lists, numbers as json.Number, true
// and false, other text as strings.
func (v Value) JSON() any {
	switch v.Kind {
	case List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item.JSON()
		}
		return list
	case Map:
		object := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			object[f.Key] = f.Value.JSON()
		}
		return object
	case Scalar:
		switch {
		case v.Quoted:
		case strings.EqualFold(v.Text, "true"), strings.EqualFold(v.Text, "false"):
			return strings.EqualFold(v.Text, "true")
		case json.Valid([]byte(v.Text)):
			return json.Number(v.Text)
		}
		return v.Text
	}
	return nil
}
