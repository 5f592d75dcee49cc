package dialog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Page is a text to read: an update, a prompt, the keys, past notices. It
// scrolls, and "/" searches it.
type Page struct {
	name string
	role theme.Role // of the text

	rows     []Row      // the body
	column   int        // at which the texts of rows start
	diff     bool       // the body is a unified diff
	heads    theme.Role // of the rows' heads
	headings bool       // lines without indentation are headings
	Loads    bool       // the text is still loading
	// to is where enter leads, and what the help line calls it; nil if nowhere.
	to   *pane.Answer
	word string

	view  *widget.Reader // of the body in lines of width cells
	width int
	over  bool // it was drawn with fewer lines than it has
}

// NewPage is a page of text.
func NewPage(title, body string) *Page {
	p := &Page{name: title, view: widget.NewReader(action.Names{Pane: action.Logs})}
	p.say(clean.Text(body))
	return p
}

// LeadsTo makes enter close the page and do something.
func (p *Page) LeadsTo(to pane.Answer, word string) {
	to.Close = true
	p.to, p.word = &to, word
}

// say replaces the text of the page.
func (p *Page) say(body string) {
	p.rows, p.width = nil, 0
	for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
		p.rows = append(p.rows, Row{Text: line})
	}
}

// Load opens a page that shows that it is loading until read returns. The dialog from read
// then replaces the page; an error is shown on it.
func Load(title string, read func(context.Context, pane.Reader) (pane.Dialog, error)) pane.Answer {
	p := NewPage(title, textLoading)
	p.role, p.Loads = theme.Dim, true
	return pane.Answer{Open: p, Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		d, err := read(ctx, r)
		return func(pane.Context) pane.Answer {
			if err == nil {
				return pane.Answer{Close: true, Open: d}
			}
			p.role, p.Loads = theme.Bad, false
			p.say(clean.Line(err.Error()))
			return pane.Answer{}
		}
	}}
}

// Title implements pane.Dialog.
func (p *Page) Title() string { return p.name }

const (
	// pageWidth is the maximum width of a text that is easy to read.
	pageWidth = 100
	// wholeWidth is the width up to which a page takes the whole screen, because little
	// would be visible around it.
	wholeWidth = pageWidth + 22
	// wheelLines is how many lines one notch of the wheel scrolls.
	wheelLines = 3
)

// Draw implements pane.Dialog.
func (p *Page) Draw(c pane.Context, w, h int) []string {
	whole := w <= wholeWidth
	if !whole {
		w = min(w-Air, pageWidth)
	}
	p.wrap(min(w-2, pageWidth))
	n := p.view.Len()
	p.over = n > h
	var out []string
	switch {
	case p.view.Searching():
		out = p.view.Lines(c.Theme, w, min(h, n+1), false)
	case n >= h && h > 1:
		out = p.view.Lines(c.Theme, w, h-1, false)
		out = append(out, brush(c).Spread(w, nil, []widget.Span{{Role: theme.Dim, Text: p.view.Where() + " "}}))
	default:
		out = p.view.Lines(c.Theme, w, min(h, n), false)
	}
	if whole && n > h/2 { // a short text leaves the panes visible
		out = widget.Fill(out, w, h)
	}
	return out
}

// wrap breaks the body into lines if the width has changed.
func (p *Page) wrap(w int) {
	if p.width != w {
		p.width = w
		p.view.Show(p.broken(max(1, w)))
	}
}

// Update implements pane.Dialog.
func (p *Page) Update(c pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Click:
		return pane.Answer{Close: msg.Beside}
	case pane.Wheel:
		for range wheelLines {
			p.view.Do(map[bool]string{true: "up", false: "down"}[msg.Up])
		}
	case tea.PasteMsg:
		if p.view.Finding() {
			p.view.Type(msg)
		}
	case tea.KeyPressMsg:
		return p.key(c, msg)
	}
	return pane.Answer{}
}

func (p *Page) key(c pane.Context, msg tea.KeyPressMsg) pane.Answer {
	switch k := msg.String(); {
	case k == "ctrl+c":
		return pane.Answer{Close: true}
	case p.view.Finding():
		p.view.Type(msg)
	case k == "esc" && p.view.EndFind():
	case k == "enter" && p.to != nil:
		return *p.to
	case key.Matches(msg, pageKeys.shut):
		return pane.Answer{Close: true}
	case key.Matches(msg, pageKeys.copied):
		return pane.Answer{Copy: p.body(), Toast: textCopied}
	case pageVerbs[k] == "":
		if a, ok := c.Keys.ByKey(action.Chat, k, core.Snapshot{}); ok && a.ID == action.ChatWrite { // from anywhere
			return pane.Answer{Close: true, Run: &a}
		}
	default:
		did, _ := p.view.Do(pageVerbs[k])
		return pane.Answer{Toast: did.Toast}
	}
	return pane.Answer{}
}

// Hint implements pane.Dialog.
func (p *Page) Hint() []key.Binding {
	if p.view.Finding() {
		return p.view.Hint()
	}
	out := append([]key.Binding{pageKeys.shut, pageKeys.find}, p.moves()...)
	out = append(out, pageKeys.copied)
	if p.to != nil {
		out = slices.Insert(out, 0, key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", p.word)))
	}
	return out
}

// moves are the keys that have something to move to.
func (p *Page) moves() (out []key.Binding) {
	if p.view.Searching() {
		out = append(out, pageKeys.next)
	}
	if p.over {
		out = append(out, pageKeys.scroll)
	}
	return out
}

// pageVerbs are the verbs of the page's keys.
var pageVerbs = map[string]string{
	"/": "find", "n": "next", "N": "prev", "up": "up", "k": "up", "down": "down", "j": "down",
	"pgup": "pgup", "ctrl+b": "pgup", "pgdown": "pgdn", "ctrl+f": "pgdn", "space": "pgdn",
	"home": "home", "g": "home", "end": "end", "G": "end",
}

// Review is a page with the diff of an edit by the agent, to allow or refuse it. A key that
// was pressed before the page appeared is ignored.
type Review struct {
	*Page
	id     string // of the task, or the path of its file
	edit   routines.Proposal
	opened time.Time
}

// NewReview is the page about the edit of a task or webhook. id is as in command.AllowTask.
func NewReview(title, id string, edit routines.Proposal) *Review {
	keys := fmt.Sprintf(textReviewKey, reviewKeys.allow.Help().Key, reviewKeys.refuse.Help().Key, reviewKeys.later.Help().Key)
	p := NewPage(edit.Title(title), edit.Says()+"\n"+keys+"\n\n"+edit.Diff)
	p.diff = true
	return &Review{Page: p, id: id, edit: edit, opened: time.Now()}
}

// ReviewText is the reason why an edit needs approval, and its diff.
func ReviewText(edit routines.Proposal) string { return edit.Says() + "\n\n" + edit.Diff }

// Update implements pane.Dialog.
func (r *Review) Update(c pane.Context, msg tea.Msg) pane.Answer {
	press, ok := msg.(tea.KeyPressMsg)
	switch {
	case !ok || r.view.Finding() || !key.Matches(press, reviewKeys.allow, reviewKeys.refuse):
		return r.Page.Update(c, msg)
	case time.Since(r.opened) < grace:
		return pane.Answer{}
	case key.Matches(press, reviewKeys.allow):
		return pane.Answer{Close: true, Do: command.AllowTask{ID: r.id, Version: r.edit.Version}}
	}
	return pane.Answer{Close: true, Do: command.RefuseEdit{ID: r.id, Version: r.edit.Version}}
}

// Hint implements pane.Dialog.
func (r *Review) Hint() []key.Binding {
	if r.view.Finding() {
		return r.Page.Hint()
	}
	return append([]key.Binding{reviewKeys.allow, reviewKeys.refuse, reviewKeys.later, pageKeys.find}, r.moves()...)
}

var reviewKeys = struct{ allow, refuse, later key.Binding }{
	binding("y", "allow", "y"), binding("r", "refuse", "r"), binding("esc", "decide later", "esc"),
}

// Row is a text with a head, such as keys or a time, in a separate column. A long text
// continues below itself, never below its head.
type Row struct{ Head, Text string }

// The head column takes at most a fourth of the width, and at least two cells.
const headShare, shallow = 4, 2

// NewTable is a page of rows whose texts start at the same column. On a narrow screen
// the column is narrower: a head that does not fit is above its text.
func NewTable(title string, column int, rows []Row) *Page {
	p := NewPage(title, "")
	p.rows, p.column = rows, column
	return p
}

// body is the text of the page for the clipboard.
func (p *Page) body() string {
	var out strings.Builder
	for _, row := range p.rows {
		head := row.Head
		if head != "" && row.Text != "" {
			head = widget.Fit(head, max(p.column-1, widget.Cells(head))) + " "
		}
		out.WriteString(strings.TrimRight(head+row.Text, " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// broken returns the lines of the page for a width.
func (p *Page) broken(w int) (out [][]widget.Span) {
	column := min(p.column, max(shallow, w/headShare))
	for _, row := range p.rows {
		out = append(out, p.row(row, column, w)...)
	}
	return out
}

// row returns the lines of a row, with its text from a column on: after its head, or
// below it if that is too long. A row without a text is a heading on a page that has
// headings.
func (p *Page) row(row Row, column, w int) (out [][]widget.Span) {
	head, text := widget.Tidy(row.Head), widget.Tidy(row.Text)
	heads, role := p.heads, p.role
	if p.diff {
		role = diffRole(text)
	}
	switch {
	case head == "" || text == "":
		text = head + text
		if p.headings && indent(text) == 0 {
			role = theme.Strong
		}
		n := indent(text)
		if column = widget.Cells(text[:n]); column > w/2 {
			n, column = 0, 0
		}
		heads, head, text = role, text[:n], text[n:]
	case widget.Cells(head) >= column:
		for _, l := range widget.Wrap(head, w) {
			out = append(out, []widget.Span{{Role: heads, Text: l}})
		}
		head = ""
	}
	head = widget.Fit(head, column)
	for _, l := range widget.Wrap(text, w-column) {
		out = append(out, []widget.Span{{Role: heads, Text: head}, {Role: role, Text: l}})
		head = widget.Blank(column)
	}
	return out
}

// diffRole is the role of a line of a unified diff.
func diffRole(line string) theme.Role {
	switch {
	case strings.HasPrefix(line, "+"):
		return theme.Good
	case strings.HasPrefix(line, "-"):
		return theme.Bad
	case strings.HasPrefix(line, "@@"):
		return theme.Dim
	}
	return theme.Text
}

// indent is the length of a line's indentation in bytes, including the mark of a list item.
func indent(s string) int {
	n := len(s) - len(strings.TrimLeft(s, " "))
	for _, mark := range []string{"- ", "* ", "• ", "> "} {
		if strings.HasPrefix(s[n:], mark) {
			return n + len(mark)
		}
	}
	digits := len(s[n:]) - len(strings.TrimLeft(s[n:], "0123456789"))
	if digits > 0 && digits < 4 && strings.HasPrefix(s[n+digits:], ". ") {
		return n + digits + 2
	}
	return n
}

// Deliveries lists the webhooks' deliveries, never their contents.
func Deliveries(s *core.Snapshot) *Page {
	return NewTable(textDeliveries, deliveryColumn, deliveryRows(s))
}

// deliveryRows are the rows of that page.
func deliveryRows(s *core.Snapshot) []Row {
	var rows []Row
	for _, d := range s.Deliveries {
		name := clean.Cut(clean.Line(d.Webhook), 24)
		if name == "" {
			name = "(unknown)"
		}
		outcome := clean.Line(d.Outcome)
		if d.Count > 1 {
			outcome += fmt.Sprintf(" ×%d", d.Count)
		}
		if len(d.Flagged) > 0 {
			outcome += " (" + clean.Cut(clean.Line(strings.Join(d.Flagged, ", ")), 60) + ")"
		}
		rows = append(rows, Row{
			s.Clock(d.At, "Jan _2 15:04:05"),
			fmt.Sprintf("%-24s %6d bytes  %-12s %s", name, d.Size, clean.Line(d.Verdict), outcome),
		})
	}
	if len(s.Deliveries) == 0 {
		rows = append(rows, Row{Text: textNoDeliveries})
	}
	return rows
}

// deliveryColumn is where the name of a webhook starts, after the time.
const deliveryColumn = 17

// Servers lists the MCP servers with their last calls.
func Servers(s *core.Snapshot) *Page { return NewTable("MCP servers", serverColumn, serverRows(s)) }

// serverRows are the rows of that page.
func serverRows(s *core.Snapshot) (rows []Row) {
	for _, f := range s.ServerFacts() {
		rows = append(rows, Row{clean.Cut(clean.Line(f.Name), serverColumn-2), clean.Line(f.Text)})
	}
	return rows
}

// serverColumn is where texts start, after the names of servers.
const serverColumn = 18

// Engine is everything about the model and its processes.
func Engine(s *core.Snapshot) *Page {
	return NewTable("Engine", engineColumn, EngineRows(s))
}

// EngineRows are the rows of that page.
func EngineRows(s *core.Snapshot) []Row {
	e := s.Engine
	var rows []Row
	row := func(name, format string, args ...any) {
		rows = append(rows, Row{name, clean.Line(fmt.Sprintf(format, args...))})
	}
	row("engine", "%s %s", e.Name, e.Version)
	if e.Model != "" {
		row("model", "%s", e.Model)
	}
	row("state", "%s", e.State)
	row("surface", "%s %s", s.Surface.Name, s.Surface.State)
	if e.Warning != "" {
		row("warning", "%s", e.Warning)
	}
	row("today", "%s  %s", words.Dollars(e.Today.CostUSD), command.Blocks(e.Today))
	if len(e.Processes) > 0 {
		rows = append(rows, Row{}, Row{Text: textEngineProcesses})
	}
	for _, p := range e.Processes {
		memory := "?"
		if p.Memory > 0 {
			memory = words.Memory(p.Memory)
		}
		rows = append(rows, Row{fmt.Sprintf("  %7d", p.PID), fmt.Sprintf("session  %7s  %6s  %s", memory,
			words.Age(s.At.Sub(p.Started)), clean.Cut(clean.Line(p.Session), 40))})
	}
	return rows
}

// engineColumn is where values start, after their names and process IDs.
const engineColumn = 11
