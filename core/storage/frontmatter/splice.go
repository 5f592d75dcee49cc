package frontmatter

import (
	"fmt"
	"slices"
	"strings"
)

// Splice changes or adds keys in a user's file and preserves everything else: comments, order,
// unknown keys, the spelling of keys, line ends and every byte of the body. A key that already has
// the value is not touched. A file in UTF-16 becomes one in UTF-8. The result is parsed again before it is
// returned. On an error nothing is changed.
func Splice(data []byte, set []Entry) ([]byte, error) {
	data = UTF8(data)
	before, err := Parse(data)
	if err != nil {
		return nil, err
	}
	s := &splicer{lines: strings.SplitAfter(string(data), "\n"), eol: "\n"}
	if strings.Contains(string(data), "\r\n") {
		s.eol = "\r\n"
	}
	for _, out := range set {
		doc, err := Parse([]byte(s.text()))
		if err != nil {
			return nil, fmt.Errorf("change %s: %w", out.Key, err)
		}
		if err := s.set(doc, out); err != nil {
			return nil, err
		}
	}
	after, err := Parse([]byte(s.text()))
	if err != nil {
		return nil, fmt.Errorf("check the changed front matter: %w", err)
	}
	if err := sameBut(before, after, set); err != nil {
		return nil, err
	}
	return []byte(s.text()), nil
}

// splicer holds a file as lines with their line ends.
type splicer struct {
	lines []string
	eol   string
}

func (s *splicer) text() string { return strings.Join(s.lines, "") }

// set writes one key into the lines. Lines of doc match the splicer's.
func (s *splicer) set(doc Document, out Entry) error {
	i := slices.IndexFunc(doc.Fields, func(f Field) bool { return f.Key == kebab(out.Key) })
	if i < 0 {
		if out.Value != nil {
			return s.add(doc, out)
		}
		return nil
	}
	f := doc.Fields[i]
	if out.Value != nil && equal(f.Value, out.Value) {
		return nil
	}
	from, to := f.Line-1, s.closing()
	if i+1 < len(doc.Fields) {
		to = doc.Fields[i+1].Line - 1
	}
	if !s.keyAlone(f) || to <= from {
		return &SyntaxError{Line: f.Line, Column: f.Column, Message: msgSpliceFlow}
	}
	to = s.valueEnd(f, from, to)
	var lines []string
	if out.Value != nil {
		indent := strings.Repeat(" ", f.Column-1)
		line := s.lines[f.Line-1][f.Column-1:] // the key keeps its spelling
		lines = formatField(line[:min(len(f.Key), len(line))], out.Value)
		if c := s.comment(f, from); c != "" {
			lines[0] += " " + c
		}
		for n := range lines {
			lines[n] = indent + lines[n] + s.eol
		}
		lines = slices.Insert(lines, 1, s.innerComments(f, from, to)...)
	}
	s.lines = slices.Replace(s.lines, from, to, lines...)
	return nil
}

// add appends a new key to the front matter.
func (s *splicer) add(doc Document, out Entry) error {
	indent := ""
	if n := len(doc.Fields); n > 0 {
		f := doc.Fields[n-1]
		if !s.keyAlone(doc.Fields[0]) || n > 1 && doc.Fields[0].Line == f.Line {
			return &SyntaxError{Line: f.Line, Column: f.Column, Message: msgSpliceFlow}
		}
		indent = strings.Repeat(" ", f.Column-1)
	}
	lines := formatField(kebab(out.Key), out.Value)
	for n := range lines {
		lines[n] = indent + lines[n] + s.eol
	}
	at := s.closing()
	s.lines = slices.Insert(s.lines, at, lines...)
	return nil
}

// closing returns the index of the closing fence, which the file is known to have.
func (s *splicer) closing() int {
	seen := false
	for i, l := range s.lines {
		if i == 0 {
			l = strings.TrimPrefix(l, "\ufeff")
		}
		if isFence(strings.TrimRight(l, "\r\n")) {
			if seen {
				return i
			}
			seen = true
		}
	}
	return len(s.lines)
}

// keyAlone reports whether only spaces precede the key.
func (s *splicer) keyAlone(f Field) bool {
	line := s.lines[f.Line-1]
	return f.Column-1 < len(line) && strings.Trim(line[:f.Column-1], " ") == "" && isKeyByte(line[f.Column-1])
}

func isKeyByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// valueEnd moves the end of a field back over the empty lines and comments that belong to the next
// one. In a block scalar an indented line is text, not a comment.
func (s *splicer) valueEnd(f Field, from, to int) int {
	for ; to > from+1; to-- {
		line := strings.TrimRight(s.lines[to-1], "\r\n")
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		comment := strings.HasPrefix(text, "#") && (indent < f.Column || f.Value.Kind == List)
		if text != "" && !comment {
			break
		}
	}
	return to
}

// comment returns the comment at the end of the key's line, if the value ends on that line.
func (s *splicer) comment(f Field, from int) string {
	line := strings.TrimRight(s.lines[from], "\r\n")
	v := f.Value
	after := min(f.Column+len(f.Key), len(line))
	if at := byteOffset(line, v.Column); v.Line == f.Line && v.Kind != Null {
		after = at
		if v.Quoted {
			after = quoteEnd(line, at)
		} else if v.Kind == List {
			after = flowEnd(line, at)
		}
		if after < 0 {
			return ""
		}
	}
	if i := strings.Index(line[after:], " #"); i >= 0 {
		return line[after+i+1:]
	}
	return ""
}

// byteOffset converts a column back to an offset.
func byteOffset(line string, col int) int {
	n := 0
	for i := range line {
		if n++; n == col {
			return i
		}
	}
	return len(line)
}

// innerComments returns the comment lines between the items of a list that is replaced. They stay
// below its key.
func (s *splicer) innerComments(f Field, from, to int) []string {
	if f.Value.Kind != List {
		return nil
	}
	var out []string
	for _, l := range s.lines[from+1 : to] {
		if strings.HasPrefix(strings.TrimLeft(l, " \t"), "#") {
			out = append(out, l)
		}
	}
	return out
}

// equal reports whether the file already contains the value to be written.
func equal(v Value, want any) bool {
	switch w := want.(type) {
	case []string:
		return v.Kind == List && slices.EqualFunc(v.Items, w, func(i Value, s string) bool {
			return i.Kind == Scalar && i.Text == s
		})
	case string:
		return v.Kind == Scalar && v.Text == strings.ToValidUTF8(w, "\ufffd")
	case nil:
		return false
	}
	return v.Kind == Scalar && v.Text == fmt.Sprint(want)
}

// sameBut checks that a splice changed only what it should.
func sameBut(before, after Document, set []Entry) error {
	last := map[string]any{}
	for _, o := range set {
		last[kebab(o.Key)] = o.Value
	}
	for key, value := range last {
		f, found := after.Get(key)
		if found != (value != nil) || found && !equal(f.Value, value) {
			return fmt.Errorf("change %s: the file is written in a way that cannot be changed safely; edit it by hand", key)
		}
	}
	for _, f := range before.Fields {
		if _, changed := last[f.Key]; changed {
			continue
		}
		g, found := after.Get(f.Key)
		if !found || !sameValue(f.Value, g.Value) {
			return fmt.Errorf("keep %s: the file is written in a way that cannot be changed safely; edit it by hand", f.Key)
		}
	}
	if before.Body != after.Body {
		return fmt.Errorf("keep the text: the file is written in a way that cannot be changed safely; edit it by hand")
	}
	return nil
}

// sameValue compares values but not their positions.
func sameValue(a, b Value) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.EqualFunc(a.Items, b.Items, sameValue) &&
		slices.EqualFunc(a.Fields, b.Fields, func(a, b Field) bool { return a.Key == b.Key && sameValue(a.Value, b.Value) })
}
