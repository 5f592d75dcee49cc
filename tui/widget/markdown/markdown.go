// Package markdown draws the markdown that a model writes as rows of a width:
// headings, lists, quotes, tables, code, links and emphasis. It owns how these
// look in a terminal; it must not know who wrote the text or where it stands.
//
// A line break is kept, as in a chat, so every source line is drawn by itself:
// what was drawn of a text that grows never changes. Nothing is said by colour
// alone: where there are no colours, the marks of the source stay.
package markdown

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Doc draws a text that may grow, and keeps what it has drawn of it. The zero
// Doc is empty.
type Doc struct {
	theme *theme.Theme
	w     int
	done  string // the whole lines that are drawn for good
	rows  [][]widget.Span
	state state
}

// state is what a line has to know of those above it.
type state struct {
	fence string // what the code block began with; empty outside of one
	inset int    // cells before it, which its lines need not keep
	blank bool   // an empty row is due before the next one
	begun bool   // there is a row already
}

// Look is how a text is drawn.
type Look struct {
	Theme *theme.Theme
	W     int // cells, at least one
	// Open says that the text is not at its end: what was begun on its last line
	// holds to the end of the line, so that nothing flickers when it is closed.
	Open bool
}

// Rows draws a text in rows of at most l.W cells. A text that begins with what
// was drawn last costs only what is new. Nobody may change the rows.
func (d *Doc) Rows(text string, l Look) [][]widget.Span {
	l.W = max(1, l.W)
	if d.theme != l.Theme || d.w != l.W || !strings.HasPrefix(text, d.done) {
		*d = Doc{theme: l.Theme, w: l.W}
	}
	p := printer{look: l, state: d.state, rows: d.rows}
	for {
		rest := text[len(d.done):]
		n := whole(rest, p.fence != "")
		if n == 0 {
			p.last(rest)
			return p.rows
		}
		p.block(rest[:n])
		d.done, d.rows, d.state = text[:len(d.done)+n], p.rows[:len(p.rows):len(p.rows)], p.state
	}
}

// anyWidth is wider than any line that a person writes.
const anyWidth = 1 << 16

// Plain is a text as it reads once it is drawn, without the marks of the source:
// what a reader who searches expects to find. The theme has to be one of colours.
func Plain(text string, t *theme.Theme) string {
	var d Doc
	var b strings.Builder
	for i, row := range d.Rows(text, Look{Theme: t, W: anyWidth}) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range row {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// whole is the length of the first line with its break, or of a table with the
// break behind it: of what more text cannot change. 0 where there is none.
func whole(s string, code bool) int {
	n := strings.IndexByte(s, '\n') + 1
	if code || !tabular(s) {
		return n
	}
	for n > 0 && tabular(s[n:]) {
		more := strings.IndexByte(s[n:], '\n') + 1
		if more == 0 {
			return 0
		}
		n += more
	}
	if n == len(s) {
		return 0 // the next line may belong to the table
	}
	return n
}

// printer puts rows together.
type printer struct {
	state
	look Look
	rows [][]widget.Span
	open bool // what is begun holds to the end of the line
}

// last draws what may still change: a line without a break, or a table.
func (p *printer) last(s string) {
	p.open = p.look.Open
	if s != "" {
		p.block(s)
	}
}

// block draws one source line, or a table.
func (p *printer) block(s string) {
	s = strings.TrimSuffix(s, "\n")
	if p.fence == "" && tabular(s) {
		p.table(strings.Split(s, "\n"))
		return
	}
	trimmed := strings.TrimLeft(s, " ")
	if p.fence != "" {
		if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]+" ") == "" {
			p.fence = ""
			return
		}
		p.code(s[min(len(s)-len(trimmed), p.inset):])
		return
	}
	if mark, info, ok := fence(trimmed); ok {
		p.fence, p.inset = mark, len(s)-len(trimmed)
		if info != "" {
			p.put([]widget.Span{p.bar(), {Role: theme.Dim, Text: widget.Cut(info, max(1, p.look.W-2))}})
		}
		return
	}
	if strings.TrimSpace(s) == "" {
		p.blank = p.begun
		return
	}
	p.line(s, nil)
}

// put adds a row, behind the empty one that is due.
func (p *printer) put(row []widget.Span) {
	if p.blank {
		p.rows, p.blank = append(p.rows, nil), false
	}
	p.rows, p.begun = append(p.rows, row), true
}

// hang adds spans wrapped behind a head; the rows below the first stand behind
// rest.
func (p *printer) hang(head, rest, spans []widget.Span) {
	room := p.look.W - max(widget.Width(head), widget.Width(rest))
	for _, row := range widget.WrapSpans(spans, room) {
		p.put(append(head[:len(head):len(head)], row...))
		head = rest
	}
}

// fence takes the beginning of a code block apart.
func fence(s string) (mark, info string, ok bool) {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && !strings.Contains(rest, c) {
			return s[:n], strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// bar stands before code.
func (p *printer) bar() widget.Span {
	return widget.Span{Role: theme.Border, Text: p.look.Theme.Box().Vertical + " "}
}

// code draws a line as it is; of a long one every row stands behind the bar.
func (p *printer) code(s string) {
	for _, part := range widget.HardWrap(strings.ReplaceAll(s, "\t", "    "), p.look.W-2) {
		p.put([]widget.Span{p.bar(), {Text: part}})
	}
}

// plain reports that nothing is styled: no weight can be seen, so its marks stay.
func (p *printer) plain() bool { return p.look.Theme.Options().Plain }

// bare reports that there are no colours: code and what is emphasised softly keep
// their marks.
func (p *printer) bare() bool { return p.plain() || p.look.Theme.Options().NoColor }
