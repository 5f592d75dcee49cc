package dialog

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Page is a text to read: an update, a prompt, the keys, past notices. It
// scrolls, and "/" finds in it.
type Page struct {
	name    string
	body    string
	loading bool
	failed  string

	rows     []Row      // the body, where it is a table
	column   int        // of the rows' words
	heads    theme.Role // of what stands in front of them
	headings bool       // a line that is not indented is one
	named    bool       // the body's first lines are names and values, up to a blank one
	// keys are those that the body names, and renew writes it with others; nil
	// where it names none.
	keys  action.Keys
	renew func(action.Keys) *Page

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

// NewPage is a page of text.
func NewPage(title, body string) *Page {
	return &Page{name: title, body: clean.Text(body)}
}

// Loading is a page whose text is yet to come, with the Done of the command that
// brings it.
func Loading(title string, load command.Value) *Page {
	_, named := load.(command.Describe) // a prompt is shown as it is
	return &Page{name: title, loading: true, named: named}
}

// rekey names the keys that the user has now: their file may be saved while the page
// is open. The view and what is searched for stay.
func (p *Page) rekey(now action.Keys) {
	if p.renew == nil || p.keys == now {
		return
	}
	page := p.renew(now)
	p.keys, p.body, p.rows, p.width = now, page.body, page.rows, 0
}

// Title implements pane.Dialog.
func (p *Page) Title() string { return p.name }

// Draw implements pane.Dialog. A page takes all of a screen on which little would
// still be seen around it.
func (p *Page) Draw(c pane.Context, w, h int) []string {
	p.rekey(c.Keys)
	whole := w <= wholeWidth
	if !whole {
		w = min(w-air, pageWidth)
	}
	p.height = max(1, h-1)
	p.wrap(min(w-2, pageWidth))
	b := brush(c)
	var out []string
	switch {
	case p.loading:
		out = []string{b.Line(w, widget.Span{Role: theme.Dim, Text: " " + textLoading})}
	case p.failed != "":
		for _, t := range widget.WrapN(p.failed, w-2, p.height, c.Theme.Glyph(theme.Ellipsis)) {
			out = append(out, b.Line(w, widget.Span{Role: theme.Bad, Text: " " + t}))
		}
	default:
		out = p.text(b, w, h)
	}
	if whole && len(p.lines) > h/2 { // a short text leaves the panes in sight
		out = widget.Fill(out, w, h)
	}
	return out
}

// pageWidth is how wide a text may be to be read with ease.
const pageWidth = 100

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// wholeWidth is up to how many cells a page takes all of the screen.
const wholeWidth = pageWidth + 22

// text draws the lines in view, and where they are in the whole.
func (p *Page) text(b widget.Brush, w, h int) []string {
	p.clamp()
	end := min(len(p.lines), p.top+p.height)
	out := make([]string, 0, h)
	for i := p.top; i < end; i++ {
		out = append(out, b.Line(w, p.spans(i)...))
	}
	if h > 1 && (len(p.lines) > p.height || p.finding || p.needle != "") {
		out = append(out, p.foot(b, w, end))
	}
	return out
}

// foot is the last line: the search, and where the view is in the whole.
func (p *Page) foot(b widget.Brush, w, end int) string {
	where := ""
	if len(p.lines) > p.height {
		where = strconv.Itoa(p.top+1) + "-" + strconv.Itoa(end) + textOf + strconv.Itoa(len(p.lines)) + " "
	}
	if !p.finding && p.needle == "" {
		return b.Spread(w, nil, []widget.Span{{Role: theme.Dim, Text: where}})
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
	return b.Line(2, widget.Span{Role: theme.Key, Text: " /"}) +
		p.field.Line(b, max(0, room), p.finding) + b.Line(w-2-max(0, room), right...)
}

// wrap breaks the body for a width, once.
func (p *Page) wrap(w int) {
	if p.width == w {
		return
	}
	p.width, p.lines = w, p.broken(max(1, w))
	p.find()
}

// spans marks what was found in a line.
func (p *Page) spans(i int) []widget.Span {
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
func (p *Page) find() {
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
func (p *Page) jump(n int) {
	if len(p.hits) == 0 {
		return
	}
	p.hit = (n + len(p.hits)) % len(p.hits)
	if at := p.hits[p.hit]; at < p.top || at >= p.top+p.height {
		p.top = at - p.height/3
	}
	p.clamp()
}

func (p *Page) clamp() {
	p.top = max(0, min(p.top, len(p.lines)-p.height))
}

// Take implements pane.Dialog.
func (p *Page) Take(_ pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Done:
		p.loading, p.width, p.body = false, 0, clean.Text(msg.Outcome.Body)
		if msg.Err != nil {
			p.failed = clean.Line(msg.Err.Error())
		}
	case pane.Click:
		return pane.Answer{Close: msg.Beside}
	case pane.Wheel:
		if p.top += wheelLines; msg.Up {
			p.top -= 2 * wheelLines
		}
		p.clamp()
	case tea.PasteMsg:
		if p.finding {
			p.write(msg)
		}
	case tea.KeyPressMsg:
		return p.key(msg)
	}
	return pane.Answer{}
}

func (p *Page) key(msg tea.KeyPressMsg) pane.Answer {
	switch {
	case msg.String() == "esc" && p.leaveSearch():
	case closes(msg):
		return pane.Answer{Close: true}
	case p.finding:
		p.search(msg)
	case key.Matches(msg, pageKeys.shut):
		return pane.Answer{Close: true}
	case key.Matches(msg, pageKeys.find):
		p.finding = true
	case key.Matches(msg, pageKeys.next):
		p.jump(p.hit + 1)
	case key.Matches(msg, pageKeys.previous):
		p.jump(p.hit - 1)
	case key.Matches(msg, pageKeys.copied):
		return pane.Answer{Copy: p.body, Toast: textCopied}
	default:
		p.scroll(msg)
	}
	return pane.Answer{}
}

func (p *Page) scroll(msg tea.KeyPressMsg) {
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
func (p *Page) search(msg tea.KeyPressMsg) {
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
func (p *Page) write(msg tea.Msg) {
	p.field.Take(msg)
	if p.needle == p.field.Text() {
		return
	}
	p.needle = p.field.Text()
	p.find()
	p.jump(0)
}

// leaveSearch leaves a search, which esc does before it leaves the page.
func (p *Page) leaveSearch() bool {
	if !p.finding && p.needle == "" {
		return false
	}
	p.finding, p.needle = false, ""
	p.field.Set("")
	p.find()
	return true
}

// Hint implements pane.Dialog.
func (p *Page) Hint() []key.Binding {
	k := pageKeys
	if p.finding {
		return []key.Binding{k.found, k.dropped}
	}
	return []key.Binding{k.shut, k.find, k.next, k.scrolling, k.copied}
}

var pageKeys = struct {
	shut, find, next, previous, copied          key.Binding
	up, down, pageUp, pageDown, top, end        key.Binding
	found, dropped, findUp, findDown, scrolling key.Binding
}{
	shut:     binding("esc", textClose, "q", "?", "!", "enter"),
	find:     binding("/", textFindWord, "/"),
	next:     binding("n/N", textNextPrevious, "n"),
	previous: binding("", "", "N"),
	copied:   binding("y", textCopy, "y", "Y"),

	up:        binding("", "", "up", "k"),
	down:      binding("", "", "down", "j"),
	pageUp:    binding("", "", "pgup", "ctrl+b"),
	pageDown:  binding("", "", "pgdown", "ctrl+f", "space"),
	top:       binding("", "", "home", "g"),
	end:       binding("", "", "end", "G"),
	scrolling: binding("PgUp/PgDn", textScroll, "pgup", "pgdown"),

	found:    binding("enter", textKeep, "enter"),
	dropped:  binding("esc", textDrop, "esc"),
	findUp:   binding("", "", "up", "ctrl+p"),
	findDown: binding("", "", "down", "ctrl+n"),
}
