package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// page is a text to read: an update, a prompt, the keys, past notices. It
// scrolls, and "/" finds in it.
type page struct {
	name    string
	body    string
	loading bool
	failed  string
	paint   func(line string) []widget.Span // colours a line; nil leaves it

	top    int
	height int // of the text, when it was drawn last

	lines   []string // body in lines of width cells
	width   int
	finding bool
	needle  string
	hits    []int // lines that hold the needle
	hit     int   // of them, where we are
}

func newPage(title, body string) *page {
	return &page{name: title, body: clean.Text(body)}
}

// loaded fills the page that was opened before its text was there.
func (p *page) loaded(body string, err error) {
	p.loading, p.width = false, 0
	if err != nil {
		p.failed = clean.Line(err.Error())
		return
	}
	p.body = clean.Text(body)
}

func (p *page) title() string {
	switch {
	case p.finding:
		return p.name + textDot + textFind + p.needle + "_"
	case p.needle != "" && len(p.hits) == 0:
		return p.name + textDot + textFind + p.needle + textDot + textNoHit
	case p.needle != "":
		return p.name + textDot + textFind + p.needle + textDot + itoa(p.hit+1) + textOf + itoa(len(p.hits))
	}
	return p.name
}

func (p *page) draw(l look, w, h int) []string {
	if !l.whole {
		w = min(w, pageWidth)
	}
	p.height = max(1, h-1)
	p.wrap(w - 2)
	var out []string
	switch {
	case p.loading:
		out = []string{l.brush.Line(w, widget.Span{Role: theme.Dim, Text: " " + textLoading})}
	case p.failed != "":
		for _, t := range widget.WrapN(p.failed, w-2, p.height, l.theme.Glyph(theme.Ellipsis)) {
			out = append(out, l.brush.Line(w, widget.Span{Role: theme.Bad, Text: " " + t}))
		}
	default:
		out = p.text(l, w, h)
	}
	if l.whole {
		out = widget.Fill(out, w, h)
	}
	return out
}

// pageWidth is how wide a text may be to be read with ease.
const pageWidth = 100

// text draws the lines in view, and where they are in the whole.
func (p *page) text(l look, w, h int) []string {
	p.clamp()
	end := min(len(p.lines), p.top+p.height)
	out := make([]string, 0, h)
	for i := p.top; i < end; i++ {
		out = append(out, l.brush.Line(w, p.spans(i)...))
	}
	if len(p.lines) > p.height && h > 1 {
		where := itoa(p.top+1) + "-" + itoa(end) + textOf + itoa(len(p.lines))
		out = append(out, l.brush.Spread(w, nil, []widget.Span{{Role: theme.Dim, Text: where + " "}}))
	}
	return out
}

// wrap breaks the body for a width, once.
func (p *page) wrap(w int) {
	if p.width == w {
		return
	}
	p.width, p.lines = w, widget.Wrap(p.body, w)
	p.find()
}

// spans marks what was found in a line.
func (p *page) spans(i int) []widget.Span {
	s := p.lines[i]
	spans := []widget.Span{{Text: " "}}
	if p.needle == "" {
		if p.paint != nil {
			return append(spans, p.paint(s)...)
		}
		return append(spans, widget.Span{Text: s})
	}
	for {
		at, n := index(s, p.needle)
		if at < 0 {
			return append(spans, widget.Span{Text: s})
		}
		spans = append(spans, widget.Span{Text: s[:at]}, widget.Span{Role: theme.Match, Text: s[at : at+n]})
		s = s[at+n:]
	}
}

// index finds needle in s whatever the case, in bytes of s.
func index(s, needle string) (at, n int) {
	for i := range s {
		end := i
		for range needle {
			if end >= len(s) {
				return -1, 0
			}
			end += runeLen(s[end:])
		}
		if strings.EqualFold(s[i:end], needle) {
			return i, end - i
		}
	}
	return -1, 0
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// find looks the needle up again; the view stays unless a match asks for it.
func (p *page) find() {
	p.hits, p.hit = nil, 0
	if p.needle == "" {
		return
	}
	for i, l := range p.lines {
		if at, _ := index(l, p.needle); at >= 0 {
			p.hits = append(p.hits, i)
		}
	}
}

// jump shows the match n.
func (p *page) jump(n int) {
	if len(p.hits) == 0 {
		return
	}
	p.hit = (n + len(p.hits)) % len(p.hits)
	if at := p.hits[p.hit]; at < p.top || at >= p.top+p.height {
		p.top = at - p.height/3
	}
	p.clamp()
}

func (p *page) clamp() {
	p.top = max(0, min(p.top, len(p.lines)-p.height))
}

func (p *page) key(k string, msg tea.KeyPressMsg) verdict {
	if p.finding {
		p.typed(k, msg)
		return verdict{}
	}
	switch k {
	case "q", "?", "!":
		return verdict{shut: true}
	case "enter":
		return verdict{shut: true}
	case "/":
		p.finding, p.needle = true, ""
		p.find()
	case "n":
		p.jump(p.hit + 1)
	case "N":
		p.jump(p.hit - 1)
	case "y", "Y":
		return verdict{answer: pane.Answer{Copy: p.body, Toast: textCopied}}
	default:
		p.scroll(k)
	}
	return verdict{}
}

func (p *page) scroll(k string) {
	switch k {
	case "up", "k":
		p.top--
	case "down", "j":
		p.top++
	case "pgup", "ctrl+b":
		p.top -= p.height
	case "pgdown", "space", "ctrl+f":
		p.top += p.height
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.top = len(p.lines)
	}
	p.clamp()
}

// typed takes the keys of a search. Each shows the first match.
func (p *page) typed(k string, msg tea.KeyPressMsg) {
	switch {
	case k == "enter":
		p.finding = false
		return
	case k == "backspace":
		r := []rune(p.needle)
		p.needle = string(r[:max(0, len(r)-1)])
	case k == "ctrl+u":
		p.needle = ""
	case k == "up", k == "down":
		p.scroll(k)
		return
	case msg.Text != "":
		p.needle += msg.Text
	}
	p.find()
	p.jump(0)
}

func (p *page) paste(s string) {
	if p.finding {
		p.needle += clean.Line(s)
		p.find()
		p.jump(0)
	}
}

// escape leaves a search before it leaves the page.
func (p *page) escape() bool {
	if !p.finding && p.needle == "" {
		return false
	}
	p.finding, p.needle = false, ""
	p.find()
	return true
}

func (p *page) wheel(up bool) {
	if up {
		p.top -= wheelLines
	} else {
		p.top += wheelLines
	}
	p.clamp()
}

func (p *page) hint() []string {
	if p.finding {
		return textFindHint
	}
	return textPageHint
}
