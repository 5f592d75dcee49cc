package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/core/words"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The top line answers what a glance asks: what comes next, what may still be spent,
// what the day has brought and cost, what has failed, whether the bot waits. Each
// answer is a button to its page. That all is well is not said; what is not, is.

// word is an answer of the top line, in all its forms.
type word struct {
	name  wordID
	forms [][]widget.Span // the most telling first
	to    pane.Answer     // where a click leads
}

type wordID uint8

const (
	wordName wordID = iota
	wordTrouble
	wordNext
	wordTokens
	wordToday
	wordFailed
	wordAsks
	wordLocked
	wordClock
)

// shrinks is which word takes its shorter form next where the line is too long, and
// goes once it has none. The number of runs goes first, then the zone, the number of
// pings, the title of what comes next, what today has cost, how far away the next fire
// is, our name, the words of what is not well, the words of the badges, the next fire,
// the clock and the tokens. The signs and numbers of the badges never go.
var shrinks = []wordID{
	wordToday, wordClock, wordToday, wordNext, wordToday, wordNext, wordName, wordTrouble,
	wordFailed, wordAsks, wordLocked, wordNext, wordClock, wordTokens, wordTrouble,
}

// kept is for whom the last form stays.
func (id wordID) kept() bool { return id == wordFailed || id == wordAsks || id == wordLocked }

// topLine draws the words that fit: the clock stands at the right edge.
func (r *root) topLine() string {
	b := widget.Brush{Theme: r.theme}
	left, clock := r.topSpans()
	return b.Line(r.w-widget.Width(clock), left...) + b.Line(widget.Width(clock), clock...)
}

func (r *root) topSpans() (left, clock []widget.Span) {
	for _, w := range r.topWords() {
		if w.name == wordClock {
			clock = w.forms[0]
			continue
		}
		left = append(left, w.forms[0]...)
	}
	return left, clock
}

// pressTop leads to what the word under a cell is about.
func (r *root) pressTop(x int) tea.Cmd {
	for _, w := range r.topWords() {
		n := widget.Width(w.forms[0])
		if x >= 0 && x < n && w.name != wordClock {
			return r.answer(w.to)
		}
		x -= n
	}
	return nil
}

// topWords are the words in the forms that fit.
func (r *root) topWords() []word {
	all := r.allWords()
	room := r.w
	for _, w := range all {
		room -= widget.Width(w.forms[0])
	}
	for _, id := range shrinks {
		for i := range slices.Backward(all) {
			w := &all[i]
			if room >= 0 || w.name != id || len(w.forms) == 0 || len(w.forms) == 1 && id.kept() {
				continue
			}
			room += widget.Width(w.forms[0])
			if w.forms = w.forms[1:]; len(w.forms) > 0 {
				room -= widget.Width(w.forms[0])
			}
		}
	}
	out := all[:0]
	for _, w := range all {
		if len(w.forms) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// allWords are what there is to say, from left to right.
func (r *root) allWords() []word {
	s, g := r.snap, r.snap.Glance()
	bare := func(role theme.Role, text string) []widget.Span {
		return []widget.Span{{Role: role, Text: text + apart}}
	}
	out := []word{{wordName, [][]widget.Span{{{Text: " "}, {Role: theme.Strong, Text: r.name()}, {Text: apart}}, {{Text: " "}}}, pane.Answer{}}}
	for _, t := range r.troubles() {
		mark := r.theme.Glyph(theme.Cross) + " " + t.name
		out = append(out, word{wordTrouble, [][]widget.Span{
			bare(theme.Bad, mark+" "+clean.Cut(clean.Line(t.state), max(8, r.w/3))), bare(theme.Bad, mark),
		}, pane.Answer{Open: dialog.Engine(s)}})
	}
	if g.Next != nil {
		at, away := r.clock(g.Next.FireTime), " ("+strings.TrimPrefix(words.Until(g.Next.FireTime.Sub(s.At)), "in ")+")"
		head := widget.Span{Role: theme.Dim, Text: textNextFire}
		title := widget.Cut(titleOf(*g.Next), 24)
		out = append(out, word{wordNext, [][]widget.Span{
			{head, {Role: theme.Strong, Text: title + " "}, {Text: at}, {Role: theme.Dim, Text: away + apart}},
			{head, {Text: at}, {Role: theme.Dim, Text: away + apart}},
			{head, {Text: at + apart}},
		}, pane.Answer{Task: g.Next.ID}})
	}
	if left := budgetState(s); left != "" {
		role := theme.Good
		if left == textTabMuted || s.Budget.State.Available < 1 {
			role = theme.Warn
		}
		tokens := []widget.Span{{Role: role, Text: r.theme.Glyph(theme.Token)}, {Text: " " + left + apart}}
		out = append(out, word{wordTokens, [][]widget.Span{tokens}, pane.Answer{Focus: action.Budget, Zoom: true}})
	}
	if !s.At.IsZero() {
		pings, cost := words.Count(g.Pings, "ping"), words.Dollars(g.CostUSD)
		today := func(text string) []widget.Span {
			return []widget.Span{{Role: theme.Dim, Text: textSoFar}, {Text: text + apart}}
		}
		out = append(out, word{wordToday, [][]widget.Span{
			today(pings + textDot + words.Count(g.Runs, "run") + textDot + cost), today(pings + textDot + cost), today(cost),
		}, pane.Answer{Focus: action.Costs}})
	}
	return append(append(out, r.badges()...), r.clockWords()...)
}

// apart keeps a word of the top line from the next one.
const apart = "   "

// badges stay until somebody has looked: what has failed, and what waits for the user.
func (r *root) badges() (out []word) {
	add := func(id wordID, role theme.Role, g theme.Glyph, n int, text string, to pane.Answer) {
		mark := r.theme.Glyph(g) + " " + strconv.Itoa(n)
		out = append(out, word{id, [][]widget.Span{{{Role: role, Text: mark + text + apart}}, {{Role: role, Text: mark + " "}}}, to})
	}
	if p, ok := r.panes[action.Forks].(windower); ok {
		if ids := p.Unseen(r.snap); len(ids) > 0 {
			add(wordFailed, theme.Bad, theme.Cross, len(ids), textFailed, pane.Answer{Window: ids[0]})
		}
	}
	if n := r.snap.Glance().Asks; n > 0 {
		add(wordAsks, theme.Warn, theme.Flag, n, textAsks, pane.Answer{Focus: action.Chat})
	}
	return out
}

// clockWords are that nothing can be changed here, and the time.
func (r *root) clockWords() (out []word) {
	if r.o.ReadOnly {
		lock := r.theme.Glyph(theme.Lock)
		out = append(out, word{wordLocked, [][]widget.Span{
			{{Role: theme.Warn, Text: lock + " " + textReadOnlyMark + apart}}, {{Role: theme.Warn, Text: lock + " "}},
		}, pane.Answer{}})
	}
	if r.snap.At.IsZero() {
		return out
	}
	at := r.snap.Local(r.snap.At)
	clock := widget.Span{Text: r.clock(at)}
	return append(out, word{wordClock, [][]widget.Span{{clock, {Role: theme.Dim, Text: " " + zoneWord(at) + " "}}, {clock, {Text: " "}}}, pane.Answer{}})
}

// trouble is something that is not well.
type trouble struct{ name, state string }

func (r *root) troubles() (out []trouble) {
	s := r.snap
	if s.Surface.Name != "" && !s.Surface.OK {
		out = append(out, trouble{s.Surface.Name, s.Surface.State})
	}
	if s.Google != "" {
		out = append(out, trouble{"google", s.Google})
	}
	if s.Engine.Name != "" && !s.Engine.OK {
		out = append(out, trouble{s.Engine.Name, s.Engine.State})
	}
	return out
}

func (r *root) clock(t time.Time) string { return r.snap.Clock(t, "15:04") }

// titleOf is what people call what fires.
func titleOf(e schedule.Entry) string { return clean.Line(cmp.Or(e.Description, e.Label, e.ID)) }
