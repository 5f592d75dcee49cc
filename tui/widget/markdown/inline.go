package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// maxDepth is how deep emphasis in emphasis is read.
const maxDepth = 4

// maxLink is the most bytes of a link's words and of its address.
const maxLink = 2000

// speech reads one line: what is emphasised, code, a link.
type speech struct {
	plain bool // without weights
	bare  bool // without colours
	open  bool
	depth int
	out   []widget.Span
	word  strings.Builder
	// never are the marks that nothing closes any more on this line, so that a
	// line full of them is read once and not once for each.
	never map[string]bool
}

// inline is a line as spans; words that are nothing else have the role.
func (p *printer) inline(s string, role theme.Role) []widget.Span {
	r := speech{plain: p.plain(), bare: p.bare(), open: p.open, never: map[string]bool{}}
	r.read(s, role)
	return r.out
}

// read takes the text apart from its beginning on.
func (r *speech) read(s string, role theme.Role) {
	for i := 0; i < len(s); {
		n := 0
		switch s[i] {
		case '\\':
			if i+1 < len(s) && punctuation(s[i+1]) {
				r.word.WriteByte(s[i+1])
				i += 2
				continue
			}
		case '`':
			n = r.code(s[i:], role)
		case '*', '_', '~':
			n = r.emphasis(s, i, role)
		case '[', '!':
			n = r.link(s[i:], role)
		case '<':
			n = r.bracketed(s[i:], role)
		case 'h':
			n = r.address(s, i, role)
		}
		if n == 0 {
			n = run(s[i:])
			r.word.WriteString(s[i : i+n])
		}
		i += n
	}
	r.flush(role)
}

// run is the bytes that are copied at once: all marks of one kind, or the text
// up to what may be a mark.
func run(s string) int {
	if strings.IndexByte("*_~`", s[0]) >= 0 {
		return len(s) - len(strings.TrimLeft(s, s[:1]))
	}
	if s[0] == 'h' {
		return 1
	}
	if n := strings.IndexAny(s[1:], "\\`*_~[!<h"); n >= 0 {
		return n + 1
	}
	return len(s)
}

// flush ends the words that were read so far.
func (r *speech) flush(role theme.Role) {
	if r.word.Len() > 0 {
		r.put(role, r.word.String())
		r.word.Reset()
	}
}

func (r *speech) put(role theme.Role, s string) {
	r.out = append(r.out, widget.Span{Role: role, Text: s})
}

// code reads code between backquotes and gives its bytes, 0 if it is none.
func (r *speech) code(s string, role theme.Role) int {
	n := run(s)
	mark := s[:n]
	body, size := "", 0
	if !r.never[mark] {
		if end := closing(s[n:], mark); end >= 0 {
			body, size = s[n:n+end], n+end+n
		} else {
			r.never[mark] = true
		}
	}
	if size == 0 {
		if !r.open || n > 2 || r.depth > 0 {
			return 0
		}
		body, size = s[n:], len(s)
	}
	r.flush(role)
	if trimmed := strings.TrimSpace(body); trimmed != "" && len(body) > 1 && body[0] == ' ' && body[len(body)-1] == ' ' {
		body = body[1 : len(body)-1]
	}
	if r.bare {
		body = "`" + body + "`"
	}
	r.put(theme.Tool, body)
	return size
}

// closing is where a run of marks of exactly that length stands, or -1.
func closing(s, mark string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return -1
		}
		i += at
		n := run(s[i:])
		if n == len(mark) {
			return i
		}
		at = i + n
	}
}

// emphasis reads what stands between asterisks, underscores or tildes, and
// gives its bytes; 0 if the marks are none.
func (r *speech) emphasis(s string, i int, role theme.Role) int {
	n := run(s[i:])
	mark := s[i : i+n]
	from := i + n
	if n > 3 || s[i] == '~' && n != 2 || from == len(s) || s[from] == ' ' || r.depth >= maxDepth {
		return 0
	}
	if (s[i] == '_' || n == 1) && i > 0 && wordEnd(s[:i]) { // snake_case, 2*3*4
		return 0
	}
	end := -1
	if !r.never[mark] {
		if end = r.closed(s[from:], mark); end < 0 {
			r.never[mark] = true
		}
	}
	size := n + end + n
	if end < 0 {
		if !r.open || r.depth > 0 {
			return 0
		}
		end, size = len(s)-from, len(s)-i
	}
	r.flush(role)
	r.within(s[from:from+end], mark, role)
	return size
}

// closed is where marks end what they began, or -1.
func (r *speech) closed(s, mark string) int {
	for at := 0; ; {
		i := closing(s[at:], mark)
		if i < 0 {
			return -1
		}
		i += at
		after := s[i+len(mark):]
		if i > 0 && s[i-1] != ' ' && (mark[0] != '_' || after == "" || !wordStart(after)) {
			return i
		}
		at = i + len(mark)
	}
}

// within reads the inside of an emphasis.
func (r *speech) within(s, mark string, role theme.Role) {
	inner, shown := role, ""
	switch {
	case mark == "~~":
		inner, shown = theme.Dim, mark
	case len(mark) >= 2:
		inner = theme.Strong
		if r.plain {
			shown = mark
		}
	case role == theme.Text:
		inner = theme.Think // the role that is italic
		fallthrough
	default:
		if r.bare {
			shown = mark
		}
	}
	in := speech{plain: r.plain, bare: r.bare, depth: r.depth + 1, never: map[string]bool{}}
	in.word.WriteString(shown)
	in.read(s, inner)
	if shown != "" {
		in.put(inner, shown)
	}
	r.out = append(r.out, in.out...)
}

// link reads [words](address), also of a picture, and gives its bytes.
func (r *speech) link(s string, role theme.Role) int {
	at := 0
	if s[0] == '!' {
		at = 1
	}
	if at >= len(s) || s[at] != '[' {
		return 0
	}
	mid := strings.Index(s[:min(len(s), maxLink)], "](")
	if mid < 0 {
		return 0
	}
	end := strings.IndexByte(s[mid:min(len(s), mid+maxLink)], ')')
	if end < 0 || strings.ContainsRune(s[at+1:mid], '[') {
		return 0
	}
	words, address := s[at+1:mid], strings.TrimSpace(s[mid+2:mid+end])
	if address, _, _ = strings.Cut(address, " "); address == "" {
		return 0
	}
	r.flush(role)
	if words != "" && words != address {
		r.put(theme.Accent, words)
		r.put(theme.Dim, " ("+address+")")
	} else {
		r.put(theme.Accent, address)
	}
	return mid + end + 1
}

// bracketed reads <https://...>.
func (r *speech) bracketed(s string, role theme.Role) int {
	end := strings.IndexByte(s[:min(len(s), maxLink)], '>')
	if end < 0 || !web(s[1:]) || strings.ContainsRune(s[:end], ' ') {
		return 0
	}
	r.flush(role)
	r.put(theme.Accent, s[1:end])
	return end + 1
}

// address reads a bare address. What ends a sentence is not part of it.
func (r *speech) address(s string, i int, role theme.Role) int {
	if !web(s[i:]) || i > 0 && wordEnd(s[:i]) {
		return 0
	}
	n := strings.IndexAny(s[i:], " \t<>\"`|")
	if n < 0 {
		n = len(s) - i
	}
	link := strings.TrimRight(s[i:i+n], ".,;:!?*_~'")
	if strings.HasSuffix(link, ")") && !strings.Contains(link, "(") {
		link = strings.TrimRight(link, ").,")
	}
	r.flush(role)
	r.put(theme.Accent, link)
	return len(link)
}

func web(s string) bool {
	return len(s) > 8 && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://"))
}

func wordEnd(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

func wordStart(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

func punctuation(c byte) bool {
	return c < 0x80 && (unicode.IsPunct(rune(c)) || unicode.IsSymbol(rune(c)))
}
