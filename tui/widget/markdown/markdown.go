// Package markdown draws the markdown that a model writes as rows of a width:
// headings, lists, quotes, tables, code, links and emphasis. It owns how these
// look in a terminal; what is what, goldmark knows: CommonMark with tables, task
// lists, bare links and strikethrough. It must not know who wrote the text or
// where it stands.
//
// A line break is kept, as in a chat. HTML and link definitions are words like
// others, so that nothing reaches back to what was drawn before. Nothing is said
// by colour alone: where there are no colours, the marks of the source stay.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Doc draws a text that may grow, and keeps what it has drawn of it. The zero
// Doc is empty.
type Doc struct {
	parser parser.Parser
	theme  *theme.Theme
	w      int
	done   string // the blocks that are drawn for good
	rows   [][]widget.Span
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
// was drawn last costs only its last blocks. Nobody may change the rows.
func (d *Doc) Rows(s string, l Look) [][]widget.Span {
	l.W = max(1, l.W)
	if d.parser == nil {
		d.parser = newParser()
	}
	if d.theme != l.Theme || d.w != l.W || !strings.HasPrefix(s, d.done) {
		*d = Doc{parser: d.parser, theme: l.Theme, w: l.W}
	}
	for {
		rest := s[len(d.done):]
		n := settled(rest)
		if n == 0 {
			return d.draw(rest, l)
		}
		rows := d.draw(rest[:n], Look{Theme: l.Theme, W: l.W})
		d.done, d.rows = s[:len(d.done)+n], rows[:len(rows):len(rows)]
	}
}

// draw adds blocks to what is drawn already, behind an empty row.
func (d *Doc) draw(s string, l Look) [][]widget.Span {
	p := printer{look: l, rows: d.rows, blank: len(d.rows) > 0}
	if crowded(s) {
		for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
			p.hang(nil, nil, []widget.Span{{Text: line}})
		}
		return p.rows
	}
	root := d.parse(s)
	if l.Open {
		s, root = d.close(s, root)
	}
	p.src = []byte(s)
	p.blocks(root, nil, nil)
	return p.rows
}

// What is read for marks: lines of so many bytes with so many signs of quotes, and
// so many brackets in a row of blocks. Nobody writes more, and what nests or begins a mark with each byte costs
// seconds.
const maxLine, maxQuotes, maxBrackets = 4000, 100, 500

func crowded(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) > maxLine || strings.Count(line, ">") > maxQuotes {
			return true
		}
	}
	return strings.Count(s, "[") > maxBrackets
}

func (d *Doc) parse(s string) ast.Node { return d.parser.Parse(text.NewReader([]byte(s))) }

func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
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
