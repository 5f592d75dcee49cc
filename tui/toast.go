package tui

import (
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// speech is what the program says to its user: the newest as toasts, all of it
// in the list that "!" opens.
type speech struct {
	said  []saying // oldest first
	seq   uint64   // of the last notice heard
	heard bool     // there was a first snapshot
}

type saying struct {
	at    time.Time
	until time.Time // the end of its toast
	level core.Level
	text  string
	reply bool // to what the user did: the next one takes its place
}

const (
	toastTime   = 4 * time.Second
	alertTime   = 8 * time.Second
	maxToasts   = 3
	maxSayings  = 200
	freshNotice = 10 * time.Second // older ones, from before the dashboard, are only listed
	toastWidth  = 60
	toastRows   = 3
	alertRows   = 5 // an error is of no use when its cure is cut

	maxToastRows = 6 // of all toasts together
	fewToastRows = 3 // where they lie over the only pane
	// A toast that has stood this long goes with the next key: it was read.
	infoRead  = 1500 * time.Millisecond
	alertRead = 3 * time.Second
)

// say answers the user. A reply takes the place of the one before it: what that
// one said, "u undoes", may not be true any more.
func (s *speech) say(now time.Time, level core.Level, text string) {
	for i := range s.said {
		if t := &s.said[i]; t.reply && t.level == core.Info && t.until.After(now) {
			t.until = now
		}
	}
	s.add(now, now, level, text)
	s.said[len(s.said)-1].reply = true
}

func (s *speech) add(at, now time.Time, level core.Level, text string) {
	long := toastTime
	if level != core.Info {
		long = alertTime
	}
	s.said = append(s.said, saying{at: at, until: now.Add(long), level: level, text: clean.Line(text)})
	if len(s.said) > maxSayings {
		s.said = slices.Delete(s.said, 0, len(s.said)-maxSayings)
	}
}

// hear takes the core's notices that are new.
func (s *speech) hear(notices []core.Notice, now time.Time) {
	for _, n := range notices {
		if s.heard && n.Seq <= s.seq {
			continue
		}
		s.seq = n.Seq
		shown := time.Now()
		if now.Sub(n.At) > freshNotice {
			shown = shown.Add(-time.Hour)
		}
		s.add(n.At, shown, n.Level, n.Text)
	}
	s.heard = true
}

// toasts are the sayings that still stand on the screen, oldest first.
func (s *speech) toasts(now time.Time) []saying {
	var out []saying
	for i := len(s.said) - 1; i >= 0 && len(out) < maxToasts; i-- {
		if s.said[i].until.After(now) {
			out = append(out, s.said[i])
		}
	}
	slices.Reverse(out)
	return out
}

// nextEnd is when the next toast ends.
func (s *speech) nextEnd(now time.Time) (time.Time, bool) {
	var end time.Time
	for _, t := range s.toasts(now) {
		if end.IsZero() || t.until.Before(end) {
			end = t.until
		}
	}
	return end, !end.IsZero()
}

// read ends the toasts that have been readable: the user goes on. They stay in
// the list.
func (s *speech) read(now time.Time) {
	for i := range s.said {
		t := &s.said[i]
		begun, long := t.until.Add(-toastTime), infoRead
		if t.level != core.Info {
			begun, long = t.until.Add(-alertTime), alertRead
		}
		if t.until.After(now) && now.Sub(begun) >= long {
			t.until = now
		}
	}
}

// hush ends every toast; the list keeps them.
func (s *speech) hush(now time.Time) {
	for i := range s.said {
		if s.said[i].until.After(now) {
			s.said[i].until = now
		}
	}
}

// page lists everything that was said, newest first.
func (s *speech) page(zone *time.Location) *page {
	if len(s.said) == 0 {
		return newPage(textNotices, textNoNotices)
	}
	if zone == nil {
		zone = time.Local
	}
	var rows []pageRow
	for _, t := range slices.Backward(s.said) {
		rows = append(rows, pageRow{t.at.In(zone).Format("15:04:05") + "  " + string(t.level), t.text})
	}
	return newTable(textNotices, noticeColumn, rows)
}

// noticeColumn is where notices begin, behind their time and level.
const noticeColumn = 18

func (r *root) say(level core.Level, text string) { r.speech.say(time.Now(), level, text) }

// toastLines draws the toasts as strips without a box, each as wide as its
// text, in at most most lines of less than w cells. A long one takes several.
// Where there is no room for all, the oldest are left out.
func (r *root) toastLines(now time.Time, w, most int) []string {
	var spans [][]widget.Span
	widest := 0
	for _, t := range slices.Backward(r.speech.toasts(now)) {
		rows := toastRows
		if t.level == core.Alert {
			rows = alertRows
		}
		lines := r.toast(t, min(toastWidth, w-6), min(rows, most))
		if len(spans)+len(lines) > most {
			break
		}
		spans = append(lines, spans...)
		for _, row := range lines {
			widest = max(widest, widget.Width(row))
		}
	}
	b := widget.Brush{Theme: r.theme, Back: theme.Select}
	out := make([]string, len(spans))
	for i, row := range spans {
		out[i] = b.Line(widest+1, row...)
	}
	return out
}

// toast is the lines of one of them, its text at most w cells wide.
func (r *root) toast(t saying, w, rows int) [][]widget.Span {
	role, glyph := theme.Accent, theme.Dot
	switch t.level {
	case core.Warn:
		role, glyph = theme.Warn, theme.Bang
	case core.Alert:
		role, glyph = theme.Bad, theme.Cross
	case core.Info:
	}
	mark := widget.Span{Role: role, Text: " " + r.theme.Glyph(glyph) + " "}
	text := widget.WrapN(t.text, max(1, w), rows, r.theme.Glyph(theme.Ellipsis))
	var out [][]widget.Span
	for _, l := range text {
		out = append(out, []widget.Span{mark, {Text: l}})
		mark = widget.Span{Text: "   "}
	}
	return out
}
