package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// badge is a word of the top line that stays until somebody has looked: what waits
// for the user, what has failed. A click on it leads there.
type badge struct {
	span widget.Span
	to   pane.Answer
}

// badges are those of now.
func (r *root) badges() (out []badge) {
	if n := len(r.snap.Approvals); n > 0 {
		text := r.theme.Glyph(theme.Bang) + " " + words.Grouped(uint64(n), textApproval) + "   "
		out = append(out, badge{widget.Span{Role: theme.Warn, Text: text}, pane.Answer{Focus: action.Chat}})
	}
	if p, ok := r.panes[action.Forks].(windower); ok {
		if ids := p.Unseen(r.snap); len(ids) > 0 {
			text := r.theme.Glyph(theme.Cross) + " " + strconv.Itoa(len(ids)) + textFailed + "   "
			out = append(out, badge{widget.Span{Role: theme.Bad, Text: text}, pane.Answer{Window: ids[0]}})
		}
	}
	return out
}

// topRight are the badges and behind them the time, where there is room for both.
func (r *root) topRight() []widget.Span {
	var badges, clock []widget.Span
	for _, b := range r.badges() {
		badges = append(badges, b.span)
	}
	if r.o.ReadOnly {
		clock = append(clock, widget.Span{Role: theme.Warn, Text: r.theme.Glyph(theme.Lock) + " " + textReadOnlyMark + "   "})
	}
	if s := r.snap; !s.At.IsZero() {
		at := s.At
		if s.Zone != nil {
			at = at.In(s.Zone)
		}
		clock = append(clock, widget.Span{Text: at.Format("15:04")}, widget.Span{Role: theme.Dim, Text: " " + zoneWord(at) + " "})
	}
	if all := append(badges, clock...); len(badges) == 0 || widget.Width(all) <= r.w/2 {
		return all
	}
	return badges
}

// pressTop leads to what the badge under a cell of the top line is about.
func (r *root) pressTop(x int) tea.Cmd {
	x -= r.w - widget.Width(r.topRight())
	for _, b := range r.badges() {
		n := widget.Cells(b.span.Text)
		if x >= 0 && x < n {
			return r.answer(b.to)
		}
		x -= n
	}
	return nil
}

// topLine says what is running, in as many words as fit, what waits to be looked
// at, and the time.
func (r *root) topLine() string {
	right := r.topRight()
	brush := widget.Brush{Theme: r.theme}
	var left []widget.Span
	for detail := 4; detail >= 0; detail-- {
		left = r.running(r.snap, detail)
		if widget.Width(left)+widget.Width(right)+1 <= r.w {
			break
		}
	}
	return brush.Line(r.w-widget.Width(right), left...) + brush.Line(widget.Width(right), right...)
}

// running are the facts of the top line: with detail 4 all of them, with 0 the
// name alone.
func (r *root) running(s *core.Snapshot, detail int) []widget.Span {
	spans := []widget.Span{{Text: " "}, {Role: theme.Strong, Text: textName}}
	if detail >= 1 {
		spans = append(spans, r.light(s.Surface.OK, s.Surface.Name, "", s.Surface.State, detail >= 3)...)
	}
	if detail >= 1 && s.Google != "" {
		spans = append(spans, r.light(false, "google", "", s.Google, false)...)
	}
	if detail >= 2 {
		model := s.Engine.Model
		if detail < 4 || model == s.Engine.Name {
			model = ""
		}
		spans = append(spans, r.light(s.Engine.OK, s.Engine.Name, model, s.Engine.State, detail >= 3)...)
	}
	if detail >= 4 {
		spans = append(spans, widget.Span{Role: theme.Dim, Text: "   " +
			words.Grouped(uint64(max(0, s.Routines)), textRoutine) + textDot + words.Grouped(uint64(max(0, s.Reminders)), textReminder)})
	}
	return spans
}

// light is a thing that is up or not: never by colour alone.
func (r *root) light(ok bool, name, model, state string, long bool) []widget.Span {
	if name == "" {
		return nil
	}
	role, glyph := theme.Good, theme.Dot
	if !ok {
		role, glyph = theme.Bad, theme.Cross
	}
	spans := []widget.Span{{Text: "   "}, {Role: role, Text: r.theme.Glyph(glyph)}, {Text: " " + name}}
	if model != "" {
		spans = append(spans, widget.Span{Role: theme.Dim, Text: " " + model})
	}
	state, room := clean.Line(state), max(8, r.w/3)
	switch {
	case state == "":
	case !ok: // trouble can be a whole sentence: E shows it in full
		spans = append(spans, widget.Span{Role: theme.Bad, Text: " " + clean.Cut(state, room)})
	case long && widget.Cells(state) <= room: // half of what is fine helps nobody
		spans = append(spans, widget.Span{Role: theme.Dim, Text: " " + state})
	}
	return spans
}

// tab is a label on a border that is shared by panes.
type tab struct {
	pane  action.Pane
	spans []widget.Span
}

// tabForm is how much the labels of a border say.
type tabForm struct{ names, states bool }

// tabForms are what may stand on a border, the most telling first: what goes on in
// a pane that is not on the screen is worth more than its name. A row of few cells
// never has names, two tabs always do.
func tabForms(b layout.Box) []tabForm {
	switch {
	case len(b.Tabs) <= 2:
		return []tabForm{{true, true}, {true, false}}
	case b.W >= namedTabs:
		return []tabForm{{true, true}, {false, true}, {true, false}, {false, false}}
	}
	return []tabForm{{false, true}, {false, false}}
}

// namedTabs is from how many cells on tabs may have names.
const namedTabs = 60

// tabs are the labels of a box, in the most telling form for which there is room.
func (r *root) tabs(b layout.Box) []tab {
	forms := tabForms(b)
	for _, f := range forms[:len(forms)-1] {
		out, n := r.labels(b, f), 0
		for _, t := range out {
			n += widget.Width(t.spans)
		}
		if n <= b.W-2 {
			return out
		}
	}
	return r.labels(b, forms[len(forms)-1])
}

// labels are the tabs in one form. The open one stands in brackets, or behind a
// pointer where it has the focus; what goes on in it is in its box.
func (r *root) labels(b layout.Box, f tabForm) []tab {
	out := make([]tab, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		if p == b.Pane {
			role, left, right := theme.Strong, "[", "]"
			if p == r.focus {
				role, left, right = theme.Focus, r.theme.Glyph(theme.Pointer), " "
			}
			out = append(out, tab{p, []widget.Span{{Role: role, Text: left + strings.TrimLeft(r.goKey(p)+" ", " ") + p.Name() + right}}})
			continue
		}
		label := r.goKey(p)
		if f.names || label == "" {
			label = strings.TrimLeft(label+" "+shortName(p), " ")
		}
		if state := tabState(p, r.snap); state != "" && f.states {
			if !f.names && p != action.Budget && p != action.Schedule { // a bare number would be a key
				state = "(" + state + ")"
			}
			label += " " + state
		}
		out = append(out, tab{p, []widget.Span{{Role: theme.Dim, Text: " " + label + " "}}})
	}
	return out
}

// tabAt finds the label under a column of the border row.
func (r *root) tabAt(b layout.Box, x int) (action.Pane, bool) {
	at := b.X + 1
	for _, t := range r.tabs(b) {
		n := widget.Width(t.spans)
		if x >= at && x < at+n {
			return t.pane, true
		}
		at += n
	}
	return "", false
}

// tabState is what goes on in a pane, in a few cells: tokens of the budget, when the
// next task fires, how many updates there are, how many runs wait or run.
func tabState(p action.Pane, s *core.Snapshot) string {
	switch p {
	case action.Budget:
		return budgetState(s)
	case action.Schedule:
		for _, e := range s.Schedule.Entries {
			if e.FireTime.After(s.At) {
				return strings.TrimPrefix(words.Soon(e.FireTime.Sub(s.At)), "in ")
			}
		}
	case action.Updates:
		return some(len(s.Updates))
	case action.Forks:
		n := 0
		for _, f := range s.Forks {
			if f.Live() {
				n++
			}
		}
		return some(n)
	case action.Chat:
		return some(len(s.Approvals))
	case action.Logs, action.Everywhere:
	}
	return ""
}

// budgetState is "3.2/5", or that nothing pings; empty before there is a budget.
func budgetState(s *core.Snapshot) string {
	b := s.Budget
	switch {
	case b.State.Capacity <= 0 && b.State.RefillRateMinutes <= 0:
		return ""
	case b.State.Capacity <= 0, b.Muted.After(s.At):
		return textTabMuted
	}
	tenths := int(max(b.State.Available, 0)*10 + 1e-9) // never more than there is
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + "/" + strconv.Itoa(b.State.Capacity)
}

func some(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
