package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/fork"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
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
	for len(rows) < plan.Said-1 {
		rows = append(rows, widget.Blank(plan.Strip))
	}
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

// The page of a screen with no room. Nothing of the dashboard is seen on it, so no
// key means what it does there: the page knows two, and asks by itself.

// tiny reports that the page is all that is seen.
func (r *root) tiny() bool { return r.plan().Mode == layout.TooSmall }

// smallKey quits, after a question where something would be lost. Everything else
// is for what nobody sees, and takes the question back.
func (r *root) smallKey(k string) tea.Cmd {
	now, asked := time.Now(), r.asked
	r.asked = time.Time{}
	loses := len(r.losses()) > 0
	a, _ := r.keys.Get(action.Everywhere, action.Quit)
	switch {
	case (k == "y" || k == "Y") && loses && !asked.IsZero():
		if now.Sub(asked) >= dialog.Grace {
			return tea.Quit
		}
		r.asked = asked // typed ahead: the question cannot have been read
	case k == "ctrl+c" && now.Sub(r.stopped) < lateInterrupt: // it was meant for an answer
	case k != "ctrl+c" && !slices.Contains(a.Keys, k):
	case !loses:
		return tea.Quit
	default:
		r.asked = now
	}
	return nil
}

// losses are what quitting now would cost, each in a few words.
func (r *root) losses() (out []string) {
	if running, waiting := fork.Count(r.snap.Forks); running+waiting > 0 && r.o.Remote == nil {
		out = append(out, words.Grouped(uint64(running+waiting), "run")+textWouldStop)
	}
	if r.snap.Busy && r.o.Remote == nil {
		out = append(out, textAnswerLost)
	}
	unsaved := r.draft() != ""
	for _, d := range r.dialogs {
		f, ok := d.(interface{ Unsaved() bool })
		unsaved = unsaved || ok && f.Unsaved()
	}
	if unsaved {
		out = append(out, textDraftIsLost)
	}
	return out
}

// tooSmall says what the screen needs, in as many words as it can show: the
// number first, and never without the way out. Its question stands first.
func (r *root) tooSmall() []string {
	brush := widget.Brush{Theme: r.theme}
	var lines []string
	for _, sentences := range r.tooSmallWords() {
		lines = lines[:0]
		for _, s := range sentences {
			for _, row := range widget.Wrap(s.Text, r.w) {
				lines = append(lines, brush.Line(r.w, widget.Span{Role: s.Role, Text: strings.ReplaceAll(row, held, " ")}))
			}
		}
		if len(lines) <= r.h {
			break
		}
	}
	return widget.Fill(lines, r.w, r.h)
}

// tooSmallWords are the sentences of the page, the longest first.
func (r *root) tooSmallWords() [][]widget.Span {
	span := func(role theme.Role, format string, args ...any) widget.Span {
		return widget.Span{Role: role, Text: fmt.Sprintf(format, args...)}
	}
	size := span(theme.Strong, textSize, layout.StripWidth, layout.StripHeight, r.w, r.h)
	if lost := r.losses(); !r.asked.IsZero() && len(lost) > 0 {
		asks, stays := span(theme.Warn, "%s: %s", strings.Join(lost, ", "), textYesQuits), span(theme.Dim, textOtherStays)
		return [][]widget.Span{{asks, stays, size}, {asks, stays}, {asks}, {span(theme.Warn, textYesQuits)}}
	}
	key := quitKey(r.names())
	least, quit := strconv.Itoa(layout.StripWidth)+"×"+strconv.Itoa(layout.StripHeight), span(theme.Dim, textKeyQuits, key)
	return [][]widget.Span{
		{size, span(theme.Dim, textGoesOn, key)},
		{span(theme.Strong, textNeeded, least), quit},
		{span(theme.Strong, "%s", least), quit},
		{span(theme.Strong, "%s %s", least, quit.Text)},
	}
}
