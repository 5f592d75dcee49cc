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
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"ollimbot/core/base/lazyregexp"
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

// The priorities of goldmark's parsers of HTML.
const htmlBlocks, htmlInline = 900, 400

func newParser() parser.Parser {
	without := func(list []util.PrioritizedValue, priority int) []util.PrioritizedValue {
		return slices.DeleteFunc(list, func(v util.PrioritizedValue) bool { return v.Priority == priority })
	}
	return parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), htmlBlocks)...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), htmlInline)...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
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
	return Print(text, Look{Theme: t, W: anyWidth}, func(_ theme.Role, s string) string { return s })
}

// Print draws a text as lines that paint colours.
func Print(text string, l Look, paint func(r theme.Role, s string) string) string {
	var b strings.Builder
	for i, row := range new(Doc).Rows(text, l) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range row {
			b.WriteString(paint(s.Role, s.Text))
		}
	}
	return b.String()
}

// settled is how many bytes at the beginning more text cannot change: up to a
// blank line behind which a line begins at the margin, outside of code. There
// every block has ended. 0 where there is no such place.
func settled(s string) int {
	mark, listed, blank := "", false, false
	for at := 0; at < len(s); {
		line, _, whole := strings.Cut(s[at:], "\n")
		margin := strings.TrimLeft(line, " ")
		indent := len(line) - len(margin)
		if blank && line != "" && strings.IndexByte(" \t\r", line[0]) < 0 {
			return at
		}
		if !whole {
			return 0
		}
		switch opens := fence(margin); {
		case mark != "":
			if indent < 4 && strings.HasPrefix(margin, mark) && strings.Trim(margin, mark[:1]+" \r") == "" {
				mark = ""
			}
		case opens != "" && (indent == 0 || indent < 4 && !listed):
			mark = opens
		default:
			listed = listed || margin != "" && strings.IndexByte("-*+0123456789", margin[0]) >= 0
		}
		blank = mark == "" && strings.TrimSpace(line) == ""
		at += len(line) + 1
	}
	return 0
}

// fence is what a code block begins with, or empty.
func fence(s string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return s[:n]
		}
	}
	return ""
}

// marks are what may begin or end something, so that a line of nothing else is not
// shown before more of it is known: it may become a list, a rule or a heading.
const marks = " *_~`"

// close ends what is begun in the last block of a text that grows, and leaves away
// what may be half a mark.
func (d *Doc) close(s string, root ast.Node) (string, ast.Node) {
	if last := s[strings.LastIndexByte(s, '\n')+1:]; last != "" && strings.Trim(last, marks+"-=+#>|:") == "" {
		s = s[:len(s)-len(last)]
		root = d.parse(s)
	}
	block := lastBlock(root)
	switch block.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock, *extast.TableCell:
		return s, root
	}
	if strings.HasSuffix(s, "\n\n") || block.Type() != ast.TypeBlock || block.Lines().Len() == 0 {
		return s, root
	}
	s = strings.TrimRight(s, marks+"\n")
	ended := s + unclosed(s[min(len(s), block.Lines().At(0).Start):])
	return ended, d.parse(ended)
}

// lastBlock is the block that holds the end of the text.
func lastBlock(n ast.Node) ast.Node {
	for n.LastChild() != nil && n.LastChild().Type() == ast.TypeBlock {
		n = n.LastChild()
	}
	return n
}

// runs are the marks of inline text, each as often as it stands in a row, and escapes.
var runs = lazyregexp.New("\\\\.|`+|\\*+|_+|~+")

// maxDepth is how many marks are ended, the innermost.
const maxDepth = 3

// unclosed ends the marks of a block that begin something which nothing ends. Code
// holds all that comes behind its mark.
func unclosed(s string) string {
	var open []string // the innermost first
	for _, at := range runs().FindAllStringIndex(s, -1) {
		mark := s[at[0]:at[1]]
		switch i := slices.Index(open, mark); {
		case len(open) > 0 && open[0][0] == '`' && i != 0:
		case i >= 0 && strings.IndexByte(" \t\n", s[at[0]-1]) < 0:
			open = open[i+1:]
		case begins(s, at[0], len(mark)):
			open = slices.Insert(open, 0, mark)
		}
	}
	return strings.Join(open[:min(len(open), maxDepth)], "")
}

// begins reports whether a run of marks can begin something.
func begins(s string, at, size int) bool {
	after := s[min(len(s), at+size):]
	if strings.IndexByte("*_~`", s[at]) < 0 || size > 3 || s[at] == '~' && size != 2 || after == "" || strings.IndexByte(" \t\n", after[0]) >= 0 {
		return false
	}
	return s[at] == '`' || (s[at] != '_' && size > 1) || !wordEnd(s[:at])
}

func wordEnd(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}
