// Package markdown draws a model's markdown for a terminal, in rows of a given width:
// headings, lists, quotes, tables, code, links and emphasis. goldmark parses it, as
// CommonMark with tables, task lists, bare links and strikethrough. The package must not
// know who wrote the text or where it is shown.
//
// Line breaks are kept, as in a chat. HTML and link definitions are plain text, so that
// later text never changes what was drawn before. No meaning depends on colour alone:
// without colours, the marks of the source are shown.
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

// Doc draws a text that may grow, and caches its finished rows. The zero Doc is empty.
type Doc struct {
	parser parser.Parser
	theme  *theme.Theme
	w      int
	done   string // the blocks that are in rows and no longer change
	rows   [][]widget.Span
}

// Look is how a text is drawn.
type Look struct {
	Theme *theme.Theme
	W     int // cells, at least one
	// Open means that more text follows: unclosed marks on the last line apply to its end,
	// so that nothing flickers when they are closed.
	Open bool
}

// Rows draws a text in rows of at most l.W cells. If the text starts with the one drawn
// last, only its last blocks are drawn again. The caller must not change the rows.
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

// draw appends blocks to the finished rows, after an empty row.
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

// The limits of text that is parsed: bytes and ">" in a line, and "[" in a text. Real
// messages stay below them; deeply nested text beyond them could take seconds.
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

// Plain is a text as drawn, without the marks of the source, for searching. The theme must
// have colours.
func Plain(text string, t *theme.Theme) string {
	return Print(text, Look{Theme: t, W: anyWidth}, func(_ theme.Role, s string) string { return s })
}

// Print draws a text as lines, coloured by paint.
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

// settled is the length in bytes of the first blocks that more text cannot change. They end
// at a blank line that is outside of code and followed by a line without indentation. It is
// 0 if there is no such line.
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

// fence is the fence at the start of a line, or "".
func fence(s string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return s[:n]
		}
	}
	return ""
}

// marks can start or end inline markup. A last line of only these and similar characters
// is not shown yet: it may become a list, a rule or a heading.
const marks = " *_~`"

// close closes the open marks in the last block of a growing text, and drops characters
// that may be half of a mark.
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

// lastBlock is the block with the end of the text.
func lastBlock(n ast.Node) ast.Node {
	for n.LastChild() != nil && n.LastChild().Type() == ast.TypeBlock {
		n = n.LastChild()
	}
	return n
}

// runs matches runs of an inline mark, and escapes.
var runs = lazyregexp.New("\\\\.|`+|\\*+|_+|~+")

// maxDepth is how many marks are closed, innermost first.
const maxDepth = 3

// unclosed returns the marks that close what is open at the end of a block. Inside code,
// other marks have no meaning.
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

// begins reports whether a run of marks can open inline markup.
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
