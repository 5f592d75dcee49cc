package tui

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func itoa(n int) string { return strconv.Itoa(n) }

// topLine says what is running, in as many words as fit, and the time.
func (r *root) topLine() string {
	s := r.snap
	var right []widget.Span
	if r.o.ReadOnly {
		right = append(right, widget.Span{Role: theme.Warn, Text: r.theme.Glyph(theme.Lock) + " " + textReadOnlyMark + "   "})
	}
	if !s.At.IsZero() {
		at := s.At
		if s.Zone != nil {
			at = at.In(s.Zone)
		}
		right = append(right, widget.Span{Text: at.Format("15:04")}, widget.Span{Role: theme.Dim, Text: " " + zoneWord(at) + " "})
	}
	if calls := r.calls(); calls != nil {
		if right = append(calls, right...); widget.Width(right) > r.w/2 { // no clock then
			right = calls
		}
	}
	brush := widget.Brush{Theme: r.theme}
	var left []widget.Span
	for detail := 4; detail >= 0; detail-- {
		left = r.running(s, detail)
		if widget.Width(left)+widget.Width(right)+1 <= r.w {
			break
		}
	}
	return brush.Spread(r.w, left, right)
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
			widget.Count(uint64(max(0, s.Routines)), textRoutine) + textDot + widget.Count(uint64(max(0, s.Reminders)), textReminder)})
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
	if state != "" && (long || !ok) {
		shade := theme.Dim
		if !ok {
			shade = theme.Bad
		}
		// Trouble can be a whole sentence: E shows it in full.
		spans = append(spans, widget.Span{Role: shade, Text: " " + clean.Cut(clean.Line(state), max(8, r.w/3))})
	}
	return spans
}

// helpLine says what the keys do now, and what would come of it.
func (r *root) helpLine() string {
	brush := widget.Brush{Theme: r.theme}
	if n := len(r.dialogs); n > 0 {
		return brush.Line(r.w, keyWords(r.dialogs[n-1].hint())...)
	}
	if p := r.panes[r.focus]; p.Capture() {
		if h, ok := p.(hinter); ok {
			return brush.Line(r.w, keyWords(append(h.Hint(), interruptHint(r.snap.Busy)))...)
		}
	}
	right := []widget.Span{}
	for _, a := range r.keys.Of(action.Everywhere) {
		if !a.Quiet && len(a.Keys) > 0 && r.off(a) == "" {
			right = append(right, r.hint(a)...)
		}
	}
	left := []widget.Span{}
	room := r.w - widget.Width(right) - 1
	for _, a := range r.keys.Of(r.focus) {
		if a.Quiet || len(a.Keys) == 0 || r.off(a) != "" {
			continue
		}
		h := r.hint(a)
		if widget.Width(left)+widget.Width(h) > room {
			break
		}
		left = append(left, h...)
	}
	return spread(brush, r.w, left, right)
}

// hinter is a pane that says what the keys do while it takes all of them.
type hinter interface{ Hint() []key.Binding }

// hint is an action's place in the help line: keys, word, effect.
func (r *root) hint(a action.Action) []widget.Span {
	ascii := r.theme.ASCII()
	key := action.KeyName(a.Keys[0], ascii)
	if p, ok := r.keys.Get(a.Pane, a.Pair); ok && len(p.Keys) > 0 {
		key += "/" + action.KeyName(p.Keys[0], ascii)
	}
	spans := []widget.Span{{Text: " "}, {Role: theme.Key, Text: key}, {Role: theme.Dim, Text: " " + a.Short}}
	if a.Hint != nil {
		if effect := a.Hint(*r.snap); effect != "" {
			spans = append(spans, widget.Span{Text: " " + effect})
		}
	}
	return append(spans, widget.Span{Text: "  "})
}

// keyWords are bindings as the help line shows them.
func keyWords(bindings []key.Binding) []widget.Span {
	spans := []widget.Span{}
	for _, b := range bindings {
		h := b.Help()
		spans = append(spans, widget.Span{Text: " "}, widget.Span{Role: theme.Key, Text: h.Key},
			widget.Span{Role: theme.Dim, Text: " " + h.Desc + "  "})
	}
	return spans
}

// spread puts right at the right edge whatever its share; left is known to fit.
func spread(b widget.Brush, w int, left, right []widget.Span) string {
	n := min(widget.Width(right), w)
	return b.Line(w-n, left...) + b.Line(n, right...)
}
