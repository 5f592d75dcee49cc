package tui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// dialog is what stands over the panes and takes the keys.
type dialog interface {
	// title is the heading of its box.
	title() string
	// draw gives the inside: lines of equal width, at most w by h.
	draw(l look, w, h int) []string
	// key answers a key. esc and ctrl+c never arrive: they close.
	key(msg tea.KeyPressMsg) verdict
	// wheel scrolls.
	wheel(up bool)
	// hint is the help line meanwhile.
	hint() []key.Binding
}

// typist is a dialog that takes a paste.
type typist interface{ paste(msg tea.PasteMsg) }

// keyed is a dialog that names keys of the table.
type keyed interface {
	// rekey names those that the user has now: their file may be saved while the
	// dialog is open. It is called before each drawing.
	rekey(r *root)
}

// look is what a dialog may draw with.
type look struct {
	theme *theme.Theme
	brush widget.Brush
	snap  *core.Snapshot
	// whole asks a page to take all of the width, and a long one all of the
	// height: what would still be seen around it is not worth seeing.
	whole bool
}

// verdict is what a dialog wants after a key. The zero verdict redraws.
type verdict struct {
	shut   bool
	quit   bool
	answer pane.Answer
	ask    command.Value // carried out while the dialog stays until it is done
	run    *action.Action
	setUp  bool // begin Options.Init
	demo   bool // leave for Options.Demo
	toast  string
}

func (r *root) open(d dialog) { r.dialogs = append(r.dialogs, d) }

// top is the dialog that has the keys, or nil.
func (r *root) top() dialog {
	if n := len(r.dialogs); n > 0 {
		return r.dialogs[n-1]
	}
	return nil
}

func (r *root) shut() { r.dialogs = r.dialogs[:len(r.dialogs)-1] }

// dialogKey gives a key to the topmost dialog.
func (r *root) dialogKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	d := r.dialogs[len(r.dialogs)-1]
	if e, ok := d.(escaper); ok && k == "esc" && e.escape() {
		return nil
	}
	if q, ok := d.(*question); ok && k == "ctrl+c" && q.leads.quit && q.ripe(time.Now()) {
		return tea.Quit
	}
	if f, ok := d.(*form); ok && k == "ctrl+c" && f.escape() {
		return nil
	}
	if k == "esc" || k == "ctrl+c" {
		r.shut()
		return nil
	}
	return r.settle(d.key(msg))
}

// settle carries out what the topmost dialog wants.
func (r *root) settle(v verdict) tea.Cmd {
	if v.shut {
		r.shut()
	}
	switch {
	case v.quit:
		return tea.Quit
	case v.demo:
		r.o.Demo()
		return tea.Quit
	case v.setUp:
		return r.beginSetUp()
	}
	if v.toast != "" {
		r.say(notice.Info, v.toast)
	}
	if v.run != nil {
		return r.act(*v.run)
	}
	if d, ok := r.top().(asking); ok && v.ask != nil {
		return r.doFor(v.ask, d)
	}
	return r.answer(v.answer)
}

// escaper is a dialog that may use esc for something smaller than closing.
type escaper interface{ escape() bool }

// seat is where a dialog stands: the cell of its box's upper left corner, and
// the lines in it, each of w cells.
type seat struct {
	x, y, w int
	inside  []string
}

// seat draws a dialog for its place over the middle of the body; ok is false
// where there is no room for it.
func (r *root) seat(d dialog) (s seat, ok bool) {
	end := r.plan().Said
	w, h := r.w-6, end-3
	_, reads := d.(*page)
	whole := reads && r.w <= wholeWidth
	if whole {
		w = r.w - 2
	}
	if w < 2 || h < 1 {
		return s, false
	}
	if k, ok := d.(keyed); ok {
		k.rekey(r)
	}
	s.inside = d.draw(look{r.theme, widget.Brush{Theme: r.theme}, r.snap, whole}, w, h)
	if len(s.inside) == 0 {
		return s, false
	}
	s.w = ansi.StringWidth(s.inside[0])
	s.x, s.y = (r.w-s.w-2)/2, max(1, (end+1-len(s.inside)-2)/2)
	return s, true
}

// overlay draws a dialog in its box.
func (r *root) overlay(lines []string, d dialog) {
	if s, ok := r.seat(d); ok {
		lay(lines, r.w, piece{s.x, s.y, framed(r.theme, d.title(), s.inside, s.w)})
	}
}

// wholeWidth is up to which width of the screen a page takes all of it.
const wholeWidth = pageWidth + 24

// question is asked before what cannot be undone. The safe answer is the
// default, and a key that was on its way when the question opened never
// confirms it.
type question struct {
	ask    pane.Question
	short  string  // the text where that would be cut; may be empty
	runs   *stops  // it counts the runs that would be stopped; nil where it is about something else
	leads  verdict // where yes leads beside the command: out of the dashboard
	yes    bool    // the chosen answer
	opened time.Time
	no     int // the line of the safe answer when it was drawn last; the other follows
}

// stops are the words of yes: while there are runs to stop, and when all of them
// have ended meanwhile.
type stops struct{ some, none string }

// grace is how long a question must have stood before it can be confirmed.
const grace = 250 * time.Millisecond

func newQuestion(q pane.Question) *question {
	return &question{ask: q, opened: time.Now()}
}

// quitQuestion asks whether to leave runs behind; ok is false without any.
func quitQuestion(s *core.Snapshot) (q *question, ok bool) {
	if running, waiting := fork.Count(s.Forks); running+waiting == 0 {
		return nil, false
	}
	q = quits(pane.Question{})
	q.runs = &stops{textQuitYes, textQuitBare}
	q.count(s.Forks)
	return q, true
}

// count takes the runs of now: they go on while the question stands.
func (q *question) count(runs []fork.View) {
	running, waiting := fork.Count(runs)
	q.ask = pane.Question{Text: quitText(running, waiting), Yes: q.runs.some, No: textQuitNo}
	q.short = quitShort(running, waiting)
	if running+waiting == 0 {
		q.ask.Text, q.ask.Yes, q.short = textQuitNoRuns, q.runs.none, ""
	}
}

// draftQuestion asks whether to drop what is written.
func draftQuestion() *question {
	return quits(pane.Question{Text: textDraftLost, Yes: textDropDraft, No: textQuitNo})
}

func quits(ask pane.Question) *question {
	q := newQuestion(ask)
	q.leads.quit = true
	return q
}

func (q *question) title() string { return textQuestion }

// ripe reports whether the question has been readable.
func (q *question) ripe(now time.Time) bool { return now.Sub(q.opened) >= grace }

func (q *question) draw(l look, w, h int) []string {
	w = min(w, 60)
	if q.runs != nil {
		q.count(l.snap.Forks)
	}
	words := q.words(w-4, max(1, h-buttons), l.theme.Glyph(theme.Ellipsis))
	var lines, apart []string // blank lines go first where there is little room
	if len(words)+buttons+2 <= h {
		apart = []string{widget.Blank(w)}
	}
	lines = append(lines, apart...)
	for _, t := range words {
		lines = append(lines, l.brush.Line(w, widget.Span{Text: "  " + t}))
	}
	button := func(chosen bool, key, text string) []widget.Span {
		if chosen {
			return []widget.Span{{Role: theme.Focus, Text: l.theme.Glyph(theme.Pointer) + " "}, {Role: theme.Key, Text: key}, {Role: theme.Strong, Text: " " + text}}
		}
		return []widget.Span{{Text: "  "}, {Role: theme.Key, Text: key}, {Role: theme.Dim, Text: " " + text}}
	}
	lines = append(lines, apart...)
	q.no = len(lines)
	return append(lines,
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(!q.yes, "n", q.ask.No)...)...),
		l.brush.Line(w, append([]widget.Span{{Text: "  "}}, button(q.yes, "y", q.ask.Yes)...)...),
	)
}

// buttons are the lines of the answers.
const buttons = 2

// words is the text in at most n lines, in fewer words where it would be cut.
func (q *question) words(w, n int, mark string) []string {
	text := q.ask.Text
	if q.short != "" && len(widget.Wrap(text, w)) > n {
		text = q.short
	}
	return widget.WrapN(text, w, n, mark)
}

func (q *question) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, questionKeys.yes):
		return q.confirm()
	case key.Matches(msg, questionKeys.no):
		return verdict{shut: true}
	case key.Matches(msg, questionKeys.chosen):
		if q.yes {
			return q.confirm()
		}
		return verdict{shut: true}
	case key.Matches(msg, questionKeys.other):
		q.yes = !q.yes
	}
	return verdict{}
}

func (q *question) confirm() verdict {
	if !q.ripe(time.Now()) {
		return verdict{}
	}
	v := q.leads
	v.shut, v.answer.Do = true, q.ask.Do
	return v
}

// click marks the answer under the pointer, and gives the one that is marked: what
// cannot be undone takes a second click.
func (q *question) click(_, y int) verdict {
	if y != q.no && y != q.no+1 {
		return verdict{}
	}
	yes := y == q.no+1
	switch {
	case q.yes != yes:
		q.yes = yes
	case yes:
		return q.confirm()
	default:
		return verdict{shut: true}
	}
	return verdict{}
}

func (q *question) wheel(bool) {}

func (q *question) hint() []key.Binding {
	return []key.Binding{
		named(questionKeys.no, q.ask.No), named(questionKeys.yes, q.ask.Yes), questionKeys.chosen,
		binding("esc", q.ask.No),
	}
}

// What lies over the panes is drawn with lipgloss, which measures all that it
// touches: it is given the rows that are covered, and no others.

// piece is something that lies over the screen: lines of equal width, with the
// cell of its upper left corner.
type piece struct {
	x, y  int
	lines []string
}

// lay puts pieces over a screen of lines of w cells, later ones on top. What
// would be outside of the screen is not drawn.
func lay(lines []string, w int, pieces ...piece) {
	top, end := len(lines), 0
	for _, p := range pieces {
		top, end = min(top, p.y), max(end, p.y+len(p.lines))
	}
	top, end = max(top, 0), min(end, len(lines))
	if top >= end {
		return
	}
	layers := []*lipgloss.Layer{lipgloss.NewLayer(strings.Join(lines[top:end], "\n"))}
	for z, p := range pieces {
		layers = append(layers, lipgloss.NewLayer(strings.Join(p.lines, "\n")).X(p.x).Y(p.y-top).Z(z+1))
	}
	canvas := lipgloss.NewCanvas(w, end-top)
	canvas.Compose(lipgloss.NewCompositor(layers...))
	for i, l := range strings.Split(canvas.Render(), "\n") {
		lines[top+i] = l + widget.Blank(w-ansi.StringWidth(l)) // the canvas trims what is blank
	}
}

// framed puts a border with a title around lines of w cells.
func framed(t *theme.Theme, title string, inside []string, w int) []string {
	border := t.Border()
	edge := t.Style(theme.Focus)
	name := widget.Cut(title, max(0, w-4))
	rest := max(0, w-3-widget.Cells(name))
	top := edge.Render(border.TopLeft+border.Top+" ") + t.Style(theme.Strong).Render(name) +
		edge.Render(" "+strings.Repeat(border.Top, rest)+border.TopRight)
	box := lipgloss.NewStyle().Border(border).BorderTop(false)
	if fg, _ := t.Options().Colours(theme.Focus); fg != nil {
		box = box.BorderForeground(fg)
	}
	return append([]string{top}, strings.Split(box.Render(strings.Join(inside, "\n")), "\n")...)
}
