package markdown

import (
	"bufio"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	markup "github.com/yuin/goldmark/renderer/html"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

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
