package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/budget"
	today "ollimbot/tui/pane/day"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The top line answers what a glance asks: what comes next, what may still be spent,
// what the day has brought and cost, what has failed, whether the bot waits. Each
// answer is a button to its page. That all is well is not said; what is not, is.

// word is an answer of the top line.
type word struct {
	name  wordID
	to    pane.Answer     // where a click leads
	forms [][]widget.Span // the most telling first
}

type wordID uint8

const (
	wordName wordID = iota
	wordTrouble
	wordOffline
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
	wordToday, wordClock, wordToday, wordNext, wordToday, wordNext, wordName, wordOffline, wordTrouble,
	wordFailed, wordAsks, wordLocked, wordNext, wordClock, wordTokens, wordTrouble, wordOffline,
}

// topLine is the words in the forms that fit: the clock stands at the right edge.
func (r *root) topLine() (out bar) {
	all := append(append(r.words(), r.badges()...), r.corner()...)
	room := r.w
	for i := range all {
		room -= widget.Width(all[i].forms[0])
		all[i].forms = append(all[i].forms, nil) // the last is nothing
	}
	for _, id := range shrinks {
		for i := range slices.Backward(all) {
			if w := &all[i]; room < 0 && w.name == id && len(w.forms) > 1 {
				room += widget.Width(w.forms[0]) - widget.Width(w.forms[1])
				w.forms = w.forms[1:]
			}
		}
	}
	for _, w := range all {
		row := &out.left
		if w.name == wordClock {
			row = &out.right
		}
		for _, span := range w.forms[0] {
			*row = append(*row, button{span, func() tea.Cmd { return r.answer(w.to) }})
		}
	}
	return out
}

// words are what there is to say beside the badges, from left to right.
func (r *root) words() []word {
	s, g := r.snap, r.snap.Glance()
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text} }
	out := []word{{wordName, pane.Answer{}, [][]widget.Span{{{Text: " "}, {Role: theme.Strong, Text: r.name()}, {Text: apart}}, {{Text: " "}}}}}
	trouble := func(name, state string) {
		mark := r.theme.Glyph(theme.Cross) + " " + name
		out = append(out, word{wordTrouble, pane.Answer{Open: dialog.Engine(s)}, [][]widget.Span{
			{{Role: theme.Bad, Text: mark + " " + clean.Cut(clean.Line(state), max(8, r.w/3)) + apart}}, {{Role: theme.Bad, Text: mark + apart}},
		}})
	}
	if s.Engine.Offline {
		mark := widget.Span{Role: theme.Warn, Text: r.theme.Glyph(theme.Bang)}
		out = append(out, word{wordOffline, pane.Answer{Open: dialog.Connect(r.context(), false)}, [][]widget.Span{
			{mark, {Role: theme.Warn, Text: " " + textNoModel + apart}}, {mark, {Role: theme.Warn, Text: " " + textNoModelShort + apart}}, {mark, {Text: apart}},
		}})
	}
	if s.Surface.Name != "" && !s.Surface.OK {
		trouble(s.Surface.Name, s.Surface.State)
	}
	if s.Google != "" {
		trouble("google", s.Google)
	}
	if s.Engine.Name != "" && !s.Engine.OK {
		trouble(s.Engine.Name, s.Engine.State)
	}
	if g.Next != nil {
		head, at := dim(textNextFire), r.clock(g.Next.FireTime)
		away := dim(" (" + strings.TrimPrefix(words.Until(g.Next.FireTime.Sub(s.At)), "in ") + ")" + apart)
		title := widget.Span{Role: theme.Strong, Text: widget.Cut(titleOf(*g.Next), 24) + " "}
		out = append(out, word{wordNext, pane.Answer{Focus: action.Task, Item: g.Next.ID}, [][]widget.Span{
			{head, title, {Text: at}, away}, {head, {Text: at}, away}, {head, {Text: at + apart}},
		}})
	}
	if left := budgetState(s); left != "" {
		role := theme.Good
		if left == textTabMuted || s.Budget.State.Available < 1 {
			role = theme.Warn
		}
		out = append(out, word{wordTokens, pane.Answer{Focus: action.Budget, Zoom: true}, [][]widget.Span{
			{{Role: role, Text: r.theme.Glyph(theme.Token)}, {Text: " " + left + apart}},
		}})
	}
	if !s.At.IsZero() {
		pings, cost := words.Count(g.Pings, "ping")+textDot, words.Dollars(g.CostUSD)+apart
		today := word{wordToday, pane.Answer{Focus: action.Costs}, nil}
		for _, text := range []string{pings + words.Count(g.Runs, "run") + textDot + cost, pings + cost, cost} {
			today.forms = append(today.forms, []widget.Span{dim(textSoFar), {Text: text}})
		}
		out = append(out, today)
	}
	return out
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
	return budget.Tokens(b.State.Available) + "/" + strconv.Itoa(b.State.Capacity)
}

// apart keeps a word of the top line from the next one.
const apart = "   "

// badges stay until somebody has looked: what has failed, and what waits for the user.
func (r *root) badges() (out []word) {
	add := func(id wordID, role theme.Role, g theme.Glyph, n int, text string, to pane.Answer) {
		mark := r.theme.Glyph(g) + " " + strconv.Itoa(n)
		out = append(out, word{id, to, [][]widget.Span{{{Role: role, Text: mark + text + apart}}, {{Role: role, Text: mark + " "}}}})
	}
	if ids := r.panes[action.Forks].(*forks.Pane).Unseen(r.snap); len(ids) > 0 {
		add(wordFailed, theme.Bad, theme.Cross, len(ids), textFailed, pane.Answer{Focus: action.Forks, Item: ids[0]})
	}
	if n := r.snap.Glance().Asks; n > 0 {
		add(wordAsks, theme.Warn, theme.Flag, n, textAsks, pane.Answer{Focus: action.Chat})
	}
	return out
}

// corner is that nothing can be changed here, and the time.
func (r *root) corner() (out []word) {
	if r.o.ReadOnly {
		lock := r.theme.Glyph(theme.Lock) + " "
		out = append(out, word{wordLocked, pane.Answer{}, [][]widget.Span{
			{{Role: theme.Warn, Text: lock + textReadOnlyMark + apart}}, {{Role: theme.Warn, Text: lock}},
		}})
	}
	if r.snap.At.IsZero() {
		return out
	}
	at := r.snap.Local(r.snap.At)
	clock := widget.Span{Text: r.clock(at)}
	return append(out, word{wordClock, pane.Answer{}, [][]widget.Span{{clock, {Role: theme.Dim, Text: " " + zoneWord(at) + " "}}, {clock, {Text: " "}}}})
}

func (r *root) clock(t time.Time) string { return r.snap.Clock(t, "15:04") }

// titleOf is what people call what fires.
func titleOf(e schedule.Entry) string { return clean.Line(cmp.Or(e.Description, e.Label, e.ID)) }

// What stands between the top line and the panes: the day, and above the tabs of a
// small screen what they would hide.

func (r *root) head(plan layout.Plan) (rows []string) {
	c := r.context()
	if plan.Day > 0 {
		for _, row := range r.panes[action.Day].Draw(c, r.w, plan.Day, r.focus == action.Day) {
			rows = append(rows, row.Text)
		}
	}
	if plan.Fixed > 0 {
		rows = append(rows, " "+r.panes[action.Budget].Line(c, r.w-1), " "+r.panes[action.Schedule].Line(c, r.w-1))
	}
	return rows
}

// pressDay chooses what stands under a cell of the day, and opens what was chosen.
func (r *root) pressDay(x int) tea.Cmd {
	p := r.panes[action.Day].(*today.Pane)
	focused := r.focus == action.Day
	r.setFocus(action.Day)
	if again, ok := p.Point(r.context(), x, r.w); ok && again && focused {
		return r.answer(p.Do(r.context(), action.DayOpen))
	}
	return nil
}

// The columns of a row of the schedule around its title: time, distance, sign, and
// what stands at its right end.
const scheduleColumns = 28

// wants is how wide the left column would be for no title of the schedule to be cut,
// in steps, so that a change of one letter moves nothing.
func wants(s *core.Snapshot) int {
	n := 0
	for i := range s.Schedule.Tasks {
		n = max(n, widget.Cells(s.Schedule.Tasks[i].Title))
	}
	if n == 0 {
		return 0
	}
	return (n + scheduleColumns + columnStep - 1) / columnStep * columnStep
}
