package dialog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Question asks for one of a few answers, for example before a change that cannot be
// undone. The first answer is safe and the default. A key that was pressed before the
// question appeared never selects another one.
type Question struct {
	name    string
	text    string
	short   string // for a small screen; empty cuts the text
	answers []answer
	renew   func(c pane.Context) pane.Question // updates the question while it is open; may be nil
	at      int                                // the answer that is marked
	opened  time.Time                          // zero if no answer loses anything
	top     int                                // the line of the first answer in the last drawing
	lines   []int                              // the answer of each line from there on
	wide    bool                               // the answers are sentences, which the help line omits
	hidden  int                                // the answers before the last that do not fit on a small screen
}

// answer is a key, its text (on a small screen up to the colon) and its effect.
type answer struct {
	keys  key.Binding
	text  string
	means pane.Answer
	opens func() pane.Dialog // makes means.Open when it is wanted: forms are expensive; nil for none
}

// word is the answer in a word or two.
func (a answer) word() string {
	word, _, _ := strings.Cut(a.text, ":")
	return word
}

// grace is how long a question must be visible, without a key that answers it, before it
// can be answered: an earlier key was not meant for it.
const grace = 250 * time.Millisecond

// Ask is a yes-no question. yes is the answer for yes, in addition to q.Do.
func Ask(q pane.Question, yes pane.Answer) *Question {
	yes.Close, yes.Sure, yes.Do = true, true, q.Do
	return &Question{name: "Sure?", text: q.Text, opened: time.Now(), answers: []answer{
		{keys: binding("n", "", "n", "N", "q"), text: q.No, means: pane.Answer{Close: true}},
		{keys: binding("y", "", "y", "Y"), text: q.Yes, means: yes},
	}}
}

// Leaving asks before the user leaves the dashboard, if something would be lost: active
// runs or a draft. It is nil if nothing would.
func Leaving(c pane.Context, draft bool, to pane.Leave) pane.Dialog {
	yes := pane.Answer{Leave: to}
	also := ""
	if draft {
		also = " " + textDraftLost
	}
	running := func(c pane.Context) pane.Question { // runs may end while the question is open
		running, waiting := fork.Count(c.Snap.Forks)
		if running+waiting == 0 {
			return pane.Question{Text: textQuitNoRuns + also, Yes: textQuitBare, No: textStay}
		}
		return pane.Question{Text: quitText(running, waiting) + also, Yes: textQuitYes, No: textStay}
	}
	if now := running(c); now.Yes == textQuitYes && !c.Remote {
		q := Ask(now, yes)
		q.renew = running
		return q
	}
	if draft {
		return Ask(pane.Question{Text: textDraftLost, Yes: textDropDraft, No: textStay}, yes)
	}
	return nil
}

// QuitClicked asks after a click on quit, which is easy to hit by accident.
func QuitClicked(c pane.Context) *Question {
	text := textQuitClicked
	if c.Remote {
		text = textDetachClicked
	}
	return Ask(pane.Question{Text: text, Yes: textQuitBare, No: textStay}, pane.Answer{Leave: pane.Quit})
}

// Title implements pane.Dialog.
func (q *Question) Title() string { return q.name }

// Ripe reports whether the question was visible long enough: an earlier click was not
// meant for it.
func (q *Question) Ripe() bool { return time.Since(q.opened) >= grace }

// Draw implements pane.Dialog.
func (q *Question) Draw(c pane.Context, w, h int) []string {
	w = min(w-Air, map[bool]int{false: 60, true: 74}[q.wide])
	if q.renew != nil {
		now := q.renew(c)
		q.text, q.answers[1].text = now.Text, now.Yes
	}
	q.hidden = 0
	text, rows := q.text, q.rows(c, w, answerRows)
	if len(widget.Wrap(text, w-4))+len(rows) > h {
		if text = cmp.Or(q.short, text); q.wide {
			q.hidden = min(max(0, 1+len(q.answers)-h), len(q.answers)-2)
		}
		if q.hides(q.at) {
			q.at = 0
		}
		rows = q.rows(c, w, 1)
	}
	words := widget.WrapN(text, w-4, max(1, h-len(rows)), c.Theme.Glyph(theme.Ellipsis))
	var apart []string // blank lines are dropped first
	if len(words)+len(rows)+2 <= h {
		apart = []string{widget.Blank(w)}
	}
	lines := slices.Clone(apart)
	for _, t := range words {
		lines = append(lines, brush(c).Line(w, widget.Span{Text: "  " + t}))
	}
	lines = append(lines, apart...)
	q.top = len(lines)
	return append(lines, rows...)
}

// hides reports whether an answer is not drawn. Its key still works.
func (q *Question) hides(i int) bool {
	last := len(q.answers) - 1
	return i < last && i >= last-q.hidden
}

// mark moves the mark to the next answer that is drawn.
func (q *Question) mark(by int) {
	n := len(q.answers)
	for q.at = (q.at + by + n) % n; q.hides(q.at); {
		q.at = (q.at + by + n) % n
	}
}

// answerRows is how many lines an answer may take.
const answerRows = 3

// rows are the lines of the answers, at most most lines each. With one line, answers are
// shortened to a word or two.
func (q *Question) rows(c pane.Context, w, most int) (rows []string) {
	q.lines = q.lines[:0]
	column := 0
	for _, a := range q.answers {
		column = max(column, widget.Cells(a.keys.Help().Key))
	}
	for i, a := range q.answers {
		if q.hides(i) {
			continue
		}
		mark, role, name, text := "    ", theme.Dim, a.keys.Help().Key, a.text
		if i == q.at {
			mark, role = "  "+c.Theme.Glyph(theme.Pointer)+" ", theme.Strong
		}
		if most == 1 {
			text = a.word()
		}
		for _, t := range widget.WrapN(text, w-column-6, most, c.Theme.Glyph(theme.Ellipsis)) {
			rows = append(rows, brush(c).Line(w, widget.Span{Role: theme.Focus, Text: mark},
				widget.Span{Role: theme.Key, Text: widget.Fit(name, column)}, widget.Span{Role: role, Text: " " + t}))
			q.lines = append(q.lines, i)
			mark, name = "    ", ""
		}
	}
	return rows
}

// Update implements pane.Dialog.
func (q *Question) Update(_ pane.Context, msg tea.Msg) pane.Answer {
	n := len(q.answers)
	switch msg := msg.(type) {
	case pane.Click:
		return q.click(msg)
	case tea.KeyPressMsg:
		for i, a := range q.answers {
			if key.Matches(msg, a.keys) {
				return q.give(i)
			}
		}
		switch {
		case msg.String() == "ctrl+c" && q.answers[n-1].means.Leave == pane.Quit && q.Ripe():
			return pane.Answer{Leave: pane.Quit}
		case closes(msg):
			return q.give(0)
		case key.Matches(msg, questionKeys.chosen):
			return q.give(q.at)
		case key.Matches(msg, questionKeys.next):
			q.mark(1)
		case key.Matches(msg, questionKeys.previous):
			q.mark(-1)
		}
	}
	return pane.Answer{}
}

func (q *Question) give(i int) pane.Answer {
	if i > 0 && !q.Ripe() {
		q.opened = time.Now() // a key that repeats does not answer either
		return pane.Answer{}
	}
	means := q.answers[i].means
	if opens := q.answers[i].opens; opens != nil {
		means.Open = opens()
	}
	return means
}

// click marks the answer under the pointer, or gives it if it is marked already: a change
// that cannot be undone takes two clicks.
func (q *Question) click(at pane.Click) pane.Answer {
	i := at.Y - q.top
	if at.Beside || i < 0 || i >= len(q.lines) {
		return pane.Answer{}
	}
	if i = q.lines[i]; q.at != i && !q.opened.IsZero() {
		q.at = i
		return pane.Answer{}
	}
	return q.give(i)
}

// Hint implements pane.Dialog.
func (q *Question) Hint() (out []key.Binding) {
	if q.wide {
		return []key.Binding{questionKeys.chosen, binding("esc", textAround)}
	}
	for _, a := range q.answers {
		out = append(out, named(a.keys, a.word()))
	}
	out = append(out, questionKeys.chosen)
	if !q.opened.IsZero() {
		out = append(out, binding("esc", q.answers[0].word()))
	}
	return out
}

// Offers are the programs that the welcome can start.
type Offers struct{ Demo, SetUp bool }

// NewWelcome is the first thing a new user sees: what this is, three ways to start, and
// the keys that matter. notice is the program's notice at the start; it may be empty.
func NewWelcome(c pane.Context, notice string, o Offers) *Question {
	q := &Question{name: "Welcome", text: textWhatItIs, short: textWhatShort, wide: true}
	if notice != "" {
		q.text += "\n\n" + clean.Line(notice)
	}
	add := func(keys, text string, means pane.Answer, opens func() pane.Dialog) {
		q.answers = append(q.answers, answer{binding(keys, "", keys), text, means, opens})
	}
	if !c.ReadOnly {
		add("n", textWriteFirst, pane.Answer{Close: true, Focus: action.Schedule}, func() pane.Dialog { return firstTask() })
		add("s", textInstall, pane.Answer{}, func() pane.Dialog { return newStarters() })
	}
	add("c", textConnect, pane.Answer{}, func() pane.Dialog { return Connect(c, o.SetUp) })
	if o.SetUp {
		add("i", textSetUp, pane.Answer{Leave: pane.SetUp}, nil)
	}
	if o.Demo {
		add("d", textSeeDemo, pane.Answer{Leave: pane.Demo}, nil)
	}
	help, _ := c.Keys.Get(action.Everywhere, action.Help)
	keys := binding(c.Names(action.Chat).Badge(action.Help), "", help.Keys...)
	q.answers = append(q.answers,
		answer{keys: keys, text: textEveryKey, means: pane.Answer{Run: &help}},
		answer{keys: binding("esc", "", "esc", "q", "ctrl+c"), text: lookAround(c), means: pane.Answer{Close: true, Seen: true}})
	return q
}

// newStarters lists the starter routines and asks whether to install them.
func newStarters() *Question {
	lines := []string{textStarters, ""}
	starters, _ := routines.Starters() // they are part of the program
	for _, r := range starters {
		lines = append(lines, "- "+r.Title()+": "+cronWords(r))
	}
	ask := pane.Question{Text: strings.Join(lines, "\n"), Yes: "install them", No: "not now", Do: command.AddStarters{}}
	q := Ask(ask, pane.Answer{Focus: action.Schedule})
	q.name = "Starter routines"
	return q
}

func cronWords(r routines.Routine) string {
	line, err := cron.Parse(r.Cron)
	if err != nil {
		return r.Cron
	}
	return line.Words()
}

// Connect lists the exact commands that connect a model and Discord.
func Connect(c pane.Context, setUp bool) *Page {
	rows := append([]Row{}, textConnectRows...)
	if setUp {
		rows = append(rows, Row{}, Row{Text: textConnectHere})
	}
	p := NewTable(textConnectName, connectColumn, rows)
	p.heads, p.headings = theme.Key, true
	return p
}

// connectColumn is where the steps of the page start.
const connectColumn = 4

// lookAround is the answer that closes the welcome: it names the keys to write and to
// reopen the welcome.
func lookAround(c pane.Context) string {
	names := c.Names(action.Chat)
	then := slices.Concat(names.Say(action.ChatWrite, textAroundWrite), names.Say(action.Palette, textAroundBack))
	if len(then) == 0 {
		return textAround
	}
	return textAround + ": " + strings.Join(then, ", ")
}
