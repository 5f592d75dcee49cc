package google

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hiddenTags are elements whose text is not displayed.
var hiddenTags = map[atom.Atom]bool{
	atom.Style: true, atom.Script: true, atom.Head: true, atom.Title: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Svg: true,
}

// blockTags are elements that start a new line.
var blockTags = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Tr: true, atom.Table: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Hr: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Blockquote: true, atom.Pre: true, atom.Section: true,
}

// voidTags have no end tag.
var voidTags = map[atom.Atom]bool{
	atom.Br: true, atom.Hr: true, atom.Img: true, atom.Input: true, atom.Meta: true, atom.Link: true, atom.Area: true, atom.Base: true,
	atom.Col: true, atom.Embed: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// Plain returns the text of an HTML page as a reader would see it: without hidden parts,
// one line per block, spaces collapsed, and the address of a link after its text.
func Plain(page string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	var hidden []atom.Atom // the elements that hide their contents, outermost first
	var open link
	for {
		switch z.Next() {
		case html.ErrorToken:
			open.end(&b)
			return tidy(b.String())
		case html.TextToken:
			if len(hidden) == 0 {
				b.WriteString(strings.Join(strings.FieldsFunc(string(z.Text())+"\x00", isSpace), " "))
				b.WriteByte(' ')
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if blockTags[t.DataAtom] {
				b.WriteByte('\n')
			}
			if t.DataAtom == atom.A && len(hidden) == 0 {
				open.end(&b)
				open = link{address: target(t), from: b.Len()}
			}
			if t.Type == html.StartTagToken && !voidTags[t.DataAtom] && (len(hidden) > 0 && t.DataAtom == hidden[0] || len(hidden) == 0 && hides(t)) {
				hidden = append(hidden, t.DataAtom)
			}
		case html.EndTagToken:
			t := z.Token()
			if t.DataAtom == atom.A && len(hidden) == 0 {
				open.end(&b)
			}
			if len(hidden) > 0 && t.DataAtom == hidden[0] {
				hidden = hidden[1:]
			} else if blockTags[t.DataAtom] {
				b.WriteByte('\n')
			}
		}
	}
}

// link is a link whose text is being written. The zero value is none.
type link struct {
	address string
	from    int // where its text starts
}

// end writes the address, unless the text already contains it.
func (l *link) end(b *strings.Builder) {
	if l.address != "" && bare(tidy(b.String()[l.from:])) != bare(l.address) {
		b.WriteString(" (" + l.address + ") ")
	}
	*l = link{}
}

// bare returns an address without the parts that people leave out.
func bare(address string) string {
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "mailto:"), "/")
}

// maxAddress is the longest address that is shown in full, in characters.
const maxAddress = 300

// tracking are address parameters that only identify who follows the link. A name ending
// in _ matches all names with that prefix.
var tracking = []string{"utm_", "mc_cid", "mc_eid", "fbclid", "gclid", "dclid", "msclkid", "mkt_tok", "_hsenc", "_hsmi", "igshid", "yclid", "vero_id"}

func tracks(parameter string) bool {
	name, _, _ := strings.Cut(strings.ToLower(parameter), "=")
	return slices.ContainsFunc(tracking, func(t string) bool { return name == t || strings.HasSuffix(t, "_") && strings.HasPrefix(name, t) })
}

// target returns the address of a link without tracking parameters, or "" if a reader
// could not open it. Very long addresses are shortened to the host.
func target(t html.Token) string {
	i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "href" })
	if i < 0 {
		return ""
	}
	u, err := url.Parse(strings.TrimSpace(t.Attr[i].Val))
	if err != nil || u.Scheme != "mailto" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	u.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), tracks), "&")
	u.ForceQuery = false
	address := u.String()
	if utf8.RuneCountInString(address) <= maxAddress {
		return address
	}
	if u.Scheme == "mailto" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/…"
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == 0 || r == '\u00a0'
}

// hides reports whether an element is invisible.
func hides(t html.Token) bool {
	if hiddenTags[t.DataAtom] {
		return true
	}
	for _, a := range t.Attr {
		style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
		if a.Key == "hidden" || a.Key == "style" && (strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")) {
			return true
		}
	}
	return false
}

// tidy collapses spaces, and empty lines to one.
func tidy(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
