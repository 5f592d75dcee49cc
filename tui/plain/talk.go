package plain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/proposals"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/widget/query"
)

// send sends a message. A command in it is executed here: sent as a message, its answer would also be in the
// conversation and be printed twice.
func send(c *console, r request, m command.Say) {
	switch {
	case m.Text == "":
		c.usage(r.Command)
	case strings.HasPrefix(m.Text, "/"):
		c.do(r, command.Slash{Line: m.Text})
	default:
		c.do(r, m)
	}
}

// readMessages lists the newest messages that a filter keeps: "10 FILTER".
func readMessages(c *console, r request) {
	n, filter := countFirst(r.rest, 10)
	found := kept(c.printer, messages(c), filter, thing.found)
	c.list(allMessages, found[:min(n, len(found))])
	if n >= len(found) && len(found) > 0 && c.snap.ChatMore {
		c.answer(textChatMore)
	}
}

// messages returns the complete messages of the conversation, newest first.
func messages(c *console) (things []thing) {
	for _, e := range slices.Backward(c.snap.Chat) {
		if text := flat(messageText(e)); text != "" && !e.Streaming {
			facts := query.Facts{Text: text, Is: []string{string(e.Role)}, At: c.snap.Local(e.At), Now: c.now()}
			things = append(things, thing{id: string(e.ID), title: text, line: c.snap.Moment(e.At) + ", " + string(e.Role) + ": " + text, facts: facts})
		}
	}
	return things
}

// newestMessage returns the newest complete message that matches.
func newestMessage(c *console, matches func(e transcript.Entry) bool) (e transcript.Entry) {
	for _, e := range slices.Backward(c.snap.Chat) {
		if !e.Streaming && messageText(e) != "" && matches(e) {
			return e
		}
	}
	return e
}

// readNewest reads all of the newest message that is not the user's.
func readNewest(c *console) {
	e := newestMessage(c, func(e transcript.Entry) bool { return e.Role != transcript.User })
	c.answer(cmp.Or(messageText(e), textNoMessages))
}

// reply answers the message with a number, else the newest one of the bot.
func reply(c *console, r request) {
	to := newestMessage(c, func(e transcript.Entry) bool { return e.Role == transcript.Bot || e.Role == transcript.Ping })
	first, text := command.CutWord(r.rest)
	if n, err := strconv.Atoi(first); err == nil { // never an ID: those of messages are numbers too
		t, ok := c.byNumber(allMessages, messages(c), n)
		if !ok {
			return
		}
		r.rest = text
		to = newestMessage(c, func(e transcript.Entry) bool { return string(e.ID) == t.id })
	}
	switch {
	case r.rest != "" && to.ID == "":
		c.fail(textNoMessages)
	case to.Role == transcript.Notice:
		c.fail(textReplyNotice)
	default:
		send(c, r, command.Say{Text: r.rest, ReplyTo: to.ID})
	}
}

// buttons returns the buttons of all cards, newest card first.
func buttons(c *console) (things []thing) {
	for _, e := range slices.Backward(c.snap.Chat) {
		things = append(things, buttonsOf(e)...)
	}
	return things
}

func press(c *console, r request) {
	if t, ok := c.find(r, allButtons, buttons(c)); ok {
		message, id, _ := strings.Cut(t.id, " ")
		c.do(r, command.Click{Message: post.MessageID(message), ID: id})
	}
}

func interrupt(c *console) {
	if !c.snap.Busy {
		c.fail(textNoAnswer)
		return
	}
	c.do(request{}, command.Interrupt{})
}

// exitFork leaves the fork: "save", "report", or with neither, after a question.
func exitFork(c *console, r request) {
	how := map[string]command.Exit{"save": command.ExitSave, "report": command.ExitReport}[r.rest]
	switch {
	case c.snap.Fork == nil:
		c.fail(textNoFork)
	case r.rest == "save" && c.snap.Fork.Resumed:
		c.fail(textNoSave)
	case r.rest == "":
		c.ask(r, chat.ExitQuestion(c.snap))
	case how == "":
		c.usage(r.Command)
	default:
		c.do(r, command.ExitFork{How: how})
	}
}

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
