// Package updates is the dashboard's pane of the bot's own questions and, below them, of the reports that background
// runs have left for the main session, the newest first. It must not change anything directly: answering and
// discarding are commands.
package updates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

// Pane is the updates pane. Use New.
type Pane struct {
	pane.List[updates.Update]
	snap   *core.Snapshot // the last one
	window widget.List    // the visible lines
	whole  bool           // the selected one is shown in full next to or below the list
	tail   forks.Tail     // of the run that left the selected one
}

// New returns the pane.
func New() *Pane {
	p := &Pane{}
	p.Noun, p.Open = "update", action.UpdatesRead
	p.Facts = func(u updates.Update) query.Facts {
		return query.Facts{Text: p.summary(u), At: p.snap.Local(u.At), Now: p.snap.Local(p.snap.At)}
	}
	p.Same = func(was, u updates.Update) bool { return was.Key == u.Key }
	return p
}

// State implements pane.Pane.
func (p *Pane) State(pane.Context) string {
	if p.Shown() == 0 {
		return ""
	}
	return words.Thousands(uint64(p.Shown()))
}

// Line implements pane.Pane: how many there are, and the newest; a question comes first.
func (p *Pane) Line(c pane.Context, w int) string {
	out := []widget.Span{{Role: theme.Strong, Text: "Updates  "}}
	asked, left := c.Snap.Proposals, c.Snap.Updates
	count := widget.Span{Role: theme.Report, Text: words.Thousands(uint64(len(asked)+len(left))) + " "}
	if n := len(asked); n > 0 {
		out = append(out, count, widget.Span{Role: theme.Warn, Text: "? "}, widget.Span{Text: flat(asked[n-1].Text)})
	} else if n := len(left); n > 0 {
		out = append(out, count, widget.Span{Text: flat(left[n-1].Message)})
	} else {
		out = append(out, widget.Span{Role: theme.Dim, Text: "none"})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	u, ok := p.Row()
	switch {
	case p.Table.Do(id.Verb()):
	case !ok:
		return pane.Answer{Toast: textNothing}
	case id == action.UpdatesYes || id == action.UpdatesOther || id == action.UpdatesNo:
		return p.answer(c, u, id)
	case id == action.UpdatesRead:
		return p.read(c, u)
	case id == action.UpdatesDiscard && p.question(u) != nil:
		return pane.Answer{Toast: fmt.Sprintf(textAnswerIt, c.Names(action.Updates).Name(action.UpdatesNo))}
	case id == action.UpdatesDiscard:
		return pane.Answer{Do: command.DiscardUpdate{Key: u.Key}}
	}
	return pane.Answer{}
}

// read opens an update, or its run if the update is already visible in full.
func (p *Pane) read(c pane.Context, u updates.Update) pane.Answer {
	if p.question(u) != nil {
		return pane.Answer{Open: dialog.NewPage(textQuestion, p.page(c, u))}
	}
	text := dialog.NewPage(textPage, page(c.Snap, u, c.Names(action.Updates)))
	if run := c.Snap.Reporter(u); run != nil {
		to := pane.Answer{Focus: action.Forks, Item: run.ID}
		if p.whole {
			return to
		}
		text.LeadsTo(to, textOpenRun)
	}
	return pane.Answer{Open: text}
}

// Word returns the meaning of enter if the update is already visible in full, and of the answer keys.
func (p *Pane) Word(id action.ID) string {
	u, ok := p.Row()
	if !ok {
		return ""
	}
	if q := p.question(u); q != nil {
		b, _ := button(*q, id)
		return b.Label
	}
	if id == action.UpdatesRead && p.whole && p.snap.Reporter(u) != nil {
		return textOpenRun
	}
	return ""
}

// Sync implements pane.Pane. The same update stays selected or, if it was removed, the one at its position. Until the
// user selects one, the newest is selected.
func (p *Pane) Sync(c pane.Context) {
	p.snap = c.Snap
	rows := slices.Clone(c.Snap.Updates)
	for _, q := range c.Snap.Proposals {
		rows = append(rows, updates.Update{Key: questionKey + q.ID, At: q.Made, Message: q.Text})
	}
	slices.Reverse(rows)
	p.Fill(rows)
}

// leastDetail is the height from which a page shows the selected update in full, too.
const leastDetail = 12

// Draw implements pane.Pane: the list and, on a page, the selected update.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	p.whole = false
	list := func(w, h int) []widget.Row { return p.list(c, w, h, focused) }
	if !c.Zoomed || p.Shown() == 0 || h < leastDetail {
		return list(w, h)
	}
	detail := func(w, h int) pane.Detail { return p.Detail(c, w, h) }
	return pane.Duo{List: list, Detail: detail, Lines: min(p.Shown()+2, h/3), Most: h}.Draw(c, w, h)
}

// leastTail is the number of free rows from which the detail shows the output of the run, too.
const leastTail = 4

// Detail returns the selected update in full, and the output of the run that left it.
func (p *Pane) Detail(c pane.Context, w, h int) pane.Detail {
	d, b := pane.Detail{Title: pane.Named(textPage, w)}, widget.Brush{Theme: c.Theme}
	u, ok := p.Row()
	if !ok {
		d.Rows = widget.Rows(widget.Nowhere, b.Empty(w, h, widget.TextNoMatch(p.Len(), p.Noun)...)...)
		return d
	}
	text := strings.TrimSpace(p.page(c, u))
	p.whole = len(widget.Wrap(text, max(1, w-2))) <= h
	d.Rows = pane.Text(c, w, h, text)
	if run := c.Snap.Reporter(u); run != nil && h-len(d.Rows) >= leastTail {
		d.Rows = append(d.Rows, widget.Row{Text: b.Rule(w, pane.Named(run.Title, w), nil), Place: widget.Ruled})
		d.Rows = append(d.Rows, p.tail.Draw(c, *run, w, h-len(d.Rows))...)
	}
	return d
}

// list draws the updates. Free lines go first to the selected update, as long as two others stay visible, then to the
// newest ones. Only visible updates are drawn, because there may be thousands.
func (p *Pane) list(c pane.Context, w, h int, focused bool) []widget.Row {
	b, n := widget.Brush{Theme: c.Theme}, p.Shown()
	var foot []widget.Row
	if p.Query.Shown() && h >= 3 {
		foot = append(foot, p.Foot(b, w))
		h--
	}
	if p.Height = h / 2; n == 0 {
		none := []string{"No updates.", textTeach}
		if p.Len() > 0 {
			none = widget.TextNoMatch(p.Len(), p.Noun)
		}
		return append(widget.Rows(widget.Nowhere, b.Empty(w, h, none...)...), foot...)
	}
	at := p.At()
	selected := p.wrapped(c, at, w, max(1, h-min(n-1, 2)))
	free := h - n - len(selected) + 1
	// If the list scrolls, all other updates have one line, and the first visible line is never below the selected
	// update's: so above it, line numbers equal update numbers.
	first := p.window.Window(at, min(at+len(selected), at+h)-1, n-1+len(selected), h)
	last := min(first+h, n) - 1
	texts := map[int][]string{at: selected}
	for i := first; i <= last; i++ {
		if i != at {
			texts[i] = p.wrapped(c, i, w, 1+max(0, free))
			free -= len(texts[i]) - 1
		}
	}
	var rows []widget.Row
	for i := first; i <= last; i++ {
		if i > first && free >= n-1 { // a blank line between them
			rows = append(rows, widget.Row{Text: widget.Blank(w), Place: widget.Nowhere})
		}
		rows = append(rows, p.item(c, i, w, texts[i], focused && i == at)...)
	}
	return append(widget.FillRows(rows, w, h), foot...)
}

// mostNeeded is the number of rows from which it does not matter how many more the pane can fill.
const mostNeeded = 60

// Needs returns how many rows of so many cells the pane can fill.
func (p *Pane) Needs(c pane.Context, cells int) int {
	rows := 0
	for i := 0; i < p.Shown() && rows < mostNeeded; i++ {
		rows += len(p.wrapped(c, i, cells, mostNeeded))
	}
	if p.Query.Shown() {
		rows += 2
	}
	return max(1, rows)
}

// wrapped returns the text of the ith update in at most most lines.
func (p *Pane) wrapped(c pane.Context, i, w, most int) []string {
	u, _ := p.Nth(i)
	text := strings.TrimRight(p.summary(u), "\n ")
	if q := p.question(u); q != nil {
		text = textAsks + text + "\n" + answers(c, *q)
	}
	if most == 1 {
		text = flat(text)
	}
	return widget.WrapN(p.age(u, w)+text, max(1, w-2), most, c.Theme.Glyph(theme.Ellipsis))
}

// leastAged is the width of a list from which updates have their age.
const leastAged = 24

// age returns the age of an update, which precedes its text; empty in a narrow list.
func (p *Pane) age(u updates.Update, w int) string {
	if w < leastAged {
		return ""
	}
	return ageOf(p.snap, u) + "  "
}

// item draws the ith update with its text.
func (p *Pane) item(c pane.Context, i, w int, text []string, marked bool) []widget.Row {
	u, place := p.Nth(i)
	b := widget.Brush{Theme: c.Theme}
	gutter, age := " ", p.age(u, w)
	if marked {
		gutter, b.Back = c.Theme.Glyph(theme.Pointer), theme.Select
	}
	role, aged := theme.Text, theme.Report
	if c.Fresh(u.At) {
		aged = theme.Here
	}
	if u.Dropped > 0 {
		role = theme.Warn
	}
	if p.question(u) != nil {
		role = theme.Strong
	}
	var out []widget.Row
	for _, l := range text {
		before, gap := strings.TrimRight(age, " "), ""
		if age != "" {
			gap = "  "
		}
		line := b.Line(w, widget.Span{Role: theme.Accent, Text: gutter},
			widget.Span{Role: aged, Text: before}, widget.Span{Text: gap}, widget.Span{Role: role, Text: strings.TrimPrefix(l, age)})
		out = append(out, widget.Row{Text: line, Place: place})
		gutter, age = " ", ""
	}
	return out
}

const (
	textPage    = "Update"
	textOpenRun = "open run"
	textNothing = "there are no updates"

	// textFrom prefixes an update in the list with the origin of its untrusted text.
	textFrom = "[from %s] %s"
	// textUntrusted shows the path of an update's untrusted text.
	textUntrusted = "\nMade from untrusted text: %s.\nUntil you answer it, the conversation asks you before it acts.\n"
	textTeach     = "An update is a report from a background run without a ping: the main session reads it with your next message."
)

// flat returns a message on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// ageOf returns the age of an update. The entry that counts dropped updates has none, because its time is that of the
// last drop.
func ageOf(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return "earlier"
	}
	return words.Age(s.At.Sub(u.At))
}

// Text returns an update in full: its time, source and message.
func Text(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return fmt.Sprintf("%s\n\nIt replaces %s, because only ten are kept. "+
			"Each run still has its own: see it in the list of runs, or with \"ollim-bot runs tail ID\".\n",
			u.Message, words.Grouped(uint64(u.Dropped), "earlier update"))
	}
	by := ""
	if u.From != "" {
		by = " by " + u.From
	}
	text := fmt.Sprintf("Left %s%s.\n\n%s\n", s.Clock(u.At, "Monday 2 January 2006, 15:04 MST"), by, u.Message)
	if u.Label != "" {
		text += fmt.Sprintf(textUntrusted, u.Label)
	}
	return text
}

// summary returns the text of an update in the list, with its source or, if it contains untrusted text, its origin.
func summary(s *core.Snapshot, u updates.Update) string {
	if u.Label == "" {
		return s.Sourced(u)
	}
	return fmt.Sprintf(textFrom, u.Label.Origin(), u.Message)
}

// page returns an update in full, and how it will be delivered.
func page(s *core.Snapshot, u updates.Update, n action.Names) string {
	return Text(s, u) + fmt.Sprintf("\nThe main session gets it with your next message, once. %s hands it over now; %s discards it, %s brings it back.\n",
		n.Opening(action.UpdatesDeliver), n.Name(action.UpdatesDiscard), n.Name(action.Undo))
}

// questionKey is the prefix of the key of a row with a question.
const questionKey = "question "

// question returns the question of a row; nil for an update.
func (p *Pane) question(u updates.Update) *proposals.Proposal {
	id, ok := strings.CutPrefix(u.Key, questionKey)
	for i := range p.snap.Proposals {
		if ok && p.snap.Proposals[i].ID == id {
			return &p.snap.Proposals[i]
		}
	}
	return nil
}

// button returns the button for a key. ok is false if the question has fewer buttons.
func button(q proposals.Proposal, id action.ID) (b proposals.Button, ok bool) {
	at := map[action.ID]int{action.UpdatesYes: 0, action.UpdatesOther: 1, action.UpdatesNo: len(q.Buttons) - 1}
	i, known := at[id]
	if !known || i >= len(q.Buttons) || id == action.UpdatesOther && i == len(q.Buttons)-1 {
		return b, false
	}
	return q.Buttons[i], true
}

// answer answers the selected question. If the button needs a time, it asks for one first.
func (p *Pane) answer(c pane.Context, u updates.Update, id action.ID) pane.Answer {
	q := p.question(u)
	if q == nil {
		return pane.Answer{Toast: textNoQuestion}
	}
	b, ok := button(*q, id)
	if !ok {
		return pane.Answer{Toast: textNoAnswer}
	}
	answer := command.AnswerProposal{ID: q.ID, Button: b.ID}
	if !b.Asks {
		return pane.Answer{Do: answer}
	}
	return pane.Answer{Open: dialog.NewUntil(c, b.Label, time.Time{}, func(at time.Time) command.Value {
		answer.Value = c.Snap.Local(at).Format("2006-01-02 15:04")
		return answer
	})}
}

// answers returns the keys of a question's buttons and their meanings.
func answers(c pane.Context, q proposals.Proposal) string {
	var list []string
	for _, id := range []action.ID{action.UpdatesYes, action.UpdatesOther, action.UpdatesNo} {
		if b, ok := button(q, id); ok {
			list = append(list, cmp.Or(c.Names(action.Updates).Name(id), "?")+" "+b.Label)
		}
	}
	return strings.Join(list, ", ")
}

// summary returns the text of a row in the list.
func (p *Pane) summary(u updates.Update) string {
	if p.question(u) != nil {
		return u.Message
	}
	return summary(p.snap, u)
}

// page returns a row in full.
func (p *Pane) page(c pane.Context, u updates.Update) string {
	q := p.question(u)
	if q == nil {
		return page(c.Snap, u, c.Names(action.Updates))
	}
	asked := c.Snap.Clock(q.Made, "Monday 2 January 2006, 15:04 MST")
	return "Asked " + asked + ".\n\n" + q.Text + "\n\n" + answers(c, *q) + "\n\n" + textUntil + "\n"
}

const (
	textQuestion   = "Question"
	textAsks       = "? "
	textNoQuestion = "that is an update; there is nothing to answer"
	textNoAnswer   = "that question has no such answer"
	textAnswerIt   = "that is a question: answer it, for example with %s"
	textUntil      = "It is closed after a week without an answer."
)
