package tui

import (
	"slices"
	"strings"
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
	over  bool     // one stood in the place of the help line when drawn last
}

type saying struct {
	at    time.Time
	until time.Time // the end of its toast
	long  time.Duration
	level core.Level
	text  string
	reply bool // to what the user did: the next one takes its place
}

const (
	toastTime   = 4 * time.Second
	alertTime   = 8 * time.Second
	tryTime     = 20 * time.Second // of what a newcomer reads first; a key ends it before
	maxSayings  = 200
	freshNotice = 10 * time.Second // older ones, from before the dashboard, are only listed
	toastWidth  = 60

	// All toasts together take so many rows, and one more that counts the others.
	toastRows = 3
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
	s.said = append(s.said, saying{at: at, until: now.Add(long), long: long, level: level, text: clean.Line(text)})
	if len(s.said) > maxSayings {
		s.said = slices.Delete(s.said, 0, len(s.said)-maxSayings)
	}
}

// teach is say for the first words of the demo, which stand longer.
func (s *speech) teach(now time.Time, text string) {
	s.say(now, core.Info, text)
	t := &s.said[len(s.said)-1]
	t.until, t.long = now.Add(tryTime), tryTime
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

// toasts are the sayings that still stand, oldest first.
func (s *speech) toasts(now time.Time) []saying {
	var out []saying
	for _, t := range s.said {
		if t.until.After(now) {
			out = append(out, t)
		}
	}
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

// drop ends the toasts of texts that are not true any more.
func (s *speech) drop(now time.Time, texts ...string) {
	for i := range s.said {
		if t := &s.said[i]; t.until.After(now) && slices.Contains(texts, t.text) {
			t.until = now
		}
	}
}

// read ends the toasts that have been readable: the user goes on. They stay in
// the list.
func (s *speech) read(now time.Time) {
	for i := range s.said {
		t := &s.said[i]
		readable := infoRead
		if t.level != core.Info {
			readable = alertRead
		}
		if t.until.After(now) && now.Sub(t.until.Add(-t.long)) >= readable {
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

// toastLines draws the newest toasts as strips of one width without a box, in at
// most most lines of at most w cells. Those for which there is no room are
// counted in the last line.
func (r *root) toastLines(now time.Time, w, most int) []string {
	standing := r.speech.toasts(now)
	rows := r.newest(standing, w, min(toastRows, most))
	if rows.hidden > 0 && most > 1 {
		rows = r.newest(standing, w, min(toastRows, most-1))
		rows.spans = append(rows.spans, []widget.Span{r.edge(theme.Dim), {Role: theme.Dim, Text: textMore(rows.hidden, r.names())}})
	}
	widest := 0
	for _, row := range rows.spans {
		widest = max(widest, widget.Width(row))
	}
	b := widget.Brush{Theme: r.theme, Back: theme.Select}
	out := make([]string, len(rows.spans))
	for i, row := range rows.spans {
		out[i] = b.Line(min(widest+1, w), row...)
	}
	return out
}

// drawnToasts are the rows of the newest toasts, and how many did not fit.
type drawnToasts struct {
	spans  [][]widget.Span
	hidden int
}

func (r *root) newest(standing []saying, w, most int) (out drawnToasts) {
	for i, t := range slices.Backward(standing) {
		lines := r.toast(t, min(toastWidth, w-toastEdges), most)
		if len(out.spans)+len(lines) > most {
			out.hidden = i + 1
			break
		}
		out.spans = append(lines, out.spans...)
	}
	return out
}

// toastEdges are the cells before the text of a toast: the bar, which tells it from
// what lies below also without colours, and its sign.
const toastEdges = 4

// edge is the bar at the left of a toast.
func (r *root) edge(role theme.Role) widget.Span {
	return widget.Span{Role: role, Text: r.theme.Box().Vertical + " "}
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
	mark := widget.Span{Role: role, Text: r.theme.Glyph(glyph) + " "}
	var out [][]widget.Span
	for _, l := range r.told(t.text, max(1, w), rows) {
		out = append(out, []widget.Span{r.edge(role), mark, {Text: strings.ReplaceAll(l, held, " ")}})
		mark = widget.Span{Text: "  "}
	}
	return out
}

// told wraps a text to so many rows; where it is cut it says what shows the rest.
func (r *root) told(text string, w, rows int) []string {
	lines := widget.Wrap(text, w)
	if len(lines) <= rows {
		return lines
	}
	rest := strings.Join(lines[rows-1:], " ")
	end := textShowsAll(r.names())
	if len(r.dialogs) > 0 || r.panes[r.focus].Capture() {
		end = "" // the key means something else there
	}
	if room := w - widget.Cells(end); room >= minTold {
		return append(lines[:rows-1], widget.Cut(rest, room)+end)
	}
	return append(lines[:rows-1], widget.Cut(rest, w))
}

// minTold is how many cells of a text are worth more than a word about its end.
const minTold = 10
