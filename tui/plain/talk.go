package plain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
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
