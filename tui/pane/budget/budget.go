// Package budget is the dashboard's pane of the ping budget: the tokens, the time of the next one, and the keys to
// change capacity and refill rate. It must not know how the budget works: its numbers are in the snapshot, and
// changes are commands.
package budget

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// Pane is the budget pane. The zero Pane is ready to use.
type Pane struct {
	pane.Still
	kept drawn
	rows []widget.Row
}

// State implements pane.Pane.
func (p *Pane) State(c pane.Context) string { return c.Snap.Outlook().Word }

// Do implements pane.Pane. The other actions of the pane make their commands
// themselves.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.Mute:
		of := func(until time.Time) command.Value { return command.MuteUntil{Until: until} }
		return pane.Answer{Open: dialog.NewUntil(c, textMuteTitle, c.Snap.Budget.Muted, of)}
	case action.Exact:
		return pane.Answer{Open: dialog.NewBudget(c)}
	}
	return pane.Answer{}
}

// looks are the mark and the colour of each outlook.
var looks = map[core.OutlookKind]struct {
	role  theme.Role
	glyph theme.Glyph
}{
	core.PingsOff: {theme.Warn, theme.Bang}, core.PingsMuted: {theme.Warn, theme.Bang}, core.PingsQuiet: {theme.Warn, theme.Bang},
	core.PingsEmpty: {theme.Bad, theme.Bang}, core.PingsLikely: {theme.Warn, theme.Bang},
	core.PingsTight: {theme.Text, theme.Check}, core.PingsEnough: {theme.Good, theme.Check},
}

// outlook returns the outlook's sentence in lines of w cells: if one line is too short, its tail is in a second line.
func outlook(c pane.Context, w int) [][]widget.Span {
	o := c.Snap.Outlook()
	look := looks[o.Kind]
	text, tail := widget.Span{Role: look.role, Text: c.Theme.Glyph(look.glyph) + " " + o.Text}, widget.Span{Role: theme.Dim, Text: o.Tail}
	if widget.Cells(text.Text+tail.Text) <= w {
		return [][]widget.Span{{text, tail}}
	}
	tail.Text = strings.TrimLeft(tail.Text, ",;: ")
	return [][]widget.Span{{text}, {tail}}
}

// facts are the next tokens, the rate and today's use, the most important first.
func facts(c pane.Context) (out [][]widget.Span) {
	s, b := c.Snap, c.Snap.Budget
	say := func(role theme.Role, text string) { out = append(out, []widget.Span{{Role: role, Text: text}}) }
	if b.State.Capacity <= 0 {
		say(theme.Dim, fmt.Sprintf(textMutedHelp, c.Names(action.Budget).Opening(action.CapacityUp)))
	} else {
		if !b.NextAt.IsZero() {
			say(theme.Text, "next "+s.Hour(b.NextAt))
		}
		if !b.FullAt.IsZero() {
			say(theme.Dim, "full "+s.Hour(b.FullAt))
		} else {
			say(theme.Good, "full")
		}
		say(theme.Dim, textRate(b.State.RefillRateMinutes))
	}
	if b.Reserved > 0 {
		say(theme.Accent, fmt.Sprintf("%d on its way", b.Reserved))
	}
	say(theme.Dim, "today "+s.Glance().PingsText())
	return out
}

// Head returns the words about the level in the day: what it is, how many tokens there are and whether they last, and
// how fast they come back. The headline says when the next one comes.
func Head(c pane.Context) [][]widget.Span {
	st, key := c.Snap.Budget.State, c.Names(action.Budget).Key(action.Budget.Go())
	return [][]widget.Span{
		{{Role: theme.Dim, Text: key + " "}, {Role: theme.Strong, Text: action.Budget.Name()}},
		append([]widget.Span{
			{Role: theme.Strong, Text: Tokens(st.Available)},
			{Role: theme.Dim, Text: " / "},
			{Text: Tokens(float64(st.Capacity)) + "  "},
		}, word(c)...),
		{{Role: theme.Dim, Text: textRate(st.RefillRateMinutes)}},
	}
}

// word is the outlook in a word or two.
func word(c pane.Context) []widget.Span {
	o := c.Snap.Outlook()
	look := looks[o.Kind]
	return []widget.Span{{Role: look.role, Text: c.Theme.Glyph(look.glyph) + " " + o.Word}}
}

// gauge returns the bar, as wide as possible, and its numbers. Below one token, it has the alarm colour.
func gauge(c pane.Context, w int) []widget.Span {
	st, share := c.Snap.Budget.State, 0.0
	numbers := []widget.Span{{Role: theme.Strong, Text: Tokens(st.Available)}, {Role: theme.Dim, Text: " / "}, {Text: Tokens(float64(st.Capacity))}}
	room := min(w-widget.Width(numbers)-2, 64)
	if room < 4 {
		return numbers
	}
	if st.Capacity > 0 {
		share = st.Available / float64(st.Capacity)
	}
	bar := chart.Gauge(c.Theme, share, room)
	if st.Whole() < 1 {
		bar[0].Role = theme.Bad
	}
	return append(append(bar, widget.Span{Text: "  "}), numbers...)
}

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string {
	most := 0
	if w >= 32 {
		most = 17 // a short bar, and the numbers
	}
	out := append([]widget.Span{{Role: theme.Strong, Text: "Budget   "}}, gauge(c, most)...)
	out = append(out, widget.Span{Text: "  "})
	said := outlook(c, w-widget.Width(out))[0]
	if room := w - widget.Width(out); widget.Width(said) > room {
		said = word(c)
	}
	return widget.Brush{Theme: c.Theme}.Line(w, append(out, said...)...)
}
