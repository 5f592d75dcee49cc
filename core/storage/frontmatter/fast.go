package frontmatter

import (
	"errors"
	"fmt"
	"strings"
)

// The fast path reads the contents of nearly every file: `key: scalar`, block lists and one-line
// flow lists of scalars, comments. It gives up (done is false) on anything that it is not certain
// about, and then the YAML library decides. It reports an error only if the text is not valid YAML
// either, because it can name the cure better.

// lines iterates over text line by line.
type lines struct {
	rest string
	no   int // number of the next line
}

// peek moves to the next line with content and returns it. It skips empty lines and comment lines,
// but not a comment after a tab, which YAML readers treat differently.
func (l *lines) peek() (line string, ok bool) {
	for l.rest != "" {
		line, rest, _ := strings.Cut(l.rest, "\n")
		t := strings.TrimLeft(line, " ")
		if t != "" && t[0] != '#' && !blank(t) {
			return line, true
		}
		l.rest, l.no = rest, l.no+1
	}
	return "", false
}

// take moves past the line that peek returned.
func (l *lines) take() {
	_, l.rest, _ = strings.Cut(l.rest, "\n")
	l.no++
}

// errSlow means that the text may be valid but must be read by the YAML library.
var errSlow = errors.New("the fast path does not know this")

func slip(line, col int, format string, args ...any) error {
	return &SyntaxError{Line: line, Column: col, Message: fmt.Sprintf(format, args...)}
}

// parseFast reads the fields. It returns errSlow if it cannot.
func parseFast(f fences) ([]Field, error) {
	l := &lines{rest: f.yaml, no: f.firstLine}
	fields := make([]Field, 0, min(8, strings.Count(f.yaml, "\n")))
	for {
		line, ok := l.peek()
		if !ok {
			return fields, nil
		}
		if strings.Contains(line, "\t") {
			return nil, errSlow // YAML readers treat tabs differently
		}
		field, err := fastField(l, line)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
	}
}

// fastField reads the field that begins on line, and the list below it.
func fastField(l *lines, line string) (Field, error) {
	n := keyLen(line)
	if n == 0 || n >= len(line) || line[n] != ':' || n+1 < len(line) && line[n+1] != ' ' {
		return Field{}, notAField(line, n, l.no)
	}
	f := Field{Key: kebab(line[:n]), Line: l.no, Column: 1}
	rest := strings.TrimLeft(line[n+1:], " ")
	start := len(line) - len(rest)
	l.take()
	if rest == "" || rest[0] == '#' {
		return fastBelow(l, f)
	}
	s := scalar{line: line, start: start, no: f.Line, key: line[:n]}
	var err error
	if rest[0] == '[' {
		f.Value, err = s.flowList()
	} else {
		f.Value, err = s.read()
	}
	if s.open {
		// A quote or bracket that is not closed on its line may continue below, but only on
		// indented lines.
		if next, ok := l.peek(); ok && (next[0] == ' ' || next[0] == '\t') {
			return f, errSlow
		}
	}
	if err != nil {
		return f, err
	}
	return f, below(l, f.Value)
}

// below checks the line after a value that is complete on its own line. An indented one may
// continue plain text, but a key there is a mistake.
func below(l *lines, v Value) error {
	next, ok := l.peek()
	if !ok || next[0] != ' ' && next[0] != '\t' {
		return nil
	}
	key := strings.TrimLeft(next, " ")
	n := keyLen(key)
	if v.Quoted || n > 0 && n < len(key) && key[n] == ':' && (n+1 == len(key) || key[n+1] == ' ') {
		return slip(l.no, len(next)-len(key)+1, msgIndented)
	}
	return errSlow
}

// keyLen returns the length of the plain key at the start of line.
func keyLen(line string) int {
	for i := 0; i < len(line); i++ {
		c := line[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return i
		}
	}
	return len(line)
}

// notAField reports the two common mistakes, and leaves the rest to the library.
func notAField(line string, n, no int) error {
	if n == 0 || strings.Contains(line, ": ") || strings.Contains(line, ":\t") || strings.HasSuffix(line, ":") {
		return errSlow
	}
	if n < len(line) && line[n] == ':' {
		return slip(no, n+1, msgNoSpace, line[:n])
	}
	return slip(no, 1, msgNoColon)
}

// fastBelow reads the value below a key without one on its line: a list or nothing.
func fastBelow(l *lines, f Field) (Field, error) {
	f.Value = Value{Kind: Null, Line: f.Line, Column: f.Column}
	line, ok := l.peek()
	if !ok {
		return f, nil
	}
	dash := len(line) - len(strings.TrimLeft(line, " "))
	if !isItem(line, dash) {
		if dash == 0 && line[0] != '\t' {
			return f, nil
		}
		return f, errSlow
	}
	f.Value = Value{Kind: List, Line: l.no, Column: dash + 1}
	for ok {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent == 0 && (dash > 0 || !isItem(line, 0)) && line[0] != '\t' {
			if isItem(line, 0) {
				return f, errSlow
			}
			return f, nil
		}
		if indent != dash || !isItem(line, dash) {
			return f, errSlow
		}
		item, err := fastItem(line, dash, l.no)
		if err != nil {
			return f, err
		}
		f.Value.Items = append(f.Value.Items, item)
		l.take()
		line, ok = l.peek()
	}
	return f, nil
}

// isItem reports whether a `- item` begins at the offset.
func isItem(line string, at int) bool {
	return at+1 < len(line) && line[at] == '-' && line[at+1] == ' '
}

func fastItem(line string, dash, no int) (Value, error) {
	rest := strings.TrimLeft(line[dash+1:], " ")
	if strings.Contains(line, "\t") || rest == "" || rest[0] == '#' || rest[0] == '[' {
		return Value{}, errSlow
	}
	s := scalar{line: line, start: len(line) - len(rest), no: no}
	v, err := s.read()
	if s.open {
		err = errSlow
	}
	return v, err
}

// scalar reads one scalar of a line.
type scalar struct {
	line  string
	start int    // where it begins, in bytes
	no    int    // number of the line
	key   string // of the field; empty for an item, which may also be a mapping
	open  bool   // the problem is a quote or bracket that is not closed on this line
}

func (s *scalar) column(at int) int { return column(s.line, at) }

// read reads the scalar in the rest of the line.
func (s *scalar) read() (Value, error) {
	text := s.line[s.start:]
	if text[0] == '"' || text[0] == '\'' {
		v, end, err := s.quoted()
		if err != nil {
			return v, err
		}
		tail := strings.TrimLeft(s.line[end:], " ")
		switch {
		case tail == "" || tail[0] == '#' && s.line[end] == ' ':
			return v, nil
		case tail[0] == '#' || s.key == "" && tail[0] == ':':
			return v, errSlow
		}
		return v, slip(s.no, s.column(len(s.line)-len(tail)), msgAfterQuote)
	}
	if err := s.first(text); err != nil {
		return Value{}, err
	}
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimRight(text, " ")
	if i := strings.Index(text, ": "); i >= 0 || strings.HasSuffix(text, ":") {
		if s.key == "" {
			return Value{}, errSlow
		}
		if i < 0 {
			i = len(text) - 1
		}
		return Value{}, slip(s.no, s.column(s.start+i), msgColonInside, s.key)
	}
	return s.plain(text), nil
}

// plain returns the value of an unquoted scalar.
func (s *scalar) plain(text string) Value {
	v := Value{Kind: Scalar, Text: text, Line: s.no, Column: s.column(s.start)}
	switch text {
	case "null", "Null", "NULL", "~":
		v.Kind, v.Text = Null, ""
	}
	return v
}

// first checks the first character of a plain scalar.
func (s *scalar) first(text string) error {
	switch c := text[0]; c {
	case '*', '%', '@', '`', ',', ']', '}':
		if c == '*' && strings.Contains(s.line, "&") {
			return errSlow
		}
		return slip(s.no, s.column(s.start), msgFirstChar, string(c), string(c))
	case '!': // an application-specific tag, which the original refuses too
		if !strings.HasPrefix(text, "!!") {
			return slip(s.no, s.column(s.start), msgFirstChar, "!", "!")
		}
		return errSlow
	case '&', '|', '>', '{', '[':
		return errSlow
	case '-', '?', ':':
		if len(text) > 1 && text[1] != ' ' && text[1] != '\t' {
			return nil
		}
		if c == '-' && s.key != "" {
			return slip(s.no, s.column(s.start), msgInlineDash)
		}
		return errSlow
	}
	return nil
}

// quoted reads a quoted scalar at start and returns the offset after it.
func (s *scalar) quoted() (v Value, end int, err error) {
	v = Value{Kind: Scalar, Quoted: true, Line: s.no, Column: s.column(s.start)}
	q := s.line[s.start]
	body := s.line[s.start+1:]
	i := strings.IndexByte(body, q)
	if i >= 0 && (q == '\'' && (i+1 == len(body) || body[i+1] != q) ||
		q == '"' && !strings.Contains(body[:i], `\`)) {
		v.Text = body[:i]
		return v, s.start + i + 2, nil
	}
	var b strings.Builder
	for i = 0; i < len(body); {
		switch c := body[i]; {
		case c == q && q == '\'' && i+1 < len(body) && body[i+1] == q:
			b.WriteByte(q)
			i += 2
		case c == q:
			v.Text = b.String()
			return v, s.start + i + 2, nil
		case c == '\\' && q == '"':
			r, n := unescape(body[i:])
			if n == 0 {
				return v, 0, errSlow
			}
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	s.open = true
	return v, 0, slip(s.no, v.Column, msgQuoteOpen, string(q))
}

// unescape reads the two-character escapes that every YAML reader knows. n is 0 for others.
func unescape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\':
		return rune(s[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	}
	return 0, 0
}

// flowList reads a flow list of scalars that ends on its line.
func (s *scalar) flowList() (Value, error) {
	list := Value{Kind: List, Line: s.no, Column: s.column(s.start)}
	for at := s.start + 1; ; {
		at += len(s.line[at:]) - len(strings.TrimLeft(s.line[at:], " "))
		if at >= len(s.line) {
			s.open = true
			return list, slip(s.no, list.Column, msgListOpen)
		}
		if s.line[at] == ']' {
			tail := strings.TrimLeft(s.line[at+1:], " ")
			if tail == "" || tail[0] == '#' && s.line[at+1] == ' ' {
				return list, nil
			}
			return list, errSlow
		}
		item, end, err := s.flowItem(at)
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, item)
		end += len(s.line[end:]) - len(strings.TrimLeft(s.line[end:], " "))
		switch {
		case end >= len(s.line):
			s.open = true
			return list, slip(s.no, list.Column, msgListOpen)
		case s.line[end] == ',':
			end++
		case s.line[end] != ']':
			return list, errSlow
		}
		at = end
	}
}

// flowItem reads one item that begins at the offset and returns where it ends. Stars after the
// first character are common (tool patterns) and harmless; the library knows the rules for other
// special characters.
func (s *scalar) flowItem(at int) (item Value, end int, err error) {
	one := scalar{line: s.line, start: at, no: s.no}
	text := s.line[at:]
	if text[0] == '"' || text[0] == '\'' {
		if item, end, err = one.quoted(); err != nil {
			err = errSlow
		}
		return item, end, err
	}
	if n := strings.IndexAny(text, ",[]{}\"'#:\t&!|>%@`?"); n >= 0 {
		if text[n] != ',' && text[n] != ']' {
			return item, 0, errSlow
		}
		text = text[:n]
	}
	end = at + len(text)
	text = strings.TrimRight(text, " ")
	if text == "" || text[0] == '*' || text[0] == '-' && (len(text) == 1 || text[1] == ' ') {
		return item, 0, errSlow
	}
	return one.plain(text), end, nil
}
