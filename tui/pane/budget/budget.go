// Package budget is the dashboard's pane of the ping budget: the tokens, the time of the next one, and the keys to
// change capacity and refill rate. It must not know how the budget works: its numbers are in the snapshot, and
// changes are commands.
package budget

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// Pane is the budget pane. The zero Pane is ready to use.
type Pane struct{ pane.Still }

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
		say(theme.Dim, textRate(b.State))
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
		{{Role: theme.Dim, Text: textRate(st)}},
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

// Draw implements pane.Pane: the level in words, the newest messages, and when pings are answered; the day draws the level
// as a picture.
func (p *Pane) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	s, out := c.Snap, pane.Sheet{Context: c, W: w}
	lines := append([][]widget.Span{gauge(c, w-2)}, outlook(c, w-2)...)
	for _, l := range append(lines, widget.Flow(facts(c), widget.Span{Role: theme.Dim, Text: " · "}, w-2)...) {
		out.Line(widget.Nowhere, l...)
	}
	hot := 0
	if h >= heatHeight {
		hot = heatRows + 1 // the rule
	}
	all := out.Rows
	if room := h - len(all) - hot - 1; room > 0 && w >= leastMessage {
		all = append(all, messages(c, min(len(s.Budget.Pings), room), w)...)
	}
	return widget.FillRows(append(all, heat(c, w, hot)...), w, h)
}

// leastMessage is the width from which messages are listed.
const leastMessage = 24

// messages returns the newest rows of the pings and refusals, below a rule.
func messages(c pane.Context, rows, w int) []widget.Row {
	brush, all, count := widget.Brush{Theme: c.Theme}, c.Snap.Budget.Pings, ""
	if n := len(all); n > rows {
		count = fmt.Sprintf("newest %d of %d", rows, n)
	}
	head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textMessages}}, []widget.Span{{Role: theme.Dim, Text: count}})
	out := []widget.Row{{Place: widget.Ruled, Text: head}}
	for i := range rows {
		out = append(out, Message(c, &all[len(all)-1-i], w))
	}
	return out
}

// The columns of a message, in cells; the text takes the rest. As the width shrinks, the text is dropped first.
const (
	taskCells   = 20
	answerCells = 16
	withText    = 72
)

// sentAt is when a message was sent: the time, the day and the time, or the day.
var sentAt = cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan"}

// Message is one row: time, task, text, and when it was answered.
func Message(c pane.Context, ping *budget.Ping, w int) widget.Row {
	glyph, role := theme.Message, theme.Ping
	text, answer, answers := ping.Text, "not answered", theme.Dim
	switch {
	case ping.Refused != "":
		glyph, role, text, answer, answers = theme.Refused, theme.Warn, ping.Refused, textRefusal, theme.Warn
	case ping.Essential && ping.Answered.IsZero():
		answer = textEssential
	case ping.Quiet && ping.Answered.IsZero():
		role, answer = theme.Dim, textQuiet
	case !ping.Answered.IsZero():
		answer, answers = "after "+words.Minutes(ping.Answered.Sub(ping.At)), theme.Good
	}
	out := []widget.Span{
		{Role: theme.Dim, Text: fmt.Sprintf(" %*s ", c.Snap.ClockCells()+len("Mon "), c.Snap.When(ping.At, sentAt))},
		{Role: role, Text: c.Theme.Glyph(glyph) + " "},
		{Text: widget.Fit(ping.Title, taskCells) + "  "},
	}
	if w >= withText {
		out = append(out, widget.Span{Role: theme.Dim, Text: widget.Fit(text, w-widget.Width(out)-answerCells-2) + "  "})
	}
	out = append(out, widget.Span{Role: answers, Text: answer})
	return widget.Row{Text: widget.Brush{Theme: c.Theme}.Line(w, out...), Place: widget.Nowhere}
}

const (
	// heatRows are the hours, and the days of the week.
	heatRows = 1 + 7
	// heatCells is the room for the name of a day, and for each hour two cells.
	heatCells = 5 + 2*24
	// heatHeight is the height from which the page has the heat map.
	heatHeight = 24
)

// heat shows in which hours and on which weekdays pings were answered: a rule, the hours, and a row for each weekday. It
// is empty if h rows of w cells are too few.
func heat(c pane.Context, w, h int) (rows []widget.Row) {
	if h <= heatRows || w < heatCells {
		return nil
	}
	brush := widget.Brush{Theme: c.Theme}
	rows = append(rows, widget.Row{Place: widget.Ruled, Text: brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textHeat}}, nil)})
	for _, row := range HeatMap(c, 2) {
		rows = append(rows, widget.Row{Place: widget.Nowhere, Text: brush.Line(w, row...)})
	}
	return rows
}

// HeatMap returns the hours and the rows of the weekdays, with so many cells for each hour.
func HeatMap(c pane.Context, each int) (rows [][]widget.Span) {
	var answered [7][24]float64
	top, n := 0.0, 0
	for i := range c.Snap.Budget.Pings {
		p := &c.Snap.Budget.Pings[i]
		if p.Answered.IsZero() {
			continue
		}
		at := c.Snap.Local(p.At)
		cell := &answered[(at.Weekday()+6)%7][at.Hour()]
		*cell++
		top, n = max(top, *cell), n+1
	}
	hours := widget.Span{Role: theme.Dim, Text: "     "}
	for h := 0; h < 24; h += 6 / each {
		at := time.Date(2000, 1, 1, h, 0, 0, 0, c.Snap.Local(c.Snap.At).Location())
		hours.Text += widget.Fit(c.Snap.Clock(at, "15"), 6)
	}
	count := fmt.Sprintf("%d of %s answered, at most %.0f in an hour", n, words.Count(sent(c.Snap.Budget.Pings), "ping"), top)
	rows = append(rows, []widget.Span{hours, {Role: theme.Dim, Text: count}})
	for day := range answered {
		cells := make([]float64, 0, each*24)
		for _, v := range answered[day] {
			cells = append(cells, slices.Repeat([]float64{v}, each)...)
		}
		name := time.Weekday((day + 1) % 7).String()[:3]
		rows = append(rows, []widget.Span{{Role: theme.Dim, Text: " " + name + " "}, {Role: theme.Ping, Text: chart.Heat(c.Theme, cells, top)}})
	}
	return rows
}

// sent returns the number of pings that reached the user.
func sent(pings []budget.Ping) (n int) {
	for i := range pings {
		if pings[i].Refused == "" {
			n++
		}
	}
	return n
}

const (
	textMuteTitle = "Mute pings that are not critical until"
	textMutedHelp = "Only critical pings arrive. %s raises the capacity."
	textQuiet     = "quiet"
	textEssential = "essential"
	textRefusal   = "refused"

	textMessages = "Messages"
	textHeat     = "Answered pings by weekday and hour"
)

func textRate(s budget.State) string { return "1 " + s.Rate() }

// Tokens formats the available tokens with one decimal, rounded down, so that a partial token never looks complete.
func Tokens(available float64) string {
	return strconv.FormatFloat(math.Floor(max(available, 0)*10+1e-9)/10, 'f', -1, 64)
}
