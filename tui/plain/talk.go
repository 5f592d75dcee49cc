package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/transcript"
)

func (m *machine) speak(rest string) {
	if rest == "" {
		m.answer(kindError, textSayWhat)
		return
	}
	m.send(command.Say{Text: rest})
}

// send sends words. A command among them is answered here: as words its answer
// would stand in the conversation, too, and be read twice.
func (m *machine) send(c command.Say) {
	if strings.HasPrefix(c.Text, "/") {
		m.do(command.Slash{Line: c.Text})
		return
	}
	m.do(c)
}

// messageThings are the whole messages of the conversation, newest first.
func (m *machine) messageThings(s *core.Snapshot) []thing {
	var list []thing
	for _, e := range slices.Backward(s.Chat) {
		if words := flat(messageText(e)); words != "" && !e.Streaming {
			list = append(list, thing{
				id: string(e.ID), title: words,
				line: clockText(e.At, s.At, m.ear.zone) + ", " + string(e.Role) + ": " + words,
			})
		}
	}
	return list
}

// chat reads the newest messages, or those that hold words.
func (m *machine) chat(rest string) {
	rest, e := cutFind(rest)
	n, ok := howMany(rest, 10)
	if !ok {
		m.answer(kindError, textChatWhat)
		return
	}
	s := m.core.Snapshot()
	list := slices.DeleteFunc(m.messageThings(&s), func(t thing) bool { return !holdsAll(strings.ToLower(t.title), e.find) })
	if len(list) == 0 {
		m.answer(kindChat, textNothingSaid)
		return
	}
	m.list(shelfMessage, kindChat, list[:min(n, len(list))])
	if n >= len(list) && s.ChatMore {
		m.answer(kindChat, textChatMore)
	}
}

// read gives the newest whole message that is not the user's own.
func (m *machine) read(string) {
	s := m.core.Snapshot()
	for _, e := range slices.Backward(s.Chat) {
		if words := messageText(e); !e.Streaming && e.Role != transcript.User && words != "" {
			m.answer(kindRead, words)
			return
		}
	}
	m.answer(kindRead, textNothingSaid)
}

// reply answers a message that chat has read with a number, else the newest that
// the bot has sent.
func (m *machine) reply(rest string) {
	s := m.core.Snapshot()
	first, words := cutWord(rest)
	var to transcript.Entry
	if n, err := strconv.Atoi(first); err == nil { // never an id: those of messages are numbers too
		t, ok := m.byNumber(choose{shelf: shelfMessage, things: m.messageThings(&s), none: textNothingSaid}, n)
		if !ok {
			return
		}
		rest = words
		to = s.Chat[slices.IndexFunc(s.Chat, func(e transcript.Entry) bool { return string(e.ID) == t.id })]
	} else {
		for _, e := range s.Chat {
			if e.Role == transcript.Bot || e.Role == transcript.Ping {
				to = e
			}
		}
	}
	switch {
	case rest == "":
		m.answer(kindError, textReplyWhat)
	case to.ID == "":
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
func (e *ear) buttonsOf(m transcript.Entry) []int {
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

// pressable is how many cards have their buttons read, the newest ones.
const pressable = 5

// cards are the newest cards with buttons, newest first.
func cards(chat []transcript.Entry) []transcript.Entry {
	var list []transcript.Entry
	for _, e := range slices.Backward(chat) {
		if e.Embed != nil && len(e.Embed.Buttons) > 0 && len(list) < pressable {
			list = append(list, e)
		}
	}
	return list
}

func (m *machine) buttons(string) {
	s := m.core.Snapshot()
	list := cards(s.Chat)
	if len(list) == 0 {
		m.answer(kindButton, textNoButtons)
	}
	for _, e := range list {
		m.answer(kindButton, flat(e.Embed.Title)+": "+m.ear.buttonsText(e))
	}
}

// press presses a button by its number, or by its words on the newest card.
func (m *machine) press(rest string) {
	s := m.core.Snapshot()
	list := cards(s.Chat)
	switch {
	case len(list) == 0:
		m.answer(kindError, textNoButtons)
		return
	case rest == "":
		m.answer(kindError, textPressWhat)
		return
	}
	if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= len(m.ear.buttons) {
		m.do(m.ear.buttons[n-1].click)
		return
	}
	var found []int
	for _, n := range m.ear.buttonsOf(list[0]) {
		if strings.EqualFold(m.ear.buttons[n-1].label, rest) {
			found = []int{n}
			break
		}
		if holdsAll(strings.ToLower(m.ear.buttons[n-1].label), strings.ToLower(rest)) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		m.answer(kindError, fmt.Sprintf(textNoButton, rest))
		m.buttons("")
		return
	}
	m.do(m.ear.buttons[found[0]-1].click)
}

// interrupt ends the answer that is being given.
func (m *machine) interrupt(string) {
	if s := m.core.Snapshot(); !s.Busy {
		m.answer(kindError, textNoAnswer)
		return
	}
	m.do(command.Interrupt{})
}

// exit leaves the fork. Where nothing is kept, it asks first.
func (m *machine) exit(rest string) {
	s := m.core.Snapshot()
	switch {
	case s.Fork == nil:
		m.answer(kindError, textNoFork)
	case rest == "save" && s.Fork.Resumed:
		m.answer(kindError, textNoSave)
	case rest == "save":
		m.do(command.ExitFork{How: command.ExitSave})
	case rest == "report":
		m.do(command.ExitFork{How: command.ExitReport})
	case rest == "":
		m.ask(exitText(s.Fork), question{do: func() { m.do(command.ExitFork{How: command.ExitDiscard}) }})
	default:
		m.answer(kindError, textExitHow)
	}
}
