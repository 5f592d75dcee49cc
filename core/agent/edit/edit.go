// Package edit owns the effect of an Edit call on a file's bytes. The policy checks the resulting
// file, so the check and the write must produce the same bytes. It must not know files, rules or
// tools.
package edit

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Change replaces an old text, which must occur exactly once, or all its occurrences.
type Change struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// Apply applies changes to a file as the claude command does (measured with 2.1.330): in a file
// with CRLF the texts have "\n"; the encoding and a byte order mark are kept; removing a line
// removes its line end; white space at the ends of new lines is removed, except in markdown. An old
// text also matches, without a notice, if it differs in quotes, escapes or line ends. If the
// command would refuse an edit, nothing is changed.
func Apply(before []byte, exists bool, name string, changes []Change) ([]byte, bool) {
	text, form, ok := Decode(before)
	if !ok || len(changes) == 0 {
		return nil, false
	}
	markdown := slices.Contains([]string{".md", ".mdx"}, strings.ToLower(path.Ext(name)))
	for _, e := range changes {
		if e.Old == "" {
			if exists && strings.TrimSpace(text) != "" {
				return before, true
			}
			text, exists, form.crlf = e.New, true, false
			continue
		}
		switch n := strings.Count(text, e.Old); {
		case n == 0:
			return nil, false
		case n > 1 && !e.All, e.Old == e.New:
			return before, true
		}
		if !markdown {
			e.New = withoutTrailing(e.New)
		}
		text = e.apply(text)
	}
	return form.Encode(text), true
}

func (c Change) apply(text string) string {
	old, n := c.Old, 1
	if c.New == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		old += "\n"
	}
	if c.All {
		n = -1
	}
	return strings.Replace(text, old, strings.ReplaceAll(c.New, "\r\n", "\n"), n)
}

func withoutTrailing(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		lines[i] = strings.TrimRightFunc(body, unicode.IsSpace) + line[len(body):]
	}
	return strings.Join(lines, "")
}

// Form is the encoding of a file's text.
type Form struct {
	UTF16     bool // little-endian
	bom, crlf bool
}

const mark = "\ufeff"

// Decode returns a file's text with "\n" as line ends. ok is false for bytes that are not text.
func Decode(data []byte) (string, Form, bool) {
	var f Form
	var text string
	if rest, ok := bytes.CutPrefix(data, []byte("\xff\xfe")); ok && len(rest)%2 == 0 {
		units := make([]uint16, len(rest)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(rest[2*i:])
		}
		f.UTF16, f.bom, text = true, true, string(utf16.Decode(units))
	} else if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", Form{}, false
	} else {
		text, f.bom = strings.CutPrefix(string(data), mark)
	}
	ends := strings.Count(text, "\r\n")
	f.crlf = ends > strings.Count(text, "\n")-ends
	return strings.ReplaceAll(text, "\r\n", "\n"), f, true
}

// Encode encodes a text in a file's form.
func (f Form) Encode(text string) []byte {
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if f.bom && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	if !f.UTF16 {
		return []byte(text)
	}
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}
