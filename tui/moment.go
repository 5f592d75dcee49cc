package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// until asks for a moment of the next hours, and says what would come of each
// before it is chosen.
type until struct {
	ask    pane.Until
	at     int // the choice with the pointer; behind the last one stands the field
	field  widget.Input
	opened time.Time
	// choices are those of the moment when it was drawn last.
	choices []choice
	now     time.Time // of the last drawing
	sent    bool      // the core is carrying it out
	fault   string    // what the core has said against it
	// Of the last drawing: the line of the first choice in sight, which one that
	// is, and how many are.
	first, top, seen int
}

// choice is a moment to choose; a zero moment ends what holds.
type choice struct {
	name string
	when time.Time
}

// How many lines what would come of a choice has, which is never out of sight: at
// least so many, so that the choices do not move with every one that is marked.
const (
	saidRows  = 3
	saidLeast = 2
)

// clockField is how much can be typed: a time is shorter, and what is none is
// seen before it is refused.
const clockField = 16

func newUntil(ask pane.Until, s *core.Snapshot) *until {
	u := &until{ask: ask, opened: time.Now()}
	u.look(s)
	return u
}

func (u *until) title() string { return u.ask.Title }

// look takes the choices of the snapshot's moment.
func (u *until) look(s *core.Snapshot) {
	u.now = s.At
	if s.Zone != nil {
		u.now = u.now.In(s.Zone)
	}
	u.choices = moments(u.now)
	if !u.ask.Now.IsZero() {
		u.choices = append(u.choices, choice{name: textUntilEnd + clockWords(s, u.ask.Now)})
	}
}

// moments are what is usually meant. An evening that is over is not offered.
func moments(now time.Time) []choice {
	out := []choice{
		{textHalfHour, now.Add(30 * time.Minute)},
		{textOneHour, now.Add(time.Hour)},
	}
	if evening := cron.Wall(now, 0, 18, 0, now.Location()); evening.Sub(now) > time.Hour {
		out = append(out, choice{textEvening, evening})
	}
	return append(out, choice{textMorning, cron.Wall(now, 1, 8, 0, now.Location())})
}

// clockTime reads "18:00", "1800" or "18" as its next moment after now.
func clockTime(text string, now time.Time) (time.Time, bool) {
	digits := make([]int, 0, 4)
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits = append(digits, int(r-'0'))
		case r != ':' || len(digits) == 0:
			return time.Time{}, false
		case len(digits) == 1: // "8:30"
			digits = append([]int{0}, digits...)
		}
	}
	var hour, minute int
	switch len(digits) {
	case 1:
		hour = digits[0]
	case 2:
		hour = digits[0]*10 + digits[1]
	case 4:
		hour, minute = digits[0]*10+digits[1], digits[2]*10+digits[3]
	default:
		return time.Time{}, false
	}
	if hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	return nextWall(now, hour, minute), true
}

// nextWall is the next moment of that time of day.
func nextWall(now time.Time, hour, minute int) time.Time {
	at := cron.Wall(now, 0, hour, minute, now.Location())
	if !at.After(now) {
		at = cron.Wall(now, 1, hour, minute, now.Location())
	}
	return at
}

// chosen is the moment under the pointer; why says what is wrong with it.
func (u *until) chosen() (when time.Time, why string) {
	if u.fault != "" {
		return time.Time{}, u.fault
	}
	if u.at < len(u.choices) {
		return u.choices[u.at].when, ""
	}
	if u.field.Text() == "" {
		return time.Time{}, textNoClock
	}
	when, ok := clockTime(u.field.Text(), u.now)
	if !ok {
		return time.Time{}, textBadClock
	}
	return when, ""
}

func (u *until) draw(l look, w, h int) []string {
	w = min(w, 64)
	u.look(l.snap)
	var rows []string
	for i, c := range u.choices {
		rows = append(rows, u.row(l, w, i, c))
	}
	rows = append(rows, u.typed(l, w))
	u.first, u.top, u.seen = 1, 0, len(rows)
	said := saidRows
	if h < len(rows)+said+2 {
		said = max(saidLeast, len(u.words(l, w, saidRows)))
		if most := max(1, h-said); len(rows) > most {
			u.top = max(0, min(u.at-most/2, len(rows)-most))
			rows = rows[u.top : u.top+most]
		}
		u.first, u.seen = 0, len(rows)
		return append(rows, u.said(l, w, said)...)[:min(h, len(rows)+said)]
	}
	lines := append([]string{widget.Blank(w)}, rows...)
	return append(append(lines, widget.Blank(w)), u.said(l, w, said)...)
}

// typed is the field for a time.
func (u *until) typed(l look, w int) string {
	const name = 18
	b, mark := u.brush(l, len(u.choices))
	room := max(0, min(clockField+1, w-name))
	head := b.Line(min(w, name), widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: textUntilClock})
	return head + u.field.Line(b, room, u.at == len(u.choices)) + b.Line(max(0, w-name-room))
}

// said are n lines of what would come of the choice, or what is wrong with it.
func (u *until) said(l look, w, n int) []string {
	role := theme.Accent
	if _, why := u.chosen(); why != "" {
		role = theme.Warn
	}
	wrapped := u.words(l, w, n)
	lines := make([]string, n)
	for i := range lines {
		if i < len(wrapped) {
			lines[i] = wrapped[i]
		}
		lines[i] = l.brush.Line(w, widget.Span{Text: "   "}, widget.Span{Role: role, Text: lines[i]})
	}
	return lines
}

// words are said in at most n lines.
func (u *until) words(l look, w, n int) []string {
	when, text := u.chosen()
	if text == "" {
		text = consequence(l.snap, u.ask.For, when)
	}
	return widget.WrapN(text, max(1, w-4), n, l.theme.Glyph(theme.Ellipsis))
}

func (u *until) brush(l look, i int) (widget.Brush, string) {
	b, mark := l.brush, "  "
	if i == u.at {
		b.Back, mark = theme.Select, l.theme.Glyph(theme.Pointer)+" "
	}
	return b, mark
}

func (u *until) row(l look, w, i int, c choice) string {
	b, mark := u.brush(l, i)
	when := ""
	if !c.when.IsZero() {
		when = cron.Format(c.when, "15:04")
		if !words.SameDay(c.when, u.now, u.now.Location()) {
			when = cron.Format(c.when, "Mon 15:04")
		}
	}
	return b.Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark},
		widget.Span{Text: widget.Fit(c.name, max(15, widget.Cells(c.name)))}, widget.Span{Role: theme.Dim, Text: when})
}

// refused implements asking.
func (u *until) refused(why string) { u.sent, u.fault = false, why }

func (u *until) key(msg tea.KeyPressMsg) verdict {
	if u.sent {
		return verdict{}
	}
	u.fault = ""
	n := len(u.choices) + 1
	switch {
	case key.Matches(msg, untilKeys.up):
		u.at = (u.at + n - 1) % n
	case key.Matches(msg, untilKeys.down):
		u.at = (u.at + 1) % n
	case key.Matches(msg, untilKeys.take):
		return u.take()
	case msg.Text != "":
		u.insert(msg.Text)
	case u.at == len(u.choices):
		u.field.Take(msg)
	}
	return verdict{}
}

// click goes to the choice under the pointer, and takes the one that is marked. A
// click that was on its way when the dialog opened takes none.
func (u *until) click(_, y int) verdict {
	i := y - u.first
	if i < 0 || i >= u.seen || u.sent {
		return verdict{}
	}
	again := u.at == u.top+i
	u.at, u.fault = u.top+i, ""
	if again && u.at < len(u.choices) && time.Since(u.opened) >= grace {
		return u.take()
	}
	return verdict{}
}

// take asks for the moment under the pointer. What is wrong with it stands in the
// dialog.
func (u *until) take() verdict {
	when, why := u.chosen()
	if why != "" {
		return verdict{}
	}
	u.sent = true
	return verdict{ask: timed(u.ask.For, when)}
}

func (u *until) paste(msg tea.PasteMsg) {
	if !u.sent {
		u.fault = ""
		u.insert(msg.Content)
	}
}

// insert goes to the field. Letters go there too, and are refused with it: to
// leave them out would have enter take what was marked before.
func (u *until) insert(s string) {
	u.at = len(u.choices)
	for _, r := range s {
		if len(u.field.Text()) < clockField {
			u.field.Insert(string(r))
		}
	}
}

func (u *until) wheel(bool) {}

func (u *until) hint() []key.Binding {
	return []key.Binding{untilKeys.take, untilKeys.down, untilKeys.digits, untilKeys.leave}
}

// timed is a command with its moment.
func timed(c command.Value, when time.Time) command.Value {
	switch c := c.(type) {
	case command.Snooze:
		c.Until = when
		return c
	case command.MuteUntil:
		c.Until = when
		return c
	}
	return c
}

var untilKeys = struct{ up, down, take, digits, leave key.Binding }{
	up:     binding("", "", "up", "shift+tab"),
	down:   binding("↑/↓", textNextOne, "down", "tab"),
	take:   binding("enter", textSet, "enter"),
	digits: binding("HH:MM", textType),
	leave:  binding("esc", textLeave, "esc"),
}
