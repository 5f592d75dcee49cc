package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
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
	s.w = cells(s.inside[0])
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
