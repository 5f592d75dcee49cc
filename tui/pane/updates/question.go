package updates

import (
	"cmp"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
)

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
