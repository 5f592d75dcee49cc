package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Small screens: one line a pane, and the page that says that there is no room.

// strip is one line a pane, and the focused one in its box where there is room.
func (r *root) strip(plan layout.Plan) []string {
	rows := make([]string, 0, plan.Said)
	context := r.context()
	brush := widget.Brush{Theme: r.theme}
	for _, p := range action.Panes {
		mark, role := " ", theme.Dim
		if p == r.focus {
			mark, role = r.theme.Glyph(theme.Pointer), theme.Focus
		}
		head := brush.Line(4, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Role: role, Text: r.goKey(p) + " "})
		rows = append(rows, head+r.panes[p].Line(context, plan.Strip-4))
	}
	if len(plan.Columns) > 0 && plan.Strip == r.w {
		return append(rows, r.body(plan)...)
	}
	rows = widget.Fill(rows, plan.Strip, plan.Said-1)
	if len(plan.Columns) > 0 {
		for i, l := range r.body(plan) {
			rows[i] += l
		}
	}
	return rows
}

// needsRoom reports that the focused pane has to be seen: it takes text, or a
// tool call waits in it that esc has not put away.
func (r *root) needsRoom() bool {
	if r.panes[r.focus].Capture() {
		return true
	}
	waits := r.snap.Approvals
	return r.focus == action.Chat && len(waits) > 0 && waits[0].ID != r.desk.away
}

// putAway gives the screen back to the strip, where a tool call that waits has
// taken it; the call waits on in its line.
func (r *root) putAway() bool {
	waits := r.snap.Approvals
	if len(waits) == 0 || !r.needsRoom() || r.plan().Mode != layout.Strip {
		return false
	}
	r.desk.away = waits[0].ID
	return true
}

// The page of a screen with no room. Nothing of the dashboard is seen on it but a
// question, so no other key means what it does there: the page knows one more, and
// ctrl+c.

// tiny reports that the page is all that is seen.
func (r *root) tiny() bool { return r.plan().Mode == layout.TooSmall }

// smallKey answers the question, or quits, after a question where something would be
// lost.
func (r *root) smallKey(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	quit, _ := r.keys.Get(action.Everywhere, action.Quit)
	q, asks := r.top().(*dialog.Question)
	switch {
	case asks:
		return r.tell(q, msg)
	case k == "ctrl+c" && (r.snap.Busy || time.Since(r.stopped) < lateInterrupt):
		return r.actEverywhere(action.Interrupt)
	case k == "ctrl+c" || slices.Contains(quit.Keys, k):
		return r.goTo(pane.Quit)
	}
	return nil
}

// tooSmall says what the screen needs, in as many words as it can show: the
// number first, and never without the way out.
func (r *root) tooSmall() []string {
	if q, ok := r.top().(*dialog.Question); ok {
		lines := q.Draw(r.context(), r.w+dialog.Air, r.h) // nothing is seen beside it
		for i, l := range lines {
			lines[i] = l + widget.Blank(r.w-ansi.StringWidth(l))
		}
		return widget.Fill(lines, r.w, r.h)
	}
	brush, least := widget.Brush{Theme: r.theme}, fmt.Sprintf("%d×%d", layout.StripWidth, layout.StripHeight)
	quits := quitKey(r.names()) + held + "quits"
	var lines []string
	for _, sentences := range [][]string{
		{fmt.Sprintf(textSize, least, r.w, r.h), textGoesOn + quits + held + "it"},
		{fmt.Sprintf(textNeeded, least), quits},
		{least, quits},
		{least + " " + quits},
	} {
		lines = lines[:0]
		for i, s := range sentences {
			for _, row := range widget.Wrap(s, r.w) {
				role := []theme.Role{theme.Strong, theme.Dim}[i]
				lines = append(lines, brush.Line(r.w, widget.Span{Role: role, Text: strings.ReplaceAll(row, held, " ")}))
			}
		}
		if len(lines) <= r.h {
			break
		}
	}
	return widget.Fill(lines, r.w, r.h)
}
