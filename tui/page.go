package tui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/tui/action"
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

	rows     []pageRow  // the body, where it is a table
	column   int        // of the rows' words
	heads    theme.Role // of what stands in front of them
	headings bool       // a line that is not indented is one
	named    bool       // the body's first lines are names and values, up to a blank one
	// keys are those that the body names, and renew writes it with others; nil
	// where it names none.
	keys  action.Keys
	renew func(action.Keys) *page

	top    int
	height int // of the text, when it was drawn last

	lines   []pageLine // body in lines of width cells
	width   int
	finding bool
	field   widget.Input // the search line
	needle  string       // what is searched for: the field's text
	hits    []int        // lines that hold the needle
	hit     int          // of them, where we are
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

// rekey names other keys; the view and what is searched for stay.
func (p *page) rekey(r *root) {
	if p.renew == nil || p.keys == r.keys {
		return
	}
	now := p.renew(r.keys)
	p.keys, p.body, p.rows, p.width = r.keys, now.body, now.rows, 0
}

func (p *page) title() string { return p.name }

func (p *page) draw(l look, w, h int) []string {
	if !l.whole {
		w = min(w, pageWidth)
	}
	p.height = max(1, h-1)
	p.wrap(min(w-2, pageWidth))
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
	if l.whole && len(p.lines) > h/2 { // a short text leaves the panes in sight
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
	if h > 1 && (len(p.lines) > p.height || p.finding || p.needle != "") {
		out = append(out, p.foot(l, w, end))
	}
	return out
}

// foot is the last line: the search, and where the view is in the whole.
func (p *page) foot(l look, w, end int) string {
	where := ""
	if len(p.lines) > p.height {
		where = strconv.Itoa(p.top+1) + "-" + strconv.Itoa(end) + textOf + strconv.Itoa(len(p.lines)) + " "
	}
	if !p.finding && p.needle == "" {
		return l.brush.Spread(w, nil, []widget.Span{{Role: theme.Dim, Text: where}})
	}
	role, hits := theme.Accent, strconv.Itoa(p.hit+1)+textOf+strconv.Itoa(len(p.hits))
	if len(p.hits) == 0 {
		role, hits = theme.Warn, textNoHit
	}
	if p.needle == "" {
		hits = ""
	}
	right := []widget.Span{{Role: role, Text: " " + hits}, {Role: theme.Dim, Text: "  " + where}}
	room := w - 2 - widget.Width(right)
	if room < w/3 {
		right, room = nil, w-2
	}
	return l.brush.Line(2, widget.Span{Role: theme.Key, Text: " /"}) +
		p.field.Line(l.brush, max(0, room), p.finding) + l.brush.Line(w-2-max(0, room), right...)
}

// wrap breaks the body for a width, once.
func (p *page) wrap(w int) {
	if p.width == w {
		return
	}
	p.width, p.lines = w, p.broken(max(1, w))
	p.find()
}

// spans marks what was found in a line.
func (p *page) spans(i int) []widget.Span {
	spans := []widget.Span{{Text: " "}}
	if p.needle == "" {
		return append(spans, p.lines[i].spans(p)...)
	}
	s := p.lines[i].text
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
		if at, _ := index(l.text, p.needle); at >= 0 {
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

func (p *page) key(msg tea.KeyPressMsg) verdict {
	if p.finding {
		p.search(msg)
		return verdict{}
	}
	switch {
	case key.Matches(msg, pageKeys.shut):
		return verdict{shut: true}
	case key.Matches(msg, pageKeys.find):
		p.finding = true
	case key.Matches(msg, pageKeys.next):
		p.jump(p.hit + 1)
	case key.Matches(msg, pageKeys.previous):
		p.jump(p.hit - 1)
	case key.Matches(msg, pageKeys.copied):
		return verdict{answer: pane.Answer{Copy: p.body, Toast: textCopied}}
	default:
		p.scroll(msg)
	}
	return verdict{}
}

func (p *page) scroll(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, pageKeys.up):
		p.top--
	case key.Matches(msg, pageKeys.down):
		p.top++
	case key.Matches(msg, pageKeys.pageUp):
		p.top -= p.height
	case key.Matches(msg, pageKeys.pageDown):
		p.top += p.height
	case key.Matches(msg, pageKeys.top):
		p.top = 0
	case key.Matches(msg, pageKeys.end):
		p.top = len(p.lines)
	}
	p.clamp()
}

// search takes the keys of a search. Each shows the first match.
func (p *page) search(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, pageKeys.found):
		p.finding = false
	case key.Matches(msg, pageKeys.findUp):
		p.jump(p.hit - 1)
	case key.Matches(msg, pageKeys.findDown):
		p.jump(p.hit + 1)
	default:
		p.write(msg)
	}
}

// write gives a key or a paste to the search line.
func (p *page) write(msg tea.Msg) {
	p.field.Take(msg)
	if p.needle == p.field.Text() {
		return
	}
	p.needle = p.field.Text()
	p.find()
	p.jump(0)
}

func (p *page) paste(msg tea.PasteMsg) {
	if p.finding {
		p.write(msg)
	}
}

// escape leaves a search before it leaves the page.
func (p *page) escape() bool {
	if !p.finding && p.needle == "" {
		return false
	}
	p.finding, p.needle = false, ""
	p.field.Set("")
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

func (p *page) light() {}

func (p *page) hint() []key.Binding {
	k := pageKeys
	if p.finding {
		return []key.Binding{k.found, k.dropped}
	}
	return []key.Binding{k.shut, k.find, k.next, k.scrolling, k.copied}
}
