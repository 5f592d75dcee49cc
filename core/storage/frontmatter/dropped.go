package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Dropped is text that looks like part of a value but is a comment in YAML, as in
// `description: Take pill #2 of the box`.
type Dropped struct {
	Key          string
	Line, Column int    // of the mark that starts it, 1-based, Column in runes
	Text         string // with the mark
}

// free are the keys of text for people, in which even `# ` is hardly a comment.
var free = []string{"description", "name", "title"}

// DroppedText finds text that YAML drops from unquoted values of parsed fields. A comment after
// a space, as in `background: true # for now`, is one, except in text for people.
func DroppedText(data []byte, fields []Field) []Dropped {
	d := dropping{lines: strings.Split(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\n")}
	for _, f := range fields {
		d.field(f)
	}
	return d.found
}

type dropping struct {
	lines []string
	found []Dropped
}

func (d *dropping) field(f Field) {
	if f.Value.Kind == Null && f.Value.Line == f.Line {
		d.look(f.Key, f.Line, f.Column)
	}
	d.value(f.Key, f.Value)
}

func (d *dropping) value(key string, v Value) {
	if v.Kind == Scalar && !v.Quoted {
		d.look(key, v.Line, v.Column)
	}
	for _, item := range v.Items {
		d.value(key, item)
	}
	for _, f := range v.Fields {
		d.field(f)
	}
}

// look finds a mark in the rest of a line. Text in a block below | or > has none.
func (d *dropping) look(key string, line, column int) {
	if line < 1 || line > len(d.lines) {
		return
	}
	text := strings.TrimSuffix(d.lines[line-1], "\r")
	rest := text
	for range column - 1 {
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	i := strings.Index(rest, " #")
	if i < 0 || strings.ContainsAny(rest[:1], `|>"'[{`) {
		return
	}
	lost := strings.TrimRight(rest[i+1:], " ")
	if after := strings.TrimLeft(lost, "#"); after == "" || after[0] == ' ' && !slices.Contains(free, key) {
		return
	}
	d.found = append(d.found, Dropped{Key: key, Line: line, Column: utf8.RuneCountInString(text[:len(text)-len(rest)+i]) + 2, Text: lost})
}
