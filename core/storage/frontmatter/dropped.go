package frontmatter

import (
	"fmt"
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

// Problem says what is dropped, and the cure.
func (d Dropped) Problem() string { return fmt.Sprintf(msgDropped, d.Text, d.Key) }

// dropped finds text that YAML drops from unquoted values. A comment after a space, as in
// `background: true # for now`, is one, except in text for people.
func dropped(f fences, fields []Field) []Dropped {
	if !strings.Contains(f.yaml, " #") {
		return nil
	}
	d := dropping{lines: f.lines, first: f.firstLine}
	for _, f := range fields {
		d.field(f)
	}
	return d.found
}

type dropping struct {
	lines []string
	first int // the line of the first one in the file
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
	i := line - d.first
	if i < 0 || i >= len(d.lines) {
		return
	}
	text := strings.TrimSuffix(d.lines[i], "\r")
	rest := text
	for range column - 1 {
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	if rest == "" || strings.ContainsAny(rest[:1], `|>"'[{`) {
		return
	}
	if lost := Lost(rest, slices.Contains(free, key)); lost != "" {
		column := utf8.RuneCountInString(text[:len(text)-len(rest)+strings.Index(rest, " #")]) + 2
		d.found = append(d.found, Dropped{Key: key, Line: line, Column: column, Text: lost})
	}
}

// Lost returns the text of a line that a comment takes, with its mark, if it hardly is a
// comment: it has no space behind the mark, or is in text for people.
func Lost(line string, people bool) string {
	i := strings.Index(line, " #")
	if i < 0 {
		return ""
	}
	lost := strings.TrimRight(line[i+1:], " ")
	if after := strings.TrimLeft(lost, "#"); after == "" || after[0] == ' ' && !people {
		return ""
	}
	return lost
}
