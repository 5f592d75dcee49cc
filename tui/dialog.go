package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
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
	key(k string, msg tea.KeyPressMsg) verdict
	// wheel scrolls.
	wheel(up bool)
	// hint is the help line meanwhile: keys and words by turns.
	hint() []string
}

// typist is a dialog that takes a paste.
type typist interface{ paste(s string) }

// look is what a dialog may draw with.
type look struct {
	theme *theme.Theme
	brush widget.Brush
	snap  *core.Snapshot
	// whole asks a page to fill all of the room, because what would still be
	// seen around it is not worth seeing.
	whole bool
}

// verdict is what a dialog wants after a key. The zero verdict redraws.
type verdict struct {
	shut   bool
	quit   bool
	answer pane.Answer
	run    *action.Action
	toast  string
}

func (r *root) open(d dialog) { r.dialogs = append(r.dialogs, d) }

func (r *root) shut() { r.dialogs = r.dialogs[:len(r.dialogs)-1] }

// dialogKey gives a key to the topmost dialog.
func (r *root) dialogKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	d := r.dialogs[len(r.dialogs)-1]
	if e, ok := d.(escaper); ok && k == "esc" && e.escape() {
		return nil
	}
	if q, ok := d.(*question); ok && k == "ctrl+c" && q.quits && q.ripe(time.Now()) {
		return tea.Quit
	}
	if k == "esc" || k == "ctrl+c" {
		r.shut()
		return nil
	}
	v := d.key(k, msg)
	if v.shut {
		r.shut()
	}
	if v.quit {
		return tea.Quit
	}
	if v.toast != "" {
		r.say(core.Info, v.toast)
	}
	if v.run != nil {
		return r.act(*v.run)
	}
	return r.answer(v.answer)
}

// escaper is a dialog that may use esc for something smaller than closing.
type escaper interface{ escape() bool }

// overlay draws a dialog in its box over the middle of the body.
func (r *root) overlay(lines []string, d dialog) {
	w, h := r.w-6, r.h-4
	_, reads := d.(*page)
	whole := reads && r.w <= wholeWidth
	if whole {
		w = r.w - 2
	}
	if w < 2 || h < 1 {
		return
	}
	inside := d.draw(look{r.theme, widget.Brush{Theme: r.theme}, r.snap, whole}, w, h)
	if len(inside) == 0 {
		return
	}
	width := cells(inside[0])
	boxed := r.boxed(d.title(), inside, width)
	x, y := (r.w-width-2)/2, max(1, (r.h-len(boxed))/2)
	for i, l := range boxed {
		if y+i < len(lines)-1 {
			lines[y+i] = over(lines[y+i], x, l, r.w)
		}
	}
}

// wholeWidth is up to which width of the screen a page takes all of it.
const wholeWidth = 110

// boxed puts a border around lines of w cells.
func (r *root) boxed(title string, inside []string, w int) []string {
	box, brush := r.theme.Box(), widget.Brush{Theme: r.theme}
	name := widget.Cut(title, max(0, w-4))
	rest := max(0, w-3-widget.Cells(name))
	top := brush.Line(w+2, widget.Span{Role: theme.Focus, Text: box.TopLeft + box.Horizontal + " "},
		widget.Span{Role: theme.Strong, Text: name},
		widget.Span{Role: theme.Focus, Text: " " + strings.Repeat(box.Horizontal, rest) + box.TopRight})
	out := []string{top}
	side := r.theme.Paint(theme.Focus, box.Vertical)
	for _, l := range inside {
		out = append(out, side+l+side)
	}
	return append(out, r.theme.Paint(theme.Focus, box.BottomLeft+strings.Repeat(box.Horizontal, w)+box.BottomRight))
}

// cells is the width of a coloured line. Only what lies over the panes is
// ever measured.
func cells(s string) int { return ansi.StringWidth(s) }

// over lays a piece over a line of w cells, from cell x on.
func over(line string, x int, piece string, w int) string {
	n := cells(piece)
	left := ansi.Cut(line, 0, x)
	right := ansi.Cut(line, x+n, w)
	if cells(right) > w-x-n {
		right = ansi.Cut(line, x+n+1, w)
	}
	// A character of two cells at an edge is gone with the half that was covered.
	left += widget.Blank(x - cells(left))
	right = widget.Blank(w-x-n-cells(right)) + right
	if strings.IndexByte(line, 0x1b) >= 0 {
		return left + reset + piece + reset + right
	}
	return left + piece + right
}

const reset = "\x1b[0m"
