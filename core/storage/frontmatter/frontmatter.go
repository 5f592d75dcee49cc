package frontmatter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxFrontMatter is the largest front matter that is read, in bytes.
const maxFrontMatter = 64 << 10

// ValueKind is the kind of a value in the front matter.
type ValueKind int

// The kinds of values. A Scalar is always text: nothing is parsed as a number, a time or a boolean,
// so that an unquoted ID such as 12e45678 survives.
const (
	Null   ValueKind = iota // nothing, ~ or null
	Scalar                  // in Text
	List                    // in Items
	Map                     // in Fields
)

// Value is one value and the position where it begins in the file.
type Value struct {
	Kind ValueKind
	Text string // of a Scalar, unquoted and unescaped; otherwise empty
	// Quoted is true for "…" and '…'. The text then begins one column later.
	Quoted       bool
	Items        []Value // of a List; nested lists are accepted but do not occur in practice
	Fields       []Field // of a Map; their keys keep their spelling
	Line, Column int     // 1-based, Column in runes
}

// Field is one key of the front matter.
type Field struct {
	Key          string // kebab-case, whatever the file uses
	Line, Column int    // of the key, 1-based, Column in runes
	Value        Value
}

// All yields a value and every value in it.
func (v Value) All() iter.Seq[Value] {
	return func(yield func(Value) bool) { v.each(yield) }
}

func (v Value) each(yield func(Value) bool) bool {
	return yield(v) && !slices.ContainsFunc(v.Items, func(i Value) bool { return !i.each(yield) }) &&
		!slices.ContainsFunc(v.Fields, func(f Field) bool { return !f.Value.each(yield) })
}

// pointerToken undoes the escapes of a JSON pointer.
var pointerToken = strings.NewReplacer("~1", "/", "~0", "~")

// At returns the position of the key or item that a JSON pointer names within a field's value, or
// that of its nearest parent that is there.
func (f Field) At(pointer string) (line, column int) {
	for _, name := range strings.Split(pointer, "/")[1:] {
		i, items := slices.IndexFunc(f.Value.Fields, func(g Field) bool { return g.Key == pointerToken.Replace(name) }), f.Value.Items
		n, err := strconv.Atoi(name)
		switch {
		case i >= 0:
			f = f.Value.Fields[i]
		case err == nil && n >= 0 && n < len(items):
			f = Field{Line: items[n].Line, Column: items[n].Column, Value: items[n]}
		default:
			return f.Line, f.Column
		}
	}
	return f.Line, f.Column
}

// Document is a markdown file with front matter.
type Document struct {
	Fields   []Field   // in the file's order, keys unique
	Body     string    // without leading and trailing white space, line breaks as "\n"
	Dropped  []Dropped // text that looks like part of a value and is none
	BodyLine int       // line of the body's first text, or where it would be if the body is empty
}

// Get returns the field with that key in kebab-case.
func (d Document) Get(key string) (Field, bool) {
	for _, f := range d.Fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// HasID reports whether a file's bytes are those of the item with that id.
func HasID(data []byte, id string) bool {
	data = UTF8(data)
	if !bytes.Contains(data, []byte(id)) && !bytes.ContainsAny(data, `\'`) {
		return false // only an escape can hide an ID
	}
	doc, err := Parse(data)
	if err != nil {
		return false
	}
	f, ok := doc.Get("id")
	return ok && f.Value.Kind == Scalar && f.Value.Text == id
}

// SyntaxError describes an error in a file's front matter, its position, and the cure. Line and
// Column count from 1 within the file, Column in runes.
type SyntaxError struct {
	Line, Column int
	Message      string // one line, cleaned
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// fences are the parts of a file with front matter, before they are parsed.
type fences struct {
	yaml      string   // between the fences, lines end with "\n"
	lines     []string // of yaml
	firstLine int      // file line of the first line of yaml
	body      string   // after the closing fence, untrimmed
	bodyLine  int      // file line of the first line of body
}

// Parse splits a file into its front matter and its body. It accepts both key styles. The fences
// must be on lines of their own, so "---" inside a value or in the body is harmless. An error is a
// *SyntaxError. It never panics.
func Parse(data []byte) (Document, error) {
	data = UTF8(data)
	if err := foreign(data); err != nil {
		return Document{}, err
	}
	f, err := split(data)
	if err != nil {
		return Document{}, err
	}
	fields, err := parse(f, asWritten)
	if err != nil {
		return Document{}, err
	}
	return Document{Fields: fields, Dropped: dropped(f, fields), Body: strings.TrimSpace(f.body), BodyLine: f.textLine()}, nil
}

// ParseYAML reads the keys of a file that is only YAML, and the text that YAML drops from it, which
// the reader reports to the user. An error is a *SyntaxError. It never panics.
func ParseYAML(data []byte) ([]Field, []Dropped, error) {
	data = UTF8(data)
	if len(data) > maxFrontMatter {
		return nil, nil, &SyntaxError{Line: 1, Column: 1, Message: msgFileSize}
	}
	if err := foreign(data); err != nil {
		return nil, nil, err
	}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	f := fences{yaml: text, lines: strings.Split(text, "\n"), firstLine: 1}
	fields, err := parse(f, kebab)
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) {
		syntax.Message = strings.NewReplacer("front matter", "file", exampleID, "").Replace(syntax.Message)
	}
	return fields, dropped(f, fields), err
}

// UTF8 returns a file that begins with the mark of UTF-16 as UTF-8, and any other as it is.
func UTF8(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(data)%2 != 0 || len(data) == 0:
		return data
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case !bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for pair := range slices.Chunk(data[2:], 2) {
		units = append(units, order.Uint16(pair))
	}
	return []byte(string(utf16.Decode(units)))
}

// foreign returns what another program has made of a file: another encoding, other ends of lines, or the marks of a merge, which
// count anywhere in the file. Without it, the file would get a reason that is not the true one.
func foreign(data []byte) error {
	wrong := func(line int, message string) error { return &SyntaxError{Line: line, Column: 1, Message: message} }
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}), bytes.IndexByte(data[:min(2, len(data))], 0) >= 0:
		return wrong(1, msgUTF16)
	case bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(data, "\r"), '\r') >= 0:
		return wrong(1, msgOnlyCR)
	case !bytes.Contains(data, []byte(mergeMarks[0])):
		return nil
	}
	found, first, no := 0, 0, 0
	for line := range bytes.Lines(data) {
		no++
		if !bytes.HasPrefix(line, []byte(mergeMarks[found])) {
			continue
		}
		if found == 0 {
			first = no
		}
		if found++; found == len(mergeMarks) {
			return wrong(first, msgMerge)
		}
	}
	return nil
}

// mergeMarks begin the lines that a merge leaves around two versions, in this order.
var mergeMarks = []string{"<<<<<<< ", "=======", ">>>>>>> "}

// split finds the two fences. White space after a fence, empty lines before the first one, CRLF and
// a byte order mark are tolerated.
func split(data []byte) (fences, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := string(data)
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	line, rest, no := cutLine(text, 1)
	for blank(line) && rest != "" {
		line, rest, no = cutLine(rest, no)
	}
	if !isFence(line) {
		return fences{}, &SyntaxError{Line: 1, Column: 1, Message: msgNoFrontMatter}
	}
	open, yaml := no-1, rest
	for n := 0; rest != ""; n += len(line) + 1 {
		if n > maxFrontMatter {
			return fences{}, &SyntaxError{Line: open, Column: 1, Message: msgFrontMatterSize}
		}
		line, rest, no = cutLine(rest, no)
		if isFence(line) {
			yaml = yaml[:n]
			return fences{yaml: yaml, lines: strings.Split(yaml, "\n"), firstLine: open + 1, body: rest, bodyLine: no}, nil
		}
	}
	return fences{}, &SyntaxError{Line: open, Column: 1, Message: msgUnclosed}
}

// cutLine returns the first line of text and the rest. no is the line's number, next the number of
// the line after it.
func cutLine(text string, no int) (line, rest string, next int) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest, no + 1
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "---") && blank(line[3:])
}

func blank(s string) bool { return strings.Trim(s, " \t\r") == "" }

// textLine returns the line number of the body's first text.
func (f fences) textLine() int {
	lead := len(f.body) - len(strings.TrimLeft(f.body, " \t\r\n\v\f\u0085\u00a0"))
	if lead == len(f.body) {
		return f.bodyLine
	}
	return f.bodyLine + strings.Count(f.body[:lead], "\n")
}

// checkText refuses bytes that are not UTF-8 and control characters, which YAML does not allow.
func checkText(f fences) error {
	s, line, start := f.yaml, f.firstLine, 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\t' {
			i++
			continue
		}
		if c == '\n' {
			i++
			line, start = line+1, i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		message := ""
		switch {
		case r == utf8.RuneError && n == 1:
			message = msgNotUTF8
		case r < 0x20 || r >= 0x7f && r < 0xa0 && r != 0x85:
			message = msgControl
		}
		if message != "" {
			return &SyntaxError{Line: line, Column: column(s[start:], i-start), Message: message}
		}
		i += n
	}
	return nil
}

// column converts a byte offset within a line to a column.
func column(line string, offset int) int {
	return utf8.RuneCountInString(line[:offset]) + 1
}

// checkDuplicates compares normalized keys: allow-ping and allow_ping are the same.
func checkDuplicates(fields []Field) error {
	for i, f := range fields {
		for _, g := range fields[:i] {
			if f.Key == g.Key {
				return &SyntaxError{
					Line: f.Line, Column: f.Column,
					Message: fmt.Sprintf(msgDuplicate, f.Key, g.Line),
				}
			}
		}
	}
	return nil
}

func asWritten(key string) string { return key }

// kebab returns the normalized form of a key.
func kebab(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	return strings.ReplaceAll(key, "_", "-")
}
