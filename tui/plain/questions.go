package plain

import (
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
	"ollimbot/tui/widget/query"
)

// allQuestions is the list of questions raised by the bot.
var allQuestions = list{noun: "question", none: textNoQuestions, alone: true}

// questions returns the open questions, newest first.
func questions(c *console) []proposals.Proposal {
	list := slices.Clone(c.snap.Proposals)
	slices.Reverse(list)
	return list
}

func (c *console) questionThing(q proposals.Proposal) thing {
	labels := each(q.Buttons, func(b proposals.Button) string { return b.Label })
	text := flat(q.Text) + " Answers: " + strings.Join(labels, ", ") + "."
	return thing{id: q.ID, title: text, line: text, facts: query.Facts{Text: text, At: c.snap.Local(q.Made), Now: c.now()}}
}

func printQuestions(c *console, r request) {
	c.list(allQuestions.or(c.noneOf(r, textNoQuestions)), kept(c.printer, each(questions(c), c.questionThing), r.rest, thing.found))
}

// answerQuestion answers a question with the label of a button, or with a time for the button that needs one. The
// number of the question may precede it.
func answerQuestion(c *console, r request) {
	which, said := request{Command: r.Command}, r.rest
	if first, rest := command.CutWord(said); first != "" {
		if _, err := strconv.Atoi(first); err == nil && rest != "" {
			which.rest, said = first, rest
		}
	}
	if said == "" {
		c.usage(r.Command)
		return
	}
	q, ok := pick(c.finder, which, allQuestions, questions(c), c.questionThing)
	if !ok {
		return
	}
	answer := command.AnswerProposal{ID: q.ID}
	for i, b := range q.Buttons {
		_, err := c.snap.Times().Moment(said)
		switch {
		case b.Asks && err == nil:
			answer.Button, answer.Value = b.ID, said
		case !b.Asks && (words.HoldsAll(b.Label, said) || i == 0 && said == "yes" || i == len(q.Buttons)-1 && said == "no"):
			answer.Button, answer.Value = b.ID, ""
		default:
			continue
		}
		c.do(r, answer)
		return
	}
	c.usage(r.Command)
}
