package plain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/tui/pane/chat"
	panes "ollimbot/tui/pane/updates"
)

// send sends words. A command among them is answered here: as words its answer
// would stand in the conversation, too, and be read twice.
func (m *session) send(c command.Say) {
	switch {
	case c.Text == "":
		m.wrong()
	case strings.HasPrefix(c.Text, "/"):
		m.do(command.Slash{Line: c.Text})
	default:
		m.do(c)
	}
}

// chat reads the newest messages, or those that hold words.
func (m *session) chat(rest string) {
	rest, find := cutAt(rest, "find")
	n, ok := m.many(rest, 10)
	if !ok {
		return
	}
	things := slices.DeleteFunc(m.messages(), func(t thing) bool { return !words.HoldsAll(t.title, find) })
	m.list(m.named.Name, allMessages, things[:min(n, len(things))])
	if n >= len(things) && len(things) > 0 && m.s.ChatMore {
		m.answer(m.named.Name, textChatMore)
	}
}

// messages are the whole messages of the conversation, newest first.
func (m *session) messages() (things []thing) {
	for _, e := range slices.Backward(m.s.Chat) {
		if text := flat(messageText(e)); text != "" && !e.Streaming {
			things = append(things, thing{id: string(e.ID), title: text, line: m.s.Moment(e.At) + ", " + string(e.Role) + ": " + text})
		}
	}
	return things
}

// newest gives the newest whole message that is asked for.
func (m *session) newest(asked func(e transcript.Entry) bool) (e transcript.Entry) {
	for _, e := range slices.Backward(m.s.Chat) {
		if !e.Streaming && messageText(e) != "" && asked(e) {
			return e
		}
	}
	return e
}

// whole reads the newest message that is not the user's own.
func (m *session) whole(string) {
	e := m.newest(func(e transcript.Entry) bool { return e.Role != transcript.User })
	m.answer(m.named.Name, cmp.Or(messageText(e), textNothingSaid))
}

// reply answers a message that chat has read with a number, else the newest that
// the bot has sent.
func (m *session) reply(rest string) {
	to := m.newest(func(e transcript.Entry) bool { return e.Role == transcript.Bot || e.Role == transcript.Ping })
	first, behind := command.CutWord(rest)
	if n, err := strconv.Atoi(first); err == nil { // never an id: those of messages are numbers too
		t, ok := m.byNumber(allMessages, m.messages(), n)
		if !ok {
			return
		}
		rest = behind
		to = m.newest(func(e transcript.Entry) bool { return string(e.ID) == t.id })
	}
	switch {
	case rest != "" && to.ID == "":
		m.answer(kindError, textNothingSaid)
	case to.Role == transcript.Notice:
		m.answer(kindError, textReplyNotice)
	default:
		m.send(command.Say{Text: rest, ReplyTo: to.ID})
	}
}

// buttonsOf are the buttons of a card.
func buttonsOf(e transcript.Entry) (things []thing) {
	if e.Embed == nil {
		return nil
	}
	for _, b := range e.Embed.Buttons {
		label := flat(b.Label)
		things = append(things, thing{id: string(e.ID) + " " + b.Action, title: label, line: words.Joined(label, flat(e.Embed.Title))})
	}
	return things
}

// buttons reads the buttons of all cards, the newest card first.
func (m *session) buttons(string) { m.list(m.named.Name, allButtons, m.pressable()) }

func (m *session) pressable() (things []thing) {
	for _, e := range slices.Backward(m.s.Chat) {
		things = append(things, buttonsOf(e)...)
	}
	return things
}

// press presses the button that the words name; of several with one label that of the
// newest card.
func (m *session) press(rest string) {
	if t, ok := m.find(allButtons, m.pressable(), rest); ok {
		message, id, _ := strings.Cut(t.id, " ")
		m.do(command.Click{Message: post.MessageID(message), ID: id})
	}
}

// interrupt ends the answer that is being given.
func (m *session) interrupt(string) {
	if !m.s.Busy {
		m.answer(kindError, textNoAnswer)
		return
	}
	m.do(command.Interrupt{})
}

// exit leaves the fork. Where nothing is kept, it asks first.
func (m *session) exit(rest string) {
	how := map[string]command.Exit{"save": command.ExitSave, "report": command.ExitReport}[rest]
	switch {
	case m.s.Fork == nil:
		m.answer(kindError, textNoFork)
	case rest == "save" && m.s.Fork.Resumed:
		m.answer(kindError, textNoSave)
	case rest == "":
		m.ask(chat.ExitQuestion(&m.s))
	case how == "":
		m.wrong()
	default:
		m.do(command.ExitFork{How: how})
	}
}

// newestUpdates are the pending updates, newest first.
func (m *session) newestUpdates() []updates.Update {
	list := slices.Clone(m.s.Updates)
	slices.Reverse(list)
	return list
}

func (m *session) updateThing(u updates.Update) thing {
	text := flat(updateText(&m.s, u))
	return thing{id: u.Key, title: text, line: m.s.Moment(u.At) + ", " + clean.Cut(text, updateTitle)}
}

// update is the update that the words name; the only one where none do.
func (m *session) update(query string) (updates.Update, bool) {
	return pick(m, allUpdates, m.newestUpdates(), m.updateThing, query)
}

// readUpdate reads one in full, and says what will become of it.
func (m *session) readUpdate(rest string) {
	if u, ok := m.update(rest); ok {
		m.answer(m.named.Name, panes.Text(&m.s, u)+textUpdateNext)
	}
}
