package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func itoa(n int) string { return strconv.Itoa(n) }

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
			text := r.theme.Glyph(theme.Cross) + " " + itoa(len(ids)) + textFailed + "   "
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
