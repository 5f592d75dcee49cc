package tools

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unseen lists elements without visible text.
var unseen = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Head: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Svg: true, atom.Nav: true,
	atom.Object: true, atom.Canvas: true, atom.Button: true, atom.Select: true, atom.Textarea: true, atom.Dialog: true,
}

// blocks lists elements that start a paragraph, with its prefix.
var blocks = map[atom.Atom]string{
	atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### ", atom.P: "", atom.Div: "", atom.Section: "",
	atom.Article: "", atom.Main: "", atom.Header: "", atom.Footer: "", atom.Aside: "", atom.Ul: "", atom.Ol: "", atom.Dl: "", atom.Table: "",
	atom.Blockquote: "", atom.Pre: "", atom.Figure: "", atom.Form: "", atom.Hr: "", atom.Details: "", atom.Address: "",
}

// linesOf lists elements that start a line, with its prefix.
var linesOf = map[atom.Atom]string{
	atom.Li: "- ", atom.Dt: "", atom.Dd: "  ", atom.Tr: "", atom.Br: "", atom.Figcaption: "", atom.Summary: "", atom.Caption: "", atom.Option: "",
}

const (
	// maxNesting is the depth to which a page is read.
	maxNesting = 600
	// maxLink is the longest address that is shown after a link's text.
	maxLink = 300
)

// markdown renders an HTML page as text: its title, headings, paragraphs, lists, rows of tables,
// and links with their addresses. Hidden parts are left out. ok is false for a page that is nested
// too deeply.
func markdown(page string, base *url.URL) (text string, ok bool) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", false
	}
	w := &writer{base: base}
	if title := textOf(find(root, atom.Title, 0)); title != "" {
		w.block("# ")
		w.words(title)
	}
	if at := find(root, atom.Base, 0); at != nil {
		if to, err := base.Parse(attribute(at, "href")); err == nil {
			w.base = to
		}
	}
	w.node(root, 0)
	return strings.TrimSpace(w.out.String()) + "\n", true
}

type writer struct {
	base *url.URL
	out  strings.Builder
	// ends is the number of line breaks due before the next words, and begin their prefix.
	ends  int
	begin string
	space bool // a space is due
	pre   int  // number of open elements that preserve white space
}

func (w *writer) block(begin string) { w.ends, w.begin, w.space = 2, begin, false }

func (w *writer) line(begin string) { w.ends, w.begin, w.space = max(w.ends, 1), begin, false }

// words writes text within a line and collapses white space.
func (w *writer) words(text string) {
	fields := strings.FieldsFunc(text, isSpace)
	if len(fields) == 0 {
		w.space = w.space || text != ""
		return
	}
	w.space = w.space || isSpace(rune(text[0]))
	w.open()
	w.out.WriteString(strings.Join(fields, " "))
	w.space = isSpace(rune(text[len(text)-1]))
}

// open writes pending line breaks, prefixes and spaces.
func (w *writer) open() {
	switch {
	case w.out.Len() == 0:
	case w.ends > 0:
		w.out.WriteString(strings.Repeat("\n", w.ends))
	case w.space:
		w.out.WriteByte(' ')
	}
	w.out.WriteString(w.begin)
	w.ends, w.begin, w.space = 0, "", false
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' }

func (w *writer) node(n *html.Node, depth int) {
	if depth > maxNesting || n.Type == html.ElementNode && (unseen[n.DataAtom] || hidden(n)) {
		return
	}
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	block, isBlock := blocks[n.DataAtom]
	line, isLine := linesOf[n.DataAtom]
	switch {
	case isBlock && block == "" && w.begin != "" && n.Parent != nil && n.Parent.DataAtom == atom.Li:
		// The list item's prefix precedes it.
	case isBlock:
		w.block(block)
	case isLine:
		w.line(line)
	}
	switch n.DataAtom {
	case atom.A:
		w.link(n, depth)
		return
	case atom.Img:
		w.words(attribute(n, "alt"))
	case atom.Td, atom.Th:
		if w.ends == 0 {
			w.words(" | ")
		}
	case atom.Pre:
		w.pre++
		defer func() { w.pre-- }()
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child, depth+1)
	}
	if isBlock {
		w.block("")
	}
}

func (w *writer) text(text string) {
	if w.pre == 0 || strings.TrimSpace(text) == "" {
		w.words(text)
		return
	}
	w.open()
	w.out.WriteString(strings.TrimRight(text, "\n"))
	w.ends = 1
}

// link writes the text of a link, and its address if it leads to another page.
func (w *writer) link(n *html.Node, depth int) {
	before := w.out.Len()
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child, depth+1)
	}
	href := attribute(n, "href")
	to, err := w.base.Parse(href)
	if w.out.Len() == before || err != nil || href == "" || strings.HasPrefix(href, "#") || to.Scheme != "https" && to.Scheme != "http" {
		return
	}
	if at := to.String(); len(at) <= maxLink && !strings.HasSuffix(w.out.String()[before:], at) {
		w.words(" (" + at + ")")
	}
}

// hidden reports whether an element is hidden.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && style == "true":
			return true
		case a.Key == "style" && (strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")):
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// find returns the first element of a kind.
func find(n *html.Node, kind atom.Atom, depth int) *html.Node {
	if n.DataAtom == kind {
		return n
	}
	for child := n.FirstChild; child != nil && depth < maxNesting; child = child.NextSibling {
		if at := find(child, kind, depth+1); at != nil {
			return at
		}
	}
	return nil
}

// textOf returns the text of an element without children.
func textOf(n *html.Node) string {
	if n == nil || n.FirstChild == nil || n.FirstChild.Type != html.TextNode {
		return ""
	}
	return strings.Join(strings.FieldsFunc(n.FirstChild.Data, isSpace), " ")
}
