package dialog

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Until asks for a moment of the next hours, and says what would come of each
// before it is chosen.
type Until struct {
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

// NewUntil asks for the moment of a command.
func NewUntil(ask pane.Until, s *core.Snapshot) *Until {
	u := &Until{ask: ask, opened: time.Now()}
	u.look(s)
	return u
}

// Title implements pane.Dialog.
func (u *Until) Title() string { return u.ask.Title }

// look takes the choices of the snapshot's moment.
func (u *Until) look(s *core.Snapshot) {
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
func (u *Until) chosen() (when time.Time, why string) {
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

// Draw implements pane.Dialog.
func (u *Until) Draw(c pane.Context, w, h int) []string {
	w = min(w-air, 64)
	u.look(c.Snap)
	var rows []string
	for i, choice := range u.choices {
		rows = append(rows, u.row(c, w, i, choice))
	}
	rows = append(rows, u.typed(c, w))
	u.first, u.top, u.seen = 1, 0, len(rows)
	said := saidRows
	if h < len(rows)+said+2 {
		said = max(saidLeast, len(u.words(c, w, saidRows)))
		if most := max(1, h-said); len(rows) > most {
			u.top = max(0, min(u.at-most/2, len(rows)-most))
			rows = rows[u.top : u.top+most]
		}
		u.first, u.seen = 0, len(rows)
		return append(rows, u.said(c, w, said)...)[:min(h, len(rows)+said)]
	}
	lines := append([]string{widget.Blank(w)}, rows...)
	return append(append(lines, widget.Blank(w)), u.said(c, w, said)...)
}

// typed is the field for a time.
func (u *Until) typed(c pane.Context, w int) string {
	const name = 18
	b, mark := u.brush(c, len(u.choices))
	room := max(0, min(clockField+1, w-name))
	head := b.Line(min(w, name), widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: textUntilClock})
	return head + u.field.Line(b, room, u.at == len(u.choices)) + b.Line(max(0, w-name-room))
}

// said are n lines of what would come of the choice, or what is wrong with it.
func (u *Until) said(c pane.Context, w, n int) []string {
	role := theme.Accent
	if _, why := u.chosen(); why != "" {
		role = theme.Warn
	}
	wrapped := u.words(c, w, n)
	lines := make([]string, n)
	for i := range lines {
		if i < len(wrapped) {
			lines[i] = wrapped[i]
		}
		lines[i] = brush(c).Line(w, widget.Span{Text: "   "}, widget.Span{Role: role, Text: lines[i]})
	}
	return lines
}

// words are said in at most n lines.
func (u *Until) words(c pane.Context, w, n int) []string {
	when, text := u.chosen()
	if text == "" {
		text = consequence(c.Snap, u.ask.For, when)
	}
	return widget.WrapN(text, max(1, w-4), n, c.Theme.Glyph(theme.Ellipsis))
}

func (u *Until) brush(c pane.Context, i int) (widget.Brush, string) {
	b, mark := brush(c), "  "
	if i == u.at {
		b.Back, mark = theme.Select, c.Theme.Glyph(theme.Pointer)+" "
	}
	return b, mark
}

func (u *Until) row(c pane.Context, w, i int, to choice) string {
	b, mark := u.brush(c, i)
	when := ""
	if !to.when.IsZero() {
		when = cron.Format(to.when, "15:04")
		if !words.SameDay(to.when, u.now, u.now.Location()) {
			when = cron.Format(to.when, "Mon 15:04")
		}
	}
	return b.Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark},
		widget.Span{Text: widget.Fit(to.name, max(15, widget.Cells(to.name)))}, widget.Span{Role: theme.Dim, Text: when})
}

// Take implements pane.Dialog.
func (u *Until) Take(_ pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Done:
		if msg.Err == nil {
			return pane.Answer{Close: true}
		}
		u.sent, u.fault = false, clean.Line(msg.Err.Error())
	case pane.Click:
		return u.click(msg)
	case tea.PasteMsg:
		if !u.sent {
			u.fault = ""
			u.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return u.key(msg)
	}
	return pane.Answer{}
}

func (u *Until) key(msg tea.KeyPressMsg) pane.Answer {
	if closes(msg) {
		return pane.Answer{Close: true}
	}
	if u.sent {
		return pane.Answer{}
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
	return pane.Answer{}
}

// click goes to the choice under the pointer, and takes the one that is marked. A
// click that was on its way when the dialog opened takes none.
func (u *Until) click(at pane.Click) pane.Answer {
	i := at.Y - u.first
	if at.Beside || i < 0 || i >= u.seen || u.sent {
		return pane.Answer{}
	}
	again := u.at == u.top+i
	u.at, u.fault = u.top+i, ""
	if again && u.at < len(u.choices) && time.Since(u.opened) >= Grace {
		return u.take()
	}
	return pane.Answer{}
}

// take asks for the moment under the pointer. What is wrong with it stands in the
// dialog.
func (u *Until) take() pane.Answer {
	when, why := u.chosen()
	if why != "" {
		return pane.Answer{}
	}
	u.sent = true
	return pane.Answer{Send: timed(u.ask.For, when)}
}

// insert goes to the field. Letters go there too, and are refused with it: to
// leave them out would have enter take what was marked before.
func (u *Until) insert(s string) {
	u.at = len(u.choices)
	for _, r := range s {
		if len(u.field.Text()) < clockField {
			u.field.Insert(string(r))
		}
	}
}

// Hint implements pane.Dialog.
func (u *Until) Hint() []key.Binding {
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
