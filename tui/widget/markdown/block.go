package markdown

import (
	"bufio"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	markup "github.com/yuin/goldmark/renderer/html"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// maxRule is the maximum length of a rule, in cells.
const maxRule = 200

// printer collects the rows of a text.
type printer struct {
	look  Look
	src   []byte
	rows  [][]widget.Span
	blank bool // an empty row is due before the next one
	gap   head // of the empty row
}

// head is the start of a row, before its text: quote bars, bullets, indentation.
type head []widget.Span

func (h head) with(s ...widget.Span) head { return append(h[:len(h):len(h)], s...) }

// blocks draws the children of a block. The first row starts with first, the others with
// rest.
func (p *printer) blocks(parent ast.Node, first, rest head) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		p.apart(n, rest)
		p.block(n, first, rest)
		first = rest
	}
}

// apart keeps the source's empty line before a block, unless the block is the first.
func (p *printer) apart(n ast.Node, rest head) {
	if n.PreviousSibling() != nil && n.HasBlankPreviousLines() {
		p.blank, p.gap = true, bars(rest)
	}
}

func (p *printer) block(n ast.Node, first, rest head) {
	switch n := n.(type) {
	case *ast.Heading:
		if p.plain() { // bold is not visible
			mark := strings.Repeat("#", n.Level) + " "
			first, rest = first.with(widget.Span{Role: theme.Strong, Text: mark}), rest.with(widget.Span{Text: widget.Blank(len(mark))})
		}
		p.words(n, theme.Strong, first, rest)
	case *ast.ThematicBreak:
		p.put(first.with(p.rule(p.look.W - widget.Width(first))))
	case *ast.Blockquote:
		mark := widget.Span{Role: theme.Think, Text: "┃ "}
		if p.look.Theme.ASCII() {
			mark.Text = "> "
		}
		if widget.Width(rest) < p.look.W/2 {
			first, rest = first.with(mark), rest.with(mark)
		}
		p.blocks(n, first, rest)
	case *ast.List:
		p.list(n, first, rest)
	case *ast.FencedCodeBlock:
		if n.Info != nil {
			info := strings.TrimSpace(string(n.Info.Value(p.src)))
			p.put(first.with(p.bar(), widget.Span{Role: theme.Dim, Text: widget.Cut(info, max(1, p.look.W-2-widget.Width(first)))}))
			first = rest
		}
		p.code(n, first, rest)
	case *ast.CodeBlock:
		p.code(n, first, rest)
	case *extast.Table:
		p.table(n, first, rest)
	default:
		p.words(n, theme.Text, first, rest)
	}
}

// words draws the text of a block.
func (p *printer) words(n ast.Node, role theme.Role, first, rest head) {
	for _, line := range p.inline(n, role) {
		p.hang(first, rest, line)
		first = rest
	}
}

// put adds a row, after an empty one if that is due.
func (p *printer) put(row []widget.Span) {
	if p.blank && len(p.rows) > 0 {
		p.rows = append(p.rows, p.gap)
	}
	p.rows, p.blank, p.gap = append(p.rows, row), false, nil
}

// hang adds wrapped spans with a hanging indent: the first row starts with first, the
// others with rest.
func (p *printer) hang(first, rest head, spans []widget.Span) {
	room := p.look.W - max(widget.Width(first), widget.Width(rest))
	for _, row := range widget.WrapSpans(spans, room) {
		p.put(first.with(row...))
		first = rest
	}
}

// list draws the items with their bullets or numbers.
func (p *printer) list(l *ast.List, first, rest head) {
	number := l.Start
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		p.apart(n, rest)
		mark := widget.Span{Role: theme.Accent, Text: "• "}
		switch {
		case l.IsOrdered():
			mark.Text = strconv.Itoa(number) + string(l.Marker) + " "
			number++
		case p.look.Theme.ASCII():
			mark.Text = "- "
		}
		head, below := first.with(mark), rest.with(widget.Span{Text: widget.Blank(widget.Cells(mark.Text))})
		if widget.Width(head) > p.look.W/2 { // no room for a hanging indent
			head, below = first, rest
		}
		if n.FirstChild() == nil {
			p.put(head)
		}
		p.blocks(n, head, below)
		first = rest
	}
}

// code draws lines verbatim, each row after a bar. Long lines are wrapped.
func (p *printer) code(n ast.Node, first, rest head) {
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		line := strings.TrimRight(string(segment.Value(p.src)), "\r\n")
		for _, part := range widget.HardWrap(strings.ReplaceAll(line, "\t", "    "), p.look.W-2-widget.Width(rest)) {
			p.put(first.with(p.bar(), widget.Span{Text: part}))
			first = rest
		}
	}
}

// bar is the start of a row of code.
func (p *printer) bar() widget.Span {
	return widget.Span{Role: theme.Border, Text: p.look.Theme.Box().Left + " "}
}

func (p *printer) rule(w int) widget.Span {
	return widget.Span{Role: theme.Border, Text: strings.Repeat(p.look.Theme.Box().Top, max(1, min(maxRule, w)))}
}

// bars is the head of an empty row: quote bars continue over it.
func bars(h head) head {
	if slices.ContainsFunc(h, func(s widget.Span) bool { return s.Role == theme.Think }) {
		return h
	}
	return nil
}

// plain reports whether there is no styling: bold is not visible, so its marks are kept.
func (p *printer) plain() bool { return p.look.Theme.Options().Plain }

// bare reports whether there are no colours: code and italics keep their marks.
func (p *printer) bare() bool { return p.plain() || p.look.Theme.Options().NoColor }

// table draws cells in columns. If the columns do not fit, it draws each row as a list of
// names and values.
func (p *printer) table(t *extast.Table, first, rest head) {
	var rows [][][]widget.Span
	var wide []int
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		role := theme.Text
		if len(rows) == 0 {
			role = theme.Strong
		}
		var cells [][]widget.Span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			spans := p.inline(cell, role)[0]
			if len(cells) == len(wide) {
				wide = append(wide, 0)
			}
			wide[len(cells)] = max(wide[len(cells)], widget.Width(spans))
			cells = append(cells, spans)
		}
		rows = append(rows, cells)
	}
	total := 2 * (len(wide) - 1)
	for _, n := range wide {
		total += n
	}
	if total > p.look.W-widget.Width(rest) {
		p.records(rows, first, rest)
		return
	}
	for i, row := range rows {
		line := first
		for k, cell := range row {
			line = line.with(cell...)
			if k < len(row)-1 {
				line = line.with(widget.Span{Text: widget.Blank(wide[k] - widget.Width(cell) + 2)})
			}
		}
		p.put(line)
		if first = rest; i == 0 {
			p.put(rest.with(p.rule(total)))
		}
	}
}

// records draws each row as lines of name and value.
func (p *printer) records(rows [][][]widget.Span, first, rest head) {
	if len(rows) == 1 {
		var line []widget.Span
		for _, cell := range rows[0] {
			line = append(append(line, cell...), widget.Span{Text: "  "})
		}
		p.hang(first, rest, line)
	}
	for _, row := range rows[1:] {
		for k, cell := range row {
			p.hang(first, rest.with(widget.Span{Text: "  "}), slices.Concat(rows[0][k], []widget.Span{{Text: ": "}}, cell))
			first = rest
		}
		p.blank = true
	}
}

// subtext is Discord's mark for a line of subtext.
const subtext = "-# "

// inlines collects the inline text of one block: each line as spans.
type inlines struct {
	*printer
	lines [][]widget.Span
}

// inline is the text of a block in lines, at least one. Text without markup has the role.
func (p *printer) inline(n ast.Node, role theme.Role) [][]widget.Span {
	r := inlines{printer: p, lines: [][]widget.Span{nil}}
	r.children(n, role)
	for _, line := range r.lines {
		if len(line) == 0 || !strings.HasPrefix(line[0].Text, subtext) {
			continue
		}
		line[0].Text = line[0].Text[len(subtext):]
		for i := range line {
			if line[i].Role == theme.Text {
				line[i].Role = theme.Dim
			}
		}
	}
	return r.lines
}

// put appends text. It joins adjacent text, which goldmark splits at characters that could
// have been marks.
func (r *inlines) put(role theme.Role, s string) {
	last := &r.lines[len(r.lines)-1]
	if n := len(*last); n > 0 && (*last)[n-1].Role == role {
		(*last)[n-1].Text += s
	} else if s != "" {
		*last = append(*last, widget.Span{Role: role, Text: s})
	}
}

func (r *inlines) children(n ast.Node, role theme.Role) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c, role)
	}
}

func (r *inlines) node(n ast.Node, role theme.Role) {
	switch n := n.(type) {
	case *ast.Text:
		s := string(n.Value(r.src))
		if !n.IsRaw() {
			s = literal(s)
		}
		r.put(role, s)
		if n.SoftLineBreak() || n.HardLineBreak() {
			r.lines = append(r.lines, nil)
		}
	case *ast.String:
		r.put(role, string(n.Value))
	case *ast.CodeSpan:
		r.code(n)
	case *ast.Emphasis:
		r.emphasis(n, role)
	case *extast.Strikethrough:
		r.put(theme.Dim, "~~")
		r.children(n, theme.Dim)
		r.put(theme.Dim, "~~")
	case *ast.Link:
		r.link(n, string(n.Destination))
	case *ast.Image:
		r.link(n, string(n.Destination))
	case *ast.AutoLink:
		r.put(theme.Accent, string(n.Label(r.src)))
	case *extast.TaskCheckBox:
		if n.IsChecked {
			r.put(theme.Good, "[x] ")
		} else {
			r.put(theme.Warn, "[ ] ")
		}
	default:
		r.children(n, role)
	}
}

func (r *inlines) code(n *ast.CodeSpan) {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(r.src))
		}
	}
	body := strings.ReplaceAll(b.String(), "\n", " ")
	if r.bare() {
		body = "`" + body + "`"
	}
	r.put(theme.Tool, body)
}

// emphasis keeps its marks if the terminal cannot show it, and if they are more likely
// arithmetic, as in 2*3*4.
func (r *inlines) emphasis(n *ast.Emphasis, role theme.Role) {
	inner, shown, mark := role, r.bare(), strings.Repeat("*", n.Level)
	switch {
	case n.Level > 1:
		inner, shown = theme.Strong, r.plain()
	case within(n, r.src):
		shown = true
	case role == theme.Text:
		inner = theme.Think // the role that is italic
	}
	if shown {
		r.put(inner, mark)
	}
	r.children(n, inner)
	if shown {
		r.put(inner, mark)
	}
}

// within reports whether an emphasis starts inside a word.
func within(n *ast.Emphasis, src []byte) bool {
	t, ok := n.FirstChild().(*ast.Text)
	return ok && t.Segment.Start > 1 && wordEnd(string(src[max(0, t.Segment.Start-5):t.Segment.Start-1]))
}

// link adds a link's text, and its address if the text differs from it.
func (r *inlines) link(n ast.Node, address string) {
	from := len(r.lines[len(r.lines)-1])
	r.children(n, theme.Accent)
	words := ""
	if line := r.lines[len(r.lines)-1]; from <= len(line) {
		for _, s := range line[from:] {
			words += s.Text
		}
	}
	switch {
	case words == "":
		r.put(theme.Accent, address)
	case words != address && address != "":
		r.put(theme.Dim, " ("+address+")")
	}
}

// literal resolves the escapes and entities of a text. goldmark does so only when it
// writes HTML, so this unescapes its HTML.
func literal(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	markup.DefaultWriter.Write(w, []byte(s))
	_ = w.Flush() // into memory
	return html.UnescapeString(b.String())
}
