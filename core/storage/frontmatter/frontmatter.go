package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxFrontMatter is the largest front matter that is read, in bytes.
const maxFrontMatter = 64 << 10

// ValueKind tells what a value of the front matter is.
type ValueKind int

// The kinds of values. A Scalar is always text: nothing is read as a number, a
// time or a boolean here, so that an unquoted id such as 12e45678 survives.
const (
	Null   ValueKind = iota // nothing, ~ or null
	Scalar                  // Text holds it
	List                    // Items hold it
	Map                     // Fields hold it
)

// Value is one value with the place where it begins in the file.
type Value struct {
	Kind ValueKind
	Text string // of a Scalar, unquoted and unescaped; otherwise empty
	// Quoted is true for "…" and '…': the text begins one column later.
	Quoted       bool
	Items        []Value // of a List; never Lists of Lists in practice, but not refused
	Fields       []Field // of a Map; front matter keeps the spelling of their keys
	Line, Column int     // 1-based, Column in runes
}

// Field is one key of the front matter.
type Field struct {
	Key          string // kebab-case, whatever the file uses
	Line, Column int    // of the key, 1-based, Column in runes
	Value        Value
}

// Document is a markdown file with front matter.
type Document struct {
	Fields   []Field // in the file's order, keys unique
	Body     string  // without white space at its ends, line breaks as "\n"
	BodyLine int     // line of the body's first text; of its place when it is empty
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
	if !bytes.Contains(data, []byte(id)) && !bytes.ContainsAny(data, `\'`) {
		return false // only an escape can hide an id
	}
	doc, err := Parse(data)
	if err != nil {
		return false
	}
	f, ok := doc.Get("id")
	return ok && f.Value.Kind == Scalar && f.Value.Text == id
}

// SyntaxError says what is wrong with a file's front matter, where, and how to
// cure it. Line and Column count from 1 within the file, Column in runes.
type SyntaxError struct {
	Line, Column int
	Message      string // one line, cleaned
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// fences are the parts of a file with front matter, before any is understood.
type fences struct {
	yaml      string // between the fences, lines end with "\n"
	firstLine int    // file line of the first line of yaml
	body      string // after the closing fence, untrimmed
	bodyLine  int    // file line of the first line of body
}

// Parse splits a file into its front matter and its body. Both key styles are read; the
// fences are lines of their own, so that
// "---" inside a value or in the body does no harm. An error is a *SyntaxError.
// It never panics, and costs about a microsecond for an ordinary file.
func Parse(data []byte) (Document, error) {
	f, err := split(data)
	if err != nil {
		return Document{}, err
	}
	if err := checkText(f); err != nil {
		return Document{}, err
	}
	fields, err := parseFast(f)
	if errors.Is(err, errSlow) {
		fields, err = parseYAML(f, asWritten)
	}
	if err != nil {
		return Document{}, err
	}
	if err := checkDuplicates(fields); err != nil {
		return Document{}, err
	}
	return Document{Fields: fields, Body: strings.TrimSpace(f.body), BodyLine: f.textLine()}, nil
}

// ParseYAML reads the keys of a file that is YAML and nothing else. An error is a
// *SyntaxError. It never panics.
func ParseYAML(data []byte) ([]Field, error) {
	if len(data) > maxFrontMatter {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: msgFileSize}
	}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	f := fences{yaml: text, firstLine: 1}
	if err := checkText(f); err != nil {
		return nil, err
	}
	fields, err := parseYAML(f, kebab)
	if err == nil {
		err = checkDuplicates(fields)
	}
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) {
		syntax.Message = strings.NewReplacer("front matter", "file", exampleID, "").Replace(syntax.Message)
	}
	return fields, err
}

// split finds the two fences. White space after a fence, empty lines before the
// first one, CRLF and a byte order mark are forgiven.
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
			return fences{yaml: yaml[:n], firstLine: open + 1, body: rest, bodyLine: no}, nil
		}
	}
	return fences{}, &SyntaxError{Line: open, Column: 1, Message: msgUnclosed}
}

// cutLine takes the first line off text; no is its number, the number after it
// is returned.
func cutLine(text string, no int) (line, rest string, next int) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest, no + 1
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "---") && blank(line[3:])
}

func blank(s string) bool { return strings.Trim(s, " \t\r") == "" }

// textLine is the line of the body's first text.
func (f fences) textLine() int {
	lead := len(f.body) - len(strings.TrimLeft(f.body, " \t\r\n\v\f\u0085\u00a0"))
	if lead == len(f.body) {
		return f.bodyLine
	}
	return f.bodyLine + strings.Count(f.body[:lead], "\n")
}

// checkText refuses what has no place in YAML: bytes that are not UTF-8, and
// control characters.
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

// column turns a byte offset within a line into a column.
func column(line string, offset int) int {
	return utf8.RuneCountInString(line[:offset]) + 1
}

// checkDuplicates compares normalised keys: allow-ping and allow_ping are one.
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

// kebab is the one form in which keys are known.
func kebab(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	return strings.ReplaceAll(key, "_", "-")
}
