package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/tui/pane/chat"
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
	n, ok := howMany(rest, 10)
	if !ok {
		m.wrong()
		return
	}
	things := slices.DeleteFunc(m.messageThings(), func(t thing) bool { return !holdsAll(t.title, find) })
	m.list(allMessages, kindChat, things[:min(n, len(things))])
	if n >= len(things) && len(things) > 0 && m.s.ChatMore {
		m.answer(kindChat, textChatMore)
	}
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
	m.read(kindRead, []string{messageText(e)}, textNothingSaid)
}

// reply answers a message that chat has read with a number, else the newest that
// the bot has sent.
func (m *session) reply(rest string) {
	to := m.newest(func(e transcript.Entry) bool { return e.Role == transcript.Bot || e.Role == transcript.Ping })
	first, words := command.CutWord(rest)
	if n, err := strconv.Atoi(first); err == nil { // never an id: those of messages are numbers too
		t, ok := m.byNumber(allMessages, n)
		if !ok {
			return
		}
		rest = words
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

// button is one of a card, with the number that presses it. Numbers are given
// once: a card that has just come takes none away from an older one.
type button struct {
	click command.Click
	label string
}

// buttonsOf are the numbers of a card's buttons; new ones get theirs here.
func (e *snapshotDiff) buttonsOf(m transcript.Entry) []int {
	if m.Embed == nil {
		return nil
	}
	var numbers []int
	for _, b := range m.Embed.Buttons {
		one := button{command.Click{Message: m.ID, ID: b.Action}, flat(b.Label)}
		i := slices.Index(e.buttons, one)
		if i < 0 {
			i = len(e.buttons)
			e.buttons = append(e.buttons, one)
		}
		numbers = append(numbers, i+1)
	}
	return numbers
}

// buttonsText says how a card's buttons are pressed; empty without any.
func (e *snapshotDiff) buttonsText(m transcript.Entry) string {
	return joined(each(e.buttonsOf(m), func(n int) string { return fmt.Sprintf("press %d for %s", n, e.buttons[n-1].label) })...)
}

// pressable is how many cards have their buttons read, the newest ones.
const pressable = 5

// cards are the newest cards with buttons, newest first.
func (m *session) cards() []transcript.Entry {
	list := slices.DeleteFunc(slices.Clone(m.s.Chat), func(e transcript.Entry) bool { return e.Embed == nil || len(e.Embed.Buttons) == 0 })
	slices.Reverse(list)
	return list[:min(pressable, len(list))]
}

func (m *session) buttons(string) {
	say := func(e transcript.Entry) string { return flat(e.Embed.Title) + ": " + m.diff.buttonsText(e) }
	m.read(kindButton, each(m.cards(), say), textNoButtons)
}

// press presses a button by its number, or by its words on the newest card.
func (m *session) press(rest string) {
	cards := m.cards()
	switch {
	case len(cards) == 0:
		m.answer(kindError, textNoButtons)
		return
	case rest == "":
		m.wrong()
		return
	}
	if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= len(m.diff.buttons) {
		m.do(m.diff.buttons[n-1].click)
		return
	}
	found := byWords(each(m.diff.buttonsOf(cards[0]), func(n int) thing {
		return thing{id: strconv.Itoa(n), title: m.diff.buttons[n-1].label}
	}), rest)
	if len(found) != 1 {
		m.answer(kindError, fmt.Sprintf(textNoButton, rest))
		m.buttons("")
		return
	}
	m.press(found[0].id)
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

// update finds the update that the words name; the only one where none do.
func (m *session) update(query string) (u updates.Update, ok bool) {
	if query == "" && len(m.s.Updates) == 1 {
		return m.s.Updates[0], true
	}
	t, ok := m.pick(allUpdates, query, nil)
	for _, u := range m.s.Updates {
		if ok && u.Key == t.id {
			return u, true
		}
	}
	return u, false
}

// readUpdate reads one in full, and says what will become of it.
func (m *session) readUpdate(rest string) {
	u, ok := m.update(rest)
	if !ok {
		return
	}
	left, text := "left on "+m.s.Clock(u.At, "Monday 2 January, 15:04"), updateText(&m.s, u)
	if from := m.s.Source(u); from != "" && u.Dropped == 0 {
		left, text = left+" by "+from, u.Message
	}
	m.answer(kindUpdate, left+"\n"+text+"\n"+textUpdateNext)
}
